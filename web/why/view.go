package why

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/why"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// view is what the page shows.
type view struct {
	Prompt, Log, Bad string

	Text    []stage.Text
	Token   stage.Text // asked about
	Score   string     // of the whole model
	Now     string     // with what is off
	Parts   int
	Says    []saying
	Effect  string // what came of what is off
	Off     string
	Blocks  []part // heads of the columns, which switch a whole block
	Places  []part // the earlier positions, which can be hidden
	Rows    []partRow
	Alone   []part // parts in no block: the embedding, biases
	Outside string // those in words
	Moved   []string
	Fall    fall
	Lens    lens
	Grid    grid
	How     string // how heads were measured; "" where nobody asked
	Habits  []habit
}

// saying is one of the most probable tokens.
type saying struct {
	Token stage.Text
	Share string
	P     float64
}

// partRow is a row of the table of parts: one head, or the feed-forward layers.
type partRow struct {
	Name  string
	Parts []part
}

// part is one part of the model. Without a List it is no button.
type part struct {
	Name, Label string
	Value       string
	Size        int  // 0 to 4
	Plus        bool // it adds
	Off, Moved  bool
	List        string // what is off after a press
}

// lens is what the model would say at each height.
type lens struct {
	Reading []stage.Text
	Rows    []lensRow
	Bits    []string // the surprise at what came next; "" at the end
	Left    int      // positions before those shown
}

type lensRow struct {
	Name  string
	Cells []lensCell
}

type lensCell struct {
	Token stage.Text
	Share string
	Size  int // 1 to 5
	Came  bool
}

// lensColumns is how many positions the lens shows.
const lensColumns = 12

// newView asks a question and lays the answer out.
func newView(ctx context.Context, s *why.Study, q why.Question, about subject) (view, error) {
	a, err := s.Ask(ctx, q)
	if err != nil {
		return view{}, err
	}
	m := s.Model()
	now := a.Base
	if a.Changed != nil {
		now = *a.Changed
	}
	v := view{
		Prompt: about.prompt, Log: about.log, Token: stage.TokenText(m.Token(a.Token)), Score: terms.Logit(a.Base.Z),
		Now: terms.Logit(now.Z), Parts: len(a.Base.Parts), Off: why.FormatOff(m, q.Off, q.Positions),
		Fall: newFall(a.Base.Parts, now.Parts),
	}
	for _, id := range s.Tokens() {
		v.Text = append(v.Text, stage.TokenText(m.Token(id)))
	}
	for _, r := range now.Says {
		v.Says = append(v.Says, saying{stage.TokenText(r.Token), terms.Percent(r.P), r.P})
	}
	v.effect(a)
	v.table(m, q, a, now)
	rows, err := s.Lens(ctx, 1)
	if err != nil {
		return view{}, err
	}
	v.Lens = newLens(s, rows)
	return v, nil
}

// effect says what came of what is off.
func (v *view) effect(a *why.Answer) {
	if a.Changed == nil {
		v.Effect = "This is the whole model. Press a part to switch it off."
		return
	}
	v.Effect = fmt.Sprintf(
		"%s has %s instead of %s, and the score is %s instead of %s.", v.Token, terms.Percent(a.Changed.P),
		terms.Percent(a.Base.P), v.Now, v.Score,
	)
	for _, m := range a.Moved[:min(3, len(a.Moved))] {
		v.Moved = append(v.Moved, fmt.Sprintf(
			"%s, from %s to %s", nameOf(m.Part), terms.Logit(m.From), terms.Logit(m.To),
		))
	}
}

// nameOf is a part in words.
func nameOf(p infer.Part) string {
	switch p.Kind {
	case infer.PartHead:
		return fmt.Sprintf("block %d, head %d", p.Block, p.Head)
	case infer.PartFeedForward:
		return fmt.Sprintf("block %d, feed-forward", p.Block)
	case infer.PartBias:
		return fmt.Sprintf("block %d, bias", p.Block)
	case infer.PartFinalBias:
		return "final bias"
	}
	return string(p.Kind)
}

