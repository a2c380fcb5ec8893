package class

import "sync"

// Note reports that a room has a new [View].
type Note struct {
	Seq uint64 // the view's sequence number
}

// Broker notifies the followers of rooms. Publish does not block: if a subscriber has not received
// its last note yet, the new one replaces it. [NewBroker] returns a broker for a single process; a
// broker that connects processes would allow several of them to serve followers.
type Broker interface {
	Publish(room string, n Note)
	// Subscribe returns a channel that holds at most one note and a function that ends the
	// subscription. The channel is never closed.
	Subscribe(room string) (<-chan Note, func())
}

// NewBroker returns a broker for one process.
func NewBroker() Broker { return &broker{rooms: map[string]map[chan Note]struct{}{}} }

type broker struct {
	mu    sync.Mutex
	rooms map[string]map[chan Note]struct{}
}

func (b *broker) Publish(room string, n Note) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for c := range b.rooms[room] {
		select {
		case c <- n:
			continue
		default:
		}
		select { // any waiting note is older, since publishers hold the lock
		case <-c:
		default: // the subscriber has just received it
		}
		c <- n // the channel is empty now, and nobody else sends
	}
}

func (b *broker) Subscribe(room string) (<-chan Note, func()) {
	c := make(chan Note, 1)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rooms[room] == nil {
		b.rooms[room] = map[chan Note]struct{}{}
	}
	b.rooms[room][c] = struct{}{}
	return c, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.rooms[room], c)
		if len(b.rooms[room]) == 0 {
			delete(b.rooms, room)
		}
	}
}
