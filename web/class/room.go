package class

import (
	"context"
	"crypto/sha256"
	"sync/atomic"

	"github.com/tokenbytoken/viz/web/session"
)

// Room is one class. Its methods may be called from any goroutine.
type Room struct {
	hub    *Hub
	code   string
	secret [sha256.Size]byte

	requests chan func(*core) // carried out by the room's goroutine, one after another
	woken    chan struct{}    // the run has a new state; of capacity 1
	desk     chan struct{}    // held by who moves the run; of capacity 1
	done     chan struct{}    // closed when the goroutine has ended
	ctx      context.Context
	stop     context.CancelFunc
	view     atomic.Pointer[View]
}

// Code is what people type to join.
func (r *Room) Code() string { return r.code }

// View is the room as it is now. It is never nil; of a room that was deleted it
// is [View.Gone].
func (r *Room) View() *View { return r.view.Load() }

// Done is closed when the room has ended: deleted, or the server goes down.
func (r *Room) Done() <-chan struct{} { return r.done }

// answer is what the room's goroutine has to say to a request.
type answer[T any] struct {
	value T
	err   error
}

// send hands f to the room's goroutine and waits for the answer that it, or a
// later turn of the goroutine, gives.
func send[T any](ctx context.Context, r *Room, f func(c *core, reply func(T, error))) (T, error) {
	answers := make(chan answer[T], 1)
	var none T
	select {
	case r.requests <- func(c *core) { f(c, func(value T, err error) { answers <- answer[T]{value, err} }) }:
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
	case a := <-answers: // the goroutine's last act
		return a.value, a.err
	default:
		return none, ErrGone
	}
}

// get has the room's goroutine work something out.
func get[T any](ctx context.Context, r *Room, f func(*core) (T, error)) (T, error) {
	return send(ctx, r, func(c *core, reply func(T, error)) { reply(f(c)) })
}

// ask has the room's goroutine do something.
func (r *Room) ask(ctx context.Context, f func(*core) error) error {
	_, err := get(ctx, r, func(c *core) (struct{}, error) { return struct{}{}, f(c) })
	return err
}

// Join makes a learner a member, or finds that they are one, and counts one
// more page of theirs as open. nick may be empty; it is text, at most
// [MaxNick] characters. Every Join is undone by one Leave.
//
// Errors: those of [Hub.Enter] but for codes, and [CodeNick].
func (r *Room) Join(ctx context.Context, learner, nick string) (*Member, error) {
	name, err := cleanNick(nick)
	if err != nil {
		return nil, err
	}
	if err := r.wake(ctx); err != nil {
		return nil, err
	}
	joined, err := get(ctx, r, func(c *core) (Member, error) { return c.join(learner, name) })
	if err != nil {
		return nil, err
	}
	return &joined, nil
}

// Leave takes back one Join.
func (r *Room) Leave(learner string) {
	_ = r.ask(context.Background(), func(c *core) error { // the room may be gone
		c.leave(learner)
		return nil
	})
}

// Standing is what a member sees beside the view: their name and their vote.
func (r *Room) Standing(ctx context.Context, learner string) (Standing, error) {
	return get(ctx, r, func(c *core) (Standing, error) { return c.standing(learner) })
}

// Vote takes a member's vote in the poll on the stage. When it returns without
// an error the vote that the receipt names is kept. Until the poll closes a
// vote can be changed: the one with the highest number stands, whatever order
// they come in and however often.
//
// Errors: [ErrStranger], [ErrRemoved], [ErrClosed], [CodeNotOffer], [ErrKept].
func (r *Room) Vote(ctx context.Context, learner string, b Ballot) (Receipt, error) {
	return send(ctx, r, func(c *core, reply func(Receipt, error)) { c.vote(learner, b, reply) })
}

// Attendees lists the members who are not removed, for the instructor.
func (r *Room) Attendees(ctx context.Context, secret Secret) ([]Attendee, error) {
	if !secret.fits(r.secret) {
		return nil, ErrSecret
	}
	return get(ctx, r, func(c *core) ([]Attendee, error) { return c.attendees(), nil })
}

// Sit says that a presenter's page is open. The first who sits has the seat,
// until all of their pages have risen; others look on, or take it with
// [TakeSeat].
func (r *Room) Sit(ctx context.Context, who string, secret Secret) (rise func(), err error) {
	if !secret.fits(r.secret) {
		return nil, ErrSecret
	}
	if err := r.wake(ctx); err != nil {
		return nil, err
	}
	if err := r.ask(ctx, func(c *core) error {
		c.sit(who)
		return nil
	}); err != nil {
		return nil, err
	}
	return func() {
		_ = r.ask(context.Background(), func(c *core) error { // the room may be gone
			c.rise(who)
			return nil
		})
	}, nil
}

// Drives tells whether someone's commands would be carried out just now: they
// have the seat, or nobody has it.
func (r *Room) Drives(ctx context.Context, who string) (bool, error) {
	return get(ctx, r, func(c *core) (bool, error) { return c.free(who), nil })
}

// takeDesk makes the caller the one who moves the run, until leave.
func (r *Room) takeDesk(ctx context.Context) (leave func(), err error) {
	select {
	case r.desk <- struct{}{}:
		return func() { <-r.desk }, nil
	case <-r.done:
		return nil, ErrGone
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// wake makes the room's run where it rests.
func (r *Room) wake(ctx context.Context) error {
	if r.View().State != nil {
		return nil
	}
	leave, err := r.takeDesk(ctx)
	if err != nil {
		return err
	}
	defer leave()
	_, err = r.awake(ctx)
	return err
}

// awake returns the room's run, made anew where it rests. The desk is held.
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
		// The room lives on without its stage: the model may be another one now.
		r.hub.cfg.Log.Error("a room's stage could not be made again", "error", err)
		notice = "The stage could not be made again (" + err.Error() + ") Begin with a prompt, or with the walkthrough."
		run, err = r.hub.cfg.Driver.Open(ctx, r.code, "")
	}
	if err != nil {
		return nil, err
	}
	return run, r.adopt(ctx, run, notice)
}

// adopt gives the room a run in place of the one that it had.
func (r *Room) adopt(ctx context.Context, run Run, notice string) error {
	st, err := run.Do(ctx, session.Pause{})
	if err == nil {
		err = r.ask(ctx, func(c *core) error {
			c.take(run, st, notice)
			return nil
		})
	}
	if err != nil {
		run.Close()
	}
	return err
}

// rest gives up the run of a room that nobody looks at.
func (r *Room) rest(ctx context.Context) {
	leave, err := r.takeDesk(ctx)
	if err != nil {
		return
	}
	defer leave()
	_ = r.ask(ctx, func(c *core) error { // the room may be gone
		if c.here == 0 && len(c.sitters) == 0 {
			if c.commit() == nil { // else it rests later
				c.put(nil)
				c.publish()
			}
		}
		return nil
	})
}

// wakeUp is what the run calls after each change.
func (r *Room) wakeUp() {
	select {
	case r.woken <- struct{}{}:
	default: // it has been told and has not looked yet
	}
}
