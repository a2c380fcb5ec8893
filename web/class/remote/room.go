package remote

import (
	"context"
	"time"

	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/room"
)

// These methods implement [class.Room] for a room that any server of the cluster may run.

// Done implements [class.Room].
func (f *relay) Done() <-chan struct{} { return f.ctx.Done() }

// Join implements [class.Room].
func (f *relay) Join(ctx context.Context, who admission.Caller, nick string) (*class.Member, error) {
	if _, err := class.CleanNick(nick); err != nil {
		return nil, err
	}
	f.count(f.pages, who.Learner, 1) // counted before the join, so that an earlier report cannot undo it
	m, err := call(ctx, f, opJoin, joining{who, nick, f.shared.c.Server})
	if err != nil {
		f.count(f.pages, who.Learner, -1)
		return nil, err
	}
	return &m, nil
}

// Leave implements [class.Room].
func (f *relay) Leave(learner string) { f.count(f.pages, learner, -1) }

// Standing implements [class.Room].
func (f *relay) Standing(ctx context.Context, learner string) (class.Standing, error) {
	return call(ctx, f, opStanding, whoArgs{admission.Caller{Learner: learner}})
}

// Vote implements [class.Room]. It numbers the ballot so that the ballot can safely be resent.
func (f *relay) Vote(ctx context.Context, learner string, b class.Ballot) (class.Receipt, error) {
	if b.N == 0 {
		s, err := f.Standing(ctx, learner)
		if err != nil {
			return class.Receipt{}, err
		}
		if b.N = f.shared.Config().Now().UnixMilli(); s.Vote != nil {
			b.N = max(b.N, s.Vote.N+1)
		}
	}
	return call(ctx, f, opVote, balloting{learner, b})
}

// Ask implements [class.Room].
func (f *relay) Ask(ctx context.Context, learner, text string) error {
	text, err := class.CleanRaised(text)
	if err == nil {
		_, err = call(ctx, f, opAsk, asking{learner, text})
	}
	return err
}

// Raised implements [class.Room].
func (f *relay) Raised(ctx context.Context, secret class.Secret) ([]class.Raised, error) {
	if !f.Fits(secret) {
		return nil, class.ErrSecret
	}
	return call(ctx, f, opRaised, nothing{})
}

// Attendees implements [class.Room].
func (f *relay) Attendees(ctx context.Context, secret class.Secret) ([]class.Attendee, error) {
	if !f.Fits(secret) {
		return nil, class.ErrSecret
	}
	return call(ctx, f, opAttendees, nothing{})
}

// OpenPresenter implements [class.Room].
func (f *relay) OpenPresenter(ctx context.Context, who string, secret class.Secret) (closed func(), err error) {
	if !f.Fits(secret) {
		return nil, class.ErrSecret
	}
	f.count(f.presenters, who, 1)
	closed = func() { f.count(f.presenters, who, -1) }
	a := presenting{Who: who, Secret: secret, Server: f.shared.c.Server}
	if _, err := call(ctx, f, opPresenter, a); err != nil {
		closed()
		return nil, err
	}
	return closed, nil
}

// CanPresent implements [class.Room].
func (f *relay) CanPresent(ctx context.Context, who string) (bool, error) {
	return call(ctx, f, opCanPresent, who)
}

// Present implements [class.Room]. It waits until this server has the view that results from the
// command.
func (f *relay) Present(ctx context.Context, who string, secret class.Secret, cmd class.Form) (*class.View, error) {
	if !f.Fits(secret) {
		return nil, class.ErrSecret
	}
	if _, err := cmd.Command(f.View()); err != nil {
		return nil, err
	}
	at, err := call(ctx, f, opPresent, presenting{Who: who, Secret: secret, Do: cmd})
	if err != nil {
		return nil, err
	}
	notes, stop := f.shared.Config().Broker.Subscribe(f.Code())
	defer stop()
	late := time.NewTimer(f.shared.c.Paces.Try)
	defer late.Stop()
	for {
		v := f.View()
		if !(&class.View{Epoch: at.Epoch, Seq: at.Seq}).After(v) {
			return v, nil
		}
		select {
		case <-notes:
		case <-late.C: // the command was executed, and the view will arrive later
			return v, nil
		case <-f.ctx.Done():
			return f.View(), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Summary implements [class.Room].
func (f *relay) Summary(ctx context.Context, secret class.Secret) (*class.Summary, error) {
	if !f.Fits(secret) {
		return nil, class.ErrSecret
	}
	return call(ctx, f, opSummary, nothing{})
}

// Assignment implements [class.Room].
func (f *relay) Assignment(ctx context.Context, learner string) (class.Assignment, error) {
	return call(ctx, f, opAssignment, whoArgs{admission.Caller{Learner: learner}})
}

// HandIn implements [class.Room].
func (f *relay) HandIn(ctx context.Context, who admission.Caller, name string, w class.Work) error {
	nick, err := class.CleanNick(name)
	if err == nil {
		_, err = call(ctx, f, opHandIn, handing{who, nick, w})
	}
	return err
}

func (f *relay) Entering(ctx context.Context, who admission.Caller) (room.Entered, error) {
	return call(ctx, f, opEnter, whoArgs{who})
}

func (f *relay) Replay(ctx context.Context) (*class.Summary, error) {
	return call(ctx, f, opReplay, nothing{})
}

func (f *relay) EndClass(ctx context.Context) error {
	_, err := call(ctx, f, opEnd, nothing{})
	return err
}

func (f *relay) RemoveAll(ctx context.Context) error {
	_, err := call(ctx, f, opRemove, nothing{})
	return err
}

func (f *relay) Forget(ctx context.Context, learner string) error {
	_, err := call(ctx, f, opForget, whoArgs{admission.Caller{Learner: learner}})
	return err
}

// Ready makes the owner open the room's run, and waits until this server has a view of the
// room.
func (f *relay) Ready(ctx context.Context) error {
	if _, err := call(ctx, f, opWake, nothing{}); err != nil {
		return err
	}
	if err := f.follow(); err != nil {
		return err
	}
	within, cancel := context.WithTimeout(ctx, f.shared.c.Paces.Call)
	defer cancel()
	select {
	case <-f.first:
		return nil
	case <-f.ctx.Done():
		return class.ErrGone
	case <-within.Done():
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return class.ErrAway
	}
}
