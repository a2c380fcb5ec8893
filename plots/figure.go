package plots

import (
	"bytes"
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/tokenbytoken/viz/infer/terms"
)

// Dimensions of a chart with axes, in CSS pixels.
const (
	chartWidth  = 556
	chartHeight = 236
	narrowWidth = 374 // width of a drawing for phones
	narrowType  = 16  // size of its text, as in css/labs.css
	labelGap    = 7   // between a line's end and its label
)

// axis is one axis of a chart: its range and its marks.
type axis struct {
	min, max float64
	log      bool
	ticks    []plot.Tick
}

// figure is a chart with axes that is being built. Lines are labeled at their right-hand ends,
// outside the frame, so the chart does not need a legend.
type figure struct {
	*plot.Plot
	chart  *Chart
	room   float64 // width to the right of the frame for the labels of lines
	width  float64
	height float64
	inside Inside // the inside of the frame, set when it is drawn
	ends   []label
	notes  []note
}

// label is text next to the end of a line.
type label struct {
	y     float64 // in data units
	words string
	color color.Color
	bold  bool
}

// note is text inside the frame.
type note struct {
	x, y  float64 // in data units
	dx    float64 // offset to the right in CSS pixels
	dy    float64 // upwards
	words string
	color color.Color
	bold  bool
	align draw.XAlignment
}

// Line styles that distinguish lines without relying on color.
var (
	solid  = draw.LineStyle{Color: accent, Width: 2.5}
	dashed = draw.LineStyle{Color: other, Width: 1.75, Dashes: []vg.Length{5, 3}}
	dotted = draw.LineStyle{Color: ink3, Width: 1.5, Dashes: []vg.Length{1.5, 3}}
	mark   = draw.LineStyle{Color: ink, Width: 1, Dashes: []vg.Length{2, 3}}
	thin   = draw.LineStyle{Color: edge, Width: 1}
)

// newFigure begins a chart. room is the width to the right of the frame for labels.
func newFigure(c *Chart, x, y axis, room float64) *figure {
	p := plot.New()
	p.TextHandler = handler()
	axes(p)
	for _, a := range []struct {
		of *plot.Axis
		as axis
	}{{&p.X, x}, {&p.Y, y}} {
		a.of.Tick.Label = words(ink3, small, false, a.of.Tick.Label.XAlign)
		a.of.Tick.Label.YAlign = draw.YCenter
		a.of.Min, a.of.Max = a.as.min, a.as.max
		a.of.Tick.Marker = plot.ConstantTicks(a.as.ticks)
		if a.as.log {
			a.of.Scale = plot.LogScale{}
		}
	}
	p.X.Tick.Label.YAlign = draw.YTop
	p.X.Tick.Length = 5 // the distance between the axis and the numbers below it
	p.X.Tick.LineStyle.Width = 0
	p.X.Padding, p.Y.Padding = vg.Length(0), vg.Length(0)
	return &figure{Plot: p, chart: c, room: room, width: chartWidth, height: chartHeight}
}

// line draws a curve, and its label if it has one.
func (f *figure) line(xys plotter.XYs, style draw.LineStyle, end string) error {
	if len(xys) == 0 {
		return nil
	}
	l, err := plotter.NewLine(xys)
	if err != nil {
		return fmt.Errorf("draw %q: %w", f.chart.Title, err)
	}
	l.LineStyle = style
	f.Add(l)
	if len(xys) == 1 || end != "" {
		if err := f.dots(xys[len(xys)-1:], style.Color, 3); err != nil {
			return err
		}
	}
	if end != "" {
		f.ends = append(f.ends, label{xys[len(xys)-1].Y, end, textColor(style.Color), style.Color == accent})
	}
	return nil
}

// textColor returns the text color for a line's color.
func textColor(c color.Color) color.Color {
	if c == other || c == ink3 || c == edge {
		return ink2
	}
	return c
}

// dots draws points.
func (f *figure) dots(xys plotter.XYs, c color.Color, radius float64) error {
	s, err := plotter.NewScatter(xys)
	if err != nil {
		return fmt.Errorf("draw %q: %w", f.chart.Title, err)
	}
	s.GlyphStyle = draw.GlyphStyle{Color: c, Radius: vg.Length(radius), Shape: draw.CircleGlyph{}}
	f.Add(s)
	return nil
}

// area fills a closed outline.
func (f *figure) area(outline plotter.XYs, fill color.Color, edge draw.LineStyle) error {
	p, err := plotter.NewPolygon(outline)
	if err != nil {
		return fmt.Errorf("draw %q: %w", f.chart.Title, err)
	}
	p.Color, p.LineStyle = fill, edge
	f.Add(p)
	return nil
}

// band fills the area between two curves over the same x.
func (f *figure) band(low, high plotter.XYs, fill color.Color) error {
	if len(low) < 2 {
		return nil
	}
	outline := slices.Clone(low)
	for _, p := range slices.Backward(high) {
		outline = append(outline, p)
	}
	return f.area(outline, fill, draw.LineStyle{})
}

// box fills a rectangle between two corners.
func (f *figure) box(x0, y0, x1, y1 float64, fill color.Color, edge draw.LineStyle) error {
	return f.area(plotter.XYs{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}}, fill, edge)
}

// upright draws a line from the bottom of the frame to its top.
func (f *figure) upright(x float64, style draw.LineStyle) error {
	return f.line(plotter.XYs{{X: x, Y: f.Y.Min}, {X: x, Y: f.Y.Max}}, style, "")
}

