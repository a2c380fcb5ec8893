package plots

import (
	"bytes"
	"fmt"
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/tokenbytoken/viz/infer/terms"
)

// sketch is a picture without axes: boxes, lines and text at positions given in CSS pixels from the
// upper left corner.
type sketch struct {
	canvas        *vgsvg.Canvas
	on            draw.Canvas
	width, height float64
}

func newSketch(width, height float64) *sketch {
	c := vgsvg.New(vg.Length(width), vg.Length(height))
	return &sketch{c, draw.New(c), width, height}
}

func (s *sketch) at(x, y float64) vg.Point {
	return vg.Point{X: vg.Length(x), Y: vg.Length(s.height - y)}
}

// box draws a rectangle, or only its outline if fill is nil.
func (s *sketch) box(x, y, width, height float64, fill color.Color, edge draw.LineStyle) {
	corners := []vg.Point{s.at(x, y), s.at(x+width, y), s.at(x+width, y+height), s.at(x, y+height)}
	if fill != nil {
		s.on.FillPolygon(fill, corners)
	}
	if edge.Width > 0 {
		s.on.StrokeLines(edge, append(corners, corners[0]))
	}
}

func (s *sketch) line(x0, y0, x1, y1 float64, style draw.LineStyle) {
	s.on.StrokeLine2(style, s.at(x0, y0).X, s.at(x0, y0).Y, s.at(x1, y1).X, s.at(x1, y1).Y)
}

// dot draws a filled circle.
func (s *sketch) dot(x, y, radius float64, fill color.Color) {
	s.on.DrawGlyph(draw.GlyphStyle{Color: fill, Radius: vg.Length(radius), Shape: draw.CircleGlyph{}}, s.at(x, y))
}

func (s *sketch) words(x, y float64, text string, c color.Color, bold bool, align draw.XAlignment) {
	s.on.FillText(words(c, small, bold, align), s.at(x, y), text)
}

// done sets the chart's picture.
func (s *sketch) done(l *terms.Language, c *Chart) error {
	var b bytes.Buffer
	if _, err := s.canvas.WriteTo(&b); err != nil {
		return fmt.Errorf("draw %q: %w", c.Title, err)
	}
	svg, err := theme(l, b.String(), s.width, s.height, c.Title, c.Description)
	c.SVG = svg
	return err
}
