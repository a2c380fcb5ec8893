package room

import (
	"crypto/sha256"
	"encoding/base64"
	"sync/atomic"

	"github.com/tokenbytoken/viz/web/class"
)

// Face is the state of a room that every server has.
type Face struct {
	code   string
	secret [sha256.Size]byte          // hash of the instructor's secret
	view   atomic.Pointer[class.View] // the newest
}

// NewFace returns the face of a room with a code and the hash of a secret, without a view.
func NewFace(code string, secret [sha256.Size]byte) *Face { return &Face{code: code, secret: secret} }

// Show makes v the newest view.
func (r *Face) Show(v *class.View) { r.view.Store(v) }

// Code implements [class.Room].
func (r *Face) Code() string { return r.code }

// View implements [class.Room].
func (r *Face) View() *class.View { return r.view.Load() }

// Fits implements [Hosted].
func (r *Face) Fits(secret class.Secret) bool { return secret.Fits(r.secret) }

// ReplayKey implements [class.Room].
func (r *Face) ReplayKey() string { return r.key("replay") }

// WorkKey implements [class.Room].
func (r *Face) WorkKey() string { return r.key("work") }

// key derives a key for a purpose from the hash of the secret.
func (r *Face) key(purpose string) string {
	sum := sha256.Sum256(append([]byte(purpose+" of room "+r.code+": "), r.secret[:]...))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}
