package remote

import (
	"context"
	"errors"
	"time"

	"github.com/tokenbytoken/viz/web/journal"
)

// Cluster connects the hubs of several servers that share their rooms, so that every server
// can serve every room. One server at a time owns a room and runs it as a single server
// would; the others forward requests to the owner through a [relay] and show its views.
//
// A lease names the owner of a room, and the log enforces it: a new owner first appends a record of
// its epoch, after which the log accepts nothing from the previous owner ([Fence]). A server that
// has lost its lease without noticing therefore cannot confirm anything. When an owner dies, the
// next server that needs the room takes the lease and continues from the log.
type Cluster struct {
	Server string // this server's name, which is new at each start
	Leases Leases
	Bus    Bus
	Fence  Fence
	// Secret returns the hash of a room's secret, or nil if there is no such room.
	Secret func(ctx context.Context, room string) ([]byte, error)
	// Away reports whether the shared storage has been unreachable for so long that
	// requests should fail immediately. nil means never.
	Away  func() bool
	Paces Paces // zero fields get the defaults
}

func (c *Cluster) isAway() bool { return c.Away != nil && c.Away() }

// Leases record which server owns each room. To decide whether a lease is still held, each server
// measures the time elapsed on its own clock; clocks are never compared.
type Leases interface {
	// Take takes the lease of a room unless another server holds it, and returns the
	// current lease. A lease that this server takes is renewed until it is released or
	// lost. An error means that the owner of the room is unknown.
	Take(ctx context.Context, room string) (Lease, error)
}

// Lease describes the owner of a room.
type Lease struct {
	Server string // the owner
	Term   uint64 // grows each time the room's lease is taken
	// Lost is closed when the lease has ended, or might end before it can be renewed. For
	// another server's lease, Lost is closed when this server learns that the lease has
	// ended; it can be nil.
	Lost <-chan struct{}
	// Release ends the lease. It is nil unless this server holds the lease.
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

// Bus carries messages between the servers. Messages can be lost, delayed or reordered.
type Bus interface {
	// Publish sends a message to all subscribers of a room. It does not block.
	Publish(room string, message []byte)
	// Subscribe calls f with each message sent to a room, one at a time, until stop is
	// called. f must return quickly.
	Subscribe(room string, f func(message []byte)) (stop func(), err error)
	// Request sends a request to a server and returns its answer. Unless the error is
	// [ErrNoServer], it is unknown whether the server has received the request.
	Request(ctx context.Context, server string, request []byte) ([]byte, error)
	// Serve calls f for each request that is sent to a server, each in its own goroutine,
	// and replies with the result, until stop is called.
	Serve(server string, f func(ctx context.Context, request []byte) []byte) (stop func(), err error)
}

// Fence appends to room logs on behalf of the rooms' owners.
type Fence interface {
	// AppendAs is like [journal.Journal.Append], but stores the batch only if the newest
	// record of type [records.EpochType] in the log has the id epoch, or if the batch begins with a
	// record of that type and id, and the log has none with an equal or higher id. Otherwise it
	// stores nothing and returns [ErrFenced].
	AppendAs(ctx context.Context, b journal.Batch, epoch uint64) ([]int64, error)
}

// Errors of a cluster.
var (
	// ErrFenced is returned if the owner that appends a batch has been replaced.
	ErrFenced = errors.New("another server has taken over this room")
	// ErrNoServer is returned for a request that did not reach a server.
	ErrNoServer = errors.New("no such server")
)

// Paces are the intervals and timeouts of a cluster.
type Paces struct {
	// Call limits the total time of a request to a room's owner; Try limits a single attempt.
	Call, Try time.Duration
	// Beat is the interval at which a server reports its open pages to the owner. Gone is how long
	// the owner still counts the pages of a server that has stopped reporting.
	Beat, Gone time.Duration
	// Idle is how long a server keeps following a room that nobody requests.
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

// The maximum sizes of messages between servers, in bytes.
const (
	MaxRequest = 256 << 10 // a request to one server
	MaxReply   = 4 << 20   // a server's reply, or a view
)
