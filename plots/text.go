package plots

import (
	"image/color"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// small is the font size in a chart, in CSS pixels of the chart's frame.
const small = 12

// anchoredText emits text that the browser aligns. The page's font and the font that gonum/plot
// measures have different widths, so right-aligned numbers would not line up if they were placed by
// their left edges. The alignment is encoded in the green part of the color, which no role uses.
type anchoredText struct{ text.Plain }

// Draw implements [text.Handler].
func (h anchoredText) Draw(c vg.Canvas, txt string, sty text.Style, pt vg.Point) {
	txt = strings.TrimRight(txt, "\n")
	if txt == "" {
		return
	}
	face := h.Fonts.Lookup(sty.Font, sty.Font.Size)
	anchor := uint8(-2*sty.XAlign + 0.5) // 0 start, 1 middle, 2 end
	r, _, b, _ := sty.Color.RGBA()
	c.SetColor(color.NRGBA{uint8(r >> 8), anchor, uint8(b >> 8), 255})
	if sty.YAlign == draw.YTop { // numbers under an axis
		pt.Y -= 1.15 * sty.Font.Size
	} else { // the visual center is at half the height of capitals
		pt.Y += sty.Font.Size * vg.Length(0.72*float64(sty.YAlign))
	}
	c.FillString(face, pt, txt)
}

// anchored decodes the alignment from a color.
func anchored(color string) (plain, anchor string) {
	if len(color) != len("#RRGGBB") {
		return color, ""
	}
	switch color[3:5] {
	case "01":
		anchor = "middle"
	case "02":
		anchor = "end"
	default:
		return color, ""
	}
	return color[:3] + "00" + color[5:], anchor
}

func handler() text.Handler {
	return anchoredText{plot.DefaultTextHandler.(text.Plain)}
}

// Alignments of text relative to its point.
const (
	start  = draw.XLeft
	middle = draw.XCenter
	end    = draw.XRight
)

// words returns a style for text that is vertically centered on its point.
func words(c color.Color, size float64, bold bool, x draw.XAlignment) text.Style {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Length(size)}
	if bold {
		f.Weight = xfont.WeightBold
	}
	return text.Style{Color: c, Font: f, XAlign: x, YAlign: draw.YCenter, Handler: handler()}
}
