package learn

import (
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
)

// TestChoice: a wrong choice says why and stays open, the right one ends it and
// counts for less by one share.
func TestChoice(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	q := s.question("choice")
	right := slices.IndexFunc(q.Choices, func(c lessons.Choice) bool { return c.Right })
	wrong := (right + 1) % len(q.Choices)
	path := "/learn/check/" + q.ID

	d := s.parse(path, s.post(path, true, url.Values{"key": {"one"}}), http.StatusOK)
	if !strings.Contains(text(d.Find(".check__said")), "Choose one") || s.tally().Answered != 0 {
		t.Error("an empty answer was taken")
	}
	d = s.parse(path, s.post(path, true, url.Values{"key": {"one"}, "pick": {strconv.Itoa(wrong)}}), http.StatusOK)
	if d.Find(".is-wrong").Length() != 1 || d.Find(".is-wrong .choice__why").Length() != 1 ||
		d.Find(".is-right").Length() != 0 {
		t.Errorf("after a wrong choice: %s", text(d.Find("form")))
	}
	if got := s.tally(); got.Answered != 1 || got.Credit != 0 {
		t.Errorf("after a wrong choice: %+v", got)
	}
	form := url.Values{"key": {"one"}, "tried": {strconv.Itoa(wrong)}, "pick": {strconv.Itoa(right)}}
	d = s.parse(path, s.post(path, true, form), http.StatusOK)
	if got := text(d.Find(".is-right em").First()); got != "right, second try" {
		t.Errorf("the verdict is %q", got)
	}
	want := 1 - 1/float64(len(q.Choices)-1) // one wrong choice, one share lost
	for range 2 {                           // sent twice counts once
		if got := s.tally(); got.Answered != 1 || got.Credit != want {
			t.Errorf("after the right choice: %+v, want a credit of %g", got, want)
		}
		s.post(path, true, form)
	}
	// Without a script the answer is the lesson, with the question as it stands.
	d = s.parse(path, s.post(path, false, form), http.StatusOK)
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
		if w := s.post(path, true, bad); w.Code != http.StatusBadRequest {
			t.Errorf("%v: status %d", bad, w.Code)
		}
	}
}

// TestCredit: with four choices each wrong one costs a third.
func TestCredit(t *testing.T) {
	t.Parallel()
	q := question{Q: &lessons.Question{Kind: "choice", Choices: make([]lessons.Choice, 4)}}
	q.Q.Choices[2].Right = true
	for _, c := range []struct {
		tried   []int
		credit  float64
		verdict string
	}{
		{nil, 0, ""},
		{[]int{0}, 0, ""},
		{[]int{2}, 1, "right"},
		{[]int{0, 2}, 2. / 3, "right, second try"},
		{[]int{0, 1, 2}, 1. / 3, "right, third try"},
		{[]int{0, 1, 3, 2}, 0, "right, fourth try"},
	} {
		q.Tried = c.tried
		if !(math.Abs(q.Credit()-c.credit) <= 1e-12) || q.Done() && q.Verdict() != c.verdict {
			t.Errorf("%v: credit %g, %q", c.tried, q.Credit(), q.Verdict())
		}
	}
}

// TestRecall: write first, then compare, then keep what was ticked. What was
// written comes back as text and is kept nowhere.
func TestRecall(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	q := s.question("recall")
	path := "/learn/check/" + q.ID
	d := s.parse(
		path, s.post(path, true, url.Values{"key": {"r"}, "step": {"compare"}, "written": {"  "}}), http.StatusOK,
	)
	if d.Find(".check__answer").Length() != 0 ||
		!strings.Contains(text(d.Find(".check__said")), "Write something first") {
		t.Error("the answer is shown before anything was written")
	}
	const mine = `<b>mine</b> & "yours"`
	d = s.parse(
		path, s.post(path, true, url.Values{"key": {"r"}, "step": {"compare"}, "written": {mine}}), http.StatusOK,
	)
	if d.Find("textarea").Text() != mine || d.Find(".check__answer").Length() != 1 ||
		d.Find(".rubric input").Length() != len(q.Rubric) {
		t.Errorf("compare: %s", text(d.Find("form")))
	}
	if s.tally().Answered != 0 {
		t.Error("comparing was counted as an answer")
	}
	d = s.parse(
		path, s.post(path, true, url.Values{"key": {"r"}, "step": {"keep"}, "written": {mine}, "tick": {"0"}}),
		http.StatusOK,
	)
	want := "Kept: 1 of " + terms.Counted(len(q.Rubric), "point") + "."
	if got := text(d.Find(".is-kept")); got != want {
		t.Errorf("said %q, want %q", got, want)
	}
	if got := s.tally(); got.Answered != 1 || got.Credit != 1/float64(len(q.Rubric)) {
		t.Errorf("%+v", got)
	}
	data, err := s.pages.Progress.Export(t.Context(), "someone")
	if err != nil || strings.Contains(string(data), "mine") {
		t.Errorf("what was written is kept (%v)", err)
	}
	if w := s.post(
		path, true, url.Values{"step": {"keep"}, "tick": {strconv.Itoa(len(q.Rubric))}},
	); w.Code != http.StatusBadRequest {
		t.Errorf("a tick for no point: status %d", w.Code)
	}
}
