package classroom

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"strings"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
	"github.com/tokenbytoken/viz/web/wire"
)

// kind is a kind of screen that follows a room.
type kind string

// The kinds of screens. At the forward stage, a phone receives the heads' attention only if
// it has asked to look inside.
const (
	onPhone      kind = "phone"
	onPhoneInner kind = "phone, inside"
	onWall       kind = "projector"
)

// variant is the kind and the view of a screen. All screens with the same variant and language get
// the same bytes.
type variant struct {
	kind kind
	view shell.View
}

// inside reports whether a screen gets the pictures of the heads, which are not part of the Story
// view.
func (l variant) inside() bool { return l.kind != onPhone && l.view == shell.Numbers }

// shared is the data that is sent to all followers along with the panels, for scripts and
// other programs.
type shared struct {
	Seq     uint64      `json:"seq"`
	Text    uint64      `json:"text"`    // the number of the text; see [session.State.Text]
	Step    int         `json:"step"`    // number of the generated token; 0 before the first
	Stage   int         `json:"stage"`   // 1 to 7; 0 before the first
	Undrawn bool        `json:"undrawn"` // the stage is a draw that has not been made yet
	Walk    int         `json:"walk"`    // the step of the walkthrough; 0 without one
	Started bool        `json:"started"`
	Alone   bool        `json:"alone"` // members can continue alone
	Ended   bool        `json:"ended"`
	Gone    bool        `json:"gone"`
	Here    int         `json:"here"`
	Hidden  bool        `json:"hidden"`
	Poll    *sharedPoll `json:"poll"`
	Looking bool        `json:"looking"`        // whether screens can look inside the forward pass
	Heat    *stage.Heat `json:"heat,omitempty"` // the pictures of the heads, for screens that show them
}

type sharedPoll struct {
	ID      string         `json:"id"`
	Round   int            `json:"round"`
	Kind    class.Kind     `json:"kind"`
	Phase   class.Phase    `json:"phase"`
	Votes   int            `json:"votes"`
	Options []sharedOption `json:"options"`
}

// sharedOption is an option of a poll. Its count is 0 until counts are public.
type sharedOption struct {
	Key   string `json:"key"`
	Count int    `json:"count"`
}

func sharedOf(w stage.Words, v *class.View, inside bool) *shared {
	d := &shared{
		Seq: v.Seq, Alone: v.Alone, Ended: v.Ended, Gone: v.Gone, Here: v.Here, Hidden: v.Hidden,
		Looking: looksInside(v),
	}
	if inside && d.Looking {
		d.Heat = w.NewHeat(v.State)
	}
	if st := v.State; st != nil {
		d.Text, d.Step, d.Stage, d.Started = st.Text, st.Cursor.Step, int(st.Shown()), st.Started()
		d.Undrawn = st.Undrawn
	}
	if v.Walk != nil && !v.Walk.Left {
		d.Walk = v.Walk.Step
	}
	if q := v.Poll; q != nil {
		d.Poll = &sharedPoll{ID: q.ID, Round: q.Round, Kind: q.Kind, Phase: q.Phase, Votes: q.Votes}
		for _, o := range q.Options {
			d.Poll.Options = append(d.Poll.Options, sharedOption{o.Key, o.Count})
		}
	}
	return d
}

// encoded is a snapshot of a room for one kind of screen, or the error that prevented it.
type encoded struct {
	*wire.Encoded
	err error
}

// snapshot returns the bytes of a view for all screens of a variant in the language of ctx. Each
// snapshot is created only once.
func (p *Pages) snapshot(ctx context.Context, v *class.View, l variant) (*wire.Encoded, error) {
	if l.kind == onPhoneInner && (!looksInside(v) || !l.inside()) {
		l.kind = onPhone
	}
	at := ""
	if l.kind == onWall {
		at = p.Phones.Host()
	}
	ctx = forAll(ctx)
	w := stage.In(ctx)
	e := v.Shared(fmt.Sprintf("classroom/%s/%s/%s/%s", l.kind, l.view, w.Tag, at), func() any {
		m := wire.Message{Data: sharedOf(w, v, l.inside())}
		var err error
		if m.Panels, err = p.panels(ctx, v, l); err != nil {
			return encoded{nil, err}
		}
		bytes, err := wire.Encode(v.Seq, v.At, m)
		return encoded{bytes, err}
	}).(encoded)
	return e.Encoded, e.err
}

// forAll returns a context with only the language of ctx. It is for rendering content that many
// connections share, so it does not end with any one of them.
func forAll(ctx context.Context) context.Context {
	return terms.With(context.Background(), terms.In(ctx))
}

