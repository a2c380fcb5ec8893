package stage

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// HeadDetail is what one head reads, in figures.
type HeadDetail struct {
	Missing string // said instead, where there is no such head to look at
	Title   string // "Block 3, head 2 reads"
	Shares  string // "shares keys and values with heads 1–3"
	Rows    []ReadRow
	Rest    string // "the other 12 together"
	RestW   string
}

// ReadRow is one position that a head reads.
type ReadRow struct {
	Text  Text
	At    string // "at 7"
	W     string
	Bar   string
	Class string
}

// headRows is how many positions a head's detail lists.
const headRows = 16

// NewHead tells what a head reads at the step shown, most first. Blocks and
// heads count from 1, as on the screen.
func NewHead(s *session.State, block, head int) HeadDetail {
	if why := notSeen(s, block); why != "" {
		return HeadDetail{Missing: why}
	}
	c, b := s.Model.Config(), s.Look.Blocks[block-1]
	if head < 1 || head > len(b.Attention) {
		return HeadDetail{
			Missing: fmt.Sprintf("There is no head %d: a block has %s.", head, terms.Counted(len(b.Attention), "head")),
		}
	}
	w := b.Attention[head-1]
	v := HeadDetail{
		Title: fmt.Sprintf("Block %d, head %d reads", block, head), Shares: shares(c.Heads, c.KVHeads, head),
	}
	hidden := outOfSight(c, block-1, len(w))
	if hidden > 0 {
		v.Shares += "; in this block a token sees the last " + terms.Counted(len(w)-hidden, "position")
	}
	rest := 1.0
	rows := headRows
	if len(w)-hidden == headRows+1 {
		rows++ // a line for "the other one" would take as much room as the one itself
	}
	for _, r := range mostRead(textTokens(s, len(w)), w, rows, hidden) {
		v.Rows = append(v.Rows, ReadRow{Text: r.Text, At: r.At, W: terms.Prob(r.w), Bar: Share(r.w), Class: Ramp(r.w)})
		rest -= r.w
	}
	if n := len(w) - hidden - len(v.Rows); n > 0 {
		v.Rest, v.RestW = "the other "+terms.Count(n)+" together", terms.Prob(max(rest, 0))
	}
	return v
}

// shares names the heads that use the same keys and values as a head.
func shares(heads, kv, head int) string {
	per := heads / kv
	if per == 1 {
		return "its keys and values are its own"
	}
	first := (head-1)/per*per + 1
	return fmt.Sprintf("heads %d–%d share keys and values", first, first+per-1)
}

// notSeen says why a block cannot be looked into, or "".
func notSeen(s *session.State, block int) string {
	switch {
	case s.Look == nil:
		return "There is nothing to see inside here: go to stage 1 and press “Look inside”."
	case block < 1 || block > len(s.Look.Blocks):
		return fmt.Sprintf("There is no block %d: the model has %s.", block, terms.Counted(len(s.Look.Blocks), "block"))
	}
	return ""
}

// Inside is one block, opened.
type Inside struct {
	Missing string
	Title   string // "Inside block 3, at token 19"
	Steps   []InsideStep
	Tensors []TensorView
	Heads   []HeadButton // with what they read in words
	Says    []SayRow
}

// InsideStep is one norm of the residual stream on its way through a block.
type InsideStep struct{ Name, Norm, Bar string }

// TensorView is a vector of a block with its values.
type TensorView struct {
	Name, Say     string
	Shape         string // "6 heads × 32"
	Min, Max      string
	Mean          string
	Pos, Neg      string // SVG paths of the values above and below zero
	W             string // of the view box
	Aria          string
	Note          string // where values are drawn or listed together
	ValuesSummary string // "all 192 values"
	Values        []ValueRow
}

// ValueRow is a run of a vector's values.
type ValueRow struct{ Name, Values string }

// activations says what the feed-forward layer's activations are.
func activations(c checkpoint.Config) string {
	function := "silu"
	if c.Block.Activation != checkpoint.SiLU {
		function = "gelu"
	}
	if c.Has(checkpoint.Gate) {
		return "activations: " + function + "(gate) × up"
	}
	return "activations: " + function + "(up)"
}

