package web

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/tokenbytoken/viz/web/session"
)

// roomLearner begins the name under which the registry holds the run of a
// class's room. No learner has it: theirs are 22 characters without a space.
const roomLearner = "room "

// roomRun is the run of a class's room. It belongs to the room and not to a
// learner, so nobody reaches it by its id. While the room has it open it is
// neither dropped nor evicted, since a class that looks at it must not wait;
// its memory counts like that of all others.
type roomRun struct {
	runs *runs
	run  *run
	last atomic.Pointer[session.State] // the newest state, were the run to break
}

// openRoom begins the run of a room: empty, or as its link tells. The error is a
// *[terms.Refusal], for people, or ctx's.
func (rs *runs) openRoom(ctx context.Context, room, log string) (*roomRun, error) {
	var link *session.Link
	if log != "" {
		l, err := session.ParseLink(rs.model, log)
		if err != nil {
			return nil, err
		}
		link = &l
	}
	r, err := rs.beginRoom(room)
	if err != nil {
		return nil, err
	}
	x := &roomRun{runs: rs, run: r}
	x.last.Store(r.latest.Load())
	if link != nil {
		if _, err := x.Do(ctx, session.Open{Link: *link}); err != nil {
			x.Close()
			return nil, err
		}
	}
	return x, nil
}

func (rs *runs) beginRoom(room string) (*run, error) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	learner := roomLearner + room
	if err := rs.makeRoom(learner); err != nil {
		return nil, fmt.Errorf("the room's run: %w", err)
	}
	r := rs.begin(learner, rs.ids.newRunID(learner))
	r.kept = true
	return r, nil
}

// Do carries out a command and returns the state that follows, which
// [roomRun.State] has by then.
func (x *roomRun) Do(ctx context.Context, c session.Command) (*session.State, error) {
	return x.run.do(ctx, c, nil, 0)
}

// State is the newest state; never nil.
func (x *roomRun) State() *session.State {
	if s := x.run.latest.Load(); s != nil {
		x.last.Store(s)
		return s
	}
	return x.last.Load()
}

// Watch has f called after every change of the state, and once at the
// beginning: from one goroutine, once for changes that come together, and for
// the last time with the state in which the run ends. f may look at the state
// and must not wait for long. After stop has returned f is not begun again.
func (x *roomRun) Watch(f func()) (stop func()) {
	v, stopped := newViewer(""), make(chan struct{})
	x.runs.wg.Go(func() {
		x.run.watch(v)
		defer x.run.unwatch(v)
		for {
			select {
			case <-stopped:
				return
			case <-x.run.done:
				return
			case <-v.wake:
			}
			select {
			case <-stopped:
				return
			default:
				f()
			}
		}
	})
	return sync.OnceFunc(func() { close(stopped) })
}

// Close ends the run.
func (x *roomRun) Close() {
	x.runs.mu.Lock()
	defer x.runs.mu.Unlock()
	if x.runs.byID[x.run.id] == x.run {
		x.runs.drop(x.run)
	}
}
