package class

import (
	"bytes"
	"context"
	"errors"

	"github.com/tokenbytoken/viz/web/journal"
)

// Home is where rooms are kept.
type Home struct {
	Logs    journal.Journal
	Secrets Secrets
}

// Errors of [CopyRoom]. Nothing is copied then.
var (
	// ErrOther is returned if another room has the code.
	ErrOther = errors.New("another room has this code there")
	// ErrUsed is returned if the room has gone on there after it was copied.
	ErrUsed = journal.ErrUsed
	// ErrNoSecret is returned for a damaged room, which nobody could teach in.
	ErrNoSecret = errors.New("the hash of its secret is missing")
)

// CopyRoom copies a room from one home to another, and returns how many of its records were
// not there yet. No server may have the room open. hash is that of its secret, there the
// hash of the room that has the code in the other home, nil if none does. If it is
// interrupted it can be called again.
func CopyRoom(ctx context.Context, from, to Home, log journal.Info, hash, there []byte) (added int, err error) {
	switch {
	case hash == nil:
		return 0, ErrNoSecret
	case there != nil && !bytes.Equal(hash, there):
		return 0, ErrOther
	}
	secret := SecretRecord(nil).Key()
	added, err = journal.CopyNew(ctx, from.Logs, to.Logs, log, func(r journal.Record) bool { return r.Key() == secret })
	if err == nil && there == nil { // the room can be found from now on
		err = to.Secrets.KeepSecret(ctx, log.Name, hash)
	}
	return added, err
}
