package stage

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// Picture is one state of the picture that grows through the lessons: the map of the model, with
// the parts that the state adds. Every part has the same position in all states. The style sheet
// picture.css shows the parts up to the current state.
type Picture struct {
	State   string // "tokens", "attention", …: the class of its style
	Map     Map
	Letters []PictureLetter // the letters of the sentence as typed
	Flows   []string        // SVG points of the shapes that lead from each token's letters down to its column
	Row     string          // distance of the attention head's block from the top, as an SVG length
	Arcs    []PictureArc
	Weights []PictureWeight // the attention head's weight for each column
	Says    []PictureSay    // readings of the last column after each block
	Head    string          // heading of the rows
	Rows    []PictureRow
	Strip   *Segments
	Say     string // the picture described in a sentence
	Twin    []MapFact
}

// PictureLetter is a letter of the sentence. A cut between two tokens may precede it.
type PictureLetter struct {
	Text Text
	Cut  bool
}

// PictureArc is an arc from the last column back to another one. Its width shows the weight.
type PictureArc struct{ D, W, X string }

// PictureWeight is a column's attention weight, with its cell as SVG lengths.
type PictureWeight struct{ X, W, Mid, Percent, Class string }

// PictureSay is the logit lens's reading of the last column after a block.
type PictureSay struct {
	X, Y string // SVG lengths
	Text Text
	P    string
}

// PictureRow is a bar with a name and a value.
type PictureRow struct {
	Text  Text
	Bar   string // SVG length
	Tick  string // where the bar ends at T = 1, or ""
	Value string
	Class string // "is-score", "is-rest", "is-cut", "is-other", "is-no" or ""
}

// PictureNamed is the number of tokens that have rows of their own.
const PictureNamed = mapShares

// pictureAhead is the number of columns after the sentence's own columns, for the drawn token and a
// draft's guesses.
const pictureAhead = 3

// PictureRoom returns the number of columns of the picture in all states, for a text of n tokens.
func PictureRoom(n int) int { return min(n, mapColumns) + pictureAhead }

// picture returns a picture whose map has the form used in lessons.
func (w Words) picture(s *session.State, name string, at infer.Kind, o MapOptions) Picture {
	o.Form, o.At = MapLesson, at
	o.Room = PictureRoom(len(s.PromptTokens))
	p := Picture{State: name, Map: w.NewMap(s, o)}
	if !p.Upright() {
		wideLabels(p.Map.Columns)
	}
	return p
}

// wideLabels keeps a word that is longer than its column from being broken: if both neighbors are
// short, the word extends over them.
func wideLabels(columns []MapColumn) {
	const long, short = 7, 4
	runes := func(i int) int {
		if i < 0 || i >= len(columns) {
			return 0
		}
		return utf8.RuneCountInString(columns[i].Text.String())
	}
	for i := range columns {
		if runes(i) >= long && runes(i-1) <= short && runes(i+1) <= short {
			columns[i].Class = strings.TrimSpace(columns[i].Class + " is-wide")
		}
	}
}

// PictureText shows the sentence as typed or, if cut is true, as tokens.
func (w Words) PictureText(s *session.State, cut bool) Picture {
	name := "text"
	if cut {
		name = "tokens"
	}
	p := w.picture(s, name, infer.KindForward, MapOptions{})
	starts := map[int]bool{}
	letters, at, room := utf8.RuneCountInString(s.Prompt), 0, float64(len(p.Map.Columns))
	for i, t := range s.PromptTokens {
		name := p.Map.Columns[min(i, len(p.Map.Columns)-1)].Text.String()
		p.Twin = append(p.Twin, MapFact{name, w.T("pic.number", "n", terms.Count(t.ID))})
		if i < len(p.Map.Columns) {
			p.Map.Columns[i].Small = terms.Count(t.ID)
		}
		if t.Special {
			continue
		}
		from := at
		at = min(at+runesOf(t), letters)
		starts[from] = true
		share := func(n int) string { return num(math.Round(1e4*float64(n)/float64(letters)) / 100) }
		p.Flows = append(p.Flows, fmt.Sprintf(
			"%s,0 %s,0 %s,100 %s,100", share(from), share(at), num(math.Round(1e4*(float64(i)+.88)/room)/100),
			num(math.Round(1e4*(float64(i)+.12)/room)/100),
		))
	}
	for i, r := range []rune(s.Prompt) {
		p.Letters = append(p.Letters, PictureLetter{Text: Marked(string(r)), Cut: cut && i > 0 && starts[i]})
	}
	p.Say = w.T("pic.say.text", "text", s.Prompt)
	if cut {
		p.Say = w.T("pic.say.tokens", "text", s.Prompt, "tokens", w.Counted(len(s.PromptTokens), "token"))
	} else {
		p.Twin = nil
	}
	return p
}