// panels returns the panels of a screen.
func (p *Pages) panels(ctx context.Context, v *class.View, l variant) ([]wire.Panel, error) {
	w := stage.In(ctx)
	inside := looksInside(v) && (l.kind != onPhone || l.view == shell.Story)
	if l.kind == onWall {
		d := moving(w, v, l.view, p.rest, inside)
		join, err := p.joinPanels(d)
		if err != nil {
			return nil, err
		}
		return rendered(ctx, append(join,
			panel{"cl-who", crowd(d)},
			panel{"cl-strip", textHTML("cl-strip", d.Screen, false)},
			panel{"cl-body", deckBody(d)},
		))
	}
	f := p.followPage(w, v, l.view)
	f.Screen = screenOf(w, v, l.view, p.rest, inside)
	return rendered(ctx, []panel{
		{"cl-who", whoLine(f.Here, f.Ends)},
		{"cl-strip", textHTML("cl-strip", f.Screen, false)},
		{"cl-rail", w.StepperHTML("cl-rail", f.Screen.Rail, false)},
		{"cl-say", sayBox(f.Say)},
		{"cl-poll", pollBox(v.Code, f.Poll, nil)},
		{"cl-stage", phoneStage(f)},
	})
}

// panel is a part of a page that can be replaced separately.
type panel struct {
	id   string
	what templ.Component
}

func rendered(ctx context.Context, list []panel) ([]wire.Panel, error) {
	var panels []wire.Panel
	for _, one := range list {
		var b strings.Builder
		if err := one.what.Render(ctx, &b); err != nil {
			return nil, err
		}
		panels = append(panels, wire.Panel{ID: one.id, Op: wire.Morph, HTML: b.String()})
	}
	return panels, nil
}

// you is the data of one member, which is sent in addition to the shared data.
type you struct {
	Member int    `json:"member"`
	Name   string `json:"name"`
	Vote   *vote  `json:"vote"`
}

// vote is a vote that counts and is saved.
type vote struct {
	Poll   string  `json:"poll"`
	Round  int     `json:"round"`
	Choice string  `json:"choice"`
	Text   string  `json:"text"`
	U      string  `json:"u,omitempty"` // set for a draw, formatted as on pages
	Number int64   `json:"number"`
	Sure   float64 `json:"sure,omitempty"`
}

func voteOf(w stage.Words, r *class.Receipt) *vote {
	if r == nil {
		return nil
	}
	v := &vote{
		Poll: r.Poll, Round: r.Round, Choice: r.Choice,
		Text: stage.Marked(class.TextIn(w.Language, r.Text)).String(), Number: r.N, Sure: r.Sure,
	}
	if r.U > 0 {
		v.U = terms.Prob(r.U)
	}
	return v
}

type youData struct {
	You you `json:"you"`
}

// broken is the error message for an internal error.
var broken = terms.Refuse("broken", "class.refused.failed")

// answered returns the reply to a command that returned err. It does not log canceled
// commands: their connection has ended, and nobody reads the reply.
func (p *Pages) answered(n uint64, err error) wire.Message {
	if err == nil {
		return wire.Message{Ack: n, Done: true}
	}
	e, ok := terms.AsRefusal(err)
	if !ok {
		if !errors.Is(err, context.Canceled) {
			p.Log.Error("class command failed", "err", err)
		}
		e = broken
	}
	return wire.Message{Ack: n, Error: e}
}

func (p *Pages) openFollow(ctx context.Context, v wire.Visit) (wire.Part, error) {
	l, err := variantOf(v.Query)
	if err != nil {
		return nil, err
	}
	room, err := p.Hub.Enter(ctx, class.NormalCode(v.Query.Get("room")), v.Caller)
	if err != nil {
		if e, ok := terms.AsRefusal(err); ok {
			return nil, e
		}
		return nil, err
	}
	return &followFeed{
		p: p, room: room, caller: v.Caller, who: v.Learner, look: l, member: l.kind != onWall && !v.Fresh,
	}, nil
}

// variantOf parses the kind and the view of a screen. The default view is Numbers.
func variantOf(q url.Values) (variant, error) {
	view := shell.ViewNamed(cmp.Or(q.Get("view"), string(shell.Numbers)), "")
	l := variant{cmp.Or(kind(q.Get("screen")), onPhone), view}
	switch {
	case l.kind != onPhone && l.kind != onWall:
		return l, refuseField("screen", "phone or projector", "class.refused.no_screen")
	case l.view == "":
		return l, refuseField("view", "story or numbers", "class.refused.no_view")
	}
	return l, nil
}

// refuseField refuses an unknown value of a field; want describes the accepted values.
func refuseField(field, want, key string) *terms.Refusal {
	e := terms.Refuse(terms.CodeUnknown, key)
	e.Field, e.Want = field, want
	return e
}

