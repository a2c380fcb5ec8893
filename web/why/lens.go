package why

import (
	"fmt"
	"math"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/why"
	"github.com/tokenbytoken/viz/web/stage"
)

// lens is what the model would say at each height.
type lens struct {
	Reading []stage.Text
	Rows    []lensRow
	Left    int // positions before those shown
	Open    *opened
}

type lensRow struct {
	Name  string
	Cells []lensCell
}

type lensCell struct {
	Token stage.Text
	Share string
	Bits  string // the surprise at what came; "" at the end
	Class string // how large it is: s0 to s4
	Came  bool
	At    string // its place in the address; "" if it is open, since a press closes it
	Open  bool
}

// opened is the distribution of a cell.
type opened struct {
	Title string
	Says  []saying
	Rest  string // the share of all others
	Say   string
}

// lensColumns is how many positions the lens shows.
const lensColumns = 12

// newLens lays out the last positions of a text.
func newLens(r *why.Report, about subject) lens {
	s, rows := r.Study, r.Lens
	n, m := len(s.Tokens()), s.Model()
	from := max(0, n-lensColumns)
	height, position, open, _ := about.place(m) // checked before
	l := lens{Left: from}
	for _, id := range s.Tokens()[from:] {
		l.Reading = append(l.Reading, stage.TokenText(m.Token(id)))
	}
	for h := len(rows) - 1; h >= 0; h-- {
		row := lensRow{Name: heightName(h)}
		if h == len(rows)-1 {
			row.Name += ": said"
		}
		for i, c := range rows[h][from:] {
			said := c.Says[0]
			cell := lensCell{
				Token: stage.TokenText(said.Token), Share: terms.Percent(said.P), Came: c.Rank == 1,
				At: fmt.Sprintf("%d.%d", h, from+i), Open: open && h == height && from+i == position,
			}
			cell.Bits, cell.Class = surprise(c)
			if cell.Open {
				cell.At = ""
			}
			row.Cells = append(row.Cells, cell)
		}
		l.Rows = append(l.Rows, row)
	}
	if open {
		l.Open = newOpened(s, rows[height][position], height, position)
	}
	return l
}

// newOpened says what a cell's distribution is.
func newOpened(s *why.Study, c infer.LensCell, height, position int) *opened {
	m := s.Model()
	read := stage.TokenText(m.Token(s.Tokens()[position]))
	o := &opened{Title: fmt.Sprintf("%s, at position %d, %s", terms.Capital(heightName(height)), position, read)}
	rest := 1.0
	for _, said := range c.Says {
		o.Says = append(o.Says, saying{stage.TokenText(said.Token), terms.Percent(said.P), said.P})
		rest -= said.P
	}
	o.Rest = terms.Percent(max(rest, 0))
	o.Say = fmt.Sprintf("Its entropy is %s bits.", terms.Decimals(c.Bits, 2))
	if c.Rank > 0 {
		came := stage.TokenText(m.Token(s.Tokens()[position+1]))
		o.Say += fmt.Sprintf(
			" %s really came: it has %s here and is the %s of %s, a surprise of %s bits.", came, terms.Percent(c.Came),
			terms.Ordinal(c.Rank), terms.Count(m.Config().Vocab), terms.Decimals(c.Surprise(), 2),
		)
	}
	return o
}

// surprise is a cell's surprise at what came, and how it is coloured: in the five
// steps that the page's key names.
func surprise(c infer.LensCell) (bits, class string) {
	if c.Rank == 0 {
		return "", ""
	}
	return terms.Decimals(c.Surprise(), 1), surpriseClass(c.Surprise())
}

// surpriseKey names the steps of surprise.
var surpriseKey = []string{"under 1 bit", "1 to 3", "3 to 6", "6 to 10", "10 and more"}

func surpriseClass(bits float64) string {
	for n, below := range []float64{1, 3, 6, 10} {
		if bits < below {
			return fmt.Sprintf("s%d", n)
		}
	}
	return "s4"
}

// strip is the whole text with the surprise at each of its tokens.
type strip struct {
	Tokens              []stripToken
	Average, Perplexity string // "" where nothing came
	Guess               string // the perplexity as a whole number
}

type stripToken struct {
	Token       stage.Text
	Bits, Class string
	Y, Height   float64 // of its bar, of stripHigh
	At          string  // the place of the lens that expected it
}

const (
	stripHigh = 32.0 // a bar's greatest height
	stripBits = 16.0 // the surprise that has it
)

// newStrip lays out what surprised the whole model. Nothing was expected of the first
// token.
func newStrip(r *why.Report) strip {
	var s strip
	m, tokens := r.Study.Model(), r.Study.Tokens()
	top := r.Lens[len(r.Lens)-1]
	var sum float64
	for i := 1; i < len(tokens); i++ {
		c := top[i-1]
		t := stripToken{Token: stage.TokenText(m.Token(tokens[i])), At: fmt.Sprintf("%d.%d", len(r.Lens)-1, i-1)}
		t.Bits, t.Class = surprise(c)
		t.Height = stripHigh * min(c.Surprise()/stripBits, 1)
		t.Y = stripHigh - t.Height
		s.Tokens = append(s.Tokens, t)
		sum += c.Surprise()
	}
	if len(s.Tokens) > 0 {
		average := sum / float64(len(s.Tokens))
		s.Average, s.Perplexity = terms.Decimals(average, 2), terms.Decimals(math.Exp2(average), 1)
		s.Guess = terms.Count(max(1, int(math.Round(math.Exp2(average)))))
	}
	return s
}

// sizeOf sorts a probability into the five strengths of the design's ramp.
func sizeOf(p float64) int {
	for n, below := range []float64{0.05, 0.2, 0.5, 0.8} {
		if p < below {
			return n + 1
		}
	}
	return 5
}
