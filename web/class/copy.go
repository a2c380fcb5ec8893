package class

import (
	"bytes"
	"context"
	"errors"

	"github.com/tokenbytoken/viz/web/journal"
)

// Home is the storage of rooms.
type Home struct {
	Logs    journal.Journal
	Secrets Secrets
}

// Errors of [CopyRoom]. If one of them is returned, nothing was copied.
var (
	// ErrOther is returned if another room has the code.
	ErrOther = errors.New("another room has this code there")
	// ErrUsed is returned if the copy in the other home has been used since.
	ErrUsed = journal.ErrUsed
	// ErrNoSecret is returned for a damaged room without a secret, which nobody could teach
	// in.
	ErrNoSecret = errors.New("the hash of its secret is missing")
)

// CopyRoom copies a room from one home to another, and returns the number of records that
// were new there. No server may have the room open. hash is the hash of the room's secret;
// there is the hash of the room with the same code in the other home, or nil if there is
// none. An interrupted CopyRoom can be called again.
func CopyRoom(ctx context.Context, from, to Home, log journal.Info, hash, there []byte) (added int, err error) {
	switch {
	case hash == nil:
		return 0, ErrNoSecret
	case there != nil && !bytes.Equal(hash, there):
		return 0, ErrOther
	}
	secret := SecretRecord(nil).Key()
	added, err = journal.CopyNew(ctx, from.Logs, to.Logs, log, func(r journal.Record) bool { return r.Key() == secret })
	if err == nil && there == nil { // last, so that the room can be found only once it is complete
		err = to.Secrets.KeepSecret(ctx, log.Name, hash)
	}
	return added, err
}
