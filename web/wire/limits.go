package wire

import (
	"cmp"
	"time"

	"golang.org/x/time/rate"
)

// Limits bound what clients can make a [Server] do. A zero field stands for its
// default.
type Limits struct {
	// MessageBytes is the longest message from a client: a prompt of 4 KiB
	// written in \u escapes takes 24 KiB, so 64 KiB leaves room.
	MessageBytes int64
	// Sockets is how many connections are open at once.
	Sockets int
	// CommandsPerSecond and CommandBurst bound one connection's commands. A
	// held key repeats 30 times a second and a dragged slider sends 17.
	CommandsPerSecond rate.Limit
	CommandBurst      int
}

// DefaultLimits are the limits of a server that was told nothing else.
var DefaultLimits = Limits{
	MessageBytes:      64 << 10,
	Sockets:           4000,
	CommandsPerSecond: 60,
	CommandBurst:      120,
}

// orDefaults replaces every zero field by its default.
func (l Limits) orDefaults() Limits {
	d := DefaultLimits
	return Limits{
		MessageBytes:      cmp.Or(l.MessageBytes, d.MessageBytes),
		Sockets:           cmp.Or(l.Sockets, d.Sockets),
		CommandsPerSecond: cmp.Or(l.CommandsPerSecond, d.CommandsPerSecond),
		CommandBurst:      cmp.Or(l.CommandBurst, d.CommandBurst),
	}
}

// What a connection's waits are bounded by.
const (
	// writeWait is how long one message may take to leave: a phone that
	// changes cells is back within it, a reader that has stopped is cut.
	writeWait = 10 * time.Second
	// pongWait is how long a silent peer is believed to be there. Proxies cut
	// idle connections after 60 s or more, so pings must come sooner.
	pongWait = 60 * time.Second
	// pingPeriod leaves a tenth of pongWait for the answer to travel.
	pingPeriod = pongWait * 9 / 10
	// closeWait is how long the server reads on after its close frame, so
	// that unread input does not reset the connection and lose the frame.
	closeWait = time.Second

	// pushPause is the least time between two states on one connection: no
	// screen shows more than about 60 a second, and whatever a fast run did in
	// between is in the next message.
	pushPause = 16 * time.Millisecond
	// snapshotsPerSecond bounds what a class costs: of a run that plays fast,
	// five hundred phones get twenty snapshots a second each, two thousand five.
	// At 16 KiB that is 160 MB/s, less than one core.
	snapshotsPerSecond = 10_000
	// sendBuffer is how much of what a part sends the kernel may hold for a slow
	// reader (which it doubles for its own needs): some screens. With more, a
	// phone that comes out of a tunnel would first be shown what is long past,
	// and one that has stopped to read would be noticed late.
	sendBuffer = 128 << 10
	// queueMost is how many messages that cannot be joined wait to be sent.
	// When it is full the part waits, and with it the client.
	queueMost = 16
	// panelsMost is how many pieces of a page may wait to be sent together: more
	// than any page has, so that only rows which are added one by one come so far.
	panelsMost = 256
)
