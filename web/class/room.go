package class

import (
	"context"
	"crypto/sha256"
	"strings"
	"sync/atomic"

	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/session"
)

// Room is one class. Its methods can be called from any goroutine.
type Room struct {
	hub    *Hub
	code   string
	secret [sha256.Size]byte
	// In a cluster, relay is this server's state of the room. A room with a relay runs
	// elsewhere, and of the fields below, only ctx, stop and view are set.
	relay *relay
	lost  atomic.Bool // in a cluster: this server no longer owns the room

	requests chan func(*core) // executed by the room's goroutine, one at a time
	woken    chan struct{}    // the run has a new state; of capacity 1
	runLock  chan struct{}    // a lock for the run, of capacity 1
	done     chan struct{}    // closed when the goroutine has ended
	ctx      context.Context
	stop     context.CancelFunc
	view     atomic.Pointer[View]
}

// Code returns the code that people type to join.
func (r *Room) Code() string { return r.code }

// View returns the current state of the room. It is never nil; once the room is deleted,
// [View.Gone] is set.
func (r *Room) View() *View { return r.view.Load() }

// Done returns a channel that is closed when the room has ended because it was deleted or
// the server is stopping.
func (r *Room) Done() <-chan struct{} {
	if r.relay != nil {
		return r.ctx.Done()
	}
	return r.done
}

// answer is the room's reply to a request.
type answer[T any] struct {
	value T
	err   error
}

// send runs f in the room's goroutine and waits for its reply, which f may send after it has
// returned.
func send[T any](ctx context.Context, r *Room, f func(c *core, reply func(T, error))) (T, error) {
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
			case answers <- answer[T]{err: ErrBroken}:
			default:
			}
			panic(err)
		}
	}:
	case <-r.done:
		return none, ErrGone
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
		return none, ErrGone
	}
}

// get runs f in the room's goroutine and returns its result.
func get[T any](ctx context.Context, r *Room, f func(*core) (T, error)) (T, error) {
	return send(ctx, r, func(c *core, reply func(T, error)) { reply(f(c)) })
}

// ask runs f in the room's goroutine.
func (r *Room) ask(ctx context.Context, f func(*core) error) error {
	_, err := get(ctx, r, func(c *core) (struct{}, error) { return struct{}{}, f(c) })
	return err
}

// Join makes a caller a member, unless they already are one, and counts one more open page.
// nick may be empty; it is plain text of at most [MaxNick] characters. When Join returns
// without an error, the nickname is saved. Leave must be called once for each successful
// Join.
//
// Errors: the errors of [Hub.Enter] except for wrong codes, [CodeNick], and [ErrKept].
func (r *Room) Join(ctx context.Context, who admission.Caller, nick string) (*Member, error) {
	name, err := cleanNick(nick)
	if err != nil {
		return nil, err
	}
	if r.relay != nil {
		return r.relay.join(ctx, who, nick)
	}
	if err := r.wake(ctx); err != nil {
		return nil, err
	}
	joined, err := get(ctx, r, func(c *core) (Member, error) { return c.join(who) })
	if err == nil && name != "" {
		if joined, err = r.rename(ctx, who.Learner, name); err != nil {
			r.Leave(who.Learner)
		}
	}
	if err != nil {
		return nil, err
	}
	return &joined, nil
}

func (r *Room) rename(ctx context.Context, learner, name string) (Member, error) {
	return send(ctx, r, func(c *core, reply func(Member, error)) { c.rename(learner, name, reply) })
}

// Leave undoes one Join.
func (r *Room) Leave(learner string) {
	if r.relay != nil {
		r.relay.count(r.relay.pages, learner, -1)
		return
	}
	_ = r.ask(context.Background(), func(c *core) error { // the room may be gone
		c.leave(learner)
		return nil
	})
}

// Standing returns the name and vote of a member, which only they see.
func (r *Room) Standing(ctx context.Context, learner string) (Standing, error) {
	if r.relay != nil {
		return call(ctx, r.relay, opStanding, whoArgs{admission.Caller{Learner: learner}})
	}
	return r.standing(ctx, learner)
}

func (r *Room) standing(ctx context.Context, learner string) (Standing, error) {
	return get(ctx, r, func(c *core) (Standing, error) { return c.standing(learner) })
}

