package why

import (
	"fmt"
	"math"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/stage"
)

// fall is a picture of how the parts add up to the sum. The bar of each part or block extends from
// the sum before it to the sum after it, and the last bar is the sum itself. On a phone, the bars
// are horizontal, with one row per block, so that all of them are in view.
type fall struct {
	Width int // width of the wide picture
	Zero  float64
	Bars  []fallBar
	Ticks []fallTick
	Joins []fallJoin // lines from the end of a bar to the next bar
	Long  bool       // the picture can be scrolled, because its text would be unreadable if the picture were shrunk

	Tall       int // height of the narrow picture
	NarrowZero float64
	Rows       []fallBar // the horizontal bars of the narrow picture
	Alt        string
}

// A fallBar extends from Y downward or, if horizontal, from X to the right.
type fallBar struct {
	X, Y, Width, Height float64
	Name, Block         string
	Label               string
	LabelY              float64
	Plus, Sum           bool
	Ghost               bool    // the whole model's bar is at a different position
	Was, WasSize        float64 // Y and height of the whole model's bar or, if horizontal, its X and width
}

type fallTick struct {
	Y    float64
	Name string
}

type fallJoin struct{ From, To, Y float64 }

// Middle returns the X coordinate of a bar's text.
func (b fallBar) Middle() float64 { return b.X + b.Width/2 }

// Dimensions of the pictures, in their own units.
const (
	fallShort  = 16 // maximum number of bars that are still readable within the page's width
	fallRoom   = 1140
	fallColumn = 80.0 // minimum column width
	fallWidest = 132.0
	fallGap    = 20.0
	fallLeft   = 44.0
	fallTop    = 26.0
	fallHigh   = 150.0
	fallNames  = 210.0 // baseline of the parts' names; the baseline of the blocks' names is below it
	fallHeight = 238
	fallNear   = 26.0 // if a bar's top is less than this far below zero, its label is above zero

	narrowWidth = 358
	narrowFrom  = 92.0 // names end to the left of this, and labels begin to the right of narrowTo
	narrowTo    = 292.0
	narrowRow   = 34.0
	narrowBar   = 20.0
)

// newFall draws the parts' contributions in this run. Behind each bar, the whole model's bar is
// dashed. The measure is "score" or "lead".
func newFall(w stage.Words, base, now []infer.Contribution, measure string) fall {
	f := fall{}
	halves := len(steps(w, now, true)) < fallShort
	whole := w.T("explain.fall." + measure)
	f.stand(steps(w, base, halves), steps(w, now, halves), whole)
	f.lie(steps(w, base, false), steps(w, now, false), whole)
	var parts []string
	for _, b := range f.Bars {
		key := "explain.fall.part"
		if b.Block != "" {
			key = "explain.fall.part.block"
		}
		parts = append(parts, w.T(key, "block", b.Block, "part", b.Name, "value", b.Label))
	}
	f.Alt = w.T("explain.fall.alt."+measure, "parts", listed(w, parts))
	return f
}

// reach returns the lowest and the highest sum, counting 0 as a sum.
func reach(lists ...[]step) (low, high float64) {
	for _, list := range lists {
		for _, s := range list {
			low, high = min(low, s.to), max(high, s.to)
		}
	}
	return low, max(high, low+1e-9)
}

