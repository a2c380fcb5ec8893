package first

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/chance"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// lang is the language of these pages.
var lang = stage.English

// view is the content of a page of the first run.
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

// fitsUnscrolled is the number of bytes of text that fit above the scene on the smallest
// screen.
const fitsUnscrolled = 80

// scrolls reports whether the text may be longer than its box, which must then be reachable and
// scrollable by keyboard.
func (v view) scrolls() bool {
	n := 0
	for _, p := range v.Text {
		n += len(p.Text)
	}
	return n > fitsUnscrolled
}

// steps is the number of steps of the first run.
var steps = len(scenes)

// enter returns the stage whose animation the page plays first, or "" for none.
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
	v := view{
		location: location{scene: sceneWrite}, Step: 1, Prompt: prompt, Bad: bad, Title: "Start a sentence.",
		Say: "Stop before it is finished. The model will go on from there.",
		Map: lang.NewMap(s.Runs.NewSession().State(), stage.MapOptions{}),
		Under: "This is the model. Your words go in at the bottom and up through its " +
			terms.Counted(s.Model.Config().Layers, "block") + ".",
	}
	n := int(chance.N(ctx, uint64(len(session.Openings))))
	// Offer only openings of tales: after a question about a capital or a sum, the model is
	// certain, so chance would play no part.
	for i := range 3 {
		v.Others = append(v.Others, session.OpeningOf(session.Tale, n+i).Text)
	}
	return v
}

// newView returns the page for a location. The location's run must already be open in m. The page
// contains nothing that its scene must not show yet.
func newView(p location, m *mover) view {
	st := m.run.State()
	v := view{location: p, Step: 1 + slices.Index(scenes, p.scene), Text: newCard(st).Parts, Open: true}
	v.Map = lang.NewMap(st, stage.MapOptions{})
	story := lang.NewStory(st)
	switch p.scene {
	case sceneRead:
		v.read(st)
	case sceneGuess:
		v.guessToken(m.do(oneStage, oneStage))
	case sceneShares:
		v.shares(st, story)
	case sceneBolder:
		v.bolder(st, story)
	case sceneDrop:
		v.draw(st, story)
	case sceneJoined:
		v.joined(st)
	case sceneEnd:
		v.end(st)
	}
	return v
}

func (v *view) read(st *session.State) {
	for _, t := range st.PromptTokens {
		text := stage.TokenText(t)
		if t.Special {
			text = stage.Text{{S: "start", Mark: true}}
		}
		v.Tokens = append(v.Tokens, text)
	}
	v.Title = "It reads."
	v.Say = "Your words are cut into pieces called tokens. A dot stands for a space."
	if says := lang.Unread(st.PromptTokens); says != "" {
		v.Say += " " + says
	}
	v.Next = "What comes next?"
	v.Under = "Each token has a column. Light climbs it, one block at a time, and every token looks back at " +
		"those before it."
}

// guessToken offers the favorites as guesses, in alphabetical order, so that the order does not
// reveal their shares.
func (v *view) guessToken(st *session.State) {
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
	v.Choices = append(v.Choices, choice{Value: guessElse, Name: "something else"})
	v.Asked, v.Do = "guess", doNext
	v.Title = "What comes next? You first."
	v.Say = "These are its favorites, in ABC order. Pick the one you think it likes best."
	v.Under = "The last column holds everything that the model has understood so far. Its answer is made from that."
}

// places are the names of the ranks that a guess can have.
var places = []string{
	"its first choice", "its second choice", "its third choice", "its fourth choice",
	"its fifth choice",
}

func (v *view) shares(st *session.State, story stage.Story) {
	v.sees(st, story)
	top := st.Dist.Order[0]
	v.Title = "This is how it sees it."
	if name, rank, ok := v.guessed(st); ok && rank < len(places) {
		v.Title = "Your " + name + " is " + places[rank] + "."
	} else if ok {
		v.Title = "Your " + name + " has " + terms.Percent(st.Dist.P[st.Dist.Order[rank]]) + "."
	} else if v.guess == guessElse {
		v.Title = "Something else? Look at the last row."
	}
	v.Say = "“" + plain(st, int(top)) + "” leads with " + v.Shares.Rows[0].Percent +
		". The last row is all the other " +
		"tokens together. Nothing is certain here."
	v.Next = "Can I change that?"
	v.Under = "The last column left at the top and became a share for each of " +
		terms.Count(st.Model.Config().Vocab) + " tokens."
}

// sees sets up the view to show the shares and the guessed token. It omits the ticks at T = 1,
// because they belong to the knob, which has not been introduced yet.
func (v *view) sees(st *session.State, story stage.Story) {
	v.Shares = story.Shares
	rows := v.Shares.Rows
	for i := range rows {
		rows[i].Ghost = ""
	}
	if _, rank, ok := v.guessed(st); ok && rank < len(rows) && !rows[rank].Rest {
		rows[rank].Note = "your guess"
	} else if last := &rows[len(rows)-1]; last.Rest && (ok || v.guess == guessElse) {
		last.Note = "your guess"
	}
}