// Vote casts a member's vote in the poll on the stage. When it returns without an error,
// the vote in the receipt is saved. Until the poll closes, a vote can be changed: the vote
// with the highest number counts, in whatever order and however often votes arrive.
//
// Errors: [ErrStranger], [ErrRemoved], [ErrClosed], [CodeNotOffer], [ErrKept].
func (r *Room) Vote(ctx context.Context, learner string, b Ballot) (Receipt, error) {
	if r.relay != nil {
		return r.relay.vote(ctx, learner, b)
	}
	return r.vote(ctx, learner, b)
}

func (r *Room) vote(ctx context.Context, learner string, b Ballot) (Receipt, error) {
	return send(ctx, r, func(c *core, reply func(Receipt, error)) { c.vote(learner, b, reply) })
}

// Attendees lists the members who have not been removed, for the instructor.
func (r *Room) Attendees(ctx context.Context, secret Secret) ([]Attendee, error) {
	if !secret.fits(r.secret) {
		return nil, ErrSecret
	}
	if r.relay != nil {
		return call(ctx, r.relay, opAttendees, nothing{})
	}
	return r.attendees(ctx)
}

func (r *Room) attendees(ctx context.Context) ([]Attendee, error) {
	return get(ctx, r, func(c *core) ([]Attendee, error) { return c.attendees(), nil })
}

// OpenPresenter counts an open page of a presenter until closed is called. The first
// presenter has the controls until all of their pages are closed; others can watch, or take
// over with [TakeOver].
func (r *Room) OpenPresenter(ctx context.Context, who string, secret Secret) (closed func(), err error) {
	if !secret.fits(r.secret) {
		return nil, ErrSecret
	}
	if r.relay != nil {
		return r.relay.openPresenter(ctx, who, secret)
	}
	if err := r.wake(ctx); err != nil {
		return nil, err
	}
	if err := r.ask(ctx, func(c *core) error {
		c.openPresenter(who)
		return nil
	}); err != nil {
		return nil, err
	}
	return func() {
		_ = r.ask(context.Background(), func(c *core) error { // the room may be gone
			c.closePresenter(who)
			return nil
		})
	}, nil
}

// CanPresent reports whether commands from the given presenter would be executed now,
// because that presenter or nobody has the controls.
func (r *Room) CanPresent(ctx context.Context, who string) (bool, error) {
	if r.relay != nil {
		return call(ctx, r.relay, opCanPresent, who)
	}
	return r.canPresent(ctx, who)
}

func (r *Room) canPresent(ctx context.Context, who string) (bool, error) {
	return get(ctx, r, func(c *core) (bool, error) { return c.canPresent(who), nil })
}

// lockRun waits until nobody else is moving the run. The caller must call unlock.
func (r *Room) lockRun(ctx context.Context) (unlock func(), err error) {
	select {
	case r.runLock <- struct{}{}:
		return func() { <-r.runLock }, nil
	case <-r.done:
		return nil, ErrGone
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// wake opens the room's run if it is suspended.
func (r *Room) wake(ctx context.Context) error {
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
func (r *Room) awake(ctx context.Context) (Run, error) {
	type stage struct {
		run  Run
		link string
	}
	now, err := get(ctx, r, func(c *core) (stage, error) { return stage{c.run, c.link}, nil })
	if err != nil || now.run != nil {
		return now.run, err
	}
	notice := ""
	run, err := r.hub.cfg.Driver.Open(ctx, r.code, now.link)
	if err != nil && now.link != "" && ctx.Err() == nil {
		// The model might have changed, so the room continues without its stage.
		r.hub.cfg.Log.Error("a room's stage could not be restored", "error", err)
		notice = "The stage could not be restored (" + strings.TrimSuffix(err.Error(), ".") +
			"). Start with a prompt, or with the walkthrough."
		run, err = r.hub.cfg.Driver.Open(ctx, r.code, "")
	}
	if err != nil {
		return nil, err
	}
	return run, r.adopt(ctx, run, notice)
}

// adopt replaces the room's run.
func (r *Room) adopt(ctx context.Context, run Run, notice string) error {
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
func (r *Room) rest(ctx context.Context) {
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

// wakeUp is called by the run after each change.
func (r *Room) wakeUp() {
	select {
	case r.woken <- struct{}{}:
	default: // already signaled
	}
}