// stand draws the wide picture.
func (f *fall) stand(was, is []step, whole string) {
	low, high := reach(was, is)
	y := func(z float64) float64 { return fallTop + (high-z)/(high-low)*fallHigh }
	column := min(max(math.Floor((fallRoom-fallLeft)/float64(len(is)+1)), fallColumn), fallWidest)
	f.Width, f.Zero, f.Long = int(fallLeft+column*float64(len(is)+1)), y(0), len(is)+1 > fallShort
	for _, z := range ticks(low, high) {
		f.Ticks = append(f.Ticks, fallTick{y(z), terms.Decimals(z, 0)})
	}
	was, is = append(was, sum(was, whole)), append(is, sum(is, whole))
	for i, s := range is {
		b := fallBar{
			X: fallLeft + float64(i)*column + fallGap/2, Width: column - fallGap, Name: s.name, Block: s.block,
			Y: y(max(s.from, s.to)), Label: s.label(), Plus: s.to >= s.from, Sum: s.whole,
		}
		b.Height = max(y(min(s.from, s.to))-b.Y, 1)
		if b.LabelY = b.Y - 7; b.Y > f.Zero && b.Y < f.Zero+fallNear {
			b.LabelY = f.Zero - 7
		}
		if w := was[i]; w.from != s.from || w.to != s.to {
			b.Ghost, b.Was = true, y(max(w.from, w.to))
			b.WasSize = max(y(min(w.from, w.to))-b.Was, 1)
		}
		if i > 0 {
			f.Joins = append(f.Joins, fallJoin{b.X - fallGap, b.X, y(is[i-1].to)})
		}
		f.Bars = append(f.Bars, b)
	}
}

// lie draws the narrow picture.
func (f *fall) lie(was, is []step, whole string) {
	low, high := reach(was, is)
	x := func(z float64) float64 { return narrowFrom + (z-low)/(high-low)*(narrowTo-narrowFrom) }
	was, is = append(was, sum(was, whole)), append(is, sum(is, whole))
	f.Tall, f.NarrowZero = int(narrowRow)*len(is), x(0)
	for i, s := range is {
		b := fallBar{
			X: x(min(s.from, s.to)), Y: float64(i)*narrowRow + (narrowRow-narrowBar)/2, Height: narrowBar,
			Name: s.name, Label: s.label(), Plus: s.to >= s.from, Sum: s.whole,
		}
		b.LabelY, b.Width = b.Y+15, max(x(max(s.from, s.to))-b.X, 1)
		if w := was[i]; w.from != s.from || w.to != s.to {
			b.Ghost, b.Was = true, x(min(w.from, w.to))
			b.WasSize = max(x(max(w.from, w.to))-b.Was, 1)
		}
		f.Rows = append(f.Rows, b)
	}
}

// step is the change in the sum that one bar shows.
type step struct {
	name, block string
	from, to    float64
	whole       bool // the step is the total
}

// label returns the contribution of a step, or the total.
func (s step) label() string {
	if s.whole {
		return terms.Logit(s.to)
	}
	return signed(s.to - s.from)
}

// sum returns the step that shows the total of the other steps.
func sum(list []step, name string) step {
	return step{name: name, to: list[len(list)-1].to, whole: true}
}

// steps adds up the parts. Each block is one step. If halves is true, each block is two steps:
// attention and feed-forward.
func steps(w stage.Words, parts []infer.Contribution, halves bool) []step {
	var list []step
	total := 0.0
	for i, c := range parts {
		next := step{name: w.T("explain.fall.embedding"), from: total}
		switch {
		case c.Part.Block > 0 && !halves:
			next.name = w.T("explain.block", "n", c.Part.Block)
		case c.Part.Block > 0:
			next.name, next.block = w.T("explain.fall.attention"), w.T("explain.block", "n", c.Part.Block)
			if c.Part.Kind == infer.PartFeedForward {
				next.name = w.T("explain.fall.feed_forward")
			}
		case c.Part.Kind == infer.PartFinalBias, c.Part.Kind == infer.PartRounding:
			next.name = w.T("explain.fall.end")
		}
		if i == 0 || list[len(list)-1].name != next.name || list[len(list)-1].block != next.block {
			list = append(list, next)
		}
		total += c.Z
		list[len(list)-1].to = total
	}
	return list
}

// ticks returns at most five round integers from low to high, including 0.
func ticks(low, high float64) (list []float64) {
	unit := math.Pow(10, max(0, math.Floor(math.Log10(high-low))))
	for _, by := range []float64{0.2, 0.5, 1, 2, 5} {
		if by*unit >= 1 && by*unit*4 >= high-low {
			unit *= by
			break
		}
	}
	for n := math.Ceil(low / unit); n*unit <= high; n++ {
		list = append(list, n*unit)
	}
	return list
}

// num formats a coordinate.
func num(x float64) string { return fmt.Sprintf("%.1f", x) }
