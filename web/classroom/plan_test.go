package classroom_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/web/webtest"
)

// plansAreComplete checks that the class page links to a plan for every lesson. A plan shows the
// questions of the lesson's steps, how to run their experiments, what learners will say, and the replies,
// and links to the worksheets of its drills.
func plansAreComplete(t *testing.T, p *person) {
	t.Helper()
	teach := p.get("/teach").text
	// The shortest scripts take 12 minutes and the longest 17, and each ticket 4.
	if fill := "one walkthrough with its exit ticket (16 to 21)"; !strings.Contains(teach, fill) {
		t.Errorf("the class page does not contain %q", fill)
	}
	course := webtest.Course(t)
	for _, l := range course.Lessons {
		address := "/teach/plan/" + l.Slug
		if !strings.Contains(teach, `href="`+address+`"`) {
			t.Errorf("the class page has no link to %s", address)
		}
		page := p.get(address)
		if page.Find(`a[href="/quiz/sheet?lesson=`+l.Slug+`"]`).Length() != 1 {
			t.Errorf("%s has no link to its worksheet", address)
		}
		text := words(page.Find("main"))
		for _, s := range course.Plan(l).Steps {
			if !strings.Contains(text, s.Title) {
				t.Errorf("%s does not contain the step %q", address, s.Title)
			}
			run := "Open this section of the lesson on the projector."
			shown := words(page.Find(".pstep:has(#" + s.ID + "-h)"))
			if got := strings.Contains(shown, run); got != (len(s.Experiments) > 0) {
				t.Errorf("%s, step %s: says how to run %d experiments: %v", address, s.ID, len(s.Experiments), got)
			}
			if s.Ask == nil {
				continue
			}
			if s.Ask.Kind == "recall" && page.Find("#"+s.ID+"-points").Text() != "A good answer says" {
				t.Errorf("%s does not label the points of a good answer to %s", address, s.Ask.ID)
			}
			for _, c := range s.Ask.Choices {
				if !strings.Contains(page.text, c.HTML) || !strings.Contains(page.text, c.Why) {
					t.Errorf("%s does not contain the choice %q with its reply", address, c.Text)
				}
			}
		}
	}
	if got := words(p.get("/teach/plan/kv-cache").Find(".acts")); !strings.Contains(got, "Worksheet") {
		t.Errorf("the plan of a lesson with drills has the links %q, want worksheets", got)
	}
	if got := p.send(http.MethodGet, "/teach/plan/nothing", nil, nil); got.status != http.StatusNotFound {
		t.Errorf("the plan of an unknown lesson: got the status %d, want %d", got.status, http.StatusNotFound)
	}
}
