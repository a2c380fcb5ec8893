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

// ids gives runs their ids. It is the message authentication code of a text under
// the server's secret.
type ids func(text string) []byte

// newRunID returns an id for a new run of a learner.
func (g ids) newRunID(learner string) string {
	id := make([]byte, idBytes)
	rand.Read(id) // never fails
	return base64.RawURLEncoding.EncodeToString(append(id, g.mark(learner, id)...))
}

// gave reports whether a run's id was given to a learner.
func (g ids) gave(learner, id string) bool {
	b, err := base64.RawURLEncoding.DecodeString(id)
	return err == nil && len(b) == idBytes+markBytes && hmac.Equal(b[idBytes:], g.mark(learner, b[:idBytes]))
}

func (g ids) mark(learner string, id []byte) []byte {
	return g("run " + string(id) + " " + learner)[:markBytes]
}
