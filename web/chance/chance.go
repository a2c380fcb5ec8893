// Package chance is where pages get what is random in them: the keys of forms, the
// numbers of new problems. For those who write a page once for everybody, nothing is
// random ([Steady]).
package chance

import (
	"context"
	crypto "crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"math/rand/v2"
	"sync"
)

// steady is a source that gives the same each time.
type steady struct {
	mu sync.Mutex
	r  *rand.PCG
}

type key struct{}

// Steady returns a context in which every page comes out the same each time. Each page
// needs one of its own.
func Steady(ctx context.Context) context.Context {
	return context.WithValue(ctx, key{}, &steady{r: rand.NewPCG(1, 2)})
}

// IsSteady says that a page is written once for everybody, on every machine: it can hold
// nothing that was measured on this one.
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

// Key returns the key of a form, so that one that is sent twice counts once.
func Key(ctx context.Context) string {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], next(ctx))
	binary.LittleEndian.PutUint64(b[8:], next(ctx))
	return base64.RawURLEncoding.EncodeToString(b[:12])
}
