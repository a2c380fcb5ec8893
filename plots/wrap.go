package plots

import (
	"image/color"
	"strings"
	"unicode"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// colored is a run of text in one color.
type colored struct {
	words string
	color color.Color
	under bool // the text is underlined
}

// word is text in one color on one line: a word, part of a word, or the note that
// [keepsakeLayout.text] adds to a shortened text.
type word struct {
	words string
	size  float64
	color color.Color
	under bool
	x, y  float64 // start of the baseline; y increases downward
}

// face returns the font for pictures that position each word themselves.
func face(size float64) font.Face {
	f := font.Font{Typeface: "Liberation", Variant: "Sans"}
	return plot.DefaultTextHandler.(text.Plain).Fonts.Lookup(f, vg.Length(size))
}

func (p word) width() float64 { return widthOf(p.words, p.size) }

func widthOf(words string, size float64) float64 {
	f := face(size)
	return float64(f.Width(words))
}

// wrap breaks text at spaces and line ends into lines of at most the given width. A word that is
// longer than a line can be broken anywhere. Each word has its own position, since a viewer's font
// might be a little wider or narrower.
func wrap(parts []colored, size, width float64) [][]word {
	w := wrapper{width: width, space: widthOf(" ", size)}
	for _, part := range parts {
		var run strings.Builder
		end := func() {
			if run.Len() > 0 {
				w.word = append(w.word, word{words: run.String(), size: size, color: part.color, under: part.under})
				run.Reset()
			}
		}
		for _, r := range printable(part.words) {
			if !unicode.IsSpace(r) {
				run.WriteRune(r)
				continue
			}
			end()
			w.place()
			if r == '\n' {
				w.newLine()
			}
		}
		end()
	}
	w.place()
	if len(w.line) > 0 {
		w.newLine()
	}
	return w.lines
}

// wrapper is the state of wrapping text.
type wrapper struct {
	width, space float64
	lines        [][]word
	line         []word
	x            float64 // the current end of the line
	word         []word  // the current word, whose parts can have different colors
}

func (w *wrapper) newLine() { w.lines, w.line, w.x = append(w.lines, w.line), nil, 0 }

// place adds the current word to the line, or to a new line if it does not fit.
func (w *wrapper) place() {
	var length float64
	for _, p := range w.word {
		length += p.width()
	}
	if length == 0 {
		return
	}
	if w.x > 0 {
		w.x += w.space
		if w.x+length > w.width {
			w.newLine()
		}
	}
	for _, p := range w.word {
		w.add(p)
	}
	w.word = nil
}

// add adds a part at the end of the line, and breaks the part if it does not fit.
func (w *wrapper) add(p word) {
	for w.x+p.width() > w.width {
		head := p
		runes := []rune(p.words)
		n := 0
		for head.words = ""; n < len(runes) && w.x+head.width() <= w.width; n++ {
			head.words = string(runes[:n+1])
		}
		if n--; n == 0 && w.x == 0 {
			n = 1 // put at least one character on each line
		}
		head.words, p.words = string(runes[:n]), string(runes[n:])
		if n > 0 {
			head.x = w.x
			w.line = append(w.line, head)
		}
		w.newLine()
		if p.words == "" {
			return
		}
	}
	p.x = w.x
	w.line = append(w.line, p)
	w.x += p.width()
}
