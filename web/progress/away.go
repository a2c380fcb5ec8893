package progress

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/web/store"
)

// reachKey is the key of a reach in a context.
type reachKey struct{}

// reach records whether a request can reach the logs.
type reach struct{ away atomic.Bool }

// Reach returns a context for a request that might arrive while the logs cannot be reached. If away
// returns true when the page is sent, the page should show a warning. If isAway is true, away
// returns true from the start. Otherwise, it does so once the page has waited for the logs for a
// few seconds in vain. From then on, methods no longer wait for the logs: [Store.Map],
// [Store.Cards], [Store.Beliefs] and [Store.Calibration] return the state of a new learner, so that
// lessons can be read, and all other methods return [store.ErrAway].
func Reach(ctx context.Context, isAway bool) (_ context.Context, away func() bool) {
	r := &reach{}
	r.away.Store(isAway)
	return context.WithValue(ctx, reachKey{}, r), r.away.Load
}

func reachOf(ctx context.Context) *reach {
	r, _ := ctx.Value(reachKey{}).(*reach)
	return r
}

func isAway(ctx context.Context) bool {
	r := reachOf(ctx)
	return r != nil && r.away.Load()
}

// longest is how long a page waits, at most, for logs that might be unreachable. It is long enough
// for a server to notice that they are unreachable.
const longest = 3 * time.Second

// glance calls f with the state of a learner. It serves pages that only show the state.
func (s *Store) glance(ctx context.Context, name string, f func(*state)) error {
	r := reachOf(ctx)
	if r == nil {
		return s.use(ctx, name, func(l *learner) error {
			f(l.State())
			return nil
		})
	}
	if !r.away.Load() {
		err := s.glimpse(ctx, name, f)
		if !errors.Is(err, store.ErrAway) {
			return err
		}
		r.away.Store(true)
	}
	st := folding.Begin()
	folding.Settle(st)
	f(st)
	return nil
}

// glimpse is like glance, but waits no longer than longest. The request to the logs continues after
// the wait, since other callers share it.
func (s *Store) glimpse(ctx context.Context, name string, f func(*state)) error {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	var late atomic.Bool // either the caller has stopped waiting, so f must not be called, or f has been called
	done := make(chan error, 1)
	go func() {
		done <- fault.Try(func() error {
			return s.use(ctx, name, func(l *learner) error {
				if late.CompareAndSwap(false, true) {
					f(l.State())
				}
				return nil
			})
		})
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	if !late.CompareAndSwap(false, true) {
		return <-done // f is being called
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return store.ErrAway
	}
	return ctx.Err()
}
