package learn

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/stage"
)

const (
	hideTokens = 32 // the maximum number of tokens of a text, including the start mark
	hideRows   = 5  // the number of likeliest tokens that each side contributes
)

// hiding shows how the probabilities of the next token change if some tokens of a text are hidden
// from all later ones. Each combination of hidden tokens needs its own pass.
type hiding struct {
	model  *infer.Model
	prompt string
	watch  *infer.Watch
	loop   string
	whole  []float64 // the probabilities of the whole vocabulary with nothing hidden
	words  [][]int   // see wordsOf
	moved  []float64 // for each word, the probability that moves if the word is hidden; nil before prepare
}

func newHide(d environment) experiment { return &hiding{model: d.target} }

func (e *hiding) show(ctx context.Context, in terms.Values) (templ.Component, error) {
	if e.watch == nil || e.prompt != in["prompt"] {
		if err := e.read(ctx, in["prompt"]); err != nil {
			return nil, err
		}
	}
	resetForNewText(in, "off")
	off := e.positions(in.List("off"))
	in["off"] = listOf(off)
	p, err := e.without(ctx, off)
	if err != nil {
		return nil, err
	}
	return hideHTML(e.view(stage.In(ctx), in["of"], off, p)), nil
}

// read runs a text through the model. It changes the experiment only once all passes are complete:
// canceling may interrupt any of them.
func (e *hiding) read(ctx context.Context, prompt string) error {
	loop, ids, err := shortText(ctx, e.model, prompt, hideTokens)
	if err != nil {
		return err
	}
	watch, err := e.model.Watch(ctx, ids, false)
	if err != nil {
		return err
	}
	next := hiding{model: e.model, prompt: prompt, loop: loop, watch: watch}
	if next.whole, err = next.without(ctx, nil); err != nil {
		return err
	}
	next.words = next.wordsOf(strings.Fields(prompt))
	*e = next
	return nil
}

// wordsOf returns the positions of the tokens of each word but the last, or nil if the tokens do not
// spell the words. A token that contains only spaces belongs to no word.
func (e *hiding) wordsOf(words []string) [][]int {
	list := make([][]int, len(words))
	word, spelled := 0, ""
	for at := e.first(); at < len(e.watch.Tokens()); at++ {
		t := e.model.Token(e.watch.Tokens()[at])
		spelling := strings.TrimSpace(cmp.Or(string(t.Bytes), t.Text))
		if spelling == "" {
			continue
		}
		if word == len(words) {
			return nil
		}
		list[word] = append(list[word], at)
		if spelled += spelling; len(spelled) >= len(words[word]) {
			if spelled != words[word] {
				return nil
			}
			word, spelled = word+1, ""
		}
	}
	if word < len(words) || word == 0 {
		return nil
	}
	return list[:word-1]
}

// prepare implements [preparer]. It runs the text again with each of its words hidden.
func (e *hiding) prepare(ctx context.Context) error {
	if e.moved != nil {
		return nil
	}
	moved := make([]float64, len(e.words))
	for i, word := range e.words {
		p, err := e.without(ctx, word)
		if err != nil {
			return err
		}
		moved[i] = movedBy(e.whole, p)
	}
	e.moved = moved
	return nil
}

// shortText checks a text, and returns its tokens and a link to the Loop. It refuses a text with
// more than most tokens.
func shortText(ctx context.Context, m *infer.Model, prompt string, most int) (loop string, ids []int, err error) {
	run, err := newRun(ctx, m, prompt, settingsOf(terms.Values{}))
	if err != nil {
		return "", nil, err // explains what is wrong with the text
	}
	st, err := stageTo(ctx, run, infer.KindForward)
	if err != nil {
		return "", nil, err
	}
	if ids = m.Encode(prompt); len(ids) > most {
		return "", nil, terms.Refuse(terms.CodeRange, "learn.text.long", "n", len(ids), "most", most)
	}
	return loopAt(st), ids, nil
}

// without returns the probabilities of all tokens with some positions hidden.
func (e *hiding) without(ctx context.Context, off []int) ([]float64, error) {
	watch := e.watch
	if len(off) > 0 {
		var err error
		if watch, err = watch.Again(ctx, infer.Intervention{Positions: off}); err != nil {
			return nil, err
		}
	}
	z, err := watch.Logits(e.model.Config().Layers, len(watch.Tokens())-1)
	if err != nil {
		return nil, err
	}
	p, _, _ := sampling.Softmax(z, 1)
	return p, nil
}

// movedBy returns the share of the probability that lies on other tokens in q than in p.
func movedBy(p, q []float64) (moved float64) {
	for i := range p {
		moved += math.Max(0, p[i]-q[i])
	}
	return moved
}

// first returns the first position that is not a start mark.
func (e *hiding) first() int {
	if e.watch.Tokens()[0] == e.model.Config().BOS {
		return 1
	}
	return 0
}

// hideable reports whether a position can be hidden. The last one is needed for the answer.
func (e *hiding) hideable(at int) bool { return at >= e.first() && at < len(e.watch.Tokens())-1 }

