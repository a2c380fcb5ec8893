package stage

import (
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/cost"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// Forward is the body of stage 1.
type Forward struct {
	Look     *PassView // nil unless the inside is shown
	In, Out  Rich
	Blocks   []string // the blocks’ numbers
	Each     string   // description of each block
	OldW     string   // columns read by earlier passes, as an SVG length
	NewX     string   // columns read by this pass
	NewW     string
	Columns  []Column // the text above the columns; empty when there are too many
	Read     string   // "8 positions, all read now"
	Aria     string
	Thin     string // "wide" for a prefill, "thin" for a decode step
	Parts    []PartBar
	PartsSay string
	Shapes   []ShapeRow
}

// Column is one position's token above the stack.
type Column struct {
	X     string
	Text  Text
	Class string // "is-new", "is-gen" or ""
}

// PartBar is one kind of work.
type PartBar struct{ Name, Count, Share, Bar string }

// ShapeRow is one tensor of the pass, with its dimensions.
type ShapeRow struct{ Name, Dims string }

// labeledColumns is the maximum number of positions that get a label.
const labeledColumns = 32

// textTokens returns the tokens at positions 1 to n: first the prompt's tokens, then the generated
// ones.
func (w Words) textTokens(s *session.State, n int) []Column {
	var all []Column
	for i, t := range s.PromptTokens {
		all = append(all, Column{Text: w.promptText(s.Model, t, i)})
	}
	for _, step := range s.Steps {
		if len(all) >= n {
			break
		}
		if step.Ran >= infer.KindSample {
			all = append(all, Column{Text: TokenText(s.Model.Token(step.Chosen)), Class: "is-gen"})
		}
	}
	return all[:min(n, len(all))]
}

func (w Words) forwardPanel(s *session.State, st infer.Forward, p *Stage) {
	p.Lead = append(p.Lead, w.unread(s)...)
	c := s.Model.Config()
	n, read := st.Positions, len(st.Tokens)
	newest := TokenText(st.Tokens[read-1])
	f := &Forward{
		PartsSay: w.T("forward.parts"),
	}
	old := n - read
	f.OldW, f.NewX, f.NewW = Share(float64(old)/float64(n)), Share(float64(old)/float64(n)), Share(
		float64(read)/float64(n),
	)
	switch {
	case st.Prefill:
		f.In = w.Rich("forward.in.prefill", "tokens", w.Counted(read, "token"), "width", terms.Count(c.Width))
		f.Read = w.T("forward.read.prefill", "positions", w.Counted(read, "position"))
		if old > 0 {
			f.Read = w.T("forward.read", "positions", w.Counted(read, "position"), "old", terms.Count(old))
		}
	default:
		f.In = w.Rich("forward.in", "token", gen(newest), "width", terms.Count(c.Width))
		f.Read = w.T("forward.read", "positions", w.Counted(read, "position"), "old", terms.Count(old))
	}
	f.Out = w.Rich("forward.out", "vocab", terms.Count(c.Vocab))
	f.Aria = w.T(
		"forward.aria", "blocks", w.Counted(c.Layers, "block"), "positions", w.Counted(n, "position"), "read", f.Read,
	)
	f.Each = w.T(
		"forward.each", "heads", w.Counted(c.Heads, "head"), "reach", w.reach(c, n), "ffn", terms.Count(c.FFN),
	)
	for i := range c.Layers {
		f.Blocks = append(f.Blocks, terms.Count(i+1))
	}
	if n <= labeledColumns {
		for i, col := range w.textTokens(s, n) {
			col.X = Share((float64(i) + 0.5) / float64(n))
			if i >= old {
				col.Class = strings.TrimSpace(col.Class + " is-new")
			}
			f.Columns = append(f.Columns, col)
		}
	}
	f.Parts = w.partBars(st.Parts)
	for _, sh := range st.Shapes {
		f.Shapes = append(f.Shapes, ShapeRow{w.T("tensor." + sh.Name), dims(sh.Dims)})
	}
	f.Thin = "wide"
	if !st.Prefill {
		f.Thin = "thin"
	}
	if f.Look = w.newLook(s); f.Look != nil {
		p.Work = f.Look.worked()
	}
	p.Forward = f
}

// reach describes how far back the heads can read if n positions are in the cache.
func (w Words) reach(c checkpoint.Config, n int) string {
	window, layers := c.Window()
	switch {
	case layers == 0 || n <= window:
		return w.T("reach.all")
	case layers == c.Layers:
		return w.T("reach.window", "positions", w.Counted(window, "position"))
	}
	return w.T("reach.some", "blocks", w.Counted(layers, "block"), "window", terms.Count(window))
}

func dims(d []int) string {
	s := make([]string, len(d))
	for i, n := range d {
		s[i] = terms.Count(n)
	}
	return strings.Join(s, " × ")
}

// partBars splits a count of operations by kind of work. It omits kinds whose count is zero.
func (w Words) partBars(p cost.Parts) []PartBar {
	total := p.Total()
	var bars []PartBar
	for _, part := range []struct {
		name string
		n    int64
	}{
		{"projections", p.Projections},
		{"feed_forward", p.FeedForward},
		{"attention", p.Attention},
		{"output", p.Output},
	} {
		if part.n == 0 {
			continue
		}
		x := float64(part.n) / float64(total)
		bars = append(bars, PartBar{w.T("part." + part.name), w.MultAdds(part.n), terms.Percent(x), Share(x)})
	}
	return bars
}
