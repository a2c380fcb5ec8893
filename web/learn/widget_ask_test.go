package learn

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/coursework/courseworktest"
	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/wire"
)

// answered returns the choice that an experiment marks as confirmed, "" if there is none, and the
// sentence about the result, after a guess and at the given inputs.
func (s *site) answered(spec *spec, inputs map[string]string) (key, say string) {
	s.T.Helper()
	d := s.alone(spec, inputs)
	for i, key := range spec.Choices() {
		if d.Find(".commit__btn").Eq(i).HasClass("is-found") {
			return key, text(d.Find(".w__ask"))
		}
	}
	return "", text(d.Find(".w__ask"))
}

// TestQuestionsAreAnsweredByTheModel: after a guess, an experiment marks the choice that its result
// confirms, and says the value. The values are computed here from the model's scores, or counted on
// the page. A guess stays as it was, right or wrong.
// Promise: An experiment asks for your guess before it runs, and then compares it with what the model did.
func TestQuestionsAreAnsweredByTheModel(t *testing.T) {
	t.Parallel()
	s := newSite(t).withDraft()
	p := sorted(s.scores("The wizard lived in a"))
	flat := sorted(s.scores("It was a very"))
	kept, sum := 0, 0.0
	for sum < 0.9 {
		sum += flat[kept]
		kept++
	}
	if p[0] < 0.1 || p[0] > 0.35 || kept <= 100 || kept > 1000 {
		t.Fatalf("the favorite has %v, top-p keeps %d; the lessons' choices below no longer fit", p[0], kept)
	}
	for i, c := range []struct {
		id     string
		inputs map[string]string
		key    string
		say    string
	}{
		{"turn-wizard", map[string]string{"at": "2"}, "", "Go on"},
		{"turn-wizard", map[string]string{"at": "3"}, "all", "4,096 of 4,096"},
		{"turn-shares", map[string]string{"at": "3"}, "20", terms.Percent(p[0])},
		{"turn-shares", map[string]string{"at": "9"}, "20", terms.Percent(p[0])},
		{"turn-stream", map[string]string{"at": "7"}, "", "Go on"},
		{"turn-stream", map[string]string{"at": "8"}, "new", "It read 1 token. The first pass read 7."},
		{"temperature-wizard", map[string]string{"t": "1"}, "", "Go on"},
		{"temperature-wizard", map[string]string{"t": "0.1"}, "no", "all 4,096 tokens are in the same order"},
		{"temperature-wizard", map[string]string{"t": "2"}, "no", "all 4,096 tokens are in the same order"},
		{"nucleus-two", nil, "300", fmt.Sprintf("%d of 4,096", kept)},
		{"nucleus-two", map[string]string{"p": "0.05"}, "", "the lesson’s own settings"},
		{"stop-user", nil, "nothing", "0 of its 5 bytes"},
		{"stop-user", map[string]string{"stop": ""}, "", "the lesson’s own settings"},
		{"cache-saves", nil, "40", "for token 48"},
		{"cache-saves", map[string]string{"tokens": "1"}, "", "the lesson’s own settings"},
		{"speculate-story", nil, "4", "4 of 4 in the first round"},
		{"greedy-circle", nil, "15", "After 14 tokens"},
		{"greedy-circle", map[string]string{"t": "1"}, "", "the lesson’s own settings"},
		{"best-path", nil, "no", "times as likely"},
		{"look-paris", nil, "few", "9 of 36"},
		{"chat-museum", nil, "most", "22 of 36 tokens"},
		{"hide-wizard", nil, "3", "lived: 98% of the probability moves"},
		{"hide-wizard", map[string]string{"off": "3,4"}, "3", "lived"},
		{"hide-wizard", map[string]string{"prompt": "The old man had a"}, "", "Go on"},
	} {
		inputs := map[string]string{"guess": lessons.NoGuess}
		if i%2 == 0 {
			inputs["guess"] = s.spec(c.id).Choices()[0]
		}
		maps.Copy(inputs, c.inputs)
		key, say := s.answered(s.spec(c.id), inputs)
		if key != c.key || !strings.Contains(say, c.say) {
			t.Errorf("%s at %v: got %q, %q; want %q and a text with %q", c.id, inputs, key, say, c.key, c.say)
		}
		right, wrong := strings.Contains(say, "✓"), strings.Contains(say, "✕")
		if want := inputs["guess"] == c.key; right != want || inputs["guess"] == lessons.NoGuess && wrong {
			t.Errorf("%s at %v: the verdict is %q, want the guess called right: %t", c.id, inputs, say, want)
		}
	}
}

// sorted returns the softmax of scores, the largest first.
func sorted(z []float32) []float64 {
	p, _, _ := sampling.Softmax(z, 1)
	slices.Sort(p)
	slices.Reverse(p)
	return p
}

func (s *site) spec(id string) *spec { return s.pages.specs(s.pages.Course)[id] }

// TestVerdictStays: once the lesson's own settings have answered the question, other settings change
// neither the verdict nor the question, which names the lesson's settings.
func TestVerdictStays(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	said := func(m wire.Message) string {
		d, err := goquery.NewDocumentFromReader(strings.NewReader(m.Panels[1].HTML))
		if err != nil {
			t.Fatal(err)
		}
		return text(d.Find(".commit__say"))
	}
	answers := s.asks(
		s.spec("nucleus-two"), map[string]string{"guess": "3"}, map[string]string{"guess": "3", "p": "0.05"},
	)
	first, second := said(answers[0]), said(answers[1])
	if !strings.Contains(first, "✕") || second != first {
		t.Errorf("the verdict is %q, then %q; want the first twice", first, second)
	}
	const asked = "top-p 0.9 keep after “It was a very”?" // not 0.05
	if ask := answers[1].Panels[1].HTML; !strings.Contains(ask, asked) {
		t.Errorf("the question is %q, want it to contain %q", ask, asked)
	}
}

// TestFirstGuessIsKept: the first guess before an experiment is kept once the result answers it,
// with the choice that the result confirmed. A guess after "No idea" is not kept, since the learner has
// seen the result; nor is the guess of a client without a cookie, which cannot come back for it.
func TestFirstGuessIsKept(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	guesses := func() []progress.Guess {
		list, err := s.pages.Progress.Guesses(context.Background(), courseworktest.Learner)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	s.asks(s.spec("temperature-wizard"), map[string]string{"guess": "yes", "t": "1"})
	s.asks(s.spec("stop-user"), map[string]string{"guess": lessons.NoGuess})
	s.asks(s.spec("stop-user"), map[string]string{"guess": "nothing"})
	fresh := admission.Caller{Learner: courseworktest.Learner, Fresh: true}
	s.asksAs(fresh, s.spec("nucleus-two"), map[string]string{"guess": "30"})
	if got := guesses(); len(got) != 0 {
		t.Errorf("before a result, after no idea, or without a cookie: kept %v, want nothing", got)
	}
	s.asks(s.spec("nucleus-two"), map[string]string{"guess": "3"}, map[string]string{"guess": "300"})
	s.asks(s.spec("temperature-wizard"), map[string]string{"guess": "yes", "t": "0.5"})
	want := []progress.Guess{
		{Experiment: "nucleus-two", Chose: "3", Found: "300"},
		{Experiment: "temperature-wizard", Chose: "yes", Found: "no"},
	}
	if got := guesses(); !slices.Equal(got, want) {
		t.Errorf("kept %v, want %v", got, want)
	}
}