// NewInside opens a block at the step shown. Blocks count from 1.
func NewInside(s *session.State, block int) Inside {
	if why := notSeen(s, block); why != "" {
		return Inside{Missing: why}
	}
	c, b := s.Model.Config(), s.Look.Blocks[block-1]
	v := Inside{
		Title: fmt.Sprintf("Inside block %d, at token %s", block, terms.Count(s.Look.Position+1)),
		Says:  sayRows(b.Says),
	}
	longest := max(b.NormIn, b.NormMid, b.NormOut)
	for _, st := range []struct {
		name string
		n    float64
	}{{"comes in", b.NormIn}, {"after attention", b.NormMid}, {"after feed-forward", b.NormOut}} {
		v.Steps = append(v.Steps, InsideStep{st.name, terms.Decimals(st.n, 2), Share(st.n / longest)})
	}
	heads := func(n int) string { return terms.Counted(n, "head") + " × " + terms.Count(c.HeadDim) }
	v.Tensors = []TensorView{
		tensor("q", "query: what each head looks for", heads(c.Heads), "head", b.Query, c.HeadDim),
		tensor("k", "key: by what this token can be found", heads(c.KVHeads), "key/value head", b.Key, c.HeadDim),
		tensor("v", "value: what it gives to whoever looks", heads(c.KVHeads), "key/value head", b.Value, c.HeadDim),
		tensor("feed-forward", activations(c), terms.Count(c.FFN), "", b.Hidden, valuesInRow),
	}
	tokens := textTokens(s, s.Look.Position+1)
	for h, w := range b.Attention {
		v.Heads = append(v.Heads, headButton(tokens, w, block-1, h, outOfSight(c, block-1, len(w))))
	}
	return v
}

// Bounds of what a tensor shows.
const (
	stripBars   = 512
	listedVals  = 1024
	valuesInRow = 16
	stripHalf   = 20.0 // height of the strip above and below zero
)

func tensor(name, words, shape, row string, x []float32, perRow int) TensorView {
	v := TensorView{Name: name, Say: words, Shape: shape}
	low, high, sum := float64(x[0]), float64(x[0]), 0.0
	for _, f := range x {
		low, high, sum = min(low, float64(f)), max(high, float64(f)), sum+float64(f)
	}
	v.Min, v.Max, v.Mean = terms.Decimals(low, 2), terms.Decimals(high, 2), terms.Decimals(sum/float64(len(x)), 3)
	v.bars(x, max(math.Abs(low), math.Abs(high)))
	v.Aria = fmt.Sprintf("%s: %s from %s to %s, mean %s", name, terms.Counted(len(x), "value"), v.Min, v.Max, v.Mean)
	listed := x[:min(len(x), listedVals)]
	v.ValuesSummary = "all " + terms.Counted(len(x), "value")
	if len(listed) < len(x) {
		v.ValuesSummary = "the first " + terms.Count(len(listed)) + " of " + terms.Counted(len(x), "value")
	}
	for part := range slices.Chunk(listed, perRow) {
		r := ValueRow{Name: fmt.Sprintf("%d–%d", len(v.Values)*perRow+1, len(v.Values)*perRow+len(part))}
		if row != "" {
			r.Name = fmt.Sprintf("%s %d", row, len(v.Values)+1)
		}
		words := make([]string, len(part))
		for i, f := range part {
			words[i] = terms.Decimals(float64(f), 2)
		}
		r.Values = strings.Join(words, " ")
		v.Values = append(v.Values, r)
	}
	return v
}

// bars draws values as bars up and down from zero. Of more than fit, each bar
// is the one of its neighbours that is furthest from zero.
func (v *TensorView) bars(x []float32, most float64) {
	per := (len(x) + stripBars - 1) / stripBars
	if per > 1 {
		v.Note = fmt.Sprintf("each bar is the largest of %d neighbours", per)
	}
	var pos, neg strings.Builder
	n := 0
	for part := range slices.Chunk(x, per) {
		f := 0.0
		for _, y := range part {
			if math.Abs(float64(y)) > math.Abs(f) {
				f = float64(y)
			}
		}
		if h := math.Round(math.Abs(f)/max(most, 1e-30)*stripHalf*10) / 10; h > 0 {
			if f > 0 {
				fmt.Fprintf(&pos, "M%d.5 %gv-%g", n, stripHalf, h)
			} else {
				fmt.Fprintf(&neg, "M%d.5 %gv%g", n, stripHalf, h)
			}
		}
		n++
	}
	v.Pos, v.Neg, v.W = pos.String(), neg.String(), terms.Count(n)
}
