package class

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
)

// relay is one server's state of a room in a cluster: its owner, the newest view, and the
// pages open on this server. Requests are forwarded to the owner, which can be this server.
type relay struct {
	hub   *Hub
	room  *Room         // the room that this relay belongs to
	own   chan struct{} // a lock of capacity 1, held while becoming the owner
	first chan struct{} // closed once there is a view

	mu         sync.Mutex
	here       *Room // the running room, while this server owns it
	lease      Lease // the owner's lease; its Server is "" if the owner is unknown
	seen       bool  // whether first is closed
	pages      map[string]int
	presenters map[string]int
	watching   int // the number of subscribers to the room's views, members or not
	used       time.Time
	follows    bool
	incoming   *wireView // a published view that is not shown yet
	latest     *View     // the newest published view, shown or not

	news    chan struct{} // incoming was set; of capacity 1
	changed chan struct{} // pages were opened or closed; of capacity 1
}

// newRelay returns the relay of a room that has not been requested yet.
func (h *Hub) newRelay(code string, hash [32]byte) *relay {
	r := &Room{hub: h, code: code, secret: hash}
	r.ctx, r.stop = context.WithCancel(h.ctx)
	r.view.Store(&View{Code: code})
	r.relay = &relay{
		hub: h, room: r, own: make(chan struct{}, 1), first: make(chan struct{}), pages: map[string]int{},
		presenters: map[string]int{}, news: make(chan struct{}, 1), changed: make(chan struct{}, 1), used: time.Now(),
	}
	return r.relay
}

// signal sends to a channel of capacity 1, unless it is full.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// see makes v the current view on this server if v is newer than the current one, and
// reports whether it did. A view from an earlier owner or from an earlier moment is dropped.
func (f *relay) see(v *View) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seen && !v.after(f.room.view.Load()) {
		return false
	}
	f.room.view.Store(v)
	if !f.seen {
		f.seen = true
		close(f.first)
	}
	return true
}

// after reports whether v is newer than x.
func (v *View) after(x *View) bool { return v.epoch > x.epoch || v.epoch == x.epoch && v.Seq > x.Seq }

// end removes the relay of a deleted room.
func (f *relay) end() {
	f.hub.mu.Lock()
	if f.hub.relays[f.room.code] == f {
		delete(f.hub.relays, f.room.code)
	}
	f.hub.mu.Unlock()
	f.room.stop()
}

// gone announces that the room was deleted.
func (f *relay) gone() {
	last := f.room.View()
	if f.see(&View{
		epoch: last.epoch, Seq: last.Seq + 1, At: f.hub.cfg.Now(), Code: f.room.code, Gone: true, Ended: true,
	}) {
		f.hub.cfg.Broker.Publish(f.room.code, Note{last.Seq + 1})
	}
	f.end()
}

// The shortest and longest wait before a request is retried.
const (
	leastWait = 10 * time.Millisecond
	mostWait  = 250 * time.Millisecond
)

// call runs an operation on the room's owner. If the owner dies, call retries on the next
// owner, unless the operation is not idempotent and might already have been executed.
func call[A, B any](ctx context.Context, f *relay, o op[A, B], a A) (B, error) {
	var none B
	tries, cancel := context.WithTimeout(ctx, f.hub.cfg.Cluster.Paces.Call)
	defer cancel()
	for wait := leastWait; ; wait = min(2*wait, mostWait) {
		if f.hub.cfg.Cluster.isAway() {
			return none, ErrAway
		}
		v, err := attempt(tries, f, o, a)
		if !errors.Is(err, errMoved) {
			return v, err
		}
		select {
		case <-time.After(wait):
		case <-tries.Done():
			if ctx.Err() != nil {
				return none, ctx.Err()
			}
			return none, ErrAway
		case <-f.room.ctx.Done():
			return none, ErrGone
		}
	}
}

// attempt tries an operation on the owner once. If it returns errMoved, the operation can be
// retried.
func attempt[A, B any](ctx context.Context, f *relay, o op[A, B], a A) (v B, err error) {
	here, lease, err := f.locate(ctx, time.Time{})
	switch {
	case err != nil:
		if _, ok := terms.AsRefusal(err); ok {
			return v, err
		}
		return v, errMoved
	case here != nil:
		v, err = o.do(ctx, here, a)
		return v, here.whyMoved(err)
	}
	args, err := json.Marshal(a)
	if err != nil {
		return v, err
	}
	data, err := json.Marshal(request{f.room.code, lease.Term, o.name, args})
	if err != nil {
		return v, err
	}
	c := f.hub.cfg.Cluster
	within, cancel := context.WithTimeout(ctx, c.Paces.Try)
	defer cancel()
	go func() { // stop waiting when the owner is gone
		select {
		case <-lease.Lost:
			cancel()
		case <-within.Done():
		}
	}()
	answer, err := c.Bus.Request(within, lease.Server, data)
	if err != nil {
		f.lose(lease)
		if o.once && !errors.Is(err, ErrNoServer) {
			return v, ErrUnsure
		}
		return v, errMoved
	}
	var p reply
	if err := json.Unmarshal(answer, &p); err != nil {
		return v, err
	}
	if err = p.read(&v); errors.Is(err, errMoved) {
		f.lose(lease)
	}
	return v, err
}

