package remote

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/room"
)

// served holds the ops that other servers can request, by name.
var served = map[string]func(ctx context.Context, r owned, args []byte) (any, error){}

func serve[A, B any](o op[A, B]) op[A, B] {
	served[o.name] = func(ctx context.Context, r owned, args []byte) (any, error) {
		var a A
		if err := json.Unmarshal(args, &a); err != nil {
			return nil, err
		}
		return o.do(ctx, r, a)
	}
	return o
}

// The ops of a room.
var (
	opEnter = serve(op[whoArgs, room.Entered]{name: "enter", do: func(
		ctx context.Context, r owned, a whoArgs,
	) (value room.Entered, err error) {
		return r.Entering(ctx, a.Who)
	}})
	opWake = serve(op[nothing, nothing]{name: "wake", do: func(
		ctx context.Context, r owned, _ nothing,
	) (value nothing, err error) {
		return value, r.Wake(ctx)
	}})
	opJoin = serve(op[joining, class.Member]{name: "join", do: func(
		ctx context.Context, r owned, a joining,
	) (value class.Member, err error) {
		return r.JoinFrom(ctx, a.Server, a.Who, a.Nick)
	}})
	opStanding = serve(op[whoArgs, class.Standing]{name: "standing", do: func(
		ctx context.Context, r owned, a whoArgs,
	) (value class.Standing, err error) {
		return r.Standing(ctx, a.Who.Learner)
	}})
	opVote = serve(op[balloting, class.Receipt]{name: "vote", do: func(
		ctx context.Context, r owned, a balloting,
	) (value class.Receipt, err error) {
		return r.Vote(ctx, a.Learner, a.Ballot)
	}})
	opAsk = serve(op[asking, nothing]{name: "ask", do: func(
		ctx context.Context, r owned, a asking,
	) (value nothing, err error) {
		return value, r.Ask(ctx, a.Learner, a.Text)
	}})
	opRaised = serve(op[nothing, []class.Raised]{name: "raised", do: func(
		ctx context.Context, r owned, _ nothing,
	) (value []class.Raised, err error) {
		return r.ListRaised(ctx)
	}})
	opAttendees = serve(op[nothing, []class.Attendee]{name: "attendees", do: func(
		ctx context.Context, r owned, _ nothing,
	) (value []class.Attendee, err error) {
		return r.ListAttendees(ctx)
	}})
	opPresenter = serve(op[presenting, nothing]{name: "presenter", do: func(
		ctx context.Context, r owned, a presenting,
	) (value nothing, err error) {
		if !r.Fits(a.Secret) {
			return value, class.ErrSecret
		}
		return value, r.OpenPresenterFrom(ctx, a.Server, a.Who)
	}})
	opCanPresent = serve(op[string, bool]{name: "can present", do: func(
		ctx context.Context, r owned, who string,
	) (value bool, err error) {
		return r.CanPresent(ctx, who)
	}})
	// Servers whose commands were not forms called this operation "present".
	opPresent = serve(op[presenting, placed]{name: "command", once: true, do: func(
		ctx context.Context, r owned, a presenting,
	) (value placed, err error) {
		return r.present(ctx, a)
	}})
	opSummary = serve(op[nothing, *class.Summary]{name: "summary", do: func(
		ctx context.Context, r owned, _ nothing,
	) (value *class.Summary, err error) {
		return r.SumUp(ctx)
	}})
	opReplay = serve(op[nothing, *class.Summary]{name: "replay", do: func(
		ctx context.Context, r owned, _ nothing,
	) (value *class.Summary, err error) {
		return r.Replay(ctx)
	}})
	opAssignment = serve(op[whoArgs, class.Assignment]{name: "assignment", do: func(
		ctx context.Context, r owned, a whoArgs,
	) (value class.Assignment, err error) {
		return r.Assignment(ctx, a.Who.Learner)
	}})
	opHandIn = serve(op[handing, nothing]{name: "hand in", do: func(
		ctx context.Context, r owned, a handing,
	) (value nothing, err error) {
		return value, r.HandIn(ctx, a.Who, a.Name, a.Work)
	}})
	opForget = serve(op[whoArgs, nothing]{name: "forget", do: func(
		ctx context.Context, r owned, a whoArgs,
	) (value nothing, err error) {
		return value, r.Forget(ctx, a.Who.Learner)
	}})
	opEnd = serve(op[nothing, nothing]{name: "end", do: func(
		ctx context.Context, r owned, _ nothing,
	) (value nothing, err error) {
		return value, r.EndClass(ctx)
	}})
	opRemove = serve(op[nothing, nothing]{name: "remove", do: func(
		ctx context.Context, r owned, _ nothing,
	) (value nothing, err error) {
		return value, r.RemoveAll(ctx)
	}})
	opPages = serve(op[room.Report, placed]{name: "pages", do: func(
		ctx context.Context, r owned, a room.Report,
	) (value placed, err error) {
		v, err := r.SetPages(ctx, a)
		return placed{v.Epoch, v.Seq}, err
	}})
	opView = serve(op[nothing, json.RawMessage]{name: "view", do: func(
		ctx context.Context, r owned, _ nothing,
	) (value json.RawMessage, err error) {
		return encode(r.View())
	}})
)

// present is [class.Room.Present] for a presenter on any server. If the room moves during the call,
// it is unknown whether the command was executed.
func (o owned) present(ctx context.Context, a presenting) (placed, error) {
	v, err := o.Local.Present(ctx, a.Who, a.Secret, a.Do)
	if errors.Is(o.WhyMoved(err), room.ErrMoved) {
		return placed{}, class.ErrUnsure
	}
	if err != nil {
		return placed{}, err
	}
	return placed{v.Epoch, v.Seq}, nil
}
