package room

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"sync/atomic"

	"github.com/tokenbytoken/viz/web/class"
)

// face is the state of a room that every server has.
type face struct {
	hub    *Hub
	code   string
	secret [sha256.Size]byte // hash of the instructor's secret
	ctx    context.Context   // ends with the room
	stop   context.CancelFunc
	view   atomic.Pointer[class.View] // the newest
}

// Code implements [class.Room].
func (r *face) Code() string { return r.code }

// View implements [class.Room].
func (r *face) View() *class.View { return r.view.Load() }

func (r *face) fits(secret class.Secret) bool { return secret.Fits(r.secret) }

// ReplayKey implements [class.Room].
func (r *face) ReplayKey() string { return r.key("replay") }

// WorkKey implements [class.Room].
func (r *face) WorkKey() string { return r.key("work") }

// key derives a key for a purpose from the hash of the secret.
func (r *face) key(purpose string) string {
	sum := sha256.Sum256(append([]byte(purpose+" of room "+r.code+": "), r.secret[:]...))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}
