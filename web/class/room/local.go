package room

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"

	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/session"
)

// Local is a room that this server runs.
type Local struct {
	*Face
	cfg      *Config
	hub      context.Context // ends with the hub
	spawn    func(func())    // starts a goroutine that the hub waits for
	drop     func()          // removes the room from the hub
	ctx      context.Context // ends with the room
	stop     context.CancelFunc
	requests chan func(*core) // executed by the room's goroutine, one at a time
	woken    chan struct{}    // signals that the run has a new state; of capacity 1
	runLock  chan struct{}    // a lock for the run, of capacity 1
	done     chan struct{}    // closed when the goroutine has ended
	lost     atomic.Bool      // another server runs the room or soon will, so nothing more may be confirmed
}

// Done implements [class.Room].
func (r *Local) Done() <-chan struct{} { return r.done }

// answer is the room's reply to a request.
type answer[T any] struct {
	value T
	err   error
}

// send runs f in the room's goroutine and waits for the reply, which f may send after returning.
func send[T any](ctx context.Context, r *Local, f func(c *core, reply func(T, error))) (T, error) {
	answers := make(chan answer[T], 1)
	var none T
	select {
	case r.requests <- func(c *core) {
		// If f panics, the caller must not wait for a reply.
		if err := fault.Try(func() error {
			f(c, func(value T, err error) { answers <- answer[T]{value, err} })
			return nil
		}); err != nil {
			select {
			case answers <- answer[T]{err: class.ErrBroken}:
			default:
			}
			panic(err)
		}
	}:
	case <-r.done:
		return none, class.ErrGone
	case <-ctx.Done():
		return none, ctx.Err()
	}
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
		return none, ctx.Err()
	case <-r.done:
	}
	select {
	case a := <-answers: // replying was the last thing that the goroutine did
		return a.value, a.err
	default:
		return none, class.ErrGone
	}
}

// get runs f in the room's goroutine and returns its result.
func get[T any](ctx context.Context, r *Local, f func(*core) (T, error)) (T, error) {
	return send(ctx, r, func(c *core, reply func(T, error)) { reply(f(c)) })
}

// ask runs f in the room's goroutine.
func (r *Local) ask(ctx context.Context, f func(*core) error) error {
	_, err := get(ctx, r, func(c *core) (struct{}, error) { return struct{}{}, f(c) })
	return err
}

// lockRun locks the run, waiting until nobody else is moving it. The caller must call unlock.
func (r *Local) lockRun(ctx context.Context) (unlock func(), err error) {
	select {
	case r.runLock <- struct{}{}:
		return func() { <-r.runLock }, nil
	case <-r.done:
		return nil, class.ErrGone
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Wake opens the room's run if it is suspended.
func (r *Local) Wake(ctx context.Context) error {
	if r.View().State != nil {
		return nil
	}
	leave, err := r.lockRun(ctx)
	if err != nil {
		return err
	}
	defer leave()
	_, err = r.awake(ctx)
	return err
}

// awake returns the room's run, opening it again if it is suspended. The caller holds
// runLock.
func (r *Local) awake(ctx context.Context) (class.Run, error) {
	type stage struct {
		run  class.Run
		link string
	}
	now, err := get(ctx, r, func(c *core) (stage, error) { return stage{c.run, c.link}, nil })
	if err != nil || now.run != nil {
		return now.run, err
	}
	var notice *terms.Refusal
	run, err := r.cfg.Driver.Open(ctx, r.code, now.link)
	if err != nil && now.link != "" && ctx.Err() == nil {
		// The model might have changed, so the room continues without its stage.
		r.cfg.Log.Error("failed to restore a room's stage", "error", err)
		notice = terms.Refuse(terms.CodeModel, "class.notice.no_stage", "why", strings.TrimSuffix(err.Error(), "."))
		run, err = r.cfg.Driver.Open(ctx, r.code, "")
	}
	if err != nil {
		return nil, err
	}
	return run, r.adopt(ctx, run, notice)
}

// adopt replaces the room's run.
func (r *Local) adopt(ctx context.Context, run class.Run, notice *terms.Refusal) error {
	st, err := run.Do(ctx, session.Pause{})
	if err == nil {
		err = r.ask(ctx, func(c *core) error {
			c.adoptRun(run, st, notice)
			return nil
		})
	}
	if err != nil {
		run.Close()
	}
	return err
}

// rest closes the run of a room that nobody is watching.
func (r *Local) rest(ctx context.Context) {
	leave, err := r.lockRun(ctx)
	if err != nil {
		return
	}
	defer leave()
	_ = r.ask(ctx, func(c *core) error { // the room may be gone
		if c.here == 0 && len(c.presenterPages) == 0 {
			if c.commit() == nil { // if it fails, the next sweep retries
				c.replaceRun(nil)
				c.publish()
			}
		}
		return nil
	})
}

// attach makes c the core of the room.
func (r *Local) attach(c *core) {
	c.face = r.Face
	c.signals = signals{wake: r.wakeUp, abandon: r.Abandon, left: r.IsLost}
}

// wakeUp is called by the run after each change.
func (r *Local) wakeUp() {
	select {
	case r.woken <- struct{}{}:
	default: // already signaled
	}
}

// Abandon stops a room that this server no longer owns, so that the room does not confirm
// anything else.
func (r *Local) Abandon() {
	r.lost.Store(true)
	r.stop()
}

// IsLost reports whether another server runs the room or soon will.
func (r *Local) IsLost() bool { return r.lost.Load() }

// WhyMoved returns err, or [ErrMoved] if this server no longer owns the room or is about to
// lose it.
func (r *Local) WhyMoved(err error) error {
	ends := r.lost.Load() || r.hub.Err() != nil
	if errors.Is(err, ErrMoved) || ends && (errors.Is(err, class.ErrGone) || errors.Is(err, class.ErrKept)) {
		return ErrMoved
	}
	return err
}

// restoreRun reopens the run after a fault, if anyone is watching. If that fails, the class is
// notified.
func (r *Local) restoreRun() {
	r.spawn(func() {
		err := fault.Do(r.cfg.Log, "reopening a room's run", func() error {
			leave, err := r.lockRun(r.ctx)
			if err != nil {
				return err
			}
			defer leave()
			_, err = r.awake(r.ctx)
			return err
		})
		if err == nil || r.ctx.Err() != nil {
			return
		}
		r.cfg.Log.Error("failed to reopen a room's run", "error", err)
		_ = r.ask(r.ctx, func(c *core) error { // the room may be gone
			c.notice = stoppedNotice
			c.publish()
			return nil
		})
	})
}

// RemoveAll deletes the room and all its data. It completes the deletion even if ctx ends.
func (r *Local) RemoveAll(ctx context.Context) error {
	if err := r.ask(context.WithoutCancel(ctx), (*core).deleteAll); err != nil {
		return err
	}
	r.drop()
	r.stop()
	<-r.done
	return nil
}
