package records

import (
	"context"
	"crypto/sha256"
	"encoding/json"

	"github.com/tokenbytoken/viz/web/journal"
)

// secretRecord contains the hash of an instructor's secret.
type secretRecord struct {
	Hash []byte `json:"hash"`
}

func (s secretRecord) check() bool { return len(s.Hash) == sha256.Size }

// SecretRecord returns the log record that contains the hash of a room's secret. Only logs in a
// cluster have such a record: a single server stores the hashes separately from the logs
// ([Secrets]).
func SecretRecord(hash []byte) journal.Record {
	return SecretEntry(hash).Record
}

// SecretEntry is [SecretRecord] with its subject.
func SecretEntry(hash []byte) Entry { return New(TypeSecret, "1", TypeSecret, secretRecord{hash}) }

// SecretIn returns the hash of the secret from a room's log, or nil if the log contains no
// hash.
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
