package practice

import (
	"encoding/csv"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/web/coursework"
	"github.com/tokenbytoken/viz/web/coursework/courseworktest"
	"github.com/tokenbytoken/viz/web/progress"
)

// TestThenAndNowListsCorrectedAnswers: a wrong answer is listed with its section. Once the question
// has been answered correctly, the first answer is shown next to the right one. A question that was
// answered correctly the first time is in neither list.
// Promise: You can compare what you answered first with what you know now.
func TestThenAndNowListsCorrectedAnswers(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if n := s.Get("/then-and-now").Find(".then > li").Length(); n != 0 {
		t.Fatalf("a new learner has %d answers, want 0", n)
	}
	q, knew := s.pages.Course.Question("q-one-token"), s.pages.Course.Question("q-last-position")
	pick := func(id string, choices ...int) {
		form := url.Values{"key": {"key-" + id}}
		for i, c := range choices {
			if i > 0 {
				form.Add("tried", strconv.Itoa(choices[i-1]))
			}
			form.Set("pick", strconv.Itoa(c))
		}
		s.Parse(id, s.Post("/quiz/"+id, false, form), http.StatusOK)
	}
	pick(q.ID, 0)
	d := s.Get("/then-and-now")
	if text := d.Find("#open-h").Parent().Text(); !strings.Contains(text, q.Choices[0].Text) {
		t.Errorf(
			"the list of questions to look at again lacks the wrong answer: got %q, want it to contain %q", text,
			q.Choices[0].Text,
		)
	}
	if d.Find(`.then__back a[href="/learn/`+q.Section+`"]`).Length() != 1 {
		t.Error("the question's section is missing")
	}
	pick(q.ID, 0, 1)
	pick(knew.ID, 2)
	d = s.Get("/then-and-now")
	if d.Find("#open-h").Length() != 0 {
		t.Error("the question is still listed as open")
	}
	text := d.Find("#changed-h").Parent().Text()
	if !strings.Contains(text, q.Choices[0].Text) || !strings.Contains(text, q.Choices[1].Text) ||
		strings.Contains(text, knew.PromptText) {
		t.Errorf("the corrected answers are %q", text)
	}
	if !strings.Contains(d.Find("#knew-h").Parent().Text(), knew.PromptText) {
		t.Error("the answer that was right at first is missing")
	}
}

// TestThenAndNowListsGuesses: a guess before an experiment is listed with what the model did, and
// with a link back to the experiment.
func TestThenAndNowListsGuesses(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, g := range []progress.Guess{
		{Experiment: "cache-saves", Chose: "5", Found: "40"},
		{Experiment: "greedy-circle", Chose: "15", Found: "15"},
	} {
		if err := s.pages.Progress.Guess(t.Context(), courseworktest.Learner, g); err != nil {
			t.Fatal(err)
		}
	}
	list := s.Get("/then-and-now").Find("#guesses-h").Parent().Find("li")
	if list.Length() != 2 {
		t.Fatalf("%d guesses are listed, want 2", list.Length())
	}
	for i, want := range [][3]string{
		{"11 to 20", "/learn/choosing-a-token#greedy-circle", "continues “Mile upon mile”"},
		{"Over 30 times", "/learn/kv-cache#cache-saves", "Without the cache"},
	} {
		got, href := list.Eq(i).Text(), list.Eq(i).Find("a").AttrOr("href", "")
		if !strings.Contains(got, want[0]) || href != want[1] || !strings.Contains(got, want[2]) {
			t.Errorf("guess %d is %q with a link to %q, want it with %q", i, got, href, want)
		}
	}
	for _, bad := range []progress.Guess{
		{Experiment: "cache-saves", Chose: "none", Found: "40"},
		{Experiment: "none", Chose: "5", Found: "40"},
	} {
		if err := s.pages.Progress.Guess(t.Context(), courseworktest.Learner, bad); err == nil {
			t.Errorf("the guess %v was saved", bad)
		}
	}
}

// TestThenAndNowTable: the table has the first choice of a question's first and newest attempt, with
// the date, a code that is new each time, and the codes of the study kit's question. It contains
// neither the learner's id nor a time.
// Promise: You can download your answers as a table that doesn't say who you are.
func TestThenAndNowTable(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 3, 1, 13, 14, 15, 0, time.UTC)
	s := newSiteAt(t, func() time.Time { return day })
	study := s.pages.Course.Question(coursework.StudyQuestion)
	once := s.pages.Course.Question("q-last-position")
	pick := func(id, key string, tried []string, choice string) {
		form := url.Values{"key": {key}, "tried": tried, "pick": {choice}}
		s.Parse(id, s.Post("/quiz/"+id, false, form), http.StatusOK)
	}
	pick(study.ID, "one", nil, "0")
	pick(study.ID, "one", []string{"0"}, "3") // right, but not the first choice
	pick(once.ID, "two", nil, "2")
	day = day.AddDate(0, 0, 30)
	pick(study.ID, "three", nil, "3")
	var codes []string
	for _, comma := range []rune{',', ';'} {
		address := "/then-and-now/answers.csv"
		if comma == ';' {
			address += "?decimal=comma"
		}
		text := s.Do(httptest.NewRequest(http.MethodGet, address, nil)).Body.String()
		if strings.Contains(text, courseworktest.Learner) || strings.Contains(text, "13:14") {
			t.Errorf("the table contains the learner or a time: %s", text)
		}
		r := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\uFEFF")))
		r.Comma = comma
		rows, err := r.ReadAll()
		if err != nil || len(rows) != 4 {
			t.Fatalf("got %d rows, %v; want a heading and 3", len(rows), err)
		}
		code := rows[1][0]
		want := [][]string{
			coursework.StudyColumns,
			{code, "2026-03-01", "opening", once.PromptText, once.Choices[2].Text, "", "true"},
			{code, "2026-03-01", "opening", study.PromptText, study.Choices[0].Text, "copied", "false"},
			{code, "2026-03-31", "closing", study.PromptText, study.Choices[3].Text, "patterns", "true"},
		}
		if !reflect.DeepEqual(rows, want) {
			t.Errorf("got the rows %q, want %q", rows, want)
		}
		codes = append(codes, code)
	}
	if len(codes[0]) != 5 || codes[0] == codes[1] {
		t.Errorf("the codes of two downloads are %q, want two different codes of 5 characters", codes)
	}
}