// table lays the parts out: a column for each block, a row for each head.
func (v *view) table(m *infer.Model, q why.Question, a *why.Answer, now why.Outcome) {
	rows := map[string]int{}
	for i, c := range now.Parts {
		p := c.Part
		button := part{
			Name: nameOf(p), Value: signed(c.Z), Size: size(c.Z), Plus: c.Z >= 0, Off: slices.Contains(q.Off, p),
			Moved: a.Changed != nil && i < len(a.Base.Parts) && math.Abs(c.Z-a.Base.Parts[i].Z) >= 0.1,
		}
		button.Label = button.Name + ": " + button.Value
		if p.Block == 0 {
			v.Alone = append(v.Alone, button)
			continue
		}
		if button.Off {
			button.Value, button.Label = "off", button.Name+": off"
		}
		button.List = why.FormatOff(m, toggled(q.Off, p), q.Positions)
		name := map[infer.PartKind]string{
			infer.PartHead: fmt.Sprintf("head %d", p.Head), infer.PartFeedForward: "feed-forward",
			infer.PartBias: "bias",
		}[p.Kind]
		at, known := rows[name]
		if !known {
			at = len(v.Rows)
			rows[name] = at
			v.Rows = append(v.Rows, partRow{Name: name})
		}
		v.Rows[at].Parts = append(v.Rows[at].Parts, button)
	}
	for l := range m.Config().Layers {
		v.Blocks = append(v.Blocks, block(m, q, l+1))
	}
	for at := range len(v.Text) - 1 {
		off := slices.Contains(q.Positions, at)
		positions := slices.DeleteFunc(slices.Clone(q.Positions), func(p int) bool { return p == at })
		if !off {
			positions = append(positions, at)
			slices.Sort(positions)
		}
		v.Places = append(v.Places, part{
			Name: v.Text[at].String(), Off: off, List: why.FormatOff(m, q.Off, positions),
			Label: fmt.Sprintf("position %d, %s", at, v.Text[at]),
		})
	}
	v.Outside = outside(v.Alone)
}

// outside puts parts that are in no block into words.
func outside(parts []part) string {
	var list []string
	for _, p := range parts {
		list = append(list, p.Label)
	}
	return strings.Join(list, ", ")
}

// block is the button of a whole block.
func block(m *infer.Model, q why.Question, n int) part {
	all := m.BlockParts(n)
	rest := slices.DeleteFunc(slices.Clone(q.Off), func(p infer.Part) bool { return p.Block == n })
	off := len(q.Off)-len(rest) == len(all)
	if !off {
		rest = append(rest, all...)
	}
	name := fmt.Sprintf("block %d", n)
	return part{Name: name, Label: name, Off: off, List: why.FormatOff(m, rest, q.Positions)}
}

// toggled is what is off once p has been pressed.
func toggled(off []infer.Part, p infer.Part) []infer.Part {
	if slices.Contains(off, p) {
		return slices.DeleteFunc(slices.Clone(off), func(o infer.Part) bool { return o == p })
	}
	return append(slices.Clone(off), p)
}

// signed is a contribution with its sign.
func signed(z float64) string {
	if text := terms.Logit(z); z < 0 || text == terms.Logit(0) {
		return text
	}
	return "+" + terms.Logit(z)
}

// size sorts a contribution into one of five strengths.
func size(z float64) int {
	for n, below := range []float64{0.1, 0.5, 1.5, 4} {
		if math.Abs(z) < below {
			return n
		}
	}
	return 4
}

// newLens lays out the last positions of a text.
func newLens(s *why.Study, rows [][]infer.LensCell) lens {
	n, m := len(s.Tokens()), s.Model()
	from := max(0, n-lensColumns)
	l := lens{Left: from}
	for _, id := range s.Tokens()[from:] {
		l.Reading = append(l.Reading, stage.TokenText(m.Token(id)))
	}
	for height := len(rows) - 1; height >= 0; height-- {
		row := lensRow{Name: heightName(height)}
		if height == len(rows)-1 {
			row.Name += ": said"
		}
		for _, c := range rows[height][from:] {
			said := c.Says[0]
			row.Cells = append(row.Cells, lensCell{
				stage.TokenText(said.Token), terms.Percent(said.P), sizeOf(said.P), c.Rank == 1,
			})
		}
		l.Rows = append(l.Rows, row)
	}
	for _, c := range rows[len(rows)-1][from:] {
		bits := ""
		if c.Rank > 0 {
			bits = terms.Decimals(c.Surprise(), 1)
		}
		l.Bits = append(l.Bits, bits)
	}
	return l
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

// frame is what surrounds the page.
func frame() shell.Of {
	return shell.Of{
		Title: shell.TitleOf("Why this token?"), Active: "loop", Class: "page-why", Skip: "Skip to the sum", Mono: true,
		Styles: []string{"css/stage.css", "css/why.css"}, Scripts: []string{"js/why.js"}, Keys: shell.SharedKeys,
	}
}
