package runs

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/session"
)

// roomLearner is the prefix of the names under which the registry holds the runs of classes' rooms.
// No learner has such a name: a learner's name consists of 22 characters without a space.
const roomLearner = "room "

// RoomRun is the run of a class's room. It belongs to the room rather than to a learner, so nobody
// can open it by its id. While it is open, it is neither dropped nor evicted, because the class
// that watches it must not wait. Its memory counts like any other run's.
type RoomRun struct {
	registry *Registry
	run      *Run
	last     atomic.Pointer[session.State] // the newest state, in case the run breaks
}

// OpenRoom begins the run of a room: the run that link describes, or an empty one if link is "".
// The error is a *[terms.Refusal] with a message for people, or the context's error.
func (rs *Registry) OpenRoom(ctx context.Context, room, link string) (*RoomRun, error) {
	var parsed session.Link
	if link != "" {
		var err error
		if parsed, err = session.ParseLink(rs.cfg.Model, link); err != nil {
			return nil, err
		}
	}
	r := rs.beginPinned(roomLearner + room)
	x := &RoomRun{registry: rs, run: r}
	x.last.Store(r.latest.Load())
	if link != "" {
		if _, err := x.Do(ctx, session.Open{Link: parsed}); err != nil {
			x.Close()
			return nil, err
		}
	}
	return x, nil
}

func (rs *Registry) beginPinned(learner string) *Run {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return rs.begin(admission.Caller{Learner: learner}, rs.newID(learner), true)
}

// Do carries out a command and returns the resulting state. When Do returns, [RoomRun.State]
// returns that state, too.
func (x *RoomRun) Do(ctx context.Context, c session.Command) (*session.State, error) {
	return x.run.Do(ctx, c, nil, 0)
}

// State returns the newest state, which is never nil.
func (x *RoomRun) State() *session.State {
	if s := x.run.latest.Load(); s != nil {
		x.last.Store(s)
		return s
	}
	return x.last.Load()
}

// Done returns a channel that is closed when the run has been closed or has failed.
func (x *RoomRun) Done() <-chan struct{} { return x.run.done }

// Watch calls f once at the beginning, and then after every change of the state, always from the
// same goroutine. Several changes in quick succession can result in one call. The end of the run is
// not a change: see [RoomRun.Done]. f may read the state but must not block for long. No call
// begins after stop has returned.
func (x *RoomRun) Watch(f func()) (stop func()) {
	v, stopped := NewViewer(""), make(chan struct{})
	x.registry.mu.Lock()
	defer x.registry.mu.Unlock()
	x.registry.async(func() {
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
				_ = fault.Do(x.registry.cfg.Log, "showing a run to a room", func() error { f(); return nil })
			}
		}
	})
	return sync.OnceFunc(func() { close(stopped) })
}

// Close ends the run.
func (x *RoomRun) Close() { x.registry.End(x.run) }
