package lessons

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/testmodel"
)

// TestLessonSureAndWrongIsTrue: the probabilities that figures quote are the bundled model's, rounded
// to four decimals, and what the lesson says about the model's answers is true.
func TestLessonSureAndWrongIsTrue(t *testing.T) {
	says(t,
		"Ottawa is right", "Tallinn, which begins with ·T", "·si begins sixteen",
		"nearly as sure of ·blue as of Ottawa", "It only moves the favorite further ahead",
		"At T = 0.5 the favorite has nearly everything", "Mars is the same in both",
		"Tallinn, and many people live there.", "·Ottawa has", "The favorite is ·fifteen", // a walkthrough
		"it was never taught to write I don’t know in place of an answer",
	)
	m, scores := testmodel.Target(t), sureAnswers(t)
	for name, c := range certainties {
		if scores[c.Prompt] == nil {
			scores[c.Prompt] = first(t, c.Prompt)
		}
		z := scores[c.Prompt]
		id := slices.Index(z, slices.Max(z))
		if got := m.Token(id).Text; (got == c.Token) != !slices.Contains([]string{"closed", "shut", "ten"}, name) {
			t.Errorf("%s: the favorite after %q is %q, the figure's token %q", name, c.Prompt, got, c.Token)
		}
		id = m.Encode(c.Prompt + c.Token)[len(m.Encode(c.Prompt))]
		if got := m.Token(id).Text; got != c.Token {
			t.Fatalf("%s: %q is not a token: it begins with %q", name, c.Token, got)
		}
		for temperature, want := range c.P {
			if p, _, _ := sampling.Softmax(z, temperature); math.Abs(p[id]-want) > 0.00005 {
				t.Errorf("%s at T = %v: p is %.5f, want the figure's %.4f", name, temperature, p[id], want)
			}
		}
	}
	p := func(name string, temperature float64) float64 { return certainties[name].P[temperature] }
	if p("canada", 1)-p("colour", 1) > 0.002 || p("narnia", 0.5) < 0.99 || p("times", 0.5) < 0.97 {
		t.Errorf("the certainties %v do not support the lesson's sentences", certainties)
	}
}

// sureAnswers checks that the bundled model's greedy answers on the cards begin as the lesson says. A
// person has checked what kind of answer each is; see the comments. It returns the first scores by
// prompt.
func sureAnswers(t *testing.T) map[string][]float32 {
	t.Helper()
	w, scores := widgetNamed(t, "sure-four"), map[string][]float32{}
	for card, want := range map[string]struct {
		answer, is string
		tokens     int
	}{
		"a": {"Ottawa", "right", 1},
		// The capital of Estonia; Narnia is fiction. A walkthrough shows the whole answer.
		"b": {"Tallinn, and many people live there", "invented", 9},
		"c": {"sixteen.", "wrong", 3}, // 7 × 8 = 56
		"d": {"blue.", "wrong", 2},    // yellow-brown by day
	} {
		loop := write(t, w.Params[card], at(func(s *infer.Settings) { s.Temperature = 0 }), want.tokens)
		got := strings.TrimSpace(textOf(loop))
		if !strings.HasPrefix(got, want.answer) || !strings.HasPrefix(got, w.Params[card+"_says"]) ||
			w.Params[card+"_is"] != want.is {
			t.Errorf(
				"card %s: the model answers %q to %q; the lesson expects %q, which is %s; want %q, which is %s", card,
				got, w.Params[card], w.Params[card+"_says"], w.Params[card+"_is"], want.answer, want.is,
			)
		}
		scores[w.Params[card]] = loop.Steps()[0].Logits
	}
	return scores
}