// positions returns the positions that the input off lists. It drops those that cannot be hidden.
func (e *hiding) positions(numbers []int) (list []int) {
	for _, n := range numbers {
		if at := n - 1; e.hideable(at) {
			list = append(list, at)
		}
	}
	slices.Sort(list)
	return list
}

// listOf formats positions as the value of the input off. It lists the tokens' numbers, from 1, or is
// 0 if nothing is hidden.
func listOf(positions []int) string {
	if len(positions) == 0 {
		return "0"
	}
	list := make([]string, len(positions))
	for i, at := range positions {
		list[i] = strconv.Itoa(at + 1)
	}
	return strings.Join(list, ",")
}

// A hideView shows the next token's probabilities with and without some tokens.
type hideView struct {
	Off    string
	Of     string // identifies the text to which Off belongs
	Tokens []hideToken
	Rows   []hideRow
	Rest   hideRow
	Say    stage.Rich
	Loop   string
}

// A hideToken is a token of the text. Press is the value of off after a press on it, or "" if it
// cannot be hidden.
type hideToken struct {
	Text   stage.Text
	Hidden bool
	Press  string
}

// A hideRow is one possible next token.
type hideRow struct {
	Text           stage.Text
	Name           string // instead of Text
	Was, Now       string
	WasBar, NowBar string
}

func (e *hiding) view(w stage.Words, of string, off []int, p []float64) hideView {
	ids := e.watch.Tokens()
	v := hideView{Off: listOf(off), Of: of, Loop: e.loop}
	for at := e.first(); at < len(ids); at++ {
		t := hideToken{Text: stage.TokenText(e.model.Token(ids[at])), Hidden: slices.Contains(off, at)}
		if e.hideable(at) {
			t.Press = listOf(toggled(off, at))
		}
		v.Tokens = append(v.Tokens, t)
	}
	was, now := 1.0, 1.0
	shown := likeliest(e.whole, hideRows)
	for _, id := range likeliest(p, hideRows) {
		if !slices.Contains(shown, id) {
			shown = append(shown, id)
		}
	}
	for _, id := range shown {
		r := newHideRow(e.whole[id], p[id])
		r.Text = stage.TokenText(e.model.Token(id))
		v.Rows = append(v.Rows, r)
		was, now = was-e.whole[id], now-p[id]
	}
	v.Rest = newHideRow(max(0, was), max(0, now))
	v.Rest.Name = w.T("learn.hide.rest", "n", len(p)-len(shown))
	v.Say = e.sentence(w, off, p)
	return v
}

func newHideRow(was, now float64) hideRow {
	return hideRow{Was: terms.Prob(was), Now: terms.Prob(now), WasBar: stage.Share(was), NowBar: stage.Share(now)}
}

// toggled returns the hidden positions after a press on one of them.
func toggled(off []int, at int) []int {
	if i := slices.Index(off, at); i >= 0 {
		return slices.Delete(slices.Clone(off), i, i+1)
	}
	list := append(slices.Clone(off), at)
	slices.Sort(list)
	return list
}

// likeliest returns the n tokens with the highest probabilities.
func likeliest(p []float64, n int) []int {
	ids := make([]int, len(p))
	for i := range ids {
		ids[i] = i
	}
	slices.SortStableFunc(ids, func(a, b int) int {
		switch {
		case p[a] > p[b]:
			return -1
		case p[a] < p[b]:
			return 1
		}
		return 0
	})
	return ids[:min(n, len(ids))]
}

// sentence describes what hiding the tokens changes.
func (e *hiding) sentence(w stage.Words, off []int, p []float64) stage.Rich {
	top := func(p []float64) stage.Span {
		return stage.Span{Token: stage.TokenText(e.model.Token(likeliest(p, 1)[0])), Style: stage.Gen}
	}
	if len(off) == 0 {
		return w.Rich("learn.hide.say.whole", "token", top(e.whole))
	}
	key := "learn.hide.say"
	if likeliest(p, 1)[0] == likeliest(e.whole, 1)[0] {
		key = "learn.hide.say.same"
	}
	return w.Rich(
		key, "share", terms.Percent(movedBy(e.whole, p)), "token", top(p), "before", top(e.whole),
		"tokens", w.Counted(len(off), "token"),
	)
}

// answer implements [judge]. It returns the word that moves most of the probability if it is hidden.
func (e *hiding) answer(w stage.Words, _ string) (key, say string, ok bool) {
	if len(e.moved) == 0 {
		return "", "", false
	}
	most := 0
	for i, moved := range e.moved {
		if moved > e.moved[most] {
			most = i
		}
	}
	var word strings.Builder
	for _, at := range e.words[most] {
		word.WriteString(e.model.Token(e.watch.Tokens()[at]).Text)
	}
	say = w.T(
		"learn.ask.word.say", "word", terms.Isolated(strings.TrimSpace(word.String())), "share",
		terms.Percent(e.moved[most]),
	)
	return strconv.Itoa(most + 1), say, true
}
