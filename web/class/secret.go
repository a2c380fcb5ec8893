package class

import (
	"context"
	"crypto/sha256"
	"encoding/json"

	"github.com/tokenbytoken/viz/web/journal"
)

// secretRecord has the hash of an instructor's secret.
type secretRecord struct {
	Hash []byte `json:"hash"`
}

func (s secretRecord) check() bool { return len(s.Hash) == sha256.Size }

// SecretRecord is the record of a room's log that has the hash of its secret. Only logs
// in a cluster have one: a server alone has the hashes beside its logs ([Secrets]).
func SecretRecord(hash []byte) journal.Record {
	return newEntry(typeSecret, "1", typeSecret, secretRecord{hash}).Record
}

// SecretIn returns the hash that a room's log has of its secret, nil if it has none.
func SecretIn(ctx context.Context, logs journal.Journal, room string) ([]byte, error) {
	r, found, err := logs.Find(ctx, journal.Owner{Kind: journal.Room, Name: room}, SecretRecord(nil).Key())
	if err != nil || !found {
		return nil, err
	}
	var s secretRecord
	if json.Unmarshal(r.Data, &s) != nil || !s.check() {
		return nil, nil
	}
	return s.Hash, nil
}
