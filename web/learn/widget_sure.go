package learn

import (
	"context"
	"math"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/guess"
	"github.com/tokenbytoken/viz/web/stage"
)

// sureTokens is the maximum number of tokens in an answer of the experiment sure.
const sureTokens = 12

// sure shows some prompts as cards. For each, the learner guesses whether the model's greedy answer
// is right and how probable its first token is. Only then does the model run.
type sure struct {
	id      string
	model   *infer.Model
	lesson  map[string]string     // the lesson's own cards
	answers map[string]sureAnswer // by card, to its newest prompt
}

// A sureAnswer is the model's greedy answer. P is the probability of its first token.
type sureAnswer struct {
	to    string // the prompt
	Text  string
	First stage.Text
	P     float64
	Loop  string
}

func newSure(d environment) experiment {
	return &sure{d.id, d.target, d.lesson, map[string]sureAnswer{}}
}

func (e *sure) show(ctx context.Context, in terms.Values) (templ.Component, error) {
	v, w := sureView{}, stage.In(ctx)
	for _, key := range lessons.SureCards {
		c := newSureCard(key, in)
		c.ID = e.id + "-" + key
		if c.Open {
			a, ok := e.answers[key]
			if !ok || a.to != c.Prompt {
				var err error
				if a, err = e.answer(ctx, c.Prompt); err != nil {
					return nil, err
				}
				e.answers[key] = a
			}
			c.open(w, a, in, e.knows(key, in))
			v.Opened++
		}
		if c.Marked {
			v.Marked++
			v.off += math.Abs(float64(c.Sure) - 100*c.P)
		}
		v.Cards = append(v.Cards, c)
	}
	return sureHTML(v), nil
}

// knows reports whether a card is the lesson's own. Addresses of pages can contain other cards, about
// whose answers the lesson knows nothing.
func (e *sure) knows(key string, in terms.Values) bool {
	for _, name := range []string{key, key + "_says", key + "_is"} {
		if in[name] != e.lesson[name] {
			return false
		}
	}
	return true
}

// answer returns the model's greedy answer to a prompt.
func (e *sure) answer(ctx context.Context, prompt string) (sureAnswer, error) {
	s := settingsOf(terms.Values{})
	s.Temperature = 0
	run, err := newRun(ctx, e.model, prompt, s)
	if err != nil {
		return sureAnswer{}, err // explains what is wrong with the text
	}
	st, err := writeTo(ctx, run, sureTokens)
	if err != nil {
		return sureAnswer{}, err
	}
	a := sureAnswer{to: prompt}
	for _, step := range st.Steps {
		a.Text += step.Text
	}
	if st.Stopped == infer.StopNone {
		a.Text += " …"
	}
	if st, err = seekTo(ctx, run, 1, infer.KindSoftmax); err != nil {
		return sureAnswer{}, err
	}
	first := st.Steps[0].Chosen
	a.First, a.P, a.Loop = stage.TokenText(e.model.Token(first)), st.Dist.P[first], loopAt(st)
	return a, nil
}

// A sureView shows all cards.
type sureView struct {
	Cards          []sureCard
	Opened, Marked int
	off            float64 // the sum of the distances between the learner's marks and the model, in percent
}

// sentence states how many cards are open, and how far the learner's marks are from the model's
// probabilities. It is empty if no card is open.
func (v sureView) sentence(w stage.Words) stage.Rich {
	switch {
	case v.Opened == 0:
		return nil
	case v.Marked == 0:
		return w.Rich("learn.sure.open", "n", v.Opened, "all", len(v.Cards))
	}
	return w.Rich(
		"learn.sure.sum", "n", v.Opened, "all", len(v.Cards), "off", terms.Decimals(v.off/float64(v.Marked), 0),
	)
}

// A sureCard is one prompt with the learner's guess. An open card also shows the model's answer.
type sureCard struct {
	ID          string // of its element
	Key, Prompt string
	Sure        int    // the learner's guess of P in percent
	Guess       string // the learner's guess of the kind of answer; "" if there is none yet
	Open        bool
	Marked      bool // the learner has guessed P
	Question    guess.Question
	Verdict     *guess.Verdict
	sureAnswer
}

func newSureCard(key string, in terms.Values) sureCard {
	c := sureCard{
		Key: key, Prompt: in[key], Guess: in[key+"_guess"], Sure: in.Int(key + "_sure"),
		Question: guess.Question{Ask: "learn.sure.ask", Field: key + "_guess", Known: true},
	}
	for _, kind := range lessons.SureKinds {
		c.Question.Choices = append(c.Question.Choices, guess.Choice{Key: kind, Text: "learn.sure." + kind})
	}
	if c.Open = c.Guess != lessons.NotYet; !c.Open {
		c.Guess = ""
	}
	c.Marked = c.Open && c.Guess != guess.None
	return c
}

// open shows the model's answer. Only the lesson knows whether an answer is true, so there is no
// judgment if the card is not the lesson's, or if another model answers something else.
func (c *sureCard) open(w stage.Words, a sureAnswer, in terms.Values, known bool) {
	c.sureAnswer = a
	if !known || !strings.HasPrefix(strings.TrimSpace(a.Text), in[c.Key+"_says"]) {
		c.Verdict = &guess.Verdict{Found: w.T("learn.sure.unknown"), Known: true}
		return
	}
	is := in[c.Key+"_is"]
	c.Verdict = c.Question.Judge(w, c.Guess, is, w.T("learn.sure."+is))
}

// values describes the first token's probability, and the learner's mark if there is one.
func (c sureCard) values(w stage.Words) stage.Rich {
	token := stage.Span{Token: c.First, Style: stage.Gen}
	if !c.Marked {
		return w.Rich("learn.sure.p", "token", token, "p", terms.Percent(c.P))
	}
	return w.Rich("learn.sure.p.mark", "token", token, "p", terms.Percent(c.P), "mark", c.mark())
}

// mark returns the learner's guess of the probability, such as "60%".
func (c sureCard) mark() string { return strconv.Itoa(c.Sure) + "%" }