// runesOf returns how many of the text's letters are in a token. A letter that is split between
// tokens belongs to the token with its first byte.
func runesOf(t infer.Token) (n int) {
	text := t.Text
	if t.Bytes != nil {
		text = string(t.Bytes)
	}
	for i := range len(text) {
		if utf8.RuneStart(text[i]) {
			n++
		}
	}
	return n
}

// PictureColumns shows the columns above the tokens, with all cells that the first pass fills.
func (w Words) PictureColumns(s *session.State) Picture {
	p := w.picture(s, "columns", infer.KindForward, MapOptions{})
	p.Say = p.Map.Aria
	return p
}

// PictureAttention shows the attention of one head as arrows from the last column back. Their
// widths show the weights. Blocks and heads are numbered from 1. If the model has fewer, the last
// one is used.
func (w Words) PictureAttention(s *session.State, block, head int) Picture {
	p := w.picture(s, "attention", infer.KindForward, MapOptions{})
	if s.Look == nil {
		return p
	}
	layers := len(s.Look.Blocks)
	block = min(block, layers)
	heads := s.Look.Blocks[block-1].Attention
	head = min(head, len(heads))
	weights := heads[head-1]
	cols, row := float64(len(p.Map.Columns)), layers-block
	p.Row = Share(float64(row) / float64(layers))
	spans, tokens := mapSpans(len(weights)), w.textTokens(s, len(weights))
	last := len(spans) - 1
	y := (float64(row) + .5) * mapPitch
	for i, c := range spans {
		weight := 0.0
		for _, x := range weights[c.from:c.to] {
			weight += float64(x)
		}
		p.Weights = append(p.Weights, PictureWeight{
			X: Share((float64(i) + .12) / cols), W: Share(.76 / cols), Mid: Share((float64(i) + .5) / cols),
			Percent: terms.Percent(weight), Class: Ramp(weight),
		})
		name := tokens[c.from].Text.String()
		if c.to-c.from > 1 {
			name = p.Map.Columns[i].Text.String()
		}
		p.Twin = append(p.Twin, MapFact{name, terms.Prob(weight)})
		if i == last || weight < .01 {
			continue // no arrow to the column itself, or for a weight that rounds to 0
		}
		from, to := (float64(last)+.5)*mapPitch, (float64(i)+.5)*mapPitch
		up := y - 8 - 5*float64(last-i)
		p.Arcs = append(p.Arcs, PictureArc{
			D: fmt.Sprintf(
				"M%[1]s %[2]sC%[1]s %[3]s %[4]s %[3]s %[4]s %[2]s", num(from), num(y-4), num(up), num(to),
			),
			W: terms.Decimals(1+12*weight, 1), X: Share((float64(i) + .5) / cols),
		})
	}
	p.Head = w.T("head.name", "block", terms.Count(block), "head", terms.Count(head))
	most := w.mostRead(tokens, weights, 1, outOfSight(s.Model.Config(), block-1, len(weights)))[0]
	p.Say = w.T(
		"pic.say.attention", "head", p.Head, "last", tokens[len(tokens)-1].Text.Inline(),
		"token", most.Text.Inline(), "w", terms.Percent(most.w),
	)
	return p
}

// PictureStream shows how the logit lens reads the last column's vector after each block.
func (w Words) PictureStream(s *session.State) Picture {
	p := w.picture(s, "stream", infer.KindForward, MapOptions{})
	if s.Look == nil {
		return p
	}
	layers, cols := len(s.Look.Blocks), float64(len(p.Map.Columns))
	last := float64(len(mapSpans(s.Step().Positions())) - 1)
	for i, b := range s.Look.Blocks {
		if len(b.Says) == 0 {
			continue
		}
		row := float64(layers - 1 - i)
		say := PictureSay{
			X: Share((last - .1) / cols), Y: Share((row + .5) / float64(layers)),
			Text: TokenText(b.Says[0].Token), P: terms.Percent(b.Says[0].P),
		}
		p.Says = append(p.Says, say)
		p.Twin = append(p.Twin, MapFact{
			w.T("map.block", "n", terms.Count(i+1)), w.T("pic.says", "token", say.Text.Inline(), "p", say.P),
		})
	}
	p.Say = w.T("pic.say.stream")
	return p
}

// PictureScores shows the scores computed from the last column's vector.
func (w Words) PictureScores(s *session.State) Picture {
	p := w.picture(s, "scores", infer.KindLogits, MapOptions{})
	z := s.Step().Logits
	top := sampling.Top(z, mapShares+1)
	most := float64(z[top[0]])
	for _, id := range top[:mapShares] {
		p.Rows = append(p.Rows, PictureRow{
			Text: TokenText(s.Model.Token(int(id))), Bar: Share(max(float64(z[id]), 0) / max(most, 1e-9)),
			Value: terms.Decimals(float64(z[id]), 2), Class: "is-score",
		})
	}
	p.rest(w, s, w.T("pic.below", "z", terms.Decimals(float64(z[top[mapShares]]), 2)))
	p.Head = w.T("pic.scores.head", "n", terms.Count(len(z)), "width", terms.Count(s.Model.Config().Width))
	p.Say = w.T("pic.say.scores", "n", terms.Count(len(z)), "scores", w.List(p.rowWords()))
	p.twinRows()
	return p
}

