package learn

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/wire"
)

// TestEveryExperimentIsComplete: each lesson's page shows every experiment with its result, a
// working link to the Loop, a name, a sentence for screen readers, and a hint about what to notice.
// IDs are unique in the course.
// Promise: Every lesson page shows its experiments as the model computed them, each with a way into the Loop.
func TestEveryExperimentIsComplete(t *testing.T) {
	t.Parallel()
	s := newReader(t)
	ids := map[string]bool{}
	for _, l := range s.pages.Course.Lessons {
		d := s.Get(l.Href())
		for _, section := range l.Sections {
			for _, b := range section.Blocks {
				w, ok := b.(lessons.Widget)
				if !ok {
					continue
				}
				if ids[w.ID] {
					t.Errorf("two experiments are called %s, want unique names", w.ID)
				}
				ids[w.ID] = true
				fig := d.Find("figure#" + w.ID)
				if fig.Length() != 1 {
					t.Fatalf("%s: no experiment %s", l.Slug, w.ID)
				}
				if w.Ask != "" {
					fig = s.waits(w, fig)
				} else if w.Kind == lessons.WidgetSure {
					fig = s.alone(s.specOf(w.Kind), map[string]string{"a_guess": "none"}).Find("figure#" + w.ID)
				}
				if said := text(fig.Find("[data-feed-error]")); said != "" {
					t.Errorf("experiment %s: the page reports %q, want no error", w.ID, said)
				}
				if fig.Find("#"+w.ID+"-body").Children().Length() == 0 || text(fig.Find("[aria-live]")) == "" {
					t.Errorf("%s has an empty body, or no sentence that is read out", w.ID)
				}
				if by, _ := fig.Attr("aria-labelledby"); text(fig.Find("#"+by)) == "" {
					t.Errorf("%s has no name", w.ID)
				}
				if w.Notice != "" && fig.NextFiltered(".callout--notice").Length() != 1 {
					t.Errorf("%s does not say what to notice", w.ID)
				}
				if st := s.opened(href(fig)); st.Step() == nil {
					t.Errorf("%s opens an empty run, want a text", w.ID)
				}
			}
		}
	}
	if len(ids) != len(s.pages.specs(s.pages.Course)) || len(ids) == 0 {
		t.Errorf(
			"got %d experiments on the pages, %d known; want %d, not 0", len(ids), len(s.pages.specs(s.pages.Course)),
			len(s.pages.specs(s.pages.Course)),
		)
	}
}

// TestFeedMatchesThePage: the same inputs produce the same body with and without scripts, except
// for measured times.
func TestFeedMatchesThePage(t *testing.T) {
	t.Parallel()
	s := newReader(t)
	for kind := range widgetKinds {
		spec := s.specOf(kind)
		inputs := map[string]string{"prompt": "The old man had a"}
		if kind == lessons.WidgetNucleus {
			inputs = map[string]string{"peaked": "The old man had a", "k": "7"}
		} else if kind == lessons.WidgetSure {
			inputs = map[string]string{"a": "The old man had a", "a_guess": "wrong", "a_sure": "70"}
		}
		page := s.alone(spec, inputs).Find("#" + spec.ID + "-body")
		answers := s.asks(spec, map[string]string{}, inputs)
		if len(answers) != 2 || answers[1].Ack != 2 || !answers[1].Done {
			t.Fatalf("%s: answers %+v; want 2 elements, answers[1].Ack = 2, answers[1].Done = true", kind, answers)
		}
		panel := s.body(answers[1]).Find("#" + spec.ID + "-body")
		for _, where := range []string{"table", ".w__sum", ".w-text"} {
			if a, b := text(page.Find(where)), text(panel.Find(where)); a != b {
				t.Errorf("%s: %s on the page is\n%s\nwant the same as in the feed:\n%s", kind, where, a, b)
			}
		}
		if answers[1].Data.(widgetData).Inputs["prompt"] != inputs["prompt"] {
			t.Errorf("%s: got inputs %v, want the prompt %q", kind, answers[1].Data, inputs["prompt"])
		}
	}
}

// TestNewestCommandWins: if several commands arrive while an experiment is being computed, all but
// the last are skipped.
func TestNewestCommandWins(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var worked atomic.Int32
	f := &widgetFeed{spec: s.specOf(lessons.WidgetTemperature), exp: counting{&worked}, log: s.pages.Log}
	in := make(chan wire.Command, wire.Waiting)
	for n := range 5 {
		in <- wire.Command{Name: "set", N: uint64(n + 1), Fields: []byte(`{"values":{}}`)}
	}
	close(in)
	var acks []uint64
	if err := f.Serve(
		context.Background(), in, conn(func(m wire.Message) error { acks = append(acks, m.Ack); return nil }),
	); err != nil {
		t.Fatal(err)
	}
	if worked.Load() != 1 || len(acks) != 1 || acks[0] != 5 {
		t.Errorf("worked %d times, answered %v; want worked.Load() = 1, 1 element, acks[0] = 5", worked.Load(), acks)
	}
}

// counting is an experiment that counts how often it is run.
type counting struct{ n *atomic.Int32 }

func (c counting) show(context.Context, terms.Values) (templ.Component, error) {
	c.n.Add(1)
	return templ.Raw("<p></p>"), nil
}

// TestFirstStateIsComputedOnce: the first state is computed once, however many learners open a
// lesson at the same time.
func TestFirstStateIsComputedOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var worked atomic.Int32
	spec := s.specOf(lessons.WidgetTokens)
	s.open(spec.Kind, func(environment) experiment { return counting{&worked} })
	var readers sync.WaitGroup
	for range 30 {
		readers.Go(func() { s.Get(spec.Lesson.Href()) })
	}
	readers.Wait()
	if worked.Load() != 1 {
		t.Errorf("computed %d times, want once", worked.Load())
	}
}

