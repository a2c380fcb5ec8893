package why

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/why"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// view is the content of the page.
type view struct {
	Prompt, Log, Bad string
	Space            *session.SpaceAtEnd // why the prompt should not end with a space, or nil
	Again            string              // the address of the text alone, if the rest of the question is wrong
	Back             string              // link to the run in the Loop; "" without a run
	Kept             []field             // fields that every form of the page also sends

	Text      []stage.Text
	Token     stage.Text // the token in question
	Over      stage.Text // the token that Token's lead is measured against; nil for none
	Pick      string     // the two tokens as given in the address
	Against   string
	Offered   []string // tokens that the page offers to explain
	Measure   string   // "score" or "lead"; the keys of texts about it end with this
	Score     string   // score of the whole model
	Now       string   // score with parts off
	Parts     int
	Says      []saying
	Effect    string // the effect of the parts that are off
	Off       string
	Mean      bool        // parts that are off contribute their mean instead of 0
	Blocks    []component // column headings, which turn a whole block on or off
	Positions []component // the earlier positions, which can be hidden
	Rows      []componentRow
	Alone     []component // the parts outside all blocks: the embedding and biases
	Outside   string      // description of the parts in Alone
	Moved     []string
	Told      string // description of the head that contributes most
	Fall      fall
	Lens      lens
	Strip     strip
	Grid      grid
	How       string     // how heads were measured; "" if not requested
	Looking   string     // progress of the head measurement
	NoHeads   stage.Rich // why there are no heads
	Habits    []habit
}

// saying is one of the most probable tokens.
type saying struct {
	Token stage.Text
	Share string
	P     float64
}

// componentRow is a row of the parts table: one head of each block, or the feed-forward layers.
type componentRow struct {
	Name  string
	Parts []component
}

// component is one part of the model. If List is empty, the part is not a button.
type component struct {
	Name, Label string
	Value       string
	Size        int  // 0 to 4
	Plus        bool // it adds to the score
	Off, Moved  bool
	List        string // the parts that are off after this button is pressed
	Say         string // a sentence about what the part does in this text
}

// newView lays out a report.
func newView(w stage.Words, r *why.Report, about subject) view {
	m, a, q := r.Study.Model(), r.Answer, r.Question
	now := a.Base
	if a.Changed != nil {
		now = *a.Changed
	}
	v := view{
		Prompt: about.prompt, Log: about.log, Kept: about.fields(), Token: stage.TokenText(m.Token(a.Token)),
		Pick: about.pick, Against: about.over, Score: terms.Logit(a.Base.Z), Now: terms.Logit(now.Z),
		Parts: len(a.Base.Parts), Off: r.Off, Mean: r.Mean, Measure: "score",
	}
	if a.Over >= 0 {
		v.Over, v.Measure = stage.TokenText(m.Token(a.Over)), "lead"
	}
	v.Fall = newFall(w, a.Base.Parts, now.Parts, v.Measure)
	for i := range r.Study.Tokens() {
		v.Text = append(v.Text, w.PromptText(m, r.Study.Tokens(), i))
	}
	for _, said := range now.Says[:min(says, len(now.Says))] {
		v.Says = append(v.Says, saying{stage.TokenText(said.Token), terms.Percent(said.P), said.P})
	}
	for _, said := range a.Base.Says {
		v.Offered = append(v.Offered, askFor(m, said.Token))
	}
	if v.Log != "" {
		v.Back = "/loop?" + url.Values{"log": {v.Log}}.Encode()
	}
	if space, ok := session.NewSpaceAtEnd(terms.English, m, about.prompt); ok && v.Log == "" {
		v.Space = &space
	}
	v.effect(w, a)
	v.table(w, m, q, a, now)
	v.Lens = newLens(w, r, about, &v)
	v.Strip = newStrip(r)
	v.How, v.Habits = inWords(w, r.Heads)
	return v
}

// lacks adds an explanation for each part that is missing from an answer.
func (v *view) lacks(w stage.Words, a answer) {
	var failed *measureError
	switch {
	case errors.Is(a.heads, errMeasuring):
		v.Looking = shell.Sentence(w.Language, a.heads)
	case errors.As(a.heads, &failed):
		english := stage.Element{Name: "span", Attrs: templ.Attributes{"lang": "en"}}
		v.NoHeads = w.Rich("explain.heads.failed", "why", failed.cause.Error(), "error", english)
	case a.heads != nil:
		v.NoHeads = stage.Rich{{S: shell.Sentence(w.Language, a.heads)}}
	}
	if a.patch != nil {
		v.Grid.Bad = shell.Sentence(w.Language, a.patch)
	}
}

// askFor formats a token in a form that [why.FindToken] can parse.
func askFor(m *infer.Model, t infer.Token) string {
	if id, err := why.FindToken(m, t.Text); err == nil && id == t.ID {
		return t.Text
	}
	return fmt.Sprintf("#%d", t.ID)
}

// effect describes the effect of the parts that are off.
func (v *view) effect(w stage.Words, a *why.Answer) {
	if a.Changed == nil {
		v.Effect = w.T("explain.effect.none")
		return
	}
	v.Effect = w.T(
		"explain.effect."+v.Measure, "token", v.Token, "share", terms.Percent(a.Changed.P),
		"whole", terms.Percent(a.Base.P), "now", v.Now, "before", v.Score,
	)
	for _, m := range a.Moved[:min(3, len(a.Moved))] {
		v.Moved = append(v.Moved, w.T(
			"explain.moved.part", "part", nameOf(w, m.Part), "from", terms.Logit(m.From), "to", terms.Logit(m.To),
		))
	}
}

