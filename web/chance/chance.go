// Package chance provides the random values in pages, such as form keys and the numbers in new
// problems. Pages that are rendered once for everyone get fixed values instead ([Steady]).
package chance

import (
	"context"
	crypto "crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"math/rand/v2"
	"sync"
)

// steady is a source that returns the same sequence each time.
type steady struct {
	mu sync.Mutex
	r  *rand.PCG
}

type key struct{}

// Steady returns a context that makes a page render identically each time. Each page needs its own
// context.
func Steady(ctx context.Context) context.Context {
	return context.WithValue(ctx, key{}, &steady{r: rand.NewPCG(1, 2)})
}

// IsSteady reports whether a page is rendered once for everyone. Such a page must look the same on
// every machine that renders it, so it must not contain measurements of this machine.
func IsSteady(ctx context.Context) bool {
	_, ok := ctx.Value(key{}).(*steady)
	return ok
}

// next returns 64 random bits.
func next(ctx context.Context) uint64 {
	s, ok := ctx.Value(key{}).(*steady)
	if !ok {
		var b [8]byte
		crypto.Read(b[:]) // never fails
		return binary.LittleEndian.Uint64(b[:])
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.r.Uint64()
}

// N returns a number from 0 to n − 1.
func N(ctx context.Context, n uint64) uint64 { return next(ctx) % n }

// Key returns a key for a form. The key ensures that a form that is submitted twice is counted only
// once.
func Key(ctx context.Context) string {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], next(ctx))
	binary.LittleEndian.PutUint64(b[8:], next(ctx))
	return base64.RawURLEncoding.EncodeToString(b[:12])
}
