package progress

import (
	"crypto/rand"
	"encoding/base64"
)

// NewKey returns a random key for an answer or a review, so that one that is
// sent twice counts once.
func NewKey() string {
	var b [12]byte
	rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}