// nameOf returns the name of a part in words.
func nameOf(w stage.Words, p infer.Part) string {
	return w.T("explain.part."+string(p.Kind), "block", p.Block, "head", p.Head)
}

// table lays out the parts, with a column for each block and a row for each head.
func (v *view) table(w stage.Words, m *infer.Model, q why.Question, a *why.Answer, now why.Outcome) {
	rows, most := map[string]int{}, 0.0
	for i, c := range now.Parts {
		p := c.Part
		button := component{
			Name: nameOf(w, p), Value: signed(c.Z), Size: size(c.Z), Plus: c.Z >= 0, Off: slices.Contains(q.Off, p),
			Moved: a.Changed != nil && i < len(a.Base.Parts) && math.Abs(c.Z-a.Base.Parts[i].Z) >= 0.1,
		}
		button.Label = w.T("explain.part.value", "part", button.Name, "value", button.Value)
		if p.Block == 0 {
			v.Alone = append(v.Alone, button)
			continue
		}
		if button.Off {
			button.Value, button.Label = w.T("explain.off"), w.T("explain.part.off", "part", button.Name)
		}
		if button.Say = v.told(w, button, now.Looks); p.Kind == infer.PartHead && !button.Off && c.Z > most {
			v.Told, most = button.Say, c.Z
		}
		button.List = why.FormatOff(m, toggled(q.Off, p), q.Positions)
		name := map[infer.PartKind]string{
			infer.PartHead: w.T("row.head", "n", p.Head), infer.PartFeedForward: w.T("part.feed_forward"),
			infer.PartBias: w.T("explain.row.bias"),
		}[p.Kind]
		at, known := rows[name]
		if !known {
			at = len(v.Rows)
			rows[name] = at
			v.Rows = append(v.Rows, componentRow{Name: name})
		}
		v.Rows[at].Parts = append(v.Rows[at].Parts, button)
	}
	for l := range m.Config().Layers {
		v.Blocks = append(v.Blocks, block(w, m, q, l+1))
	}
	for at := range len(v.Text) - 1 {
		off := slices.Contains(q.Positions, at)
		positions := slices.DeleteFunc(slices.Clone(q.Positions), func(p int) bool { return p == at })
		if !off {
			positions = append(positions, at)
			slices.Sort(positions)
		}
		v.Positions = append(v.Positions, component{
			Name: v.Text[at].String(), Off: off, List: why.FormatOff(m, q.Off, positions),
			Label: w.T("explain.position", "n", at, "token", v.Text[at]),
		})
	}
	v.Outside = outside(w, v.Alone)
}

// told describes the effect of a part in this text.
func (v *view) told(w stage.Words, p component, looks []why.Attended) string {
	part := terms.Capital(p.Name)
	if p.Off {
		return w.T("explain.told.off", "part", part)
	}
	effect := map[bool]string{true: "adds.", false: "takes."}[p.Plus] + v.Measure
	with := []any{"part", part, "z", strings.TrimLeft(p.Value, "+−"), "token", v.Token}
	for _, l := range looks {
		if nameOf(w, l.Head) == p.Name {
			with = append(with, "seen", v.Text[l.Position], "share", terms.Percent(l.Weight))
			return w.T("explain.told.looks."+effect, with...)
		}
	}
	return w.T("explain.told."+effect, with...)
}

// outside describes the parts outside all blocks.
func outside(w stage.Words, parts []component) string {
	var list []string
	for _, p := range parts {
		list = append(list, w.T("explain.fall.part", "part", p.Name, "value", p.Value))
	}
	return listed(w, list)
}

// listed joins items with commas.
func listed(w stage.Words, items []string) (list string) {
	for i, item := range items {
		if i == 0 {
			list = item
			continue
		}
		list = w.T("list.next", "list", list, "next", item)
	}
	return list
}

// block returns the button for a whole block.
func block(w stage.Words, m *infer.Model, q why.Question, n int) component {
	all := m.BlockParts(n)
	rest := slices.DeleteFunc(slices.Clone(q.Off), func(p infer.Part) bool { return p.Block == n })
	off := len(q.Off)-len(rest) == len(all)
	if !off {
		rest = append(rest, all...)
	}
	name := w.T("explain.block", "n", n)
	return component{Name: name, Label: name, Off: off, List: why.FormatOff(m, rest, q.Positions)}
}

// toggled returns the parts that are off after p has been pressed.
func toggled(off []infer.Part, p infer.Part) []infer.Part {
	if slices.Contains(off, p) {
		return slices.DeleteFunc(slices.Clone(off), func(o infer.Part) bool { return o == p })
	}
	return append(slices.Clone(off), p)
}

// signed formats a contribution with its sign.
func signed(z float64) string {
	if text := terms.Logit(z); z < 0 || text == terms.Logit(0) {
		return text
	}
	return "+" + terms.Logit(z)
}

// size returns the strength of a contribution, from 0 to 4.
func size(z float64) int {
	for n, below := range []float64{0.1, 0.5, 1.5, 4} {
		if math.Abs(z) < below {
			return n
		}
	}
	return 4
}

// frame returns the frame around the page.
func frame(w stage.Words) shell.Of {
	return shell.Of{
		Title: shell.TitleOf(w.T("explain.title")), Active: "loop", Class: "page-why", Skip: w.T("explain.skip"),
		Mono: true, Styles: []string{"css/stage.css", "css/map.css", "css/why.css"}, Scripts: []string{"js/why.js"},
		Keys: shell.SharedKeys,
	}
}
