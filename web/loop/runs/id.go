package runs

import (
	"crypto/hmac"
	"crypto/rand"
	"encoding/base64"
)

// A run's id consists of 128 random bits and a MAC. The MAC shows the server that it has issued the
// id, and to which learner. If a run is gone, for example after a restart with the same data
// folder, the first of its pages to reconnect recreates it under the same id, and all others find
// it there. A learner never gets a run under an id that was not issued to them.
const (
	idBytes  = 16
	macBytes = 8
)

// newID returns an id for a new run of a learner.
func (rs *Registry) newID(learner string) string {
	id := make([]byte, idBytes)
	rand.Read(id) // never fails
	return base64.RawURLEncoding.EncodeToString(append(id, rs.sign(learner, id)...))
}

// issued reports whether a run's id was issued to a learner.
func (rs *Registry) issued(learner, id string) bool {
	b, err := base64.RawURLEncoding.DecodeString(id)
	return err == nil && len(b) == idBytes+macBytes && hmac.Equal(b[idBytes:], rs.sign(learner, b[:idBytes]))
}

func (rs *Registry) sign(learner string, id []byte) []byte {
	return rs.cfg.MAC("run " + string(id) + " " + learner)[:macBytes]
}
