package runs

import (
	"sync"
	"sync/atomic"
)

// Viewer is one connection that watches a run. Instead of a queue, it has a single bit that says
// whether something is new, so a slow viewer costs nothing.
type Viewer struct {
	wake  chan struct{} // has capacity 1
	page  string        // the page that the connection belongs to; "" for none
	again bool          // the page has watched this run before

	seen atomic.Uint64 // version of the last state that it was sent

	mu       sync.Mutex
	ack      uint64 // number of the last command carried out
	answered int    // number of commands carried out
}

// NewViewer returns a viewer for [Registry.Join]. page is the name that the page has given itself,
// which identifies the page when it reconnects. A name consists of 1 to 40 letters, digits, - and
// _. Any other string counts as no name.
func NewViewer(page string) *Viewer {
	return &Viewer{wake: make(chan struct{}, 1), page: pageName(page)}
}

// Wake returns a channel that receives one value at the beginning, and then one after every change
// of the run. If a viewer has not received a value yet, further changes do not add another one.
func (v *Viewer) Wake() <-chan struct{} { return v.wake }

// Again reports whether the viewer's page has watched the run before. It is set by
// [Registry.Join].
func (v *Viewer) Again() bool { return v.again }

// Progress returns the number of the last command carried out, and how many commands have been
// carried out on this connection.
func (v *Viewer) Progress() (ack uint64, answered int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.ack, v.answered
}

// Saw records that the viewer has been sent a state with the given version.
func (v *Viewer) Saw(version uint64) { v.seen.Store(version) }

func (v *Viewer) notify() {
	select {
	case v.wake <- struct{}{}:
	default: // the viewer has been woken and has not looked yet
	}
}

// acknowledge records that command n has been carried out.
func (v *Viewer) acknowledge(n uint64) {
	v.mu.Lock()
	v.ack, v.answered = n, v.answered+1
	v.mu.Unlock()
}
