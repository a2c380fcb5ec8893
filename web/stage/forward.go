package stage

import (
	"fmt"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/cost"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// Forward is the body of stage 1.
type Forward struct {
	Look     *Look // nil where nobody looks
	In, Out  Rich
	Blocks   []string // the blocks’ numbers
	Each     string   // what each block does
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

// ShapeRow is one tensor of the pass.
type ShapeRow struct{ Name, Dims string }

// labelledColumns is how many positions can carry their text.
const labelledColumns = 32

// textTokens are the texts at positions 1 to n: prompt, then generated.
func textTokens(s *session.State, n int) []Column {
	var all []Column
	for _, t := range s.PromptTokens {
		c := Column{Text: TokenText(t)}
		if t.Special && len(all) == 0 {
			c.Text = Text{{S: "start", Mark: true}}
		}
		all = append(all, c)
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

func forwardPanel(s *session.State, st infer.Forward, p *Stage) {
	c := s.Model.Config()
	n, read := st.Positions, len(st.Tokens)
	newest := TokenText(st.Tokens[read-1])
	if st.Prefill {
		p.Lead = say("Prefill: all ", terms.Counted(read, "token"), " of the prompt go through the ", terms.Counted(
			c.Layers, "block",
		),
			" at once, side by side. Only the last one’s vector goes on to stage 2.")
	} else {
		p.Lead = say("Decode: token ", terms.Count(n), ", ", gen(newest), ", enters alone as ", terms.Count(c.Width),
			" numbers. Each block lets it look back at the text, adds what it found, and passes the sum on.")
	}
	p.Facts = []Fact{{"mult-adds", terms.MultAdds(st.MultAdds), true}, {"took", terms.Took(st.Took), false}}

	f := &Forward{
		PartsSay: "multiply-adds of matrix products; norms, rotary positions, softmax and activation are not counted",
	}
	old := n - read
	f.OldW, f.NewX, f.NewW = Share(float64(old)/float64(n)), Share(float64(old)/float64(n)), Share(
		float64(read)/float64(n),
	)
	switch {
	case st.Prefill:
		f.In = say("embeddings of ", terms.Counted(read, "token"), ": ", terms.Count(c.Width), " numbers each")
		f.Read = terms.Counted(read, "position") + ", all read now"
	default:
		f.In = say("embedding of ", gen(newest), ": ", terms.Count(c.Width), " numbers")
		f.Read = fmt.Sprintf(
			"%s read now, %s looked up in the cache", terms.Counted(read, "position"), terms.Count(old),
		)
	}
	f.Out = say(
		"normalise the last vector, then compare it with all ", terms.Count(c.Vocab),
		" token vectors: the logits, stage 2",
	)
	f.Aria = fmt.Sprintf("%s, each over %s; %s", terms.Counted(c.Layers, "block"), terms.Counted(n, "position"), f.Read)
	f.Each = fmt.Sprintf("Each block: %s look back over %s, then a feed-forward layer of %s; both results are added "+
		"to the vector.",
		terms.Counted(c.Heads, "head"), reach(c, n), terms.Count(c.FFN))
	for i := range c.Layers {
		f.Blocks = append(f.Blocks, terms.Count(i+1))
	}
	if n <= labelledColumns {
		for i, col := range textTokens(s, n) {
			col.X = Share((float64(i) + 0.5) / float64(n))
			if i >= old {
				col.Class = strings.TrimSpace(col.Class + " is-new")
			}
			f.Columns = append(f.Columns, col)
		}
	}
	f.Parts = partBars(st.Parts)
	for _, sh := range st.Shapes {
		f.Shapes = append(f.Shapes, ShapeRow{strings.ReplaceAll(sh.Name, "_", "-"), dims(sh.Dims)})
	}
	f.Thin = "wide"
	if !st.Prefill {
		f.Thin = "thin"
	}
	if f.Look = newLook(s); f.Look != nil {
		p.Work = f.Look.worked()
	}
	p.Forward = f
}

// reach says how far back heads look, with n positions in the cache.
func reach(c checkpoint.Config, n int) string {
	window, layers := c.Window()
	switch {
	case layers == 0 || n <= window:
		return "all positions so far"
	case layers == c.Layers:
		return "the last " + terms.Counted(window, "position")
	}
	return fmt.Sprintf(
		"all positions so far (in %s over the last %s only)", terms.Counted(layers, "block"), terms.Count(window),
	)
}

func dims(d []int) string {
	s := make([]string, len(d))
	for i, n := range d {
		s[i] = terms.Count(n)
	}
	return strings.Join(s, " × ")
}

// partBars splits a count by where it was spent, parts that are zero left out.
func partBars(p cost.Parts) []PartBar {
	total := p.Total()
	var bars []PartBar
	for _, part := range []struct {
		name string
		n    int64
	}{
		{"projections", p.Projections},
		{"feed-forward", p.FeedForward},
		{"attention", p.Attention},
		{"output", p.Output},
	} {
		if part.n == 0 {
			continue
		}
		x := float64(part.n) / float64(total)
		bars = append(bars, PartBar{part.name, terms.MultAdds(part.n), terms.Percent(x), Share(x)})
	}
	return bars
}
