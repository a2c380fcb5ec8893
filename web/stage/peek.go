package stage

import (
	"fmt"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// Peek is the line under the strip: how a token came about, and what it might
// have been.
type Peek struct {
	Step int // of the run; 0 where the line is of no step that has its scores
	Say  Rich
	Alts []Alternative
	Seek string // the command that looks at the token's draw; "" where there is none
	End  string
}

// Alternative is a token that might have been chosen instead.
type Alternative struct {
	Text  Text
	P     string
	Title string
	Cmd   string // the command that chooses it
}

// alternatives is how many other tokens the peek line names.
const alternatives = 4

// CurrentPeek is the line for the step shown: the token that it has drawn, or
// what it has read.
func CurrentPeek(s *session.State) Peek {
	if !s.Started() {
		return Peek{Say: say("The text will appear here, one box for each token.")}
	}
	step := s.Step()
	if s.Cursor.Stage < infer.KindSample {
		t := TokenText(s.Model.Token(step.Input[len(step.Input)-1]))
		p := Peek{
			Say: say(
				"Read up to token "+terms.Count(step.Positions())+", ", t,
				". Which token comes next is not decided yet.",
			),
		}
		if s.Cursor.Stage >= infer.KindLogits {
			p.Step = step.N
		}
		return p
	}
	return NewPeek(s, step.N)
}

// NewPeek tells how the token of a step came about, with the likeliest others
// as they were. A step without scores is said to be so.
func NewPeek(s *session.State, n int) Peek {
	step := stepOf(s, n)
	if step == nil || step.Logits == nil {
		return Peek{Say: say(notDrawn(s, n))}
	}
	d := distributionOf(s, step)
	p := Peek{Step: n}
	at := "Token " + terms.Count(Position(s, n))
	entropy := terms.Decimals(step.Entropy, 2) + " bits"
	chosen := -1
	switch {
	case step.Ran < infer.KindSample:
		p.Say = say(at, " is not drawn yet. Likeliest are:")
	case step.Forced:
		chosen = step.Chosen
		p.Say = say(at, " ", gen(
			TokenText(s.Model.Token(chosen)),
		), " ", bold(terms.Prob(step.P)), ", "+terms.Ordinal(step.Rank)+" of "+terms.Count(len(d.Order))+
			", chosen by a person; the draw fell on ", TokenText(s.Model.Token(step.Drawn)), ".")
	default:
		chosen = step.Chosen
		p.Say = say(at, " ", gen(
			TokenText(s.Model.Token(chosen)),
		), " ", bold(terms.Prob(step.P)), ", "+terms.Ordinal(step.Rank)+" of "+terms.Count(len(d.Order))+
			", entropy "+entropy+". Instead:")
	}
	if chosen >= 0 {
		p.Seek = fmt.Sprintf(`{"cmd":"seek","step":%d,"stage":"sample"}`, n)
		p.End = "Press another token to branch."
	}
	for _, id := range d.Order[:min(alternatives+1, len(d.Order))] {
		if int(id) != chosen && len(p.Alts) < alternatives {
			text := TokenText(s.Model.Token(int(id)))
			p.Alts = append(p.Alts, Alternative{
				Text: text, P: terms.ProbShort(d.P[id]), Cmd: chooseCmd(n, int(id)),
				Title: fmt.Sprintf("Take %s instead, %s", text, terms.Is("p", d.P[id])),
			})
		}
	}
	return p
}

func chooseCmd(step, id int) string {
	return fmt.Sprintf(`{"cmd":"choose","step":%d,"token":%d}`, step, id)
}

// stepOf returns a step by its number, or nil.
func stepOf(s *session.State, n int) *infer.Step {
	if n < 1 || n > len(s.Steps) {
		return nil
	}
	return s.Steps[n-1]
}

// distributionOf is a step's distribution, the one at hand where it is of the
// step shown.
func distributionOf(s *session.State, step *infer.Step) *sampling.Distribution {
	if step.N == s.Cursor.Step && s.Dist != nil {
		return s.Dist
	}
	return step.Distribution()
}

// notDrawn says why a step has nothing to choose from.
func notDrawn(s *session.State, n int) string {
	switch {
	case !s.Started():
		return "There is no text yet, so there is nothing to choose from."
	case n < 1 || n > len(s.Steps):
		return fmt.Sprintf("There is no step %d: the run has come to step %s.", n, terms.Count(len(s.Steps)))
	}
	return fmt.Sprintf("Step %s has no scores yet: they come with stage 2.", terms.Count(n))
}
