package wire

import (
	"cmp"
	"time"

	"golang.org/x/time/rate"
)

// Limits bound what clients can make a [Server] do. A zero field means its
// default.
type Limits struct {
	// MessageBytes is the maximum length of a message from a client. A prompt of 4 KiB takes 24 KiB
	// if it is sent as \u escapes, so the default of 64 KiB leaves room.
	MessageBytes int64
	// CommandsPerSecond and CommandBurst limit one connection's commands. A key that is held down
	// repeats 30 times a second, and a slider that is dragged sends 17 commands a second.
	CommandsPerSecond rate.Limit
	CommandBurst      int
	// RefusalsPerSecond and RefusalBurst limit the refusals of commands beyond that limit. A client
	// that also exceeds this limit is disconnected.
	RefusalsPerSecond rate.Limit
	RefusalBurst      int
}

// DefaultLimits contains the defaults for limits that a server's configuration does not set.
var DefaultLimits = Limits{
	MessageBytes:      64 << 10,
	CommandsPerSecond: 60,
	CommandBurst:      120,
	RefusalsPerSecond: 1,
	RefusalBurst:      120,
}

// orDefaults replaces every zero field with its default.
func (l Limits) orDefaults() Limits {
	d := DefaultLimits
	return Limits{
		MessageBytes:      cmp.Or(l.MessageBytes, d.MessageBytes),
		CommandsPerSecond: cmp.Or(l.CommandsPerSecond, d.CommandsPerSecond),
		CommandBurst:      cmp.Or(l.CommandBurst, d.CommandBurst),
		RefusalsPerSecond: cmp.Or(l.RefusalsPerSecond, d.RefusalsPerSecond),
		RefusalBurst:      cmp.Or(l.RefusalBurst, d.RefusalBurst),
	}
}

// Limits on a connection's waits and queues.
const (
	// writeWait is the maximum time for sending one message. It is long enough for a phone that
	// switches cells to reconnect. A reader that has stopped is disconnected after it.
	writeWait = 10 * time.Second
	// pongWait is how long a silent peer counts as connected. Proxies close idle connections after
	// 60 s or more, so pings must be sent more often than that.
	pongWait = 60 * time.Second
	// pingPeriod leaves a tenth of pongWait for the response to arrive.
	pingPeriod = pongWait * 9 / 10
	// closeWait is how long the server continues to read after sending its close frame. Otherwise,
	// unread input would reset the connection, and the frame would be lost.
	closeWait = time.Second
	// cutWait is how long a connection may take to end after it has been cut.
	cutWait = time.Second

	// The limits on a peer's control frames, per second and in a burst. RFC 6455 requires a
	// pong for each ping, and a pong costs more than a ping.
	controlFramesPerSecond = 10
	controlFrameBurst      = 60

	// pushPause is the minimum time between two states on one connection. Screens show at most
	// about 60 states a second, and the next message includes everything that a fast run has done
	// in between.
	pushPause = 16 * time.Millisecond
	// snapshotsPerSecond limits the cost of a class. While a run plays fast, each of five hundred
	// phones gets twenty snapshots a second, and each of two thousand phones gets five. At 16 KiB
	// per snapshot, that is 160 MB/s, which takes less than one core.
	snapshotsPerSecond = 10_000
	// sendBuffer is how much unsent data the kernel may buffer for a slow reader (the kernel
	// doubles it for its own needs). It is enough for a few screens. With a larger buffer, a phone
	// that leaves a tunnel would first show outdated states, and the server would notice late that
	// a reader has stopped.
	sendBuffer = 128 << 10
	// queueMost is the maximum number of queued messages that cannot be merged. When the queue is
	// full, the part blocks, and the client has to wait, too.
	queueMost = 16
	// panelsMost is the maximum number of panels in a queued message. Pages do not have that many
	// panels, so only rows that are appended one by one reach this limit.
	panelsMost = 256
)
