package why

import (
	"fmt"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
)

// fall is the running sum as a picture: a bar for the embedding, for each block and for
// what comes after them, from where the sum stood to where it stands. On a phone the bars
// lie below each other, so that none is out of sight.
type fall struct {
	Width, Tall int // of the wide picture, and the height of the narrow one
	Zero        float64
	NarrowZero  float64
	Bars        []fallBar
	Alt         string
}

type fallBar struct {
	X, Y, Height    float64
	Plus            bool
	Name, Sum       string
	Label           float64 // y of the sum
	Ghost           bool    // the whole model's bar was somewhere else
	WasY, WasHeight float64
	Narrow          narrowBar
}

// narrowBar is the same bar lying down.
type narrowBar struct{ X, Width, WasX, WasWidth, Y float64 }

// The picture's measures, in its own units.
const (
	fallColumn = 132
	fallShort  = 16 // bars at most that fit into the page's width and can still be read
	fallBarW   = 84
	fallTop    = 26
	fallHigh   = 150
	fallHeight = 230

	narrowWidth = 358
	narrowFrom  = 92 // names stand before it, sums behind narrowTo
	narrowTo    = 298
	narrowRow   = 34
	narrowBarH  = 20
)

// step is the sum's way through one column.
type step struct {
	name     string
	from, to float64
}

// newFall draws the parts of the run, with the whole model's dashed behind it.
func newFall(base, now []infer.Contribution) fall {
	was, is := steps(base), steps(now)
	low, high := 0.0, 0.0
	for _, s := range append(was, is...) {
		low, high = min(low, s.to), max(high, s.to)
	}
	y := func(z float64) float64 { return fallTop + (high-z)/max(high-low, 1e-9)*fallHigh }
	x := func(z float64) float64 { return narrowFrom + (z-low)/max(high-low, 1e-9)*(narrowTo-narrowFrom) }
	f := fall{Width: fallColumn * len(is), Tall: narrowRow * len(is), Zero: y(0), NarrowZero: x(0)}
	var says []string
	for i, s := range is {
		b := fallBar{
			X: float64(i*fallColumn + (fallColumn-fallBarW)/2), Plus: s.to >= s.from, Name: s.name,
			Y: y(max(s.from, s.to)), Height: max(y(min(s.from, s.to))-y(max(s.from, s.to)), 1), Sum: terms.Logit(s.to),
		}
		b.Label = b.Y - 7
		b.Narrow = narrowBar{
			X: x(min(s.from, s.to)), Y: float64(i*narrowRow + (narrowRow-narrowBarH)/2),
			Width: max(x(max(s.from, s.to))-x(min(s.from, s.to)), 1),
		}
		if w := was[i]; w.from != s.from || w.to != s.to {
			b.Ghost, b.WasY = true, y(max(w.from, w.to))
			b.WasHeight = max(y(min(w.from, w.to))-b.WasY, 1)
			b.Narrow.WasX = x(min(w.from, w.to))
			b.Narrow.WasWidth = max(x(max(w.from, w.to))-b.Narrow.WasX, 1)
		}
		f.Bars = append(f.Bars, b)
		says = append(says, fmt.Sprintf("%s %s", s.name, b.Sum))
	}
	f.Alt = "The running sum of the score. " + strings.Join(says, ", ") + "."
	return f
}

// steps adds the parts up, block by block.
func steps(parts []infer.Contribution) []step {
	var list []step
	sum := 0.0
	for i, c := range parts {
		name := "embedding"
		switch {
		case c.Part.Block > 0:
			name = fmt.Sprintf("block %d", c.Part.Block)
		case c.Part.Kind == infer.PartFinalBias, c.Part.Kind == infer.PartRounding:
			name = "end"
		}
		if i == 0 || list[len(list)-1].name != name {
			list = append(list, step{name: name, from: sum})
		}
		sum += c.Z
		list[len(list)-1].to = sum
	}
	return list
}

// num is a coordinate.
func num(x float64) string { return fmt.Sprintf("%.1f", x) }
