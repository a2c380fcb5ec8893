package plots

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/image/font/sfnt"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/tokenbytoken/viz/infer/terms"
)

// Keepsake is a picture of a text that a person and a model wrote together. The picture can be
// saved as a file.
type Keepsake struct {
	Title string
	Parts []KeepsakePart
	Marks []KeepsakeMark
	Foot  []string // lines below the text
}

// KeepsakePart is a part of the text.
type KeepsakePart struct {
	Text  string
	Yours bool // written by the person rather than the model
	Long  bool // an improbable token that was drawn anyway; it is underlined
}

// KeepsakeMark is the bar for one token.
type KeepsakeMark struct {
	Yours  bool
	Height float64 // from 0 to 1
}

// The dimensions of a keepsake, in CSS pixels on a page. The files are larger.
const (
	keepsakeWidth  = 400
	keepsakeMargin = 28
	keepsakeInner  = keepsakeWidth - 2*keepsakeMargin
	proseSize      = 19
	proseLeading   = 29
	footLeading    = 19
	marksHeight    = 36
	keepsakeGap    = 22
	keepsakeLines  = 40 // maximum number of lines of text; further lines are only counted
	tall           = 700
	dpi            = 72 // at this value, one pixel on the page is one pixel in the file
)

// keepsakeFont lists fonts with the same widths as the font that gonum/plot measures.
const keepsakeFont = `"Liberation Sans", Arial, Helvetica, sans-serif`

// SVG returns the picture as an SVG file in the light theme.
func (k Keepsake) SVG(l *terms.Language) (string, error) {
	layout := k.layout(l)
	c := vgsvg.New(keepsakeWidth, vg.Length(layout.height))
	layout.draw(c)
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return "", fmt.Errorf("draw %q: %w", k.Title, err)
	}
	svg, err := theme(l, b.String(), keepsakeWidth, layout.height, k.Title, k.description())
	if err != nil {
		return "", err
	}
	return standalone(svg, keepsakeFont)
}

// WritePNG writes the picture as a PNG file, which is 1200 pixels wide, or 800 if it is tall.
func (k Keepsake) WritePNG(l *terms.Language, w io.Writer) error {
	layout := k.layout(l)
	times := scale
	if layout.height > tall {
		times--
	}
	c := vgimg.NewWith(
		vgimg.UseWH(keepsakeWidth, vg.Length(layout.height)), vgimg.UseDPI(dpi*times),
		vgimg.UseBackgroundColor(lightColor(surface)),
	)
	layout.draw(lightCanvas{c})
	if _, err := (vgimg.PngCanvas{Canvas: c}).WriteTo(w); err != nil {
		return fmt.Errorf("write %q: %w", k.Title, err)
	}
	return nil
}

// Missing reports whether the text has characters that the PNG's font lacks, such as emoji. The PNG
// shows such characters as boxes. The SVG uses the fonts of the reader's system, which usually have
// them.
func (k Keepsake) Missing() bool {
	var buffer sfnt.Buffer
	font := face(proseSize).Face
	for _, p := range k.Parts {
		for _, r := range p.Text {
			if unicode.IsSpace(r) {
				continue
			}
			if glyph, err := font.GlyphIndex(&buffer, r); err != nil || glyph == 0 {
				return true
			}
		}
	}
	return false
}

// description describes the picture in words.
func (k Keepsake) description() string {
	var b strings.Builder
	for _, p := range k.Parts {
		b.WriteString(p.Text)
	}
	return printable(strings.Join(append([]string{b.String()}, k.Foot...), " "))
}

// printable replaces the characters that XML does not allow.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
			return '\uFFFD'
		}
		return r
	}, text)
}

// keepsakeLayout is a keepsake with the positions of its words and bars, measured from the upper
// left corner.
type keepsakeLayout struct {
	language *terms.Language
	height   float64
	words    []word
	bars     []bar
}

type bar struct {
	x, y, width, height float64
	color               color.Color
}

func (k Keepsake) layout(language *terms.Language) keepsakeLayout {
	l := keepsakeLayout{language: language, height: keepsakeMargin}
	l.text([]colored{{words: k.Title, color: other}}, small, small, 2)
	l.height += small
	parts := make([]colored, len(k.Parts))
	for i, p := range k.Parts {
		parts[i] = colored{p.Text, writer(p.Yours), p.Long}
	}
	l.text(parts, proseSize, proseLeading, keepsakeLines)
	l.height += keepsakeGap
	pitch := keepsakeInner / float64(max(len(k.Marks), 24))
	for i, m := range k.Marks {
		l.bars = append(l.bars, bar{
			x: keepsakeMargin + float64(i)*pitch, y: l.height + marksHeight*(1-m.Height),
			width: pitch * 0.78, height: marksHeight * m.Height, color: writer(m.Yours),
		})
	}
	l.height += marksHeight + keepsakeGap/2
	for _, line := range k.Foot {
		l.text([]colored{{words: line, color: other}}, small, footLeading, 3)
	}
	l.height += keepsakeMargin
	return l
}

// writer returns the color of either the person's or the model's tokens.
func writer(yours bool) color.Color {
	if yours {
		return ink
	}
	return accent
}

// text adds text at the bottom, up to the given number of lines. If lines are left over, it also
// adds a note with their number.
func (l *keepsakeLayout) text(parts []colored, size, leading float64, most int) {
	lines := wrap(parts, size, keepsakeInner)
	left := max(len(lines)-most, 0)
	for _, line := range lines[:len(lines)-left] {
		l.height += leading
		for _, p := range line {
			p.x, p.y = p.x+keepsakeMargin, l.height
			l.words = append(l.words, p)
			if p.under {
				l.bars = append(l.bars, bar{p.x, p.y + 4, p.width(), 1.5, p.color})
			}
		}
	}
	if left > 0 {
		l.height += leading
		l.words = append(l.words, word{
			words: l.language.T("plot.keepsake.more", "n", left), size: small, color: other,
			x: keepsakeMargin, y: l.height,
		})
	}
}

// draw draws the whole picture, using roles as colors.
func (l keepsakeLayout) draw(c vg.Canvas) {
	for _, b := range l.bars {
		var p vg.Path
		bottom, top := vg.Length(l.height-b.y-b.height), vg.Length(l.height-b.y)
		left, right := vg.Length(b.x), vg.Length(b.x+b.width)
		p.Move(vg.Point{X: left, Y: bottom})
		p.Line(vg.Point{X: right, Y: bottom})
		p.Line(vg.Point{X: right, Y: top})
		p.Line(vg.Point{X: left, Y: top})
		p.Close()
		c.SetColor(b.color)
		c.Fill(p)
	}
	for _, p := range l.words {
		c.SetColor(p.color)
		c.FillString(face(p.size), vg.Point{X: vg.Length(p.x), Y: vg.Length(l.height - p.y)}, p.words)
	}
}

// lightCanvas is a canvas that replaces roles with the light theme's colors.
type lightCanvas struct{ vg.Canvas }

// SetColor implements [vg.Canvas].
func (c lightCanvas) SetColor(role color.Color) { c.Canvas.SetColor(lightColor(role)) }

// lightColor returns a role's color in the light theme.
func lightColor(role color.Color) color.Color {
	_, _, n, _ := role.RGBA()
	value := light[roles[fmt.Sprintf("#0000%02X", n>>8)]]
	rgb, err := strconv.ParseUint(strings.TrimPrefix(value, "#"), 16, 32)
	if err != nil { // cannot happen: a test compares all colors with the style sheet
		return color.Black
	}
	return color.NRGBA{uint8(rgb >> 16), uint8(rgb >> 8), uint8(rgb), 255}
}
