package remote

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/room"
)

// The shortest and longest wait before a request is retried.
const (
	leastWait = 10 * time.Millisecond
	mostWait  = 250 * time.Millisecond
)

// call runs an operation on the room's owner. If the owner dies, call retries on the next
// owner, unless the operation is not idempotent and might already have been executed.
func call[A, B any](ctx context.Context, f *relay, o op[A, B], a A) (B, error) {
	var none B
	tries, cancel := context.WithTimeout(ctx, f.shared.c.Paces.Call)
	defer cancel()
	for wait := leastWait; ; wait = min(2*wait, mostWait) {
		if f.shared.c.isAway() {
			return none, class.ErrAway
		}
		v, err := attempt(tries, f, o, a)
		if !errors.Is(err, room.ErrMoved) {
			return v, err
		}
		select {
		case <-time.After(wait):
		case <-tries.Done():
			if ctx.Err() != nil {
				return none, ctx.Err()
			}
			return none, class.ErrAway
		case <-f.ctx.Done():
			return none, class.ErrGone
		}
	}
}

// attempt tries an operation on the owner once. If it returns [room.ErrMoved], the operation can be
// retried.
func attempt[A, B any](ctx context.Context, f *relay, o op[A, B], a A) (v B, err error) {
	here, lease, err := f.locate(ctx, time.Time{})
	switch {
	case err != nil:
		if _, ok := terms.AsRefusal(err); ok {
			return v, err
		}
		return v, room.ErrMoved
	case here != nil:
		v, err = o.do(ctx, owned{here, f}, a)
		return v, here.WhyMoved(err)
	}
	args, err := json.Marshal(a)
	if err != nil {
		return v, err
	}
	data, err := json.Marshal(request{f.Code(), lease.Term, o.name, args})
	if err != nil {
		return v, err
	}
	c := f.shared.c
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
			return v, class.ErrUnsure
		}
		return v, room.ErrMoved
	}
	var p reply
	if err := json.Unmarshal(answer, &p); err != nil {
		return v, err
	}
	if err = p.read(&v); errors.Is(err, room.ErrMoved) {
		f.lose(lease)
	}
	return v, err
}

// lose forgets the room's owner if it is still the one named by lease.
func (f *relay) lose(lease Lease) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.here == nil && f.lease.Server == lease.Server && f.lease.Term == lease.Term {
		f.lease = Lease{}
	}
}

// locate returns the room itself if this server owns it, and otherwise the owner's lease. If nobody
// owns the room, this server becomes the owner. The parameter used is the time of the room's last
// use; zero means now.
func (f *relay) locate(ctx context.Context, used time.Time) (*room.Local, Lease, error) {
	known := func() (*room.Local, Lease, bool) {
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
	lease, err := f.shared.c.Leases.Take(ctx, f.Code())
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
		if errors.Is(err, class.ErrNoRoom) {
			f.gone()
		}
		return nil, Lease{}, err
	}
	return here, lease, nil
}
