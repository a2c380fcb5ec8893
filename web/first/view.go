package first

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/chance"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// view is the content of one of the first run's pages.
type view struct {
	location
	Step  int    // from 1 to steps
	Title string // the page's heading
	Say   string
	Text  []cardPart // the text so far, with the model's parts marked
	Open  bool       // another token will follow
	Map   stage.Map
	Under string // a sentence that describes the map

	Prompt string // sceneWrite: the content of the field
	Bad    string // the reason why Prompt cannot be used
	Others []string

	Tokens  []stage.Text // sceneRead
	Choices []choice     // sceneGuess, and sceneBolder before the knob is shown
	Asked   string       // the form field that a choice sets
	Do      string       // the action that a choice sends
	Shares  *stage.StoryShares
	Ghost   string
	Line    *stage.StoryLine
	Foot    stage.Rich
	Knob    string // the temperature, if it can be changed
	Next    string // text of the main button; "" for none
	Again   bool
	More    bool
}

// choice is a guess offered to the learner.
type choice struct {
	Value string
	Text  stage.Text
	Name  string // set for a choice that is not a token
}

// fitsUnscrolled is how many bytes of text fit above the scene on the smallest screen without
// scrolling.
const fitsUnscrolled = 80

// scrolls reports whether the text may be longer than its box. The box must then be reachable and
// scrollable by keyboard.
func (v view) scrolls() bool {
	n := 0
	for _, p := range v.Text {
		n += len(p.Text)
	}
	return n > fitsUnscrolled
}

// steps is the number of steps in the first run.
var steps = len(scenes)

// enter returns the name of the stage whose animation the page plays first, or "" for none.
func (v view) enter() string {
	switch {
	case len(v.Tokens) > 0:
		return infer.KindForward.String()
	case v.scene == sceneShares:
		return infer.KindSoftmax.String()
	case v.Line != nil:
		return infer.KindSample.String()
	case v.scene == sceneJoined:
		return infer.KindAppend.String()
	}
	return ""
}

// writePage returns the first page, with a text in its field and the reason why the text cannot
// be used.
func (s *Server) writePage(ctx context.Context, prompt, bad string) view {
	w := stage.In(ctx)
	v := view{
		location: location{scene: sceneWrite}, Step: 1, Prompt: prompt, Bad: bad, Title: w.T("first.write"),
		Say:   w.T("first.write.say"),
		Map:   w.NewMap(s.Runs.NewSession().State(), stage.MapOptions{}),
		Under: w.T("first.write.under", "n", s.Model.Config().Layers),
	}
	n := int(chance.N(ctx, uint64(len(session.Openings))))
	// Offer only openings of tales: after a question about a capital or a sum, the model is
	// certain, so chance would not play a role.
	for i := range 3 {
		v.Others = append(v.Others, session.OpeningOf(session.Tale, n+i).Text)
	}
	return v
}

// newView returns the page for a location, whose run must already be open in m. The page contains
// nothing that its scene must not reveal yet.
func newView(w stage.Words, p location, m *mover) view {
	st := m.run.State()
	v := view{location: p, Step: 1 + slices.Index(scenes, p.scene), Text: newCard(w, st).Parts, Open: true}
	v.Map = w.NewMap(st, stage.MapOptions{})
	story := w.NewStory(st)
	switch p.scene {
	case sceneRead:
		v.read(w, st)
	case sceneGuess:
		v.guessToken(w, m.do(oneStage, oneStage))
	case sceneShares:
		v.shares(w, st, story)
	case sceneBolder:
		v.bolder(w, st, story)
	case sceneDrop:
		v.draw(w, st, story)
	case sceneJoined:
		v.joined(w, st)
	case sceneEnd:
		v.end(w, st)
	}
	return v
}

func (v *view) read(w stage.Words, st *session.State) {
	for _, t := range st.PromptTokens {
		text := stage.TokenText(t)
		if t.Special {
			text = stage.Text{{S: w.T("start"), Mark: true}}
		}
		v.Tokens = append(v.Tokens, text)
	}
	v.Title, v.Say = w.T("first.read"), w.T("first.read.say")
	if note := w.Unread(st.PromptTokens); note != "" {
		v.Say = w.T("first.read.noted", "note", note)
	} else if isQuestion(st.Prompt) {
		v.Say = w.T("first.read.noted", "note", w.T("first.read.question"))
	}
	v.Next, v.Under = w.T("first.read.next"), w.T("first.read.under")
}

// isQuestion reports whether a text ends with a question mark, or with one before closing quotation
// marks or parentheses.
func isQuestion(text string) bool {
	return strings.ContainsAny(lastSign(text), "?؟？")
}