// wider is the maximum ratio of a text's width in the page's font to its width in the font that
// gonum/plot measures.
const wider = 1.18

// margins returns the room to leave for text beside the frame: on the left, the width by which the
// axis's numbers can exceed their measured width; on the right, the width of the labels and of the
// gap before them.
func (f *figure) margins() (left, right float64) {
	right = f.room
	for _, t := range f.Y.Tick.Marker.Ticks(f.Y.Min, f.Y.Max) {
		left = max(left, wider*widthOf(t.Label, f.typeSize())-widthOf(t.Label, small))
	}
	for _, l := range f.ends {
		right = max(right, labelGap+wider*widthOf(l.words, f.typeSize()))
	}
	return math.Ceil(left), math.Ceil(right)
}

// typeSize returns the font size at which the page shows the chart.
func (f *figure) typeSize() float64 {
	if f.width == narrowWidth {
		return narrowType
	}
	return small
}

// done draws the figure and stores it in the chart.
func (f *figure) done(l *terms.Language) error {
	canvas := vgsvg.New(vg.Length(f.width), vg.Length(f.height))
	whole := draw.New(canvas)
	left, right := f.margins()
	size := f.typeSize()
	frame := draw.Crop(whole, vg.Length(left), -vg.Length(right), 0, -9)
	f.BackgroundColor = nil
	f.Draw(frame)
	data := f.DataCanvas(frame)
	x, y := f.Transforms(&data)
	f.inside = Inside{
		Left: float64(data.Min.X), Right: float64(data.Max.X), Top: f.height - float64(data.Max.Y),
		Bottom: f.height - float64(data.Min.Y), Width: f.width, Height: f.height,
	}
	for _, n := range f.notes {
		style := words(n.color, small, n.bold, n.align)
		data.FillText(style, vg.Point{X: x(n.x) + vg.Length(n.dx), Y: y(n.y) + vg.Length(n.dy)}, n.words)
	}
	at := make([]float64, len(f.ends))
	for i, e := range f.ends {
		at[i] = float64(y(e.y))
	}
	// The lowest label must stay above the numbers of the lower axis.
	for i, place := range spread(at, size+5, float64(data.Min.Y)+size/2, f.height-size/2) {
		e := f.ends[i]
		at := vg.Point{X: data.Max.X + labelGap, Y: vg.Length(place)}
		data.FillText(words(e.color, small, e.bold, start), at, e.words)
	}
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return fmt.Errorf("draw %q: %w", f.chart.Title, err)
	}
	svg, err := theme(l, b.String(), f.width, f.height, f.chart.Title, f.chart.Description)
	f.chart.SVG = svg
	return err
}

// spread moves positions apart by as little as possible, starting from the lowest, until neighbors
// are at least gap apart. The results are between low and high if there is room.
func spread(places []float64, gap, low, high float64) []float64 {
	order := make([]int, len(places))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(places[a], places[b]) })
	out := slices.Clone(places)
	for i, at := range order {
		if out[at] = max(out[at], low); i > 0 {
			out[at] = max(out[at], out[order[i-1]]+gap)
		}
	}
	// Positions above the upper edge are moved down, which also pushes down the ones below them.
	limit := high
	for _, at := range slices.Backward(order) {
		out[at] = min(out[at], limit)
		limit = out[at] - gap
	}
	return out
}

// upTo returns an axis that starts at 0 and ends at or above most, with marks at about n round
// values.
func upTo(most float64, n int, words func(float64) string) axis {
	if most <= 0 {
		most = 1
	}
	step := roundStep(most / float64(n))
	a := axis{max: most * 1.06}
	for i := 0; float64(i)*step <= most*1.0001; i++ {
		v := float64(i) * step
		a.ticks = append(a.ticks, plot.Tick{Value: v, Label: words(v)})
	}
	return a
}

// roundStep returns the smallest 1, 2 or 5 × 10^n that is at least x, for x > 0.
func roundStep(x float64) float64 {
	size := math.Pow(10, math.Floor(math.Log10(x)))
	for _, f := range []float64{1, 2, 5} {
		if f*size >= x*(1-1e-9) {
			return f * size
		}
	}
	return 10 * size
}

// wholes returns an axis with marks at about n integers from first to last, always including both
// ends.
func wholes(first, last, n int) axis {
	a := axis{min: float64(first), max: float64(max(last, first+1))}
	step := max(1, int(roundStep(float64(last-first)/float64(n))))
	for v := first; v < last; v = (v/step + 1) * step {
		if v == first || last-v > step/2 {
			a.ticks = append(a.ticks, plot.Tick{Value: float64(v), Label: terms.Count(int64(v))})
		}
	}
	a.ticks = append(a.ticks, plot.Tick{Value: float64(last), Label: terms.Count(int64(last))})
	return a
}

// powers returns a logarithmic axis with marks at the powers of ten between two values.
func powers(low, high float64, words func(float64) string) axis {
	a := axis{min: low, max: high, log: true}
	steps := []float64{1}
	if high/low < 1000 { // with few powers, also mark steps between them
		steps = []float64{1, 2, 5}
	}
	for ten := math.Pow(10, math.Floor(math.Log10(low))); ten <= high*1.0001; ten *= 10 {
		for _, step := range steps {
			if v := step * ten; v >= low*0.9999 && v <= high*1.0001 {
				a.ticks = append(a.ticks, plot.Tick{Value: v, Label: words(v)})
			}
		}
	}
	return a
}
