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

// HeadDetail lists the positions that one head reads, with their weights as numbers.
type HeadDetail struct {
	Missing string // shown instead if there is no such head
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

// headRows is the maximum number of positions that a head's detail lists.
const headRows = 16

// NewHead describes the positions that a head reads at the step shown, in descending order of
// weight. Blocks and heads are numbered from 1, as on the screen.
func (w Words) NewHead(s *session.State, block, head int) HeadDetail {
	if why := w.notSeen(s, block); why != "" {
		return HeadDetail{Missing: why}
	}
	c, b := s.Model.Config(), s.Look.Blocks[block-1]
	if head < 1 || head > len(b.Attention) {
		return HeadDetail{
			Missing: w.T("missing.head", "n", terms.Count(head), "heads", w.Counted(len(b.Attention), "head")),
		}
	}
	reads := b.Attention[head-1]
	v := HeadDetail{
		Title: w.T(
			"head.title",
			"block",
			terms.Count(block),
			"head",
			terms.Count(head),
		), Shares: w.shares(c.Heads, c.KVHeads, head),
	}
	hidden := outOfSight(c, block-1, len(reads))
	if hidden > 0 {
		v.Shares = w.T(
			"shares.window", "shares", v.Shares, "positions", w.Counted(len(reads)-hidden, "position"),
		)
	}
	rest := 1.0
	rows := headRows
	if len(reads)-hidden == headRows+1 {
		rows++ // a line for "the other one" would take up as much space as listing it
	}
	for _, r := range w.mostRead(w.textTokens(s, len(reads)), reads, rows, hidden) {
		v.Rows = append(
			v.Rows,
			ReadRow{Text: r.Text, At: r.At, W: terms.Prob(r.w), Bar: Share(r.w), Class: Ramp(r.w)},
		)
		rest -= r.w
	}
	if n := len(reads) - hidden - len(v.Rows); n > 0 {
		v.Rest, v.RestW = w.T("head.rest", "n", terms.Count(n)), terms.Prob(max(rest, 0))
	}
	return v
}

// shares describes which heads have the same keys and values as the given head.
func (w Words) shares(heads, kv, head int) string {
	per := heads / kv
	if per == 1 {
		return w.T("shares.own")
	}
	first := (head-1)/per*per + 1
	return w.T("shares", "from", terms.Count(first), "to", terms.Count(first+per-1))
}

// notSeen returns the reason why a block cannot be opened, or "" if it can.
func (w Words) notSeen(s *session.State, block int) string {
	switch {
	case s.Look == nil:
		return w.T("missing.look")
	case block < 1 || block > len(s.Look.Blocks):
		return w.T("missing.block", "n", terms.Count(block), "blocks", w.Counted(len(s.Look.Blocks), "block"))
	}
	return ""
}

// Inside is one opened block.
type Inside struct {
	Missing string
	Title   string // "Inside block 3, at token 19"
	Steps   []InsideStep
	Tensors []TensorView
	Heads   []HeadButton // with the tokens that each head reads, in words
	Says    []SayRow
}

// InsideStep is the norm of the residual stream at one point on its way through a block.
type InsideStep struct{ Name, Norm, Bar string }

// TensorView is a vector of a block with its values.
type TensorView struct {
	Name, Say     string
	Shape         string // "6 heads × 32"
	Min, Max      string
	Mean          string
	Pos, Neg      string // SVG paths of the values above and below zero
	W             string // width of the view box
	Aria          string
	Note          string // set if several values share a bar or if only some are listed
	ValuesSummary string // "all 192 values"
	Values        []ValueRow
}

// ValueRow is a row of a vector's values.
type ValueRow struct{ Name, Values string }

// activations describes the feed-forward layer's activations.
func (w Words) activations(c checkpoint.Config) string {
	function := "silu"
	if c.Block.Activation != checkpoint.SiLU {
		function = "gelu"
	}
	if c.Has(checkpoint.Gate) {
		return w.T("activations", "formula", function+"(gate) × up")
	}
	return w.T("activations", "formula", function+"(up)")
}

// insideSmall returns the key of the text below "Logit lens", or the key of the reason why
// nothing is listed there.
func insideSmall(v Inside) string {
	if len(v.Says) == 0 {
		return "look.stopped.hidden"
	}
	return "inside.stopped.small"
}

// NewInside opens a block at the step shown. Blocks are numbered from 1.
func (w Words) NewInside(s *session.State, block int) Inside {
	if why := w.notSeen(s, block); why != "" {
		return Inside{Missing: why}
	}
	c, b := s.Model.Config(), s.Look.Blocks[block-1]
	v := Inside{
		Title: w.T("inside.title", "block", terms.Count(block), "n", terms.Count(s.Look.Position+1)),
		Says:  sayRows(b.Says),
	}
	longest := max(b.NormIn, b.NormMid, b.NormOut)
	for _, st := range []struct {
		name string
		n    float64
	}{{"inside.norm.in", b.NormIn}, {"inside.norm.attention", b.NormMid}, {"inside.norm.ffn", b.NormOut}} {
		v.Steps = append(v.Steps, InsideStep{w.T(st.name), terms.Decimals(st.n, 2), Share(st.n / longest)})
	}
	heads := func(n int) string {
		return w.T("inside.heads", "heads", w.Counted(n, "head"), "dim", terms.Count(c.HeadDim))
	}
	v.Tensors = []TensorView{
		w.tensor("q", heads(c.Heads), "row.head", b.Query, c.HeadDim),
		w.tensor("k", heads(c.KVHeads), "row.kv", b.Key, c.HeadDim),
		w.tensor("v", heads(c.KVHeads), "row.kv", b.Value, c.HeadDim),
		w.tensor("ffn", terms.Count(c.FFN), "", b.Hidden, valuesInRow),
	}
	v.Tensors[3].Say = w.activations(c)
	tokens := w.textTokens(s, s.Look.Position+1)
	for h, reads := range b.Attention {
		v.Heads = append(v.Heads, w.headButton(tokens, reads, block-1, h, outOfSight(c, block-1, len(reads))))
	}
	return v
}

// Limits and sizes for the view of a tensor.
const (
	stripBars   = 512
	listedVals  = 1024
	valuesInRow = 16
	stripHalf   = 20.0 // height of the strip above and below zero
)

// tensor returns the view of a vector. row is the key of the text that names the rows. If it is "",
// each row is named after the numbers of its values.
func (w Words) tensor(name, shape, row string, x []float32, perRow int) TensorView {
	v := TensorView{Name: w.T("inside." + name), Say: w.T("inside.say." + name), Shape: shape}
	low, high, sum := float64(x[0]), float64(x[0]), 0.0
	for _, f := range x {
		low, high, sum = min(low, float64(f)), max(high, float64(f)), sum+float64(f)
	}
	v.Min, v.Max, v.Mean = terms.Decimals(low, 2), terms.Decimals(high, 2), terms.Decimals(sum/float64(len(x)), 3)
	v.bars(w, x, max(math.Abs(low), math.Abs(high)))
	v.Aria = w.T(
		"inside.aria",
		"name",
		v.Name,
		"values",
		w.Counted(len(x), "value"),
		"min",
		v.Min,
		"max",
		v.Max,
		"mean",
		v.Mean,
	)
	listed := x[:min(len(x), listedVals)]
	v.ValuesSummary = w.T("inside.values", "values", w.Counted(len(x), "value"))
	if len(listed) < len(x) {
		v.ValuesSummary = w.T(
			"inside.values.first", "n", terms.Count(len(listed)), "values", w.Counted(len(x), "value"),
		)
	}
	for part := range slices.Chunk(listed, perRow) {
		r := ValueRow{Name: fmt.Sprintf("%d–%d", len(v.Values)*perRow+1, len(v.Values)*perRow+len(part))}
		if row != "" {
			r.Name = w.T(row, "n", terms.Count(len(v.Values)+1))
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

// bars draws values as bars above and below zero. If there are too many values, each bar stands for
// several neighboring values and shows the one that is furthest from zero.
func (v *TensorView) bars(w Words, x []float32, most float64) {
	per := (len(x) + stripBars - 1) / stripBars
	if per > 1 {
		v.Note = w.T("inside.bars", "n", terms.Count(per))
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
