package first

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// The actions of a page's buttons.
const (
	doNext  = "next"
	doTurn  = "turn"
	doKnob  = "knob"
	doAgain = "again"
	doMore  = "more"
)

// bold is the temperature to which the knob is first turned. When the model completes the sentence,
// it generates at least fewestTokens, so that there is something to read, and at most mostTokens if
// the sentence does not end.
const (
	bold         = 1.3
	fewestTokens = 8
	mostTokens   = 40
)

// These are the ends of the knob's range. It excludes 0, because at temperature 0 nothing is drawn.
const (
	safest  = 0.1
	boldest = 1.9
)

var (
	// errChoice is the error for an action for which the page has no button.
	errChoice = terms.Refuse(session.CodeLink, "first.button.none")
	// errUnfinished is the error for a card request whose run is in the middle of a token.
	errUnfinished = terms.Refuse(session.CodeLink, "first.card.unfinished")
)

// mover performs a learner's actions. After the first error, it does nothing.
type mover struct {
	ctx context.Context
	run *session.Session
	err error
}

func (m *mover) do(commands ...session.Command) *session.State {
	for _, c := range commands {
		if m.err == nil {
			_, m.err = m.run.Apply(m.ctx, c)
		}
	}
	return m.run.State()
}

var (
	oneStage = session.StepStage{}
	withheld = session.StepStage{Withhold: true}
)

// move performs the action of the pressed button at a location and returns the resulting location,
// which may be in the same scene or in another one. x is the knob's new value. The card, whose
// scene is "", follows the last scene.
func (m *mover) move(p location, pressed string, x float64) (location, error) {
	st := m.run.State()
	next := location{scene: p.scene, guess: p.guess, turn: p.turn}
	switch {
	case pressed == doTurn && p.turn != "":
		st = m.do(session.SetKnob("temperature", bold))
	case pressed == doKnob && p.turn != "":
		if !(x >= safest && x <= boldest) { // true for NaN
			return p, errChoice
		}
		st = m.do(session.SetKnob("temperature", x))
	case pressed == doAgain && p.scene == sceneDrop && !st.Undrawn:
		st = m.do(session.Redraw{Seed: st.Settings.Seed%infer.MaxSeed + 1})
	case pressed == doMore && p.scene == sceneEnd && st.Stopped == infer.StopNone:
		st = m.sentence()
	case pressed == doNext:
		next, st = m.next(p, st)
	default:
		return p, errChoice
	}
	if m.err != nil {
		return p, m.err
	}
	next.link = session.LinkOf(st)
	return next, nil
}

// next performs the action of the main button.
func (m *mover) next(p location, st *session.State) (location, *session.State) {
	switch p.scene {
	case sceneRead:
		return location{scene: sceneGuess}, st
	case sceneGuess:
		st = m.do(oneStage, oneStage)
		if m.err == nil && !offered(st, p.guess) {
			m.err = errChoice
		}
		return location{scene: sceneShares, guess: p.guess}, st
	case sceneShares:
		return location{scene: sceneBolder, guess: p.guess}, st
	case sceneBolder:
		if p.turn == "" {
			m.err = errChoice
		}
		usual := infer.DefaultSettings().Temperature
		return location{scene: sceneDrop, guess: p.guess},
			m.do(session.SetKnob("temperature", usual), oneStage, withheld)
	case sceneDrop:
		if st.Undrawn {
			return p, m.do(session.Draw{})
		}
		return location{scene: sceneJoined}, m.do(oneStage, oneStage)
	case sceneJoined:
		if st.Stopped != infer.StopNone {
			return location{}, st
		}
		return location{scene: sceneEnd}, m.sentence()
	}
	return location{}, st
}

// sentence generates text until the end of a sentence.
func (m *mover) sentence() *session.State {
	st := m.run.State()
	for n := range mostTokens {
		if m.err != nil || st.Stopped != infer.StopNone || n >= fewestTokens && endsSentence(st) {
			break
		}
		st = m.do(session.StepToken{})
		if e := new(terms.Refusal); errors.As(m.err, &e) && e.Code == session.CodeStopped {
			m.err = nil
			break
		}
	}
	return st
}

// endsSentence reports whether the text so far ends with a complete sentence.
func endsSentence(st *session.State) bool {
	return strings.ContainsAny(lastSign(textOf(st)), ".!?")
}

// textOf returns the whole text of a run.
func textOf(st *session.State) string {
	var b strings.Builder
	b.WriteString(st.Prompt)
	for _, step := range st.Steps {
		b.WriteString(step.Text)
	}
	return b.String()
}

// candidates is the number of tokens offered as guesses.
const candidates = 5

// offered reports whether the page offers a guess.
func offered(st *session.State, guess string) bool {
	if guess == guessElse {
		return true
	}
	for _, id := range favorites(st) {
		if strconv.Itoa(int(id)) == guess {
			return true
		}
	}
	return false
}

// favorites returns the most likely tokens of the step shown, in descending order of
// probability.
func favorites(st *session.State) []int32 {
	return st.Dist.Order[:min(candidates, len(st.Dist.Order))]
}
