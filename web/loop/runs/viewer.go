package runs

import (
	"sync"
	"sync/atomic"
)

// Viewer is one connection that watches a run. It holds a single bit (whether something is new)
// and no queue, so a slow viewer costs nothing.
type Viewer struct {
	wake  chan struct{} // of capacity 1
	page  string        // the page that the connection belongs to, "" for none
	again bool          // the page has watched this run before

	seen atomic.Uint64 // version of the last state that it was sent

	mu       sync.Mutex
	ack      uint64 // number of the last command carried out
	answered int    // number of commands carried out
}

// NewViewer returns a viewer for [Registry.Join]. page is the name that the page has given itself,
// which identifies it when it reconnects: 1 to 40 letters, digits, - and _. Any other string counts
// as no name.
func NewViewer(page string) *Viewer {
	return &Viewer{wake: make(chan struct{}, 1), page: pageName(page)}
}

// Wake returns a channel that receives a value once initially, and then after every change of the
// run. Several changes result in a single value if the viewer has not received it yet.
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
