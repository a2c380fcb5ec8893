package why

import (
	"fmt"
	"math"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/why"
	"github.com/tokenbytoken/viz/web/stage"
)

// lens shows, on the map of the model, what the logit lens reads at each height, which means after
// each number of blocks.
type lens struct {
	Map    stage.Map
	Folded int // number of positions that share the map's first column
	Open   *opened
}

// opened is the distribution in a cell.
type opened struct {
	Title string
	Says  []saying
	Rest  string // the share of all other tokens
	// Entropy is a sentence about the distribution. Came is a sentence about the token that follows
	// in the text, or "" if there is none.
	Entropy, Came string
}

// The ids of the forms to which the map's buttons belong.
const (
	formOff  = "why-off"
	formCell = "why-cell"
)

// newLens lays out the predictions at each height. Its buttons open a cell, turn a block on or off,
// or hide a position.
func newLens(w stage.Words, r *why.Report, about subject, v *view) lens {
	s, rows := r.Study, r.Lens
	m := s.Model()
	height, position, open, _ := about.cellOf(m) // the error has already been checked
	l := lens{Folded: stage.MapFolded(len(s.Tokens()))}
	l.Map = w.NewMapText(stage.MapTextOf{
		ID: "why-map", Aria: w.T("explain.lens.aria"), Model: m, Tokens: s.Tokens(),
		Row: func(h int) stage.MapKey { return rowKey(w, v, h, len(rows)-1) },
		Column: func(at int) stage.MapKey {
			if at >= len(v.Positions) {
				return stage.MapKey{}
			}
			return placeKey(w, v.Positions[at])
		},
		Cell: func(h, at int) stage.MapKey {
			c := rows[h][at]
			said := c.Says[0]
			key := stage.MapKey{
				Text: stage.TokenText(said.Token), Small: terms.Percent(said.P), Mark: c.Rank == 1,
				NoteAria: w.T("explain.lens.note") + " ", Form: formCell, Name: "cell",
				Value: fmt.Sprintf("%d.%d", h, at), Pressed: open && h == height && at == position,
			}
			key.Note, key.Class = surprise(c)
			if key.Pressed {
				key.Value = "" // a press closes the cell
			}
			return key
		},
	})
	if open {
		l.Open = newOpened(w, s, rows[height][position], height, position)
	}
	return l
}

// rowKey returns the name of a height. It is also a button that turns the block below that height
// on or off.
func rowKey(w stage.Words, v *view, height, top int) stage.MapKey {
	if height == 0 {
		return stage.MapKey{}
	}
	name := w.MapHeight(height)
	if height == top {
		name = w.T("explain.lens.top", "height", name)
	}
	block := v.Blocks[height-1]
	return stage.MapKey{
		Text: stage.Text{{S: name}}, Aria: w.T("explain.lens.row", "row", name), Class: offClass(block.Off),
		Form: formOff, Name: "off", Value: block.List, Pressed: block.Off,
	}
}

// placeKey returns the name of a position. It is also a button that hides the position.
func placeKey(w stage.Words, p component) stage.MapKey {
	return stage.MapKey{
		Class: offClass(p.Off), Aria: w.T("explain.lens.column", "token", p.Name), Form: formOff, Name: "off",
		Value: p.List, Pressed: p.Off,
	}
}

func offClass(off bool) string { return map[bool]string{true: "is-off"}[off] }

// newOpened returns the distribution of a cell.
func newOpened(w stage.Words, s *why.Study, c infer.LensCell, height, position int) *opened {
	m := s.Model()
	o := &opened{Title: w.T(
		"explain.cell.title", "height", terms.Capital(w.MapHeight(height)), "n", position,
		"token", w.PromptText(m, s.Tokens(), position),
	)}
	rest := 1.0
	for _, said := range c.Says {
		o.Says = append(o.Says, saying{stage.TokenText(said.Token), terms.Percent(said.P), said.P})
		rest -= said.P
	}
	o.Rest = terms.Percent(max(rest, 0))
	o.Entropy = w.T("explain.cell.entropy", "bits", terms.Decimals(c.Bits, 2))
	if c.Rank > 0 {
		o.Came = w.T(
			"explain.cell.came", "token", stage.TokenText(m.Token(s.Tokens()[position+1])),
			"share", terms.Percent(c.Came), "rank", w.Ordinal(c.Rank), "all", m.Config().Vocab,
			"bits", terms.Decimals(c.Surprise(), 2),
		)
	}
	return o
}

// surprise returns a cell's surprise at the actual token, and the CSS class for the surprise's
// color. The class is one of the five steps in the page's legend.
func surprise(c infer.LensCell) (bits, class string) {
	if c.Rank == 0 {
		return "", ""
	}
	return terms.Decimals(c.Surprise(), 1), surpriseClass(c.Surprise())
}

// surpriseClasses are the classes of the steps in the surprise legend.
var surpriseClasses = []string{"s0", "s1", "s2", "s3", "s4"}

func surpriseClass(bits float64) string {
	for n, below := range []float64{1, 3, 6, 10} {
		if bits < below {
			return surpriseClasses[n]
		}
	}
	return surpriseClasses[4]
}

// strip is the whole text, with the surprise at each of its tokens.
type strip struct {
	Tokens              []stripToken
	Average, Perplexity string // "" if no token follows another
	Guess               string // the perplexity as a whole number
}

type stripToken struct {
	Token       stage.Text
	Bits, Class string
	Y, Height   float64 // position and height of the token's bar, out of stripHigh
	At          string  // the cell of the lens that predicts the token
}

const (
	stripHigh = 32.0 // maximum height of a bar
	stripBits = 16.0 // the surprise of a bar with that height
)

// newStrip lays out the whole model's surprise at each token. For the first token, there is no
// prediction.
func newStrip(r *why.Report) strip {
	var s strip
	m, tokens := r.Study.Model(), r.Study.Tokens()
	top := r.Lens[len(r.Lens)-1]
	var sum float64
	for i := 1; i < len(tokens); i++ {
		c := top[i-1]
		t := stripToken{Token: stage.TokenText(m.Token(tokens[i])), At: fmt.Sprintf("%d.%d", len(r.Lens)-1, i-1)}
		t.Bits, t.Class = surprise(c)
		t.bar(c.Surprise())
		s.Tokens = append(s.Tokens, t)
		sum += c.Surprise()
	}
	if len(s.Tokens) > 0 {
		average := sum / float64(len(s.Tokens))
		s.Average, s.Perplexity = terms.Decimals(average, 2), terms.Decimals(math.Exp2(average), 1)
		s.Guess = guessOf(average)
	}
	return s
}

// guessOf returns the perplexity for an average in bits, as a whole number.
func guessOf(bits float64) string { return terms.Count(max(1, int(math.Round(math.Exp2(bits))))) }

// sizeOf returns the strength of the color for a probability, from 1 to 5.
func sizeOf(p float64) int {
	for n, below := range []float64{0.05, 0.2, 0.5, 0.8} {
		if p < below {
			return n + 1
		}
	}
	return 5
}
