package stage

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// ZoomTo selects the part of the model to zoom into. Blocks and heads are numbered from 1. Head
// 0 means the whole block. If Sum is true, the zoom shows how the head's output is computed.
type ZoomTo struct {
	Block, Head int
	Sum         bool
}

// Zoom is a close-up of a part of the map: a block with its heads, a head with the positions that
// it reads, or the sum that a head outputs. The zero value is the whole model, without zoom.
type Zoom struct {
	Missing string // shown if there is nothing to see
	Act     string // text of the button next to Missing
	ActCmd  string // the command that the button sends
	Ask     string // the query that returns this zoom again
	Crumbs  []Crumb
	Title   string // "Inside block 3, at token 19"
	Say     string
	Lanes   []ZoomLane
	Box     string // view box of a lane
	Columns []MapColumn
	Inside  *Inside     // the block's numbers
	Head    *HeadDetail // the positions that the head reads
	SumCmd  string      // the command that shows the head's sum
	Sum     *ZoomSum
	Why     *ZoomWhy // link to the prediction without this part, once a run has begun
}

// ZoomWhy is a link to the page “Why this token?” with a part switched off. The page that shows the
// zoom adds its run to the link's address.
type ZoomWhy struct {
	Text string
	Off  string // the part, in the syntax of package infer/why
}

// Crumb is a level of the zoom, from the whole model down to the part shown.
type Crumb struct {
	Text, Cmd string // if Cmd is "", the crumb ends the zoom
	Now       bool
}

// ZoomLane is one head of a block, with its weight for each column.
type ZoomLane struct {
	N, Aria, Cmd string
	Shades       []ZoomShade
}

// ZoomShade is a set of cells in a lane: those with weights in one range.
type ZoomShade struct{ Class, Path string }

// ZoomSum is the output of a head, shown as terms and their sum. Each term has its weight and a
// picture of its numbers. Work shows how the first of these numbers are added up.
type ZoomSum struct {
	Terms  []ZoomTerm
	Total  ZoomTerm
	Work   []Rich
	Values []ValueRow
	Open   string // label of the values
}

// ZoomTerm is one vector of the sum, or the total.
type ZoomTerm struct {
	Name   Rich
	W      string // its weight; "" for the total
	Vector TensorView
}

// workedNumbers is how many of a sum's numbers are shown with their calculation.
const workedNumbers = 2

func zoomCmd(to ZoomTo) string {
	switch {
	case to.Sum:
		return fmt.Sprintf(`{"cmd":"zoom","block":%d,"head":%d,"sum":true}`, to.Block, to.Head)
	case to.Head > 0:
		return fmt.Sprintf(`{"cmd":"zoom","block":%d,"head":%d}`, to.Block, to.Head)
	}
	return fmt.Sprintf(`{"cmd":"zoom","block":%d}`, to.Block)
}

// NewZoom zooms into a part of the model at the step shown. If the state does not include the
// inside view of the pass, the result explains how to turn it on.
func (w Words) NewZoom(s *session.State, to ZoomTo) Zoom {
	z := Zoom{Ask: zoomCmd(to), Crumbs: w.crumbs(to)}
	if s.Started() {
		z.Why = w.zoomWhy(to)
	}
	if s.Look == nil {
		z.Missing, z.Act = w.T("zoom.here"), w.T("zoom.here.act")
		z.ActCmd = fmt.Sprintf(`{"cmd":"seek","step":%d,"stage":"forward"}`, s.Cursor.Step)
		if s.Cursor.Stage == infer.KindForward {
			z.Missing, z.Act, z.ActCmd = w.T("zoom.look"), w.T("look.button"), `{"cmd":"look","on":true}`
		}
		return z
	}
	if z.Missing = w.notSeen(s, to.Block); z.Missing != "" {
		return z
	}
	switch {
	case to.Head == 0:
		w.zoomBlock(s, to, &z)
	default:
		w.zoomHead(s, to, &z)
	}
	return z
}

func (w Words) zoomWhy(to ZoomTo) *ZoomWhy {
	block := fmt.Sprintf("L%d", to.Block)
	if to.Head == 0 {
		return &ZoomWhy{w.T("zoom.why.block", "n", terms.Count(to.Block)), block}
	}
	head := infer.Part{Kind: infer.PartHead, Block: to.Block, Head: to.Head}
	return &ZoomWhy{w.T("zoom.why.head", "n", terms.Count(to.Head)), head.String()}
}

func (w Words) crumbs(to ZoomTo) []Crumb {
	block := ZoomTo{Block: to.Block}
	list := []Crumb{
		{Text: w.T("zoom.model")}, {Text: w.T("zoom.block", "n", terms.Count(to.Block)), Cmd: zoomCmd(block)},
	}
	if to.Head > 0 {
		head := ZoomTo{Block: to.Block, Head: to.Head}
		list = append(list, Crumb{Text: w.T("zoom.head", "n", terms.Count(to.Head)), Cmd: zoomCmd(head)})
	}
	if to.Sum {
		list = append(list, Crumb{Text: w.T("zoom.sum"), Cmd: zoomCmd(to)})
	}
	list[len(list)-1].Now = true
	return list
}

func (w Words) zoomBlock(s *session.State, to ZoomTo, z *Zoom) {
	c, b := s.Model.Config(), s.Look.Blocks[to.Block-1]
	inside := w.NewInside(s, to.Block)
	z.Inside, z.Title = &inside, inside.Title
	z.Say = w.T("zoom.lanes", "heads", w.Counted(c.Heads, "head"))
	w.lanes(s, to.Block, b.Attention, 0, z)
}