// failing is an experiment that fails, or panics if loud is set.
type failing struct{ loud bool }

func (f failing) show(context.Context, terms.Values) (templ.Component, error) {
	if f.loud {
		panic("broken")
	}
	return nil, fmt.Errorf("layer 3 is short")
}

// TestFailedExperimentLeavesTheLesson: if an experiment fails, the lesson shows an explanation in
// its place and is otherwise intact. For the next reader, the experiment is run again.
func TestFailedExperimentLeavesTheLesson(t *testing.T) {
	t.Parallel()
	for _, e := range []failing{{}, {true}} {
		s := newSite(t)
		spec := s.specOf(lessons.WidgetTokens)
		tries := 0
		s.open(spec.Kind, func(environment) experiment { tries++; return e })
		for range 2 {
			d := s.Get(spec.Lesson.Href())
			if said := text(d.Find("#" + spec.ID + " [data-feed-error]")); said == "" {
				t.Error("there is no message")
			}
			if d.Find("section.sec").Length() != len(spec.Lesson.Sections) {
				t.Error("parts of the lesson are missing")
			}
		}
		if tries != 2 {
			t.Errorf("tried %d times, want 2", tries)
		}
	}
}

// TestBadInputsNameTheRange: each invalid input is refused with its name and its range, and its
// field still contains the invalid text.
func TestBadInputsNameTheRange(t *testing.T) {
	t.Parallel()
	s := newSite(t).withDraft()
	for _, c := range []struct {
		kind  lessons.WidgetKind
		field string
		value string
		want  string // in the message
	}{
		{lessons.WidgetTemperature, "t", "0", "a number from 0.1 to 2"},
		{lessons.WidgetTemperature, "t", "hot", `"hot"`},
		{lessons.WidgetTemperature, "t", "NaN", "a number from 0.1 to 2"},
		{lessons.WidgetTemperature, "prompt", "", "Prompt is empty"},
		{lessons.WidgetTemperature, "prompt", strings.Repeat("long ", 1000), "4096 bytes"},
		{lessons.WidgetNucleus, "k", "1.5", "1 to 100"},
		{lessons.WidgetNucleus, "p", "1.01", "0.05 to 1"},
		{lessons.WidgetGreedyLoop, "seed", "-1", "a whole number from 0 to"},
		{lessons.WidgetBestSequence, "length", "6", "2 to 5"},
		{lessons.WidgetStopString, "stop", strings.Repeat("x", 101), "1 to 100 bytes"},
		{lessons.WidgetSpeculate, "gamma", "9", "1 to 8"},
		{lessons.WidgetTurn, "at", "0", "1 to 3584"},
		{lessons.WidgetTurn, "hat", "1", `Unknown input "hat"`},
	} {
		spec := s.specOf(c.kind)
		m := s.asks(spec, map[string]string{c.field: c.value})[0]
		if m.Error == nil || m.Error.Field != c.field || !strings.Contains(m.Error.Message, c.want) ||
			len(m.Panels) > 0 {
			t.Errorf("%s: %s=%.20q: %+v, want %q", c.kind, c.field, c.value, m.Error, c.want)
			continue
		}
		path := aloneAt(spec, map[string]string{c.field: c.value})
		d := s.Parse(path, s.Do(httptest.NewRequest(http.MethodGet, path, nil)), http.StatusBadRequest)
		want := strings.Join(strings.Fields(m.Error.Message), " ")
		if said := text(d.Find("[data-feed-error]")); said != want {
			t.Errorf("%s: the page reports %q, want %q as from the feed", c.kind, said, want)
		}
	}
	if code := s.status("/learn/widget/none"); code != http.StatusNotFound {
		t.Errorf("a missing experiment: got %d, want %d", code, http.StatusNotFound)
	}
}

// TestMultilinePromptIsNormalized: a form sends a line break as two characters, but the model
// receives only one.
func TestMultilinePromptIsNormalized(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	spec := s.specOf(lessons.WidgetTemperature)
	a := s.alone(spec, map[string]string{"prompt": "One\r\nTwo"})
	b := s.alone(spec, map[string]string{"prompt": "One\nTwo"})
	if x, y := text(a.Find("table")), text(b.Find("table")); x != y {
		t.Errorf("%s\nis not\n%s", x, y)
	}
	if got := a.Find("textarea").Text(); got != "One\nTwo" {
		t.Errorf("the field contains %q, want %q", got, "One\nTwo")
	}
}

// TestExperimentsTakeTypicalP: the lesson's value of typical-p is used in the draw and is part of
// the link to the Loop.
func TestExperimentsTakeTypicalP(t *testing.T) {
	t.Parallel()
	s := newSite(t).withDraft()
	for _, kind := range []lessons.WidgetKind{lessons.WidgetTurn, lessons.WidgetStopString, lessons.WidgetSpeculate} {
		d := s.alone(s.specOf(kind), map[string]string{"typical": "0.2"})
		if got := s.opened(href(d.Selection)).Settings.TypicalP; got != 0.2 {
			t.Errorf("%s draws with typical-p %v, want 0.2", kind, got)
		}
	}
	d := s.alone(s.specOf(lessons.WidgetTurn), map[string]string{
		"typical": "0.2", "p": "1", "rep": "1.3", "t": "0.7", "seed": "42",
	})
	if got := text(d.Find(".w__set")); got != "Temperature 0.7, typical-p 0.2, repetition penalty 1.3, seed 42" {
		t.Errorf(
			"the turn shows the settings %q, want %q", got,
			"Temperature 0.7, typical-p 0.2, repetition penalty 1.3, seed 42",
		)
	}
}
