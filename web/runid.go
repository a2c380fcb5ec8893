package web

import (
	"crypto/hmac"
	"crypto/rand"
	"encoding/base64"
)

// A run's id is 128 random bits and a mark by which the server knows the ids
// that it has given to a learner. Where a run is gone, after a restart on the
// same data folder for one, the first of its pages to come back makes it anew
// under the same id, and all others find it there. An id that was not given to
// that learner is never taken over.
const (
	idBytes   = 16
	markBytes = 8
)

// newRunID returns an id for a new run of a learner.
func (l learners) newRunID(learner string) string {
	id := make([]byte, idBytes)
	rand.Read(id) // never fails
	return base64.RawURLEncoding.EncodeToString(append(id, l.mark(learner, id)...))
}

// gave reports whether a run's id was given to a learner.
func (l learners) gave(learner, id string) bool {
	b, err := base64.RawURLEncoding.DecodeString(id)
	return err == nil && len(b) == idBytes+markBytes && hmac.Equal(b[idBytes:], l.mark(learner, b[:idBytes]))
}

func (l learners) mark(learner string, id []byte) []byte {
	mac, _ := base64.RawURLEncoding.DecodeString(l.mac("run " + string(id) + " " + learner)) // its own encoding
	return mac[:markBytes]
}
