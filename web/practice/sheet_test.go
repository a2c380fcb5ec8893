package practice

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons/drill"
)

// TestQuestionSheets: the plan's questions of every lesson have a worksheet, with a box for every choice and
// lines for every written answer. It has no answers.
// Promise: Every lesson has a worksheet with its questions to print.
func TestQuestionSheets(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, l := range s.Deps.Course.Lessons {
		page := s.Get("/quiz/sheet?lesson=" + l.Slug)
		boxes, lines := 0, 0
		for _, q := range s.Deps.Course.Plan(l).Questions() {
			if boxes += len(q.Choices); q.Kind == "recall" {
				lines++
			}
			if main := text(page.Find("main")); q.Kind == "recall" && strings.Contains(main, q.Rubric[0]) {
				t.Errorf("the worksheet of %s gives an answer away: %s", l.Slug, q.Rubric[0])
			}
		}
		if got := text(page.Find(".wwho span")); got != "NameClassDate" {
			t.Errorf("the worksheet of %s has lines for %q, want Name, Class and Date", l.Slug, got)
		}
		if got := page.Find(".wtick").Length(); got != boxes || boxes+lines == 0 {
			t.Errorf("the worksheet of %s has %d boxes, want %d, and a question", l.Slug, got, boxes)
		}
		if got := page.Find(".wlines").Length(); got != lines || page.Find(".wtick.is-on").Length() > 0 {
			t.Errorf("the worksheet of %s has lines for %d answers, want %d, and no box ticked", l.Slug, got, lines)
		}
	}
	first := s.Get("/quiz/sheet?lesson=" + s.Deps.Course.Lessons[0].Slug)
	if got, want := text(s.Get("/quiz/sheet").Find("h1")), text(first.Find("h1")); got != want {
		t.Errorf("without a lesson, the worksheet is %q, want %q", got, want)
	}
	r := httptest.NewRequest(http.MethodGet, "/quiz/sheet?lesson=none", http.NoBody)
	if got := s.Do(r).Code; got != http.StatusNotFound {
		t.Errorf("the worksheet of an unknown lesson: got the status %d, want %d", got, http.StatusNotFound)
	}
}

// TestWorksheets: every drill has a worksheet. Without the solution, it has a box for every number and
// none of the answers; with it, it has every answer, too.
// Promise: Every drill has a worksheet to print, with the solution on a second page.
func TestWorksheets(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, info := range drill.Kinds(terms.English) {
		for _, numbers := range []struct {
			query string
			seed  uint64
			level int
		}{{"?seed=0&level=1", 0, 1}, {"?seed=5&level=3", 5, 3}} {
			p, err := drill.New(terms.English, info.Kind, numbers.seed, numbers.level)
			if err != nil {
				t.Fatal(err)
			}
			address := "/practice/" + string(info.Kind) + "/sheet" + numbers.query
			empty, solved := s.Get(address), s.Get(address+"&solution=1")
			if n := empty.Find(".wsolved").Length(); n > 0 {
				t.Errorf("%s has %d solutions, want 0", address, n)
			}
			shown := text(solved.Find(".wsolved"))
			boxes := 0
			for _, w := range p.Worked() {
				for id, answer := range w.Answers {
					if p.Cell(id).Type != drill.Number {
						continue
					}
					if boxes++; !strings.Contains(shown, answer) {
						t.Errorf("%s: the solution does not contain %q of %s", address, answer, id)
					}
				}
			}
			if n := empty.Find(".wbox").Length(); n < boxes {
				t.Errorf("%s has %d boxes, want at least %d", address, n, boxes)
			}
			if got := text(empty.Find(".wbox:not(:has(.sr))")); got != "" {
				t.Errorf("%s: the empty boxes contain %q", address, got)
			}
		}
	}
	// Tables of tokens are narrow enough for two columns. Formulas with units are not.
	for drill, want := range map[string]int{"softmax": 1, "multiply-adds": 0, "kv-bytes": 0} {
		if n := s.Get("/practice/" + drill + "/sheet?level=3").Find(".wsteps--two").Length(); n != want {
			t.Errorf("the sheet of %s has %d groups of steps in two columns, want %d", drill, n, want)
		}
	}
	// By hand: e^4 / (e^4+e^3+e^2+e^1+e^0.5) = 54.598/86.440 = 0.6316. It is the answer of the first
	// step, so no later step may give it.
	five := s.Get("/practice/five/sheet")
	if got := text(five.Find("main")); strings.Contains(got, "0.631") || strings.Contains(got, "0.632") {
		t.Error("the five-token sheet gives an answer away: got 0.632 on it")
	}
	// By hand: e^(2/√2) / (2·e^(2/√2)+e^(5/√2)) = 4.113/42.53 = 0.0967. If the last step gave this weight of
	// two tokens, 1 − 2·0.0967 would be the asked one. So all four weights are boxes, and then lines.
	look := s.Get("/practice/attention/sheet")
	steps := look.Find(".wstep")
	boxes, lines := steps.Eq(1).Find(".wtable .wbox").Length(), steps.Eq(2).Find(".wtable .wline-in").Length()
	if strings.Contains(text(look.Find("main")), "0.0967") || boxes != 4 || lines != 4 {
		t.Errorf("the sheet of attention has %d boxes and %d lines for weights, want 4, 4 and no weight", boxes, lines)
	}
	if got := text(s.Get("/practice/attention/sheet?solution=1").Find(".wsolved")); strings.Count(got, "0.0967") != 2 {
		t.Errorf("the solution of attention is %q, want 0.0967 twice", got)
	}
	if five.Find(".wstrip svg").Length() != 1 || look.Find(".wcoins i").Length() != 10 {
		t.Error("the sheets lack a strip to draw a token on, or ten counters for attention")
	}
}