// lose forgets the owner of the room, unless it is no longer the one named by lease.
func (f *relay) lose(lease Lease) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.here == nil && f.lease.Server == lease.Server && f.lease.Term == lease.Term {
		f.lease = Lease{}
	}
}

// locate returns the room itself if this server owns it, and otherwise the owner's lease.
// If nobody owns the room, this server becomes the owner. The time used is when the room was
// last used; zero means now.
func (f *relay) locate(ctx context.Context, used time.Time) (*Room, Lease, error) {
	known := func() (*Room, Lease, bool) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.here == nil && f.lease.ended() {
			f.lease = Lease{}
		}
		return f.here, f.lease, f.here != nil || f.lease.Server != ""
	}
	if here, lease, ok := known(); ok {
		return here, lease, nil
	}
	select {
	case f.own <- struct{}{}:
		defer func() { <-f.own }()
	case <-ctx.Done():
		return nil, Lease{}, ctx.Err()
	}
	if here, lease, ok := known(); ok {
		return here, lease, nil
	}
	lease, err := f.hub.cfg.Cluster.Leases.Take(ctx, f.room.code)
	if err != nil {
		return nil, Lease{}, err
	}
	if lease.Release == nil {
		f.mu.Lock()
		f.lease = lease
		f.mu.Unlock()
		return nil, lease, nil
	}
	here, err := f.begin(ctx, lease, used)
	if err != nil {
		lease.Release()
		if errors.Is(err, ErrNoRoom) {
			f.gone()
		}
		return nil, Lease{}, err
	}
	return here, lease, nil
}

// ready makes the owner open the room's run, and waits until this server has a view of the
// room.
func (f *relay) ready(ctx context.Context) error {
	if _, err := call(ctx, f, opWake, nothing{}); err != nil {
		return err
	}
	if err := f.follow(); err != nil {
		return err
	}
	within, cancel := context.WithTimeout(ctx, f.hub.cfg.Cluster.Paces.Call)
	defer cancel()
	select {
	case <-f.first:
		return nil
	case <-f.room.ctx.Done():
		return ErrGone
	case <-within.Done():
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return ErrAway
	}
}

// fewPages is the largest number of people for which each change is reported immediately.
// Larger reports, which can list thousands of people, wait for the next beat.
const fewPages = 100

// count adds n to the number of someone's open pages, and notifies the owner.
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

func (f *relay) join(ctx context.Context, who admission.Caller, nick string) (*Member, error) {
	f.count(f.pages, who.Learner, 1) // counted before the join, so that an earlier report cannot undo it
	m, err := call(ctx, f, opJoin, joining{who, nick, f.hub.cfg.Cluster.Server})
	if err != nil {
		f.count(f.pages, who.Learner, -1)
		return nil, err
	}
	return &m, nil
}

// vote sends a ballot, giving it a number so that it can safely be sent again.
func (f *relay) vote(ctx context.Context, learner string, b Ballot) (Receipt, error) {
	if b.N == 0 {
		s, err := call(ctx, f, opStanding, whoArgs{admission.Caller{Learner: learner}})
		if err != nil {
			return Receipt{}, err
		}
		if b.N = f.hub.cfg.Now().UnixMilli(); s.Vote != nil {
			b.N = max(b.N, s.Vote.N+1)
		}
	}
	return call(ctx, f, opVote, balloting{learner, b})
}

func (f *relay) openPresenter(ctx context.Context, who string, secret Secret) (closed func(), err error) {
	f.count(f.presenters, who, 1)
	closed = func() { f.count(f.presenters, who, -1) }
	a := presenting{Who: who, Secret: secret, Server: f.hub.cfg.Cluster.Server}
	if _, err := call(ctx, f, opPresenter, a); err != nil {
		closed()
		return nil, err
	}
	return closed, nil
}

// present executes a command, and waits until this server has the view after it.
func (f *relay) present(ctx context.Context, who string, secret Secret, cmd Command) (*View, error) {
	at, err := call(ctx, f, opPresent, presenting{Who: who, Secret: secret, Do: command{cmd}})
	if err != nil {
		return nil, err
	}
	notes, stop := f.hub.cfg.Broker.Subscribe(f.room.code)
	defer stop()
	late := time.NewTimer(f.hub.cfg.Cluster.Paces.Try)
	defer late.Stop()
	for {
		v := f.room.View()
		if !(&View{epoch: at.Epoch, Seq: at.Seq}).after(v) {
			return v, nil
		}
		select {
		case <-notes:
		case <-late.C: // the command was executed, and the view will arrive later
			return v, nil
		case <-f.room.ctx.Done():
			return f.room.View(), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
