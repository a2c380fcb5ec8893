package class

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/tokenbytoken/viz/infer/fault"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/session"
)

// op is an operation that the owner of a room executes for pages on any server. Unless once
// is set, the operation is idempotent, and a request that gets no reply is sent again.
type op[A, B any] struct {
	name string
	once bool
	do   func(ctx context.Context, r *Room, a A) (B, error)
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
	Moved   bool            `json:"moved,omitempty"` // the room has moved, and nothing was done
	Refusal *terms.Refusal  `json:"refusal,omitempty"`
	Failed  bool            `json:"failed,omitempty"` // the owner has logged an error
	Value   json.RawMessage `json:"value,omitempty"`
}

// served holds the ops that other servers can request, by name.
var served = map[string]func(ctx context.Context, r *Room, args []byte) (any, error){}

func serve[A, B any](o op[A, B]) op[A, B] {
	served[o.name] = func(ctx context.Context, r *Room, args []byte) (any, error) {
		var a A
		if err := json.Unmarshal(args, &a); err != nil {
			return nil, err
		}
		return o.do(ctx, r, a)
	}
	return o
}

// answer executes a request from another server and returns the encoded reply.
func (h *Hub) answer(ctx context.Context, data []byte) []byte {
	var out reply
	var q request
	err := fault.Do(h.cfg.Log, "a request from another server", func() error {
		if len(data) > MaxRequest {
			return fmt.Errorf("a request has %d bytes, more than the maximum", len(data))
		}
		if err := json.Unmarshal(data, &q); err != nil {
			return err
		}
		r := h.ownedIn(q.Room, q.Term)
		do := served[q.Op]
		if r == nil || do == nil || h.cfg.Driver == nil { // a hub without a driver serves no pages and ends soon
			return errMoved
		}
		value, err := do(ctx, r, q.Args)
		if err != nil {
			return r.whyMoved(err)
		}
		out.Value, err = json.Marshal(value)
		return err
	})
	if err != nil {
		out.Value = nil
		if e, ok := terms.AsRefusal(err); ok {
			out.Refusal = e
		} else if out.Moved = errors.Is(err, errMoved); !out.Moved {
			out.Failed = true
			if ctx.Err() == nil {
				h.cfg.Log.Error("a request from another server failed", "op", q.Op, "error", err)
			}
		}
	}
	text, err := json.Marshal(out)
	if err != nil || len(text) > MaxReply {
		text = []byte(`{"failed":true}`)
	}
	return text
}

// read decodes the result of a reply.
func (p reply) read(into any) error {
	switch {
	case p.Moved:
		return errMoved
	case p.Refusal != nil:
		return p.Refusal
	case p.Failed:
		return ErrBroken
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
		Ballot  Ballot
	}
	presenting struct {
		Who    string
		Secret Secret
		Server string  // the server that has the page open
		Do     command // for present
	}
	handing struct {
		Who  admission.Caller
		Name string
		Work Work
	}
	entered struct {
		Known   bool
		Refused *terms.Refusal
	}
	placed struct{ Epoch, Seq uint64 } // of a view
)

// The ops of a room.
var (
	opEnter = serve(op[whoArgs, entered]{name: "enter", do: func(
		ctx context.Context, r *Room, a whoArgs,
	) (value entered, err error) {
		return r.enter(ctx, a.Who)
	}})
	opWake = serve(op[nothing, nothing]{name: "wake", do: func(
		ctx context.Context, r *Room, _ nothing,
	) (value nothing, err error) {
		return value, r.wake(ctx)
	}})
	opJoin = serve(op[joining, Member]{name: "join", do: func(
		ctx context.Context, r *Room, a joining,
	) (value Member, err error) {
		return r.joinFrom(ctx, a)
	}})
	opStanding = serve(op[whoArgs, Standing]{name: "standing", do: func(
		ctx context.Context, r *Room, a whoArgs,
	) (value Standing, err error) {
		return r.standing(ctx, a.Who.Learner)
	}})
	opVote = serve(op[balloting, Receipt]{name: "vote", do: func(
		ctx context.Context, r *Room, a balloting,
	) (value Receipt, err error) {
		return r.vote(ctx, a.Learner, a.Ballot)
	}})
	opAttendees = serve(op[nothing, []Attendee]{name: "attendees", do: func(
		ctx context.Context, r *Room, _ nothing,
	) (value []Attendee, err error) {
		return r.attendees(ctx)
	}})
	opPresenter = serve(op[presenting, nothing]{name: "presenter", do: func(
		ctx context.Context, r *Room, a presenting,
	) (value nothing, err error) {
		return value, r.presentFrom(ctx, a)
	}})
	opCanPresent = serve(op[string, bool]{name: "can present", do: func(
		ctx context.Context, r *Room, who string,
	) (value bool, err error) {
		return r.canPresent(ctx, who)
	}})
	opPresent = serve(op[presenting, placed]{name: "present", once: true, do: func(
		ctx context.Context, r *Room, a presenting,
	) (value placed, err error) {
		return r.presentOnce(ctx, a)
	}})
	opSummary = serve(op[nothing, *Summary]{name: "summary", do: func(
		ctx context.Context, r *Room, _ nothing,
	) (value *Summary, err error) {
		return r.sumUp(ctx)
	}})
	opReplay = serve(op[nothing, *Summary]{name: "replay", do: func(
		ctx context.Context, r *Room, _ nothing,
	) (value *Summary, err error) {
		return r.replay(ctx)
	}})
	opAssignment = serve(op[whoArgs, Assignment]{name: "assignment", do: func(
		ctx context.Context, r *Room, a whoArgs,
	) (value Assignment, err error) {
		return r.assignment(ctx, a.Who.Learner)
	}})
	opHandIn = serve(op[handing, nothing]{name: "hand in", do: func(
		ctx context.Context, r *Room, a handing,
	) (value nothing, err error) {
		return value, r.handIn(ctx, a.Who, a.Name, a.Work)
	}})
	opForget = serve(op[whoArgs, nothing]{name: "forget", do: func(
		ctx context.Context, r *Room, a whoArgs,
	) (value nothing, err error) {
		return value, r.ask(ctx, func(c *core) error { return c.forget(a.Who.Learner) })
	}})
	opEnd = serve(op[nothing, nothing]{name: "end", do: func(
		ctx context.Context, r *Room, _ nothing,
	) (value nothing, err error) {
		return value, r.ask(ctx, func(c *core) error { return c.do(End{}) })
	}})
	opRemove = serve(op[nothing, nothing]{name: "remove", do: func(
		ctx context.Context, r *Room, _ nothing,
	) (value nothing, err error) {
		return value, r.hub.remove(ctx, r)
	}})
	opPages = serve(op[report, placed]{name: "pages", do: func(
		ctx context.Context, r *Room, a report,
	) (value placed, err error) {
		return r.setPages(ctx, a)
	}})
	opView = serve(op[nothing, json.RawMessage]{name: "view", do: func(
		ctx context.Context, r *Room, _ nothing,
	) (value json.RawMessage, err error) {
		return r.View().encode()
	}})
)