// followFeed is the feed of a screen that follows a room.
type followFeed struct {
	p      *Pages
	room   class.Room
	caller admission.Caller
	who    string
	look   variant
	// member means that the screen belongs to a member of the class. Walls are not members,
	// and neither are browsers without cookies, which would become a new member, with a new
	// vote, at each visit.
	member bool
}

// errNoCookie refuses a request that only members can make, because the browser does not accept
// cookies.
var errNoCookie = terms.Refuse(class.CodeCookie, "class.refused.cookie")

// Serve implements [wire.Part].
func (f *followFeed) Serve(ctx context.Context, in <-chan wire.Command, out wire.Conn) error {
	notes, stop := f.p.Hub.Broker().Subscribe(f.room.Code())
	defer stop()
	if f.member {
		if _, err := f.room.Join(ctx, f.caller, ""); err != nil {
			return out.Send(f.p.answered(0, err))
		}
		defer f.room.Leave(f.who)
		if err := f.sendYou(ctx, 0, out); err != nil {
			return err
		}
	}
	members := 0
	for {
		v := f.room.View()
		if f.member && v.Members < members {
			if _, err := f.room.Standing(ctx, f.who); errors.Is(err, class.ErrRemoved) {
				return out.Send(f.p.answered(0, err))
			}
		}
		members = v.Members
		e, err := f.p.snapshot(ctx, v, f.look)
		if err != nil {
			return err
		}
		if err := out.Send(wire.Message{Encoded: e}); err != nil {
			return err
		}
		if v.Gone {
			return nil
		}
		if more, err := f.wait(ctx, notes, in, out); err != nil || !more {
			return err
		}
	}
}

// wait handles commands until there may be a new view. It returns false if there will be no
// more views or the connection has ended.
func (f *followFeed) wait(
	ctx context.Context, notes <-chan class.Note, in <-chan wire.Command, out wire.Conn,
) (bool, error) {
	for {
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-notes:
			return true, nil
		case <-f.room.Done():
			return f.room.View().Gone, nil
		case c, ok := <-in:
			if !ok {
				return false, nil
			}
			if err := f.handle(ctx, c, out); err != nil {
				return false, err
			}
		}
	}
}

// handle executes one command of a phone. It returns an error only if the connection must
// be closed.
func (f *followFeed) handle(ctx context.Context, c wire.Command, out wire.Conn) error {
	var err error
	switch {
	case f.look.kind == onWall:
		err = refuseField("cmd", "", "class.refused.wall")
	case !f.member && (c.Name == "vote" || c.Name == "draw" || c.Name == "ask" || c.Name == "join"):
		err = errNoCookie
	case c.Name == "vote" || c.Name == "draw":
		err = f.vote(ctx, c)
	case c.Name == "ask":
		err = f.raise(ctx, c)
	case c.Name == "join":
		err = f.join(ctx, c)
	case c.Name == "look":
		return out.Send(f.lookInside(ctx, c))
	case c.Name == "head" || c.Name == "inside":
		return out.Send(f.p.insideOf(ctx, f.room.View(), c))
	default:
		err = refuseField("cmd", "vote, draw, ask, join, look, head or inside", "class.refused.command")
	}
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return out.Send(f.p.answered(c.N, err))
	}
	return f.sendYou(ctx, c.N, out)
}

// voteInputs are the inputs of a vote; a draw needs only the poll.
var voteInputs = terms.Inputs{
	terms.Optional(terms.TextInput("poll")), terms.Optional(terms.TextInput("choice")),
	terms.Optional(terms.IntInput("number", -terms.MaxSeed, terms.MaxSeed)),
	terms.Optional(terms.NumberInput("sure", -math.MaxFloat64)),
}

func (f *followFeed) vote(ctx context.Context, c wire.Command) error {
	v, err := c.Read(voteInputs)
	if err != nil {
		return err
	}
	_, err = f.room.Vote(ctx, f.who, class.Ballot{
		Poll: v["poll"], Choice: v["choice"], N: int64(v.Float("number")), Sure: v.Float("sure"),
	})
	return err
}

// join sets the name of a member who has joined.
func (f *followFeed) join(ctx context.Context, c wire.Command) error {
	v, err := c.Read(terms.Inputs{terms.Optional(terms.TextInput("nick"))})
	if err != nil {
		return err
	}
	if _, err := f.room.Join(ctx, f.caller, v["nick"]); err != nil {
		return err
	}
	f.room.Leave(f.who)
	return nil
}

// sendYou sends members their own name and vote.
func (f *followFeed) sendYou(ctx context.Context, ack uint64, out wire.Conn) error {
	s, err := f.room.Standing(ctx, f.who)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return out.Send(f.p.answered(ack, err))
	}
	return out.Send(wire.Message{Ack: ack, Data: youData{you{s.ID, s.Name, voteOf(stage.In(ctx), s.Vote)}}})
}