// lastSign returns the last character of a text that is not a space, a closing quotation mark or a
// closing parenthesis, or "" if there is none.
func lastSign(text string) string {
	text = strings.TrimRight(text, " \n\"'”’)")
	_, n := utf8.DecodeLastRuneInString(text)
	return text[len(text)-n:]
}

// guessToken offers the favorites as guesses, in alphabetical order, so that the order does not
// reveal their shares.
func (v *view) guessToken(w stage.Words, st *session.State) {
	if st.Dist == nil {
		return // the model was interrupted, and the page is not sent
	}
	for _, id := range favorites(st) {
		v.Choices = append(v.Choices, choice{
			Value: strconv.Itoa(int(id)), Text: stage.TokenText(st.Model.Token(int(id))),
		})
	}
	slices.SortFunc(v.Choices, func(a, b choice) int {
		fold := func(c choice) string { return strings.ToLower(strings.TrimLeft(c.Text.String(), "·")) }
		return cmp.Or(strings.Compare(fold(a), fold(b)), strings.Compare(a.Value, b.Value))
	})
	v.Choices = append(v.Choices, choice{Value: guessElse, Name: w.T("first.guess.else")})
	v.Asked, v.Do = "guess", doNext
	v.Title, v.Say, v.Under = w.T("first.guess"), w.T("first.guess.say"), w.T("first.guess.under")
}

// ranks holds the keys of the titles, by the rank of the guessed token.
var ranks = []string{"first.rank.1", "first.rank.2", "first.rank.3", "first.rank.4", "first.rank.5"}

func (v *view) shares(w stage.Words, st *session.State, story stage.Story) {
	v.sees(w, st, story)
	top := st.Dist.Order[0]
	v.Title = w.T("first.shares")
	if guess, rank, ok := v.guessed(st); ok && rank < len(ranks) {
		v.Title = w.T(ranks[rank], "guess", guess)
	} else if ok {
		v.Title = w.T("first.shares.guess", "guess", guess, "p", terms.Percent(st.Dist.P[st.Dist.Order[rank]]))
	} else if v.guess == guessElse {
		v.Title = w.T("first.shares.else")
	}
	v.Say = w.T("first.shares.say", "token", plain(st, int(top)), "p", v.Shares.Rows[0].Percent)
	v.Next, v.Under = w.T("first.shares.next"), w.T("first.shares.under", "n", st.Model.Config().Vocab)
}

// sees makes the view show the shares and the guessed token. It omits the ticks at T = 1, because
// they belong to the knob, which has not been introduced yet.
func (v *view) sees(w stage.Words, st *session.State, story stage.Story) {
	v.Shares = story.Shares
	rows := v.Shares.Rows
	for i := range rows {
		rows[i].Ghost = ""
	}
	if _, rank, ok := v.guessed(st); ok && rank < len(rows) && !rows[rank].Rest {
		rows[rank].Note = w.T("first.shares.yours")
	} else if last := &rows[len(rows)-1]; last.Rest && (ok || v.guess == guessElse) {
		last.Note = w.T("first.shares.yours")
	}
}

// guessed returns the guessed token and its rank, counted from 0.
func (v *view) guessed(st *session.State) (guess string, rank int, ok bool) {
	id, err := strconv.Atoi(v.guess)
	if err != nil {
		return "", 0, false
	}
	return plain(st, id), st.Dist.RankOf(int32(id)), true
}

// plain returns a token for use within a sentence. It omits the dots of leading spaces, unless the
// token consists only of spaces.
func plain(st *session.State, id int) string {
	text := stage.TokenText(st.Model.Token(id)).String()
	return cmp.Or(strings.TrimLeft(text, "·"), text)
}

// draw makes the view show the line and, after the draw, where the marker fell.
func (v *view) draw(w stage.Words, st *session.State, story stage.Story) {
	v.Line = story.Line
	if st.Undrawn {
		v.undrawn(w, st)
		return
	}
	step := st.Step()
	v.Title, v.Say = w.T("first.drawn", "token", plain(st, step.Chosen)), v.drawnSay(w, st)
	v.Next, v.Under = w.T("first.drawn.next"), w.T(drawnUnder(st.Dist))
	v.Again = st.Dist.Keep > 1 && !step.Settings.Greedy()
}

// undrawn describes the line before the draw.
func (v *view) undrawn(w stage.Words, st *session.State) {
	v.Title, v.Next, v.Under = w.T("first.drop"), w.T("next.draw"), w.T("first.drop.under")
	v.Say = w.T("first.drop.say")
	n, p := len(st.Dist.Order)-st.Dist.Keep, terms.Percent(1-st.Dist.Mass)
	switch {
	case st.Dist.Keep == 1:
		v.Title, v.Under = w.T("first.drop.one"), w.T("first.drawn.under.one")
		v.Say = w.T("first.drop.one.say", "n", n, "p", p)
	case n > 0:
		v.Say = w.T("first.drop.cut", "n", n, "p", p)
	}
}

