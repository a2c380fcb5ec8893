package remote

import (
	"context"
	"crypto/sha256"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/room"
)

// relay is a server's state for one room of a cluster: its owner, the newest view, and the pages
// open on this server. Requests are forwarded to the owner, which can be this server.
type relay struct {
	*room.Face
	ctx    context.Context // ends with the room
	stop   context.CancelFunc
	shared *shared
	own    chan struct{} // a lock of capacity 1, held while becoming the owner
	first  chan struct{} // closed once there is a view

	mu         sync.Mutex
	here       *room.Local // the running room, while this server owns it
	lease      Lease       // the owner's lease; its Server is "" if the owner is unknown
	seen       bool        // whether first is closed
	pages      map[string]int
	presenters map[string]int
	watching   int // the number of subscribers to the room's views, members or not
	used       time.Time
	follows    bool
	incoming   *wireView   // a published view that is not shown yet
	latest     *class.View // the newest published view, shown or not

	news    chan struct{} // signals that incoming was set; of capacity 1
	changed chan struct{} // signals that pages were opened or closed; of capacity 1
}

// newRelay returns the relay of a room that has not been requested yet.
func (h *shared) newRelay(code string, hash [sha256.Size]byte) *relay {
	f := &relay{
		Face: room.NewFace(code, hash), shared: h,
		own: make(chan struct{}, 1), first: make(chan struct{}),
		pages: map[string]int{}, presenters: map[string]int{},
		news: make(chan struct{}, 1), changed: make(chan struct{}, 1), used: time.Now(),
	}
	f.ctx, f.stop = context.WithCancel(h.Context())
	f.Face.Show(&class.View{Code: code})
	return f
}

// signal sends to a channel of capacity 1, unless it is full.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// see makes v the current view on this server if v is newer than the current one, and reports
// whether it did. Older views and views from a previous owner are dropped.
func (f *relay) see(v *class.View) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seen && !v.After(f.View()) {
		return false
	}
	f.Face.Show(v)
	if !f.seen {
		f.seen = true
		close(f.first)
	}
	return true
}

// end removes the relay of a deleted room.
func (f *relay) end() {
	f.shared.discard(f)
	f.stop()
}

// gone announces that the room was deleted.
func (f *relay) gone() {
	last := f.View()
	if f.see(&class.View{
		Epoch: last.Epoch, Seq: last.Seq + 1, At: f.shared.Config().Now(), Code: f.Code(), Gone: true, Ended: true,
	}) {
		f.shared.Config().Broker.Publish(f.Code(), class.Note{Seq: last.Seq + 1})
	}
	f.end()
}

// shared is the directory of a server in a cluster.
type shared struct {
	*room.Hub
	c *Cluster

	mu      sync.Mutex        // locked after the hub's lock and before a relay's
	relays  map[string]*relay // by code
	expired time.Time         // when rooms without an owner were last swept

	reports atomic.Uint64
	stop    func() // stops serving other servers
}

func (h *shared) relayOf(code string) *relay {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.relays[code]
}

// keep remembers the relay of a room that this server owns.
func (h *shared) keep(f *relay) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.relays[f.Code()] = f
}

// discard forgets a relay.
func (h *shared) discard(f *relay) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.relays[f.Code()] == f {
		delete(h.relays, f.Code())
	}
}

func (f *relay) watched(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watching += n
	f.used = time.Now()
}

// blank reports whether a view would replace a visible stage with an empty one, because it comes
// from a new owner that has not opened the run yet. In that case, the old view is kept: the next
// report of open pages makes the owner open the run and publish a view with the stage. The caller
// holds f.mu.
func (f *relay) blank(v *class.View, hasRun bool) bool {
	return !hasRun && !v.Gone && f.seen && f.View().State != nil
}

// fewPages is the largest number of people for which each change is reported immediately.
// Larger reports, which can list thousands of people, wait for the next beat.
const fewPages = 100

// count adds n to a person's number of open pages, and notifies the owner.
func (f *relay) count(pages map[string]int, who string, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.used = time.Now()
	if pages[who] += n; pages[who] <= 0 {
		delete(pages, who)
	}
	if len(pages) <= fewPages {
		signal(f.changed)
	}
}
