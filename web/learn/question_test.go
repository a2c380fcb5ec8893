package learn

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/coursework/courseworktest"
)

// TestChoiceExplainsAndScores: a wrong choice is explained, leaves the question open and reduces
// the credit by one share. The right choice closes the question.
func TestChoiceExplainsAndScores(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	q := s.question("choice")
	right := slices.IndexFunc(q.Choices, func(c lessons.Choice) bool { return c.Right })
	wrong := (right + 1) % len(q.Choices)
	path := "/learn/check/" + q.ID

	d := s.Parse(path, s.Post(path, true, url.Values{"key": {"one"}}), http.StatusOK)
	if !strings.Contains(text(d.Find(".check__said")), "Choose one") || s.Tally().Answered != 0 {
		t.Error("an empty answer was accepted")
	}
	d = s.Parse(path, s.Post(path, true, url.Values{"key": {"one"}, "pick": {strconv.Itoa(wrong)}}), http.StatusOK)
	if d.Find(".is-wrong").Length() != 1 || d.Find(".is-wrong .choice__why").Length() != 1 ||
		d.Find(".is-right").Length() != 0 {
		t.Errorf("after a wrong choice: %s", text(d.Find("form")))
	}
	if got := s.Tally(); got.Answered != 1 || got.Credit != 0 {
		t.Errorf("after a wrong choice: got %+v, want Answered = 1, Credit = 0", got)
	}
	form := url.Values{"key": {"one"}, "tried": {strconv.Itoa(wrong)}, "pick": {strconv.Itoa(right)}}
	d = s.Parse(path, s.Post(path, true, form), http.StatusOK)
	if got := text(d.Find(".is-right em").First()); got != "right on the second try" {
		t.Errorf("the verdict is %q, want %q", got, "right on the second try")
	}
	want := 1 - 1/float64(len(q.Choices)-1) // one wrong choice costs one share
	for range 2 {                           // an answer that is sent twice counts once
		if got := s.Tally(); got.Answered != 1 || got.Credit != want {
			t.Errorf("after the right choice: %+v, want a credit of %g", got, want)
		}
		s.Post(path, true, form)
	}
	// Without scripts, the response is the lesson, with the question in its new state.
	d = s.Parse(path, s.Post(path, false, form), http.StatusOK)
	if d.Find("h1").Length() != 1 || d.Find("#check-"+q.ID+".is-done").Length() != 1 ||
		d.Find(".check.is-done").Length() != 1 {
		t.Error("without a script: the lesson does not show the answer")
	}
	for _, bad := range []url.Values{
		{"pick": {"99"}},
		{"pick": {"-1"}},
		{"pick": {"x"}},
		{"pick": {"0", "1"}},
		{"tried": {"1", "1"}, "pick": {"0"}},
		{"key": {"no such key!"}, "pick": {"0"}},
		{"key": {strings.Repeat("k", 300)}, "pick": {"0"}},
	} {
		if w := s.Post(path, true, bad); w.Code != http.StatusBadRequest {
			t.Errorf("%v: status %d, want %d", bad, w.Code, http.StatusBadRequest)
		}
	}
}

// TestRecallComparesBeforeGrading: learners first write their answer, then compare it, then save
// the points that they have checked off. The page repeats the answer as plain text, and the answer
// is not saved anywhere.
func TestRecallComparesBeforeGrading(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	q := s.question("recall")
	path := "/learn/check/" + q.ID
	d := s.Parse(
		path, s.Post(path, true, url.Values{"key": {"r"}, "step": {"compare"}, "written": {"  "}}), http.StatusOK,
	)
	if d.Find(".check__answer").Length() != 0 ||
		!strings.Contains(text(d.Find(".check__said")), "Write something first") {
		t.Error("the answer is shown before anything was written")
	}
	const mine = `<b>mine</b> & "yours"`
	d = s.Parse(
		path, s.Post(path, true, url.Values{"key": {"r"}, "step": {"compare"}, "written": {mine}}), http.StatusOK,
	)
	if d.Find("textarea").Text() != mine || d.Find(".check__answer").Length() != 1 ||
		d.Find(".rubric input").Length() != len(q.Rubric) {
		t.Errorf(
			"comparing: got %s, want the learner's text, the answer and %d boxes", text(d.Find("form")), len(q.Rubric),
		)
	}
	if s.Tally().Answered != 0 {
		t.Error("comparing was counted as an answer")
	}
	d = s.Parse(
		path, s.Post(path, true, url.Values{"key": {"r"}, "step": {"keep"}, "written": {mine}, "tick": {"0"}}),
		http.StatusOK,
	)
	want := terms.English.T("coursework.points", "all", len(q.Rubric), "n", 1)
	if got := text(d.Find(".is-kept")); got != want {
		t.Errorf("got the message %q, want %q", got, want)
	}
	if got := s.Tally(); got.Answered != 1 || got.Credit != 1/float64(len(q.Rubric)) {
		t.Errorf("got %+v, want Answered = 1, Credit = %v", got, 1/float64(len(q.Rubric)))
	}
	data, err := s.pages.Progress.Export(t.Context(), courseworktest.Learner)
	if err != nil || strings.Contains(string(data), "mine") {
		t.Errorf("the written text is saved (%v); want no error, data without %q", err, "mine")
	}
	if w := s.Post(
		path, true, url.Values{"step": {"keep"}, "tick": {strconv.Itoa(len(q.Rubric))}},
	); w.Code != http.StatusBadRequest {
		t.Errorf("checking a point that does not exist: status %d", w.Code)
	}
}

// TestEarlierQuestionKeepsItsPage: a lesson asks a question about an earlier lesson, and names the
// section. Without scripts, the answer leads back to the page that asked, not to the earlier lesson.
func TestEarlierQuestionKeepsItsPage(t *testing.T) {
	t.Parallel()
	s := newReader(t)
	d := s.Get("/learn/inside-one-pass")
	if n := d.Find(".check__from").Length(); n != 0 {
		t.Errorf("%d questions of lesson 3 are from earlier lessons, want 0", n)
	}
	d = s.Get("/learn/logits-and-softmax")
	from := d.Find(".check__from")
	if got := text(from); got != "Do you still know? From “A question, a label, a message”:" ||
		from.Find("a").AttrOr("href", "") != "/learn/inside-one-pass#query-key-value" {
		t.Errorf("the question about an earlier lesson is introduced by %q, want the section with its link", got)
	}
	action := from.Next().AttrOr("action", "")
	if action != "/learn/check/q-one-head?on=logits-and-softmax" {
		t.Errorf("the answer is sent to %q, want the address with the page that asks", action)
	}
	form := url.Values{"key": {"again"}, "step": {"compare"}, "written": {"It looks back."}}
	d = s.Parse(action, s.Post(action, false, form), http.StatusOK)
	if got := d.Find("#check-q-one-head .check__answer").Length(); got != 1 ||
		!strings.Contains(text(d.Find("title")), "What does the model say, all at once?") {
		t.Errorf("after an answer, the page is %q with %d answers to compare, want the lesson that asked, 1",
			text(d.Find("title")), got)
	}
}
