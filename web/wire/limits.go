package wire

import (
	"cmp"
	"time"

	"golang.org/x/time/rate"
)

// Limits bound what clients can make a [Server] do. A zero field means its
// default.
type Limits struct {
	// MessageBytes is the longest message from a client: a prompt of 4 KiB
	// written in \u escapes takes 24 KiB, so 64 KiB leaves room.
	MessageBytes int64
	// CommandsPerSecond and CommandBurst bound one connection's commands. A
	// held key repeats 30 times a second and a dragged slider sends 17.
	CommandsPerSecond rate.Limit
	CommandBurst      int
	// RefusalsPerSecond and RefusalBurst bound the answers to commands beyond that. A
	// client that exceeds them, too, is disconnected.
	RefusalsPerSecond rate.Limit
	RefusalBurst      int
}

// DefaultLimits apply where a server's configuration sets none.
var DefaultLimits = Limits{
	MessageBytes:      64 << 10,
	CommandsPerSecond: 60,
	CommandBurst:      120,
	RefusalsPerSecond: 1,
	RefusalBurst:      120,
}

// orDefaults replaces every zero field by its default.
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

// Bounds on a connection's waits and queues.
const (
	// writeWait is how long sending one message may take: a phone that changes cells
	// reconnects within it, and a reader that has stopped is disconnected.
	writeWait = 10 * time.Second
	// pongWait is how long a silent peer is assumed to be there. Proxies close
	// idle connections after 60 s or more, so pings must be sent sooner.
	pongWait = 60 * time.Second
	// pingPeriod leaves a tenth of pongWait for the answer to travel.
	pingPeriod = pongWait * 9 / 10
	// closeWait is how long the server reads on after its close frame, so
	// that unread input does not reset the connection and lose the frame.
	closeWait = time.Second
	// cutWait is how long a connection that was cut may take to end.
	cutWait = time.Second

	// Limits on a peer's control frames, per second and in a burst. RFC 6455 requires a
	// pong for each ping, which costs more than the ping.
	controlFramesPerSecond = 10
	controlFrameBurst      = 60

	// pushPause is the least time between two states on one connection: no screen shows
	// more than about 60 a second, and the next message includes everything that a fast run
	// did in between.
	pushPause = 16 * time.Millisecond
	// snapshotsPerSecond bounds the cost of a class. While a run plays fast, five hundred
	// phones get twenty snapshots a second each, and two thousand get five. At 16 KiB that
	// is 160 MB/s, which takes less than one core.
	snapshotsPerSecond = 10_000
	// sendBuffer is how much unsent data the kernel may hold for a slow reader (the kernel
	// doubles it for its own needs): a few screens. With more, a phone that leaves a tunnel
	// would first show outdated states, and a reader that has stopped would be noticed
	// late.
	sendBuffer = 128 << 10
	// queueMost is the maximum number of queued messages that cannot be merged. When the
	// queue is full the part blocks, and with it the client.
	queueMost = 16
	// panelsMost is the maximum number of panels in a queued message: more than any page
	// has, so only rows that are appended one by one reach it.
	panelsMost = 256
)
