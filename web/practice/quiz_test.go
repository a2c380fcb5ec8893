package practice

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
)

// TestQuizFilters: the quiz can be filtered by lesson, outcome and kind. With ?all=1, or with an
// empty filter, it has all questions.
func TestQuizFilters(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	all := s.Get("/quiz?all=1").Find(".quiz__list > li").Length()
	empty := s.Get("/quiz?lesson=&outcome=&kind=").Find(".quiz__list > li").Length()
	if all != len(s.pages.Course.Questions) || empty != all {
		t.Errorf("%d and %d questions, want %d", all, empty, len(s.pages.Course.Questions))
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
		t.Errorf("the outcomes have a total of %d questions, want %d", total, all)
	}
}

// TestQuizWithoutScript: every wrong choice is explained and reduces the credit for the right
// one. The filter stays the same.
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
				t.Errorf("%s: the next answer is sent to %q, without the filter", q.ID, again)
			}
		}
		return
	}
	t.Fatal("no choice question about temperature")
}

// TestQuizAlwaysHasTheAnsweredQuestion: without scripts, the response to an answer begins with the
// answered question if the query does not select it, for example after the mix has changed at
// midnight.
func TestQuizAlwaysHasTheAnsweredQuestion(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for i, query := range []string{"?ten=2", "?ten=1000", "?lesson=temperature"} {
		id := ""
		there := shown(s.Get("/quiz" + query))
		for _, q := range s.pages.Course.Questions {
			if q.Kind == "choice" && !slices.Contains(there, q.ID) {
				id = q.ID
				break
			}
		}
		form := url.Values{"key": {"key-" + strconv.Itoa(i)}, "pick": {"0"}}
		d := s.Parse(id, s.Post("/quiz/"+id+query, false, form), http.StatusOK)
		if got, want := shown(d), append([]string{id}, there...); !slices.Equal(got, want) {
			t.Errorf("%s: the page has %v, want %v", query, got, want)
		}
		if text(d.Find("#check-"+id+" .choice__why")) == "" {
			t.Errorf("%s: the page gives no reason for the choice in %s", query, id)
		}
	}
}

// TestQuizBoundsTheNumber: after the last mix there is no other one, however large the number is.
func TestQuizBoundsTheNumber(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, n := range []string{"1001", "922337203685477581", "9223372036854775807"} {
		d := s.Get("/quiz?ten=" + n)
		if more := d.Find(".quiz__more a"); more.Length() != 0 || len(shown(d)) != 0 {
			t.Errorf("quiz %s has %v and leads to %q, want neither", n, shown(d), more.AttrOr("href", ""))
		}
	}
}

// TestQuizFollowsTheLessons: all questions are in the order of the lessons and of their sections.
func TestQuizFollowsTheLessons(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	at := map[string]int{}
	for _, l := range s.pages.Course.Lessons {
		for _, section := range l.Sections {
			at[section.Key()] = len(at)
		}
	}
	last, n := -1, 0
	s.Get("/quiz?all=1").Find(".quiz__list > li").Each(func(_ int, item *goquery.Selection) {
		for _, q := range s.pages.Course.Questions {
			if item.Find("#"+q.ID).Length() == 1 || item.Is("#"+q.ID) {
				if n++; at[q.Section] < last {
					t.Errorf("%s comes after a question from a later section, want the order of the lessons", q.ID)
				}
				last = at[q.Section]
			}
		}
	})
	if n != len(s.pages.Course.Questions) {
		t.Errorf("%d questions found, want %d", n, len(s.pages.Course.Questions))
	}
}
