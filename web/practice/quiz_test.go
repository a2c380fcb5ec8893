package practice

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

// TestQuizFilters: by lesson, outcome and kind; without a filter all questions.
func TestQuizFilters(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	all := s.Get("/quiz").Find(".quiz__list > li").Length()
	if all != len(s.pages.Course.Questions) {
		t.Errorf("%d questions, want %d", all, len(s.pages.Course.Questions))
	}
	d := s.Get("/quiz?lesson=temperature&kind=choice")
	n := 0
	for _, q := range s.pages.Course.Questions {
		if strings.HasPrefix(q.Section, "temperature#") && q.Kind == "choice" {
			n++
			if d.Find("#"+q.ID).Length() != 1 {
				t.Errorf("%s is missing", q.ID)
			}
		}
	}
	if got := d.Find(".quiz__list > li").Length(); got != n || n == 0 {
		t.Errorf("%d questions, want %d", got, n)
	}
	total := 0
	for _, o := range s.pages.Course.Outcomes {
		total += s.Get("/quiz?outcome=" + o.ID).Find(".quiz__list > li").Length()
	}
	if total != all {
		t.Errorf("the outcomes have %d questions together, want %d", total, all)
	}
}

// TestQuizWithoutScript: every wrong choice is explained and the right one
// counts less after it; the filter stays.
func TestQuizWithoutScript(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, q := range s.pages.Course.Questions {
		if q.Kind != "choice" || !strings.HasPrefix(q.Section, "temperature#") {
			continue
		}
		form := url.Values{"key": {"key-" + q.ID}}
		for i, c := range q.Choices {
			if c.Right {
				continue
			}
			form.Set("pick", strconv.Itoa(i))
			d := s.Parse(q.ID, s.Post("/quiz/"+q.ID+"?lesson=temperature", false, form), http.StatusOK)
			why := d.Find("#check-" + q.ID + " .choice__why").Last()
			if strings.TrimSpace(why.Text()) == "" {
				t.Errorf("%s, choice %d: no reason is given", q.ID, i+1)
			}
			if d.Find(`#f-lesson option[selected]`).AttrOr("value", "") != "temperature" {
				t.Errorf("%s: the filter is lost", q.ID)
			}
			if again := d.Find("#check-"+q.ID).Closest("form").AttrOr("action", ""); !strings.Contains(
				again, "lesson=temperature",
			) {
				t.Errorf("%s: the next answer goes to %q, without the filter", q.ID, again)
			}
		}
		return
	}
	t.Fatal("no choice question about temperature")
}
