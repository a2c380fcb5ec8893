package learn

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/shell"
)

// TestExperimentsHaveAStory: in experiments that have a Story, a newcomer sees the Story without a
// table, and a switch to Numbers whose link returns to the experiment. A learner who has switched
// to Numbers sees the table and not the Story.
func TestExperimentsHaveAStory(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, kind := range []lessons.WidgetKind{lessons.WidgetTurn, lessons.WidgetTemperature} {
		spec := s.specOf(kind)
		for _, s.View = range []shell.View{"", shell.Numbers} {
			want := s.View
			if want == "" {
				want = shell.Story
			}
			figure := s.Get(spec.Lesson.Href()).Find("#" + spec.ID)
			if on := figure.Find(`.view [aria-pressed="true"]`).AttrOr("value", ""); on != string(want) {
				t.Errorf("%s: the switch is at %q, want %s", kind, on, want)
			}
			if back := figure.Find(`.view [name="back"]`).AttrOr("value", ""); back != spec.Lesson.Href()+"#"+spec.ID {
				t.Errorf("%s: the switch leads to %q, want %q", kind, back, spec.Lesson.Href()+"#"+spec.ID)
			}
			figure = s.alone(spec, nil).Find("#" + spec.ID)
			if story := figure.Find(".story__pic").Length() > 0; story != (want == shell.Story) ||
				figure.Find(".w-stage .w-tab, .w-tab--t").Length() > 0 == story && kind == lessons.WidgetTemperature {
				t.Errorf("%s in %s: has the Story: %t, want it in the Story view only", kind, want, story)
			}
			if feed := figure.AttrOr("data-feed", ""); !strings.HasSuffix(feed, "&view="+string(want)) {
				t.Errorf("%s: the feed is %q, want it to end with %q", kind, feed, "&view="+string(want))
			}
		}
	}
}

// TestStorySharesMatchTheEngine: the temperature's shares and ticks in the Story match a softmax
// over all scores, and the axis is the same at every temperature.
func TestStorySharesMatchTheEngine(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.View = shell.Story
	spec := s.specOf(lessons.WidgetTemperature)
	const prompt = "The old man had a"
	z := s.scores(prompt)
	order := sampling.Rank(z)
	one, _, _ := sampling.Softmax(z, 1)
	length := func(s string) float64 {
		x, err := strconv.ParseFloat(strings.TrimSuffix(s, "%"), 64)
		if err != nil {
			t.Fatalf("the length is %q", s)
		}
		return x / 100
	}
	for _, temp := range []float64{0.5, 2} {
		d := s.alone(spec, map[string]string{"prompt": prompt, "t": terms.Plain(temp)})
		p, _, _ := sampling.Softmax(z, temp)
		list := d.Find(".shares li:not(.is-rest)")
		if list.Length() == 0 {
			t.Fatal("no shares")
		}
		for i, row := range list.EachIter() {
			bar, ghost := length(row.Find(".bar").AttrOr("width", "")), length(row.Find(".ghost").AttrOr("x1", ""))
			if math.Abs(bar-p[order[i]]) > 1e-4 || math.Abs(ghost-one[order[i]]) > 1e-4 {
				t.Errorf(
					"T = %g, row %d: got bar %g, tick %g; want the engine's %g and %g", temp, i+1, bar, ghost,
					p[order[i]], one[order[i]],
				)
			}
		}
		if axis := text(d.Find(".shares__axis")); strings.Join(strings.Fields(axis), "") != "025%50%75%100%" {
			t.Errorf("T = %g: the axis is %q, want 0 to 100%% in quarters", temp, axis)
		}
	}
}
