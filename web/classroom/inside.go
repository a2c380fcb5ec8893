package classroom

import (
	"context"
	"fmt"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/stage"
	"github.com/tokenbytoken/viz/web/wire"
)

// The inside view of a forward pass shows the positions that its heads attend to and each block's
// prediction. The wall shows it while the instructor looks inside; a phone has to request it. It is
// rendered once for all phones that look inside, and is not sent to the others.

// looksInside reports whether a room shows the inside of the forward pass. It does not while the
// class is being asked about a token, since the blocks' predictions contain the model's guess.
func looksInside(v *class.View) bool { return v.State != nil && v.State.Look != nil && !v.Hidden }

// stageData is the data sent with a stage that a single screen has requested.
type stageData struct {
	Heat *stage.Heat `json:"heat"`
}

// lookInside turns the inside view on or off for this screen, and returns a reply with the
// resulting stage.
func (f *followFeed) lookInside(ctx context.Context, c wire.Command) wire.Message {
	sent, err := c.Read(terms.Inputs{terms.Optional(terms.BoolInput("on"))})
	if err != nil {
		return f.p.answered(c.N, err)
	}
	on := sent.Bool("on")
	if f.look.kind = onPhone; on {
		f.look.kind = onPhoneInner
	}
	v := f.room.View()
	type made struct {
		wire.Message
		err error
	}
	ctx = forAll(ctx)
	w := stage.In(ctx)
	m := v.Shared(fmt.Sprintf("classroom/stage/%s/%s/%s", f.look.kind, f.look.view, w.Tag), func() any {
		inside := on && looksInside(v) && f.look.inside()
		data := stageData{}
		if inside {
			data.Heat = w.NewHeat(v.State)
		}
		s := screenOf(w, v, f.look.view, f.p.rest, inside)
		panels, err := rendered(ctx, []panel{{"cl-stage", stageBody("cl-stage", s)}})
		return made{wire.Message{Done: true, Panels: panels, Data: data}, err}
	}).(made)
	if m.err != nil {
		return f.p.answered(c.N, m.err)
	}
	m.Ack = c.N
	return m.Message
}

// insideInputs are the inputs of the commands head and inside.
var insideInputs = terms.Inputs{
	terms.Optional(session.IntInput("block")), terms.Optional(session.IntInput("head")),
}

// insideOf returns a reply about the attention of one head, or the contents of one block, at
// the class's forward stage. The reply is rendered once for everyone who requests it.
func (p *Pages) insideOf(ctx context.Context, v *class.View, c wire.Command) wire.Message {
	sent, err := c.Read(insideInputs)
	if err != nil {
		return p.answered(c.N, err)
	}
	block, head := sent.Int("block"), sent.Int("head")
	st := discreet(p.seen(v))
	if !looksInside(v) {
		st = p.rest
	} else if heads := st.Model.Config().Heads; block < 1 || block > len(st.Look.Blocks) ||
		c.Name == "head" && (head < 1 || head > heads) {
		e := terms.Refuse(terms.CodeRange, "class.refused.no_block")
		e.Field, e.Want = "block", fmt.Sprintf("1 to %d, with a head from 1 to %d", len(st.Look.Blocks), heads)
		return p.answered(c.N, e)
	}
	type made struct {
		panels []wire.Panel
		err    error
	}
	ctx = forAll(ctx)
	w := stage.In(ctx)
	m := v.Shared(fmt.Sprintf("classroom/%s/%d/%d/%s", c.Name, block, head, w.Tag), func() any {
		what := panel{"inside", w.InsideHTML(w.NewInside(st, block))}
		if c.Name == "head" {
			what = panel{"head-detail", w.HeadHTML(w.NewHead(st, block, head))}
		}
		panels, err := rendered(ctx, []panel{what})
		return made{panels, err}
	}).(made)
	if m.err != nil {
		return p.answered(c.N, m.err)
	}
	return wire.Message{Ack: c.N, Done: true, Panels: m.panels}
}