// rest adds the row for all other tokens.
func (p *Picture) rest(w Words, s *session.State, value string) {
	p.Rows = append(p.Rows, PictureRow{
		Text:  Text{{S: w.T("pic.others", "n", terms.Count(s.Model.Config().Vocab-mapShares))}},
		Value: value, Class: "is-rest",
	})
}

func (p *Picture) rowWords() (words []string) {
	for _, r := range p.Rows {
		words = append(words, r.Text.Inline()+" "+r.Value)
	}
	return words
}

func (p *Picture) twinRows() {
	for _, r := range p.Rows {
		p.Twin = append(p.Twin, MapFact{r.Text.String(), r.Value})
	}
}

// PictureShares shows the shares after softmax. If the temperature is not 1, a tick marks where each
// bar would end at T = 1.
func (w Words) PictureShares(s *session.State) Picture {
	p := w.picture(s, "shares", infer.KindSoftmax, MapOptions{})
	d, ticks := s.Dist, s.Step().Settings.Temperature != 1
	var plain []float64
	if ticks {
		plain, _, _ = sampling.Softmax(s.Step().Logits, 1)
	}
	shares := w.mapShares(s, infer.KindSoftmax)
	for r, v := range shares[:len(shares)-1] {
		id := int(d.Order[r])
		row := PictureRow{Text: v.Text, Bar: v.H, Value: v.Percent}
		if ticks {
			row.Tick = Share(plain[id])
		}
		p.Rows = append(p.Rows, row)
	}
	others := shares[len(shares)-1]
	p.rest(w, s, others.Percent)
	p.Rows[len(p.Rows)-1].Bar = others.H
	p.Head = w.T("pic.shares.head", "t", terms.Setting(s.Step().Settings.Temperature))
	p.Say = w.T("pic.say.shares", "shares", w.List(p.rowWords()))
	p.twinRows()
	return p
}

// PictureStrip shows the kept shares end to end. If drawn is true, it also shows the random number
// that decides which token is drawn.
func (w Words) PictureStrip(s *session.State, drawn bool) Picture {
	name, at := "strip", infer.KindFilter
	if drawn {
		name, at = "draw", infer.KindAppend
	}
	p := w.picture(s, name, at, MapOptions{})
	f := s.StageOf(infer.KindFilter, pictureRows).(infer.Filter)
	p.Strip = w.laidSegments(f)
	p.Say = w.T("pic.say.strip")
	p.Head = w.T("pic.strip.head")
	if drawn {
		st := s.StageOf(infer.KindSample, pictureRows).(infer.Sample)
		p.Strip = w.sampleSegments(st, f)
		token := TokenText(st.Chosen.Token)
		p.Say = w.T(
			"pic.say.draw", "u", terms.Prob(st.U), "token", token.String(), "from", terms.Prob(st.From), "to",
			terms.Prob(st.To), "seed", fmt.Sprint(s.Step().Settings.Seed),
		)
		p.Head = w.T("pic.draw.head", "seed", fmt.Sprint(s.Step().Settings.Seed))
	}
	for i, g := range p.Strip.List {
		fits := pictureFit(g.Text.String(), g.wide)
		p.Strip.List[i].Fit, p.Strip.List[i].FitP = fits, fits
		p.Twin = append(p.Twin, MapFact{g.Text.String(), g.P})
	}
	p.Strip.Aria = p.Say
	return p
}

// pictureFit returns the screens on which a label fits into a piece of the picture's strip, which
// is narrower than a stage's strip.
func pictureFit(label string, share float64) string {
	const narrow, wide, char, pad = 300, 420, 7, 12
	need := float64(utf8.RuneCountInString(label))*char + pad
	switch {
	case share*narrow >= need:
		return "fit-s"
	case share*wide >= need:
		return "fit-m"
	}
	return fitsNowhere
}

// pictureRows is the maximum number of tokens that have their own piece of the strip.
const pictureRows = 12

// Upright reports whether the labels under the columns are too long to be horizontal.
func (p Picture) Upright() bool {
	return slices.ContainsFunc(p.Map.Columns, func(c MapColumn) bool {
		return utf8.RuneCountInString(strings.TrimSpace(c.Text.String())) > 9
	}) || len(p.Map.Columns) > 12
}

// rowHeight returns a block's height as an SVG length.
func (p Picture) rowHeight() string { return Share(1 / float64(len(p.Map.Rows))) }