// presentOnce is [Room.Present] for a presenter on any server. If the room moves during the
// call, it is unknown whether the command was executed.
func (r *Room) presentOnce(ctx context.Context, a presenting) (placed, error) {
	if !a.Secret.fits(r.secret) {
		return placed{}, ErrSecret
	}
	v, err := r.present(ctx, a.Who, a.Do.Command)
	if errors.Is(r.whyMoved(err), errMoved) {
		return placed{}, ErrUnsure
	}
	if err != nil {
		return placed{}, err
	}
	return placed{v.epoch, v.Seq}, nil
}

// command is a [Command] that can be sent between servers.
type command struct{ Command }

// sent is a command in JSON: the name of its type, and its fields.
type sent struct {
	Name string
	Data json.RawMessage
}

// commandTypes holds the types of commands by name.
var commandTypes = map[string]reflect.Type{}

func init() {
	for _, c := range []any{
		GoTo{},
		AskWalk{},
		AskNext{},
		AskQuestion{},
		AskNumber{},
		AskDraw{},
		Close{},
		Extend{},
		ShowSpread{},
		Reveal{},
		Revote{},
		Dismiss{},
		AppendMajority{},
		AppendOf{},
		SetTimer{},
		Lock{},
		HideNames{},
		AllowAlone{},
		DropName{},
		Remove{},
		TakeOver{},
		End{},
		Reopen{},
		Delete{},
		Assign{},
		session.Start{},
		session.StartChat{},
		session.Open{},
		session.Rebuild{},
		session.StepStage{},
		session.Draw{},
		session.Back{},
		session.StepToken{},
		session.Seek{},
		session.Reset{},
		session.Play{},
		session.Finish{},
		session.Pause{},
		session.SetSpeed{},
		session.Set{},
		session.SetPreset{},
		session.Move{},
		session.Choose{},
		session.TakeBranch{},
		session.GoOn{},
		session.WhatIf{},
		session.Redraw{},
		session.Try{},
		session.SetLook{},
	} {
		t := reflect.TypeOf(c)
		commandTypes[t.String()] = t
	}
}

// MarshalJSON implements [json.Marshaler].
func (c command) MarshalJSON() ([]byte, error) {
	what, prefix := any(c.Command), ""
	if d, ok := c.Command.(Drive); ok {
		what, prefix = d.Do, "drive "
	}
	if what == nil {
		return []byte("null"), nil
	}
	name := reflect.TypeOf(what).String()
	if commandTypes[name] == nil {
		return nil, fmt.Errorf("the command %s cannot be sent", name)
	}
	data, err := json.Marshal(what)
	if err != nil {
		return nil, err
	}
	return json.Marshal(sent{prefix + name, data})
}

// UnmarshalJSON implements [json.Unmarshaler].
func (c *command) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return nil
	}
	var s sent
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	name, drives := s.Name, false
	if len(name) > 6 && name[:6] == "drive " {
		name, drives = name[6:], true
	}
	t := commandTypes[name]
	if t == nil {
		return fmt.Errorf("the command %q is not known", name)
	}
	v := reflect.New(t)
	if err := json.Unmarshal(s.Data, v.Interface()); err != nil {
		return err
	}
	switch x := v.Elem().Interface().(type) {
	case session.Command:
		if !drives {
			return fmt.Errorf("%q is a command of a run", name)
		}
		c.Command = Drive{x}
	case Command:
		if drives {
			return fmt.Errorf("%q is a command of a room", name)
		}
		c.Command = x
	}
	return nil
}
