package learn

import (
	"maps"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/shell"
)

// running is an experiment that keeps its results between inputs, as on a connected page.
type running struct {
	t testing.TB
	*spec
	experiment
}

func (s *site) running(kind lessons.WidgetKind) running {
	spec := s.specOf(kind)
	return running{s.T, spec, spec.start(s.pages.environment(shell.Numbers))}
}

// with runs the experiment with some other inputs.
func (o running) with(changed map[string]string) {
	o.t.Helper()
	in := o.Inputs(terms.English).Defaults()
	maps.Copy(in, changed)
	if _, err := workOut(o.t.Context(), o.experiment, o.spec, in, nil); err != nil {
		o.t.Fatal(err)
	}
}

// TestRowRunsOneToken: a press on a row runs only the token of that row. This test must not run in
// parallel with others, because it counts the positions that all models read.
func TestRowRunsOneToken(t *testing.T) {
	look := newSite(t).running(lessons.WidgetLook)
	look.with(nil)
	before := infer.PositionsRead()
	look.with(map[string]string{"row": "5"})
	if got := infer.PositionsRead() - before; got != 1 {
		t.Errorf("a press on the row of token 5 read %d positions, want 1", got)
	}
}

// TestWordsAreHiddenOnlyForTheQuestion: the passes with each word hidden run only for the text that
// the question is about.
func TestWordsAreHiddenOnlyForTheQuestion(t *testing.T) {
	t.Parallel()
	hide := newSite(t).running(lessons.WidgetHide)
	e := hide.experiment.(*hiding)
	hide.with(map[string]string{"prompt": "The old man had a"})
	if e.moved != nil {
		t.Errorf("for another text, %d words were hidden, want none", len(e.moved))
	}
	hide.with(nil)
	if len(e.moved) != 4 { // The, wizard, lived, in
		t.Errorf("for the question, %d words were hidden, want 4", len(e.moved))
	}
}

// TestSureKeepsOneAnswerPerCard: the answers to earlier prompts of a card are dropped.
func TestSureKeepsOneAnswerPerCard(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.pages.Model = modelNamed(t, "llama3")
	cards := s.running(lessons.WidgetSure)
	for _, prompt := range []string{"a", "b", "c", "d", "e", "f"} {
		cards.with(map[string]string{"a": prompt, "a_guess": "right"})
	}
	if got := len(cards.experiment.(*sure).answers); got != 1 {
		t.Errorf("one card has %d answers in memory, want 1", got)
	}
}

// TestNewTextResetsPositions: the hidden tokens, and the row in the table, belong to the text in which
// the learner chose them. A page without scripts sends them with the next text too.
func TestNewTextResetsPositions(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, c := range []struct {
		kind               lessons.WidgetKind
		key, chosen, reset string // another text has 6 tokens, with the start mark
	}{
		{kind: lessons.WidgetHide, key: "off", chosen: "3,4", reset: "0"},
		{kind: lessons.WidgetLook, key: "row", chosen: "3", reset: "6"},
	} {
		spec := s.specOf(c.kind)
		d := s.alone(spec, map[string]string{c.key: c.chosen})
		value := func(d *goquery.Document, name string) string {
			return d.Find(`.w__body > input[name="`+name+`"]`).AttrOr("value", "")
		}
		of := value(d, "of")
		for text, want := range map[string]string{spec.Params["prompt"]: c.chosen, "The old man had a": c.reset} {
			d := s.alone(spec, map[string]string{"prompt": text, c.key: c.chosen, "of": of})
			if got := value(d, c.key); got != want {
				t.Errorf("%s: after %q, %s is %q for the text %q, want %q", spec.ID, c.chosen, c.key, got, text, want)
			}
		}
	}
}
