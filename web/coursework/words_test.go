package coursework

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/lessons/drill"
	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/pseudo"
	"github.com/tokenbytoken/viz/web/store"
)

// partsOf returns all components of this package in their main states.
func partsOf(l *terms.Language, course *lessons.Course) map[string]templ.Component {
	last := course.Lessons[1].Sections[0].Key()
	done := []progress.DrillMap{{Drill: string(drill.Softmax), Times: 2, Best: 0.5}}
	m := progress.Map{LastSection: last, Drills: done}
	none, some, all := NewMap(course, progress.Map{}), NewMap(course, m), NewMap(course, m)
	tally := progress.Tally{Sections: 3, Seen: 2, Questions: 4, Answered: 1, Cards: 5, Strong: 1}
	some.Lessons[1].Tally, some.Lessons[1].Sections[0].Seen = tally, true
	some.Lessons[1].Asked, some.Lessons[1].Answered = 4, 1
	all.Next = nil
	brief, _ := some.Within(20)
	read, drills := Tasks(l, some, m.Drills)
	choices := []lessons.Choice{{HTML: "1"}, {HTML: "2"}, {HTML: "3"}, {HTML: "4", Right: true}}
	choice := &lessons.Question{Kind: "choice", Choices: choices, Answer: "4"}
	recall := &lessons.Question{Kind: "recall", Answer: "4", Rubric: []string{"1", "2"}}
	parts := map[string]templ.Component{
		"begin": GoOn(none), "go on": GoOn(some), "over": GoOn(all), "map": CourseList(some, false),
		"brief map": CourseList(some, true), "tally": TallyLine(tally), "short map": CourseList(brief, true),
		"outcomes": OutcomeList([]progress.OutcomeMap{{Text: "1", Tally: tally}}),
		"boxes":    TaskBoxes(read, nil), "lessons": TaskLinks(read), "drills": TaskLinks(drills),
	}
	for name, q := range map[string]Question{
		"asked": {Q: choice}, "no choice": {Q: choice, Say: "coursework.choose.first"},
		"first": {Q: choice, Tried: []int{3}}, "second": {Q: choice, Tried: []int{0, 3}},
		"third": {Q: choice, Tried: []int{0, 1, 3}}, "fourth": {Q: choice, Tried: []int{0, 1, 2, 3}},
		"wrong": {Q: choice, Tried: []int{0}}, "written": {Q: recall},
		"nothing written": {Q: recall, Say: "coursework.write.first"}, "compared": {Q: recall, Compare: true},
		"kept": {Q: recall, Compare: true, Kept: true, Ticked: []int{1}},
	} {
		parts[name] = QuestionForm(&q)
	}
	for _, t := range TimeLinks(l, 90, 5) {
		parts[t.Href] = templ.Raw(t.Says)
	}
	return parts
}

// TestCourseworkIsInTheCatalog: the words in all components, and in the responses to failing
// requests, come from the catalogs.
func TestCourseworkIsInTheCatalog(t *testing.T) {
	t.Parallel()
	course, err := lessons.Load()
	if err != nil {
		t.Fatal(err)
	}
	l := pseudo.Language(t)
	var titles []string
	for _, lesson := range course.Lessons {
		titles = append(titles, lesson.Title)
		for _, s := range lesson.Sections {
			titles = append(titles, s.Title)
		}
	}
	data := pseudo.NewData(titles)
	check := func(name, page string) {
		if left, err := data.OfPage(page); err != nil || len(left) > 0 {
			t.Errorf("%s: the words %q, %v are in no catalog, want none", name, left, err)
		}
	}
	ctx := terms.With(t.Context(), l)
	for name, part := range partsOf(l, course) {
		var b bytes.Buffer
		if err := part.Render(ctx, &b); err != nil {
			t.Fatal(err)
		}
		check(name, b.String())
	}
	b := New(Deps{
		Log:     slog.New(slog.DiscardHandler),
		Learner: func(*http.Request) (string, *http.Cookie) { return "", nil },
	})
	mux := http.NewServeMux()
	b.Mount(mux, map[string]http.HandlerFunc{
		"GET /x":      func(w http.ResponseWriter, r *http.Request) { b.Fail(w, r, errors.New("a failure")) },
		"GET /x/full": func(w http.ResponseWriter, r *http.Request) { b.Fail(w, r, store.ErrFull) },
		"GET /x/answer": func(w http.ResponseWriter, r *http.Request) {
			b.Answer(w, r, &Question{Q: &lessons.Question{Kind: "choice"}}, progress.Check)
		},
	})
	for _, path := range []string{"/x", "/x/full", "/x/none", "/x/answer?tried=9"} {
		w, r := httptest.NewRecorder(), httptest.NewRequest("GET", path, nil).WithContext(ctx)
		if err := r.ParseForm(); err != nil {
			t.Fatal(err)
		}
		r.PostForm = r.Form
		mux.ServeHTTP(w, r)
		check(path, w.Body.String())
	}
}
