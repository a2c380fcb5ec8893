package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/room"
)

// op is an operation that the owner of a room executes for pages on any server. Unless once is set,
// the operation is idempotent, and a request without a reply is resent.
type op[A, B any] struct {
	name string
	once bool
	do   func(ctx context.Context, r owned, a A) (B, error)
}

// request is the request to the owner to execute an op.
type request struct {
	Room string          `json:"room"`
	Term uint64          `json:"term"` // term of the owner's lease
	Op   string          `json:"op"`
	Args json.RawMessage `json:"args"`
}

// reply is the answer to a request.
type reply struct {
	Moved   bool                  `json:"moved,omitempty"` // the room has moved, and the op was not executed
	Refusal *terms.EncodedRefusal `json:"refusal,omitempty"`
	Failed  bool                  `json:"failed,omitempty"` // the owner has logged an error
	Value   json.RawMessage       `json:"value,omitempty"`
}

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

// answer executes a request from another server and returns the encoded reply.
func (h *shared) answer(ctx context.Context, data []byte) []byte {
	var out reply
	var q request
	err := fault.Do(h.Config().Log, "a request from another server", func() error {
		if len(data) > MaxRequest {
			return fmt.Errorf("a request has %d bytes; the limit is %d", len(data), MaxRequest)
		}
		if err := json.Unmarshal(data, &q); err != nil {
			return err
		}
		r, ok := h.ownedIn(q.Room, q.Term)
		do := served[q.Op]
		if !ok || do == nil || h.Config().Driver == nil { // a hub without a driver serves no pages and ends soon
			return room.ErrMoved
		}
		value, err := do(ctx, r, q.Args)
		if err != nil {
			return r.WhyMoved(err)
		}
		out.Value, err = json.Marshal(value)
		return err
	})
	if err != nil {
		out.Value = nil
		if e, ok := terms.AsRefusal(err); ok {
			out.Refusal = e.Encode()
		} else if out.Moved = errors.Is(err, room.ErrMoved); !out.Moved {
			out.Failed = true
			if ctx.Err() == nil {
				h.Config().Log.Error("a request from another server failed", "op", q.Op, "error", err)
			}
		}
	}
	text, err := json.Marshal(out)
	if err != nil || len(text) > MaxReply {
		text = []byte(`{"failed":true}`)
	}
	return text
}

// read decodes a reply's result.
func (p reply) read(into any) error {
	switch {
	case p.Moved:
		return room.ErrMoved
	case p.Refusal != nil:
		return p.Refusal.Decode()
	case p.Failed:
		return class.ErrBroken
	}
	return json.Unmarshal(p.Value, into)
}

// The arguments of ops.
type (
	nothing struct{}
	whoArgs struct{ Who admission.Caller }
	joining struct {
		Who    admission.Caller
		Nick   string
		Server string // the server that has the page open
	}
	balloting struct {
		Learner string
		Ballot  class.Ballot
	}
	presenting struct {
		Who    string
		Secret class.Secret
		Server string  // the server that has the page open
		Do     command // for present
	}
	handing struct {
		Who  admission.Caller
		Name string
		Work class.Work
	}
	placed struct{ Epoch, Seq uint64 } // of a view
)

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
	opPresent = serve(op[presenting, placed]{name: "present", once: true, do: func(
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
