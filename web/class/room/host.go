package room

import (
	"errors"

	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/journal"
)

// ErrMoved means that this server does not own the room and has not executed the request.
var ErrMoved = errors.New("the room is on another server")

// Host is a room's server, as the room's goroutine sees it. In a cluster, it is a relay of package
// remote.
type Host interface {
	// Append appends to the room's log. In a cluster, epoch is the owner's epoch. After [ErrMoved],
	// nothing more may be confirmed.
	Append(b journal.Batch, epoch uint64) ([]int64, error)
	// MayDelete returns an error if the room must not be deleted here. It can call try, which
	// appends to the log.
	MayDelete(try func() error) error
	// Shown is called with each new view.
	Shown(v *class.View)
}