// guessed returns the guessed token and its rank, counted from 0.
func (v *view) guessed(st *session.State) (name string, rank int, ok bool) {
	id, err := strconv.Atoi(v.guess)
	if err != nil {
		return "", 0, false
	}
	return "“" + plain(st, id) + "”", st.Dist.RankOf(int32(id)), true
}

// plain returns a token for use within a sentence.
func plain(st *session.State, id int) string {
	return strings.TrimLeft(stage.TokenText(st.Model.Token(id)).String(), "·")
}

// draw sets up the view to show the line and, after the draw, where the marker fell.
func (v *view) draw(st *session.State, story stage.Story) {
	v.Line = story.Line
	if st.Undrawn {
		v.Title, v.Next = "Now chance decides.", "Let it fall"
		v.Say = "The shares lie end to end. A marker falls anywhere on the line. The token it hits comes next."
		if n := len(st.Dist.Order) - st.Dist.Keep; n > 0 {
			v.Say += " The " + terms.Counted(n, "least likely token") + " together had " +
				terms.Percent(1-st.Dist.Mass) + " and are left out."
		}
		v.Say += " The knob is back where it was, a little on the safe side."
		v.Under = "Nothing is decided yet. The model has only given shares."
		return
	}
	step := st.Step()
	name := plain(st, step.Chosen)
	v.Title = "It is “" + name + "”."
	v.Say = "Its chance was " + inHundred(step.Q) + ". Likely is not the same as certain."
	if v.guess == strconv.Itoa(step.Chosen) {
		v.Say = "Just as you guessed. Its chance was " + inHundred(step.Q) + "."
	} else if guess, rank, ok := v.guessed(st); ok {
		chance := inHundred(st.Dist.Q(rank))
		if !st.Dist.Stays(rank) {
			chance = "zero: it was left out"
		}
		v.Say += " The chance of your " + guess + " was " + chance + "."
	} else if step.Q > almostSure {
		v.Say = "Here the model was almost certain, so another try will hardly change it."
	}
	v.Next = "Keep it"
	v.Again = !step.Settings.Greedy()
	v.Under = "One share was drawn. Everything else was possible too."
}

// almostSure is the probability of a token above which drawing again hardly ever changes the
// result.
const almostSure = 0.99

// inHundred returns a probability in words: "4 in 100".
func inHundred(p float64) string { return terms.OfHundred(p) + " in 100" }

func (v *view) joined(st *session.State) {
	v.Title = "It joins your text."
	v.Say = "The model has no plan. It wrote one token, and now it reads its own token too. The rest of the " +
		"sentence comes the same way."
	v.Under = "The new token has a column of its own. The others are kept, so they need not be read again."
	v.Next = "Finish the sentence"
	if st.Stopped != infer.StopNone {
		v.Open, v.Next = false, "See what you wrote"
		v.Say = "With it the text is over: the model has ended it."
	}
}

func (v *view) bolder(st *session.State, story stage.Story) {
	v.Under = "The knob changes only the shares. What the model has read stays the same."
	if v.turn == "" {
		v.sees(st, story)
		v.Title = "You can make it bolder."
		v.Say = "This knob goes from safer to bolder. If you turn it towards bolder, what happens to the bar of “" +
			plain(st, int(st.Dist.Order[0])) + "”?"
		v.Choices = []choice{
			{Value: turnGrow, Name: "It grows"},
			{Value: turnShrink, Name: "It shrinks"},
			{Value: turnSame, Name: "It stays the same"},
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
	v.Title = map[string]string{turnShrink: "It shrinks.", turnSame: "Here it hardly moves."}[answer]
	t := st.Settings.Temperature
	if t == bold && v.turn == answer {
		v.Title = "Right. " + v.Title
	}
	if t != bold {
		v.Title = "Move it, and look."
	}
	v.Say = "“" + plain(st, int(st.Dist.Order[0])) + "” had " + before +
		" before you touched the knob, and has " + now +
		" now. Bolder gives long shots a chance. Safer gives the favorite nearly everything."
	v.Knob = terms.Plain(t)
	v.Next = "Good. Now choose one"
}

func (v *view) end(st *session.State) {
	v.Title = "A sentence, token by token."
	v.Say = "It wrote every token by the same steps: read, score, share, draw. With only " +
		terms.MultAdds(st.Model.Parameters()) + " weights it often writes nonsense; models with thousands of times " +
		"as many make more sense."
	v.Next, v.More = "Finish here", st.Stopped == infer.StopNone
	v.Open = v.More
	v.Under = "One column for each token, kept until the text is over. That is the model's memory."
}

// frame returns the frame around a page.
func frame(title string) shell.Of {
	return shell.Of{
		Title: shell.TitleOf(title), Class: "page-first", Skip: "Skip to the content", Mono: true,
		Styles: []string{
			"css/stage.css", "css/story.css", "css/map.css", "css/motion.css", "css/carry.css",
			"css/first.css",
		},
		Scripts: []string{"js/first.js"},
		Keys:    shell.SharedKeys,
	}
}