// drawnSay describes the draw. Where only one token was kept, chance had no part in it.
func (v *view) drawnSay(w stage.Words, st *session.State) string {
	step := st.Step()
	guess, rank, ok := v.guessed(st)
	right := v.guess == strconv.Itoa(step.Chosen)
	chance := w.OfHundred(step.Q)
	switch {
	case st.Dist.Keep == 1 && right:
		return w.T("first.drawn.one.guessed")
	case st.Dist.Keep == 1 && ok:
		return w.T("first.drawn.one.guess", "guess", guess)
	case st.Dist.Keep == 1:
		return w.T("first.drawn.one")
	case right:
		return w.T("first.drawn.guessed", "n", chance)
	case ok && !st.Dist.Stays(rank):
		return w.T("first.drawn.cut", "n", chance, "guess", guess)
	case ok:
		return w.T("first.drawn.guess", "n", chance, "guess", guess, "m", w.OfHundred(st.Dist.Q(rank)))
	case step.Q > almostSure:
		return w.T("first.drawn.sure")
	}
	return w.T("first.drawn.say", "n", chance)
}

// drawnUnder returns the key of the sentence that says which other tokens could have been drawn.
func drawnUnder(d *sampling.Distribution) string {
	switch d.Keep {
	case len(d.Order):
		return "first.drawn.under"
	case 1:
		return "first.drawn.under.one"
	}
	return "first.drawn.under.cut"
}

// almostSure is the token probability above which drawing again hardly ever changes the result.
const almostSure = 0.99

func (v *view) joined(w stage.Words, st *session.State) {
	v.Title, v.Under = w.T("first.joined"), w.T("first.joined.under")
	v.Say, v.Next = w.T("first.joined.say"), w.T("first.joined.next")
	if st.Stopped != infer.StopNone {
		v.Open, v.Say, v.Next = false, w.T("first.joined.over"), w.T("first.joined.over.next")
		if st.Stopped != infer.StopEOS {
			v.Say = w.T("first.joined.over.full")
		}
	}
}

func (v *view) bolder(w stage.Words, st *session.State, story stage.Story) {
	v.Under = w.T("first.bolder.under")
	favorite := plain(st, int(st.Dist.Order[0]))
	if v.turn == "" {
		v.sees(w, st, story)
		v.Title, v.Say = w.T("first.bolder"), w.T("first.bolder.say", "token", favorite)
		v.Choices = []choice{
			{Value: turnGrow, Name: w.T("first.bolder.grow")},
			{Value: turnShrink, Name: w.T("first.bolder.shrink")},
			{Value: turnSame, Name: w.T("first.bolder.same")},
		}
		v.Asked, v.Do = "turn", doTurn
		return
	}
	v.Shares, v.Ghost = story.Shares, story.Shares.Ghost
	usual := infer.DefaultSettings().Temperature
	p, _, _ := sampling.Softmax(st.Step().Logits, usual)
	before, now := terms.Percent(p[st.Dist.Order[0]]), v.Shares.Rows[0].Percent
	answer := turnShrink
	if before == now {
		answer = turnSame
	}
	t := st.Settings.Temperature
	switch {
	case t != bold:
		v.Title = w.T("first.turned.move")
	case v.turn == answer:
		v.Title = w.T("first.turned." + answer + ".right")
	default:
		v.Title = w.T("first.turned." + answer)
	}
	v.Say = w.T("first.turned.say", "token", favorite, "before", before, "now", now)
	v.Knob, v.Next = terms.Plain(t), w.T("first.turned.next")
}

func (v *view) end(w stage.Words, st *session.State) {
	v.Title, v.Under = w.T("first.end"), w.T("first.end.under")
	v.Say = w.T("first.end.say", "weights", w.MultAdds(st.Model.Parameters()))
	v.Next, v.More = w.T("first.end.next"), st.Stopped == infer.StopNone
	v.Open = v.More
}

// frame returns the frame around a page.
func frame(w stage.Words, title string) shell.Of {
	return shell.Of{
		Title: shell.TitleOf(title), Class: "page-first", Skip: w.T("first.skip"), Mono: true,
		Styles: []string{
			"css/stage.css", "css/story.css", "css/map.css", "css/motion.css", "css/carry.css",
			"css/first.css",
		},
		Scripts: []string{"js/first.js"},
		Keys:    shell.SharedKeys,
	}
}
