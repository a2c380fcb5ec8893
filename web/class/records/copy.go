package records

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
	// ErrOther is returned if the destination has a different room with the same code.
	ErrOther = errors.New("the destination has a different room with this code")
	// ErrUsed is returned if the destination already has a copy of the room and the copy has
	// been used.
	ErrUsed = journal.ErrUsed
	// ErrNoSecret is returned for a damaged room that has lost its secret: nobody could present in
	// it.
	ErrNoSecret = errors.New("the hash of the room's secret is missing")
)

// CopyRoom copies a room from one home to another and returns the number of records that were
// added. The room must not be open on any server. The parameter hash is the hash of the room's
// secret. The parameter there is the hash that the destination has stored for this code, or nil if
// it has none. If CopyRoom is interrupted, it can be called again.
func CopyRoom(ctx context.Context, from, to Home, log journal.Info, hash, there []byte) (added int, err error) {
	switch {
	case hash == nil:
		return 0, ErrNoSecret
	case there != nil && !bytes.Equal(hash, there):
		return 0, ErrOther
	}
	secret := SecretRecord(nil).Key()
	added, err = journal.CopyNew(ctx, from.Logs, to.Logs, log, func(r journal.Record) bool { return r.Key() == secret })
	if err == nil && there == nil { // the secret comes last, so that the room can be found only once it is complete
		err = to.Secrets.KeepSecret(ctx, log.Name, hash)
	}
	return added, err
}
