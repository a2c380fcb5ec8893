package stage

import (
	"fmt"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// Peek is the line under the strip: how a token was chosen, and its alternatives.
type Peek struct {
	Step int // step of the run; 0 if the line has no step with scores
	Say  Rich
	Alts []Alternative
	Seek string // the command that shows the token's draw; "" if there is none
	End  string
}

// Alternative is a token that might have been chosen instead.
type Alternative struct {
	Text  Text
	P     string
	Title string
	Cmd   string // the command that chooses it
}

// alternatives is the number of other tokens that the peek line names.
const alternatives = 4

// CurrentPeek returns the line for the step shown. It is about the token that the step drew or,
// before the draw, about the last token that it read.
func (w Words) CurrentPeek(s *session.State) Peek {
	if !s.Started() {
		return Peek{Say: w.Rich("peek.none")}
	}
	step := s.Step()
	if s.Cursor.Stage < infer.KindSample {
		t := TokenText(s.Model.Token(step.Input[len(step.Input)-1]))
		p := Peek{
			Say: w.Rich("peek.read", "n", terms.Count(step.Positions()), "token", t),
		}
		if s.Cursor.Stage >= infer.KindLogits {
			p.Step = step.N
		}
		return p
	}
	return w.NewPeek(s, step.N)
}

// NewPeek describes how the token of a step was chosen, with the most likely alternatives at that
// step. If the step has no scores, it says so.
func (w Words) NewPeek(s *session.State, n int) Peek {
	step := stepOf(s, n)
	if step == nil || step.Logits == nil {
		return Peek{Say: rich(w.notDrawn(s, n))}
	}
	d := distributionOf(s, step)
	p := Peek{Step: n}
	chosen, key := -1, "peek.open"
	if step.Ran >= infer.KindSample {
		chosen, key = step.Chosen, "peek"
	}
	if chosen >= 0 && step.Forced {
		key = "peek.forced"
	}
	p.Say = w.Rich(key, "n", terms.Count(Position(s, n)), "p", bold(terms.Prob(step.P)), "rank", w.Ordinal(step.Rank),
		"all", terms.Count(len(d.Order)), "entropy", terms.Decimals(step.Entropy, 2),
		"token", gen(TokenText(s.Model.Token(step.Chosen))), "drawn", TokenText(s.Model.Token(step.Drawn)))
	if chosen >= 0 {
		p.Seek = fmt.Sprintf(`{"cmd":"seek","step":%d,"stage":"sample"}`, n)
		p.End = w.T("peek.end")
	}
	for _, id := range d.Order[:min(alternatives+1, len(d.Order))] {
		if int(id) != chosen && len(p.Alts) < alternatives {
			text := TokenText(s.Model.Token(int(id)))
			p.Alts = append(p.Alts, Alternative{
				Text: text, P: terms.ProbShort(d.P[id]), Cmd: chooseCmd(n, int(id)),
				Title: w.T("peek.take", "token", text.Inline(), "p", terms.Is("p", d.P[id])),
			})
		}
	}
	return p
}

// StoryPeek is like [Words.NewPeek], but in the voice [Tale].
func (w Words) StoryPeek(s *session.State, n int) Peek {
	p := w.NewPeek(s, n)
	step := stepOf(s, n)
	if step == nil || step.Ran < infer.KindSample {
		return Peek{}
	}
	key := "story.peek"
	if step.Forced {
		key = "story.peek.forced"
	}
	p.Say = w.Rich(key, "token", gen(TokenText(s.Model.Token(step.Chosen))), "share", bold(terms.Percent(step.P)))
	d, at := distributionOf(s, step), 0
	for _, id := range d.Order[:min(alternatives+1, len(d.Order))] {
		if int(id) != step.Chosen && at < len(p.Alts) {
			p.Alts[at].P = terms.Percent(d.P[id])
			p.Alts[at].Title = w.T("take", "token", p.Alts[at].Text)
			at++
		}
	}
	p.End = ""
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

// distributionOf returns a step's distribution. For the step shown, it returns the distribution
// that the state already has.
func distributionOf(s *session.State, step *infer.Step) *sampling.Distribution {
	if step.N == s.Cursor.Step && s.Dist != nil {
		return s.Dist
	}
	return step.Distribution()
}

// notDrawn explains why a step has no tokens to choose from.
func (w Words) notDrawn(s *session.State, n int) string {
	key := "missing.scores"
	switch {
	case !s.Started():
		key = "missing.text"
	case n < 1 || n > len(s.Steps):
		key = "missing.step"
	}
	return w.T(key, "n", terms.Count(n), "last", terms.Count(len(s.Steps)))
}
