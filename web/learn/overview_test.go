package learn

import (
	"testing"

	"github.com/tokenbytoken/viz/web/coursework/courseworktest"
)

// TestOverviewPlansShortTimes: for five minutes, the overview suggests a lesson that takes a quarter
// longer if no other one is left. If all unread lessons take longer still, it says so and links to
// the next section. It reports that everything has been read only if that is true.
func TestOverviewPlansShortTimes(t *testing.T) {
	t.Parallel()
	s := newReader(t)
	read := func(slugs ...string) {
		t.Helper()
		for _, slug := range slugs {
			for _, section := range s.pages.Course.Lesson(slug).Sections {
				if err := s.pages.Progress.Visit(t.Context(), courseworktest.Learner, section.Key()); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	want := func(when, plan, lesson, goOn string) {
		t.Helper()
		d := s.Get("/learn?minutes=5")
		if got := text(d.Find(".times__plan")); got != plan {
			t.Errorf("%s: the plan is %q, want %q", when, got, plan)
		}
		if got := d.Find(".cl h3 a").AttrOr("href", ""); got != lesson {
			t.Errorf("%s: the first lesson is %q, want %q", when, got, lesson)
		}
		if got := d.Find(".goon").AttrOr("href", ""); got != goOn {
			t.Errorf("%s: the page continues with %q, want %q", when, got, goOn)
		}
	}
	first := func(slug string) string { return s.pages.Course.Lesson(slug).Sections[0].Href() }
	read("overview", "the-loop", "tokens", "logits-and-softmax", "choosing-a-token", "stopping", "calling-an-api")
	sure := "sure-and-wrong"
	want("with a lesson of five minutes left", "1 lesson, about 5 minutes.", "/learn/"+sure, first(sure))
	read(sure)
	want("with lessons of six minutes left", "1 lesson, about 6 minutes.", "/learn/temperature", first("temperature"))
	read("temperature", "inside-one-pass", "anatomy-of-a-chat", "where-paris-comes-from")
	want("with longer lessons left", "Every lesson that you have not read takes longer.", "", first("kv-cache"))
	read("kv-cache", "speculative-decoding", "longer-chapter")
	want("with everything read", "You have read every lesson.", "", "/practice")
}
