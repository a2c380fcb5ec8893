package why

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/why"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// lang is the language of the page's pictures of the model.
var lang = stage.English

// view is the content of the page.
type view struct {
	Prompt, Log, Bad string
	Space            *session.SpaceAtEnd // why the prompt should not end with a space, or nil
	Again            string              // the address of the text alone, if the rest of the question is wrong
	Back             string              // link to the run in the Loop; "" without a run
	Kept             []field             // fields that every form of the page also sends

	Text      []stage.Text
	Token     stage.Text // the token in question
	Over      stage.Text // the token over which Token's lead is shown; nil for none
	Pick      string     // the two tokens as given in the address
	Against   string
	Offered   []string // tokens that the page offers to explain
	Measure   string   // "score", or "lead"
	Score     string   // score of the whole model
	Now       string   // score with parts off
	Parts     int
	Says      []saying
	Effect    string // the effect of the parts that are off
	Off       string
	Mean      bool        // parts that are off contribute their mean instead of 0
	Blocks    []component // column headings, which switch a whole block
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
	How       string // how heads were measured; "" if not requested
	Looking   string // progress of the head measurement
	NoHeads   string // why there are no heads
	Habits    []habit
}

// saying is one of the most probable tokens.
type saying struct {
	Token stage.Text
	Share string
	P     float64
}

// componentRow is a row of the table of parts: one head of each block, or the feed-forward
// layers.
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
func newView(r *why.Report, about subject) view {
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
	v.Fall = newFall(a.Base.Parts, now.Parts, v.Measure)
	for i := range r.Study.Tokens() {
		v.Text = append(v.Text, lang.PromptText(m, r.Study.Tokens(), i))
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
	if space, ok := session.NewSpaceAtEnd(m, about.prompt); ok && v.Log == "" {
		v.Space = &space
	}
	v.effect(a)
	v.table(m, q, a, now)
	v.Lens = newLens(r, about, &v)
	v.Strip = newStrip(r)
	v.How, v.Habits = inWords(r.Heads)
	return v
}

// lacks adds explanations of the parts missing from an answer.
func (v *view) lacks(a answer) {
	var measuring *measuringError
	switch {
	case errors.As(a.heads, &measuring):
		v.Looking = shell.Sentence(terms.English, a.heads)
	case a.heads != nil:
		v.NoHeads = shell.Sentence(terms.English, a.heads)
	}
	if a.patch != nil {
		v.Grid.Bad = shell.Sentence(terms.English, a.patch)
	}
}

// askFor formats a token so that [why.FindToken] can parse it.
func askFor(m *infer.Model, t infer.Token) string {
	if id, err := why.FindToken(m, t.Text); err == nil && id == t.ID {
		return t.Text
	}
	return fmt.Sprintf("#%d", t.ID)
}

// effect describes the effect of the parts that are off.
func (v *view) effect(a *why.Answer) {
	if a.Changed == nil {
		v.Effect = "This is the whole model. Press a part to switch it off."
		return
	}
	v.Effect = fmt.Sprintf(
		"%s has %s instead of %s, and the %s is %s instead of %s.", v.Token, terms.Percent(a.Changed.P),
		terms.Percent(a.Base.P), v.Measure, v.Now, v.Score,
	)
	for _, m := range a.Moved[:min(3, len(a.Moved))] {
		v.Moved = append(v.Moved, fmt.Sprintf(
			"%s, from %s to %s", nameOf(m.Part), terms.Logit(m.From), terms.Logit(m.To),
		))
	}
}

// without returns a note which states that the strip shows the changed model's predictions.
func (v *view) without() string {
	if v.Off == "" {
		return ""
	}
	return " without what you switched off"
}

// nameOf returns the name of a part in words.
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

// table lays out the parts, with a column for each block and a row for each head.
func (v *view) table(m *infer.Model, q why.Question, a *why.Answer, now why.Outcome) {
	rows, most := map[string]int{}, 0.0
	for i, c := range now.Parts {
		p := c.Part
		button := component{
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
		if button.Say = v.told(button, now.Looks); p.Kind == infer.PartHead && !button.Off && c.Z > most {
			v.Told, most = button.Say, c.Z
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
			v.Rows = append(v.Rows, componentRow{Name: name})
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
		v.Positions = append(v.Positions, component{
			Name: v.Text[at].String(), Off: off, List: why.FormatOff(m, q.Off, positions),
			Label: fmt.Sprintf("position %d, %s", at, v.Text[at]),
		})
	}
	v.Outside = outside(v.Alone)
}

// told describes the effect of a part in this text.
func (v *view) told(p component, looks []why.Attended) string {
	say := terms.Capital(p.Name)
	if p.Off {
		return say + " is off. Press it to switch it on again."
	}
	for _, l := range looks {
		if nameOf(l.Head) == p.Name {
			say += fmt.Sprintf(" looks at %s with %s of its weight, and", v.Text[l.Position], terms.Percent(l.Weight))
		}
	}
	verb := map[bool]string{true: "adds", false: "takes"}[p.Plus]
	way := map[bool]string{true: "to", false: "from"}[p.Plus]
	return fmt.Sprintf("%s %s %s %s the %s of %s.", say, verb, strings.TrimLeft(p.Value, "+−"), way, v.Measure, v.Token)
}

// outside describes the parts outside all blocks.
func outside(parts []component) string {
	var list []string
	for _, p := range parts {
		list = append(list, p.Name+" "+p.Value)
	}
	return strings.Join(list, ", ")
}

// block returns the button of a whole block.
func block(m *infer.Model, q why.Question, n int) component {
	all := m.BlockParts(n)
	rest := slices.DeleteFunc(slices.Clone(q.Off), func(p infer.Part) bool { return p.Block == n })
	off := len(q.Off)-len(rest) == len(all)
	if !off {
		rest = append(rest, all...)
	}
	name := fmt.Sprintf("block %d", n)
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
func frame() shell.Of {
	return shell.Of{
		Title: shell.TitleOf("Why this token?"), Active: "loop", Class: "page-why", Skip: "Skip to the sum", Mono: true,
		Styles: []string{"css/stage.css", "css/map.css", "css/why.css"}, Scripts: []string{"js/why.js"},
		Keys: shell.SharedKeys,
	}
}