// lanes draws the weights of heads for each column. from is the number of the first head.
func (w Words) lanes(s *session.State, block int, heads [][]float32, from int, z *Zoom) {
	tokens := w.textTokens(s, s.Look.Position+1)
	spans := mapSpans(len(tokens))
	for _, c := range spans {
		column := MapColumn{Text: tokens[c.from].Text, Class: tokens[c.from].Class}
		if n := c.to - c.from; n > 1 {
			column = MapColumn{Text: Text{{S: "+" + terms.Count(n), Mark: true}}, Class: "is-fold"}
		}
		z.Columns = append(z.Columns, column)
	}
	quiet(z.Columns)
	z.Box = "0 0 " + num(float64(len(spans))*mapPitch) + " 10"
	for i, reads := range heads {
		h := from + i
		button := w.headButton(tokens, reads, block-1, h, outOfSight(s.Model.Config(), block-1, len(tokens)))
		z.Lanes = append(z.Lanes, ZoomLane{
			N: button.N, Aria: button.Aria, Cmd: zoomCmd(ZoomTo{Block: block, Head: h + 1}),
			Shades: shades(reads, spans),
		})
	}
}

// shades groups a lane's cells by the color class of their weights, weakest first.
func shades(reads []float32, spans []span) []ZoomShade {
	paths := map[string]*strings.Builder{}
	for i, c := range spans {
		sum := 0.0
		for _, x := range reads[c.from:c.to] {
			sum += float64(x)
		}
		class := Ramp(sum)
		if paths[class] == nil {
			paths[class] = new(strings.Builder)
		}
		mapCell(paths[class], span{i, i + 1}, 0, true)
	}
	var list []ZoomShade
	for i := 1; i <= 5; i++ {
		class := "p" + strconv.Itoa(i)
		if b := paths[class]; b != nil {
			list = append(list, ZoomShade{class, b.String()})
		}
	}
	return list
}

func (w Words) zoomHead(s *session.State, to ZoomTo, z *Zoom) {
	detail := w.NewHead(s, to.Block, to.Head)
	if z.Missing = detail.Missing; z.Missing != "" {
		return
	}
	b := s.Look.Blocks[to.Block-1]
	z.Title = detail.Title
	w.lanes(s, to.Block, b.Attention[to.Head-1:to.Head], to.Head-1, z)
	if !to.Sum {
		z.Say, z.Head = w.T("zoom.reads"), &detail
		if to.Head <= len(b.Mixes) {
			z.SumCmd = zoomCmd(ZoomTo{Block: to.Block, Head: to.Head, Sum: true})
		}
		return
	}
	if to.Head <= len(b.Mixes) {
		z.Sum = w.zoomSum(s, b.Attention[to.Head-1], b.Mixes[to.Head-1], to.Head)
		z.Say = w.T("zoom.sum.say", "numbers", w.Counted(len(b.Mixes[to.Head-1].Sum), "number"))
	}
}

// zoomSum returns a head's sum as its largest terms, the rest and the total. The rest is the
// difference between the total and the largest terms.
func (w Words) zoomSum(s *session.State, reads []float32, mix infer.Mix, head int) *ZoomSum {
	tokens := w.textTokens(s, len(reads))
	rest, left := make([]float32, len(mix.Sum)), 1.0
	copy(rest, mix.Sum)
	sum := &ZoomSum{}
	for _, t := range mix.Terms {
		weight := reads[t.Position]
		left -= float64(weight)
		for i, x := range t.Value {
			rest[i] -= weight * x
		}
		sum.Terms = append(sum.Terms, ZoomTerm{
			Name: rich(gen(tokens[t.Position].Text), " "+w.T("at", "n", terms.Count(t.Position+1))),
			W:    terms.Prob(float64(weight)), Vector: w.tensor("v", "", "", t.Value, valuesInRow),
		})
	}
	others := len(reads) - len(mix.Terms)
	if others > 0 {
		sum.Terms = append(sum.Terms, ZoomTerm{
			Name: w.Rich("zoom.sum.rest", "n", terms.Count(others)), W: terms.Prob(max(left, 0)),
			Vector: w.tensor("v", "", "", rest, valuesInRow),
		})
	}
	sum.Total = ZoomTerm{
		Name:   w.Rich("zoom.sum.total", "n", terms.Count(head)),
		Vector: w.tensor("v", "", "", mix.Sum, valuesInRow),
	}
	for i := range min(workedNumbers, len(mix.Sum)) {
		sum.Work = append(sum.Work, w.workedNumber(reads, mix, rest, others, i))
	}
	sum.Values, sum.Open = sum.Total.Vector.Values, w.T("zoom.sum.all", "numbers", w.Counted(len(mix.Sum), "number"))
	return sum
}

// workedNumber shows the calculation of number i of a head's sum: "number 1: 0.5349 × 0.21 + …
// = 0.03".
func (w Words) workedNumber(reads []float32, mix infer.Mix, rest []float32, others, i int) Rich {
	r := rich(w.T("zoom.sum.number", "n", terms.Count(i+1)) + ": ")
	for n, t := range mix.Terms {
		plus := ""
		if n > 0 {
			plus = " + "
		}
		r = append(r, rich(fmt.Sprintf(
			"%s%s × %s", plus, terms.Prob(float64(reads[t.Position])), signed(terms.Decimals(float64(t.Value[i]), 3)),
		))...)
	}
	if others > 0 {
		r = append(r, rich(" + "+signed(terms.Decimals(float64(rest[i]), 3)))...)
	}
	return append(r, rich(" = ", bold(terms.Decimals(float64(mix.Sum[i]), 3)))...)
}

// signed puts a negative number in parentheses, for use after a sign.
func signed(n string) string {
	if strings.HasPrefix(n, "−") || strings.HasPrefix(n, "-") {
		return "(" + n + ")"
	}
	return n
}
