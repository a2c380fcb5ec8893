package class

import (
	"context"
	"errors"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/journal"
)

// Cluster connects the hubs of several servers that share their rooms: any server
// answers for any room. One of them at a time owns a room and runs it as it would
// alone; on the others a [relay] asks the owner, and shows its views.
//
// Who owns a room is said by a lease, and decided by the log: an owner begins with a
// record of its epoch, after which the log accepts nothing from the owner before
// ([Fence]). So a server that has lost its lease and doesn't know it yet can confirm
// nothing. When an owner dies, the next server that needs the room takes the lease and
// goes on from the log.
type Cluster struct {
	Server string // this server's name, another one after each start
	Leases Leases
	Bus    Bus
	Fence  Fence
	// Secret returns the hash of a room's secret, nil if there is no such room.
	Secret func(ctx context.Context, room string) ([]byte, error)
	// Away reports whether what the servers share has been out of reach for so long that
	// requests are not kept waiting for it. nil means never.
	Away  func() bool
	Paces Paces // zero fields have the defaults
}

func (c *Cluster) isAway() bool { return c.Away != nil && c.Away() }

// Leases say which server owns a room. Whether a lease is still held is measured by the
// time that passes on each server, never by comparing their clocks.
type Leases interface {
	// Take takes the lease of a room, unless a server has it. A lease taken is renewed
	// until it is released or lost. An error means that nobody knows who owns the room.
	Take(ctx context.Context, room string) (Lease, error)
}

// Lease says who owns a room.
type Lease struct {
	Server string // the owner
	Term   uint64 // grows each time that the room's lease is taken
	// Lost is closed when the lease has ended, or may end before it can be renewed. Where
	// the lease is another server's, it is closed when this one learns that it has ended, and
	// may be nil.
	Lost <-chan struct{}
	// Release ends the lease. It is set only if the lease is this server's.
	Release func()
}

// ended reports whether the lease is known to have ended.
func (l Lease) ended() bool {
	select {
	case <-l.Lost:
		return true
	default:
		return false
	}
}

// Bus carries messages between the servers. A message may be lost, late, or overtaken by
// another.
type Bus interface {
	// Publish sends a message to all who subscribe to a room. It does not block.
	Publish(room string, message []byte)
	// Subscribe calls f with each message for a room, one at a time, until stop is
	// called. f must return quickly.
	Subscribe(room string, f func(message []byte)) (stop func(), err error)
	// Request sends a request to a server and returns its answer. An error means that
	// the server may or may not have received it, unless it is [ErrNoServer].
	Request(ctx context.Context, server string, request []byte) ([]byte, error)
	// Serve answers the requests that are sent to a server, each in a goroutine of its
	// own, until stop is called.
	Serve(server string, f func(ctx context.Context, request []byte) []byte) (stop func(), err error)
}

// Fence appends to the logs of rooms for their owners.
type Fence interface {
	// AppendAs is [journal.Journal.Append] on a condition: the newest record of type
	// [EpochType] in the log must have the id epoch. Or the batch begins with that
	// record, and the log has none as high. Otherwise it stores nothing and returns
	// [ErrFenced].
	AppendAs(ctx context.Context, b journal.Batch, epoch uint64) ([]int64, error)
}

// EpochType is the type of the records with which owners begin. Their ids are numbers
// that grow.
const EpochType = "epoch"

// Errors of a cluster.
var (
	// ErrFenced is returned for a batch of an owner that another one has followed.
	ErrFenced = errors.New("another server has begun to run this room")
	// ErrNoServer is returned for a request that reached no server.
	ErrNoServer = errors.New("there is no such server")

	// errMoved means that this server does not own the room, and that nothing was done.
	errMoved = errors.New("the room is on another server")
)

// Refusals that only a cluster has.
var (
	// ErrUnsure refuses a command that may or may not have been executed.
	ErrUnsure = terms.Refuse(
		CodeMoved, "This class has just moved to another server. Look at the screen before you press that again: "+
			"it may have been done.",
	)
	// ErrAway is returned while no server can run the room.
	ErrAway = terms.Refuse(
		terms.CodeBusy,
		"This class can't be reached at the moment. It comes back by itself: try again in a few seconds.",
	)
)

// CodeMoved refuses a command during which a room moved to another server.
const CodeMoved terms.Code = "moved"

// Paces are the times of a cluster.
type Paces struct {
	// Call is how long a request for a room may take, with everything that is tried;
	// Try how long one attempt may.
	Call, Try time.Duration
	// Beat is how often a server tells the owner which pages it has open, Gone how long
	// the owner counts the pages of one that says nothing.
	Beat, Gone time.Duration
	// Idle is how long a server follows a room that nobody asks for.
	Idle time.Duration
}

func (p Paces) withDefaults() Paces {
	set := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	set(&p.Call, 15*time.Second)
	set(&p.Try, 3*time.Second)
	set(&p.Beat, time.Second)
	set(&p.Gone, 5*time.Second)
	set(&p.Idle, time.Minute)
	return p
}

// The longest messages of a cluster, in bytes.
const (
	MaxRequest = 256 << 10 // to one server
	MaxReply   = 4 << 20   // its answer, or a view
)
