package practice

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/coursework"
	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// A quizPage shows ten mixed questions of the course, or all that match a filter.
type quizPage struct {
	Course    *lessons.Course
	Mixed     int    // number of the mixed quiz, from 1; 0 for a filter
	More      bool   // whether another mixed quiz follows
	Lesson    string // slug, or ""
	Outcome   string // id, or ""
	Kind      string // "recall", "choice" or ""
	Questions []*coursework.Question
	All       int
	Done      progress.Tally
	Answered  map[string]bool // by question ID; true if it was ever answered
}

// maxMixed is the highest number of a mixed quiz, which is more than the course has. Higher numbers
// are lowered to it.
const maxMixed = 1000

// newQuiz returns a page without questions. A query without a filter selects a mixed quiz: the first
// one of the day, or the one with the number ?ten=. ?all=1 is a filter that all questions match.
func newQuiz(q url.Values) *quizPage {
	v := &quizPage{Lesson: q.Get("lesson"), Outcome: q.Get("outcome"), Kind: q.Get("kind")}
	if q.Has("lesson") || q.Has("outcome") || q.Has("kind") || q.Has("all") {
		return v
	}
	v.Mixed = 1
	if n, err := strconv.Atoi(q.Get("ten")); err == nil && n > 0 {
		v.Mixed = min(n, maxMixed)
	}
	return v
}

// quiz handles GET /quiz?ten=, and GET /quiz?lesson=&outcome=&kind=&all= for a filter.
func (p *Pages) quiz(w http.ResponseWriter, r *http.Request) {
	p.showQuiz(w, r, r.URL.Query(), nil)
}

// showQuiz sends the questions that a query selects. If a form was submitted without scripts, the
// page is its response, and asked is the question that was answered. The page always has it: first,
// if the query does not select it. Otherwise, asked is nil.
func (p *Pages) showQuiz(w http.ResponseWriter, r *http.Request, q url.Values, asked *coursework.Question) {
	course := p.Course.In(r.Context())
	v := newQuiz(q)
	v.Course, v.All = course, len(course.Questions)
	if v.Lesson != "" && course.Lesson(v.Lesson) == nil {
		v.Lesson = ""
	}
	m, err := p.Progress.Map(r.Context(), p.Who(w, r))
	if err != nil {
		p.Fail(w, r, err)
		return
	}
	before, err := p.Progress.Beliefs(r.Context(), p.Who(w, r))
	if err != nil {
		p.Fail(w, r, err)
		return
	}
	v.Done, v.Answered = m.All, map[string]bool{}
	for _, b := range before {
		v.Answered[b.Question] = true
	}
	list := v.matching(byLesson(course))
	if v.Mixed > 0 {
		day, standings, err := p.Progress.Standings(r.Context(), p.Who(w, r))
		if err != nil {
			p.Fail(w, r, err)
			return
		}
		v.More = len(list) > v.Mixed*mixedSize
		list = mixed(list, day, standings, v.Mixed)
	}
	if asked != nil && !slices.Contains(list, asked.Q) {
		list = slices.Insert(list, 0, asked.Q)
	}
	for _, one := range list {
		if asked != nil && asked.Q == one {
			v.Questions = append(v.Questions, asked)
			continue
		}
		v.Questions = append(v.Questions, coursework.Ask(r.Context(), one, v.action(one.ID)))
	}
	p.HTML(w, r, http.StatusOK, quizHTML(*v))
}

// matching returns the questions that match the filter.
func (v *quizPage) matching(list []*lessons.Question) (kept []*lessons.Question) {
	for _, one := range list {
		if v.Lesson != "" && lessonOf(one) != v.Lesson || v.Outcome != "" && one.Outcome != v.Outcome ||
			v.Kind != "" && one.Kind != v.Kind {
			continue
		}
		kept = append(kept, one)
	}
	return kept
}

// byLesson returns the course's questions in the order of the lessons' sections, and within a
// section in the order of the quiz.
func byLesson(c *lessons.Course) []*lessons.Question {
	at := map[string]int{}
	for _, l := range c.Lessons {
		for _, s := range l.Sections {
			at[s.Key()] = len(at)
		}
	}
	list := slices.Clone(c.Questions)
	slices.SortStableFunc(list, func(a, b *lessons.Question) int { return at[a.Section] - at[b.Section] })
	return list
}

// action returns the address of a question's form. It includes the filter or the number of the mixed
// quiz.
func (v *quizPage) action(id string) string {
	q := url.Values{"lesson": {v.Lesson}, "outcome": {v.Outcome}, "kind": {v.Kind}}
	switch {
	case v.Mixed > 0:
		q.Set("ten", strconv.Itoa(v.Mixed))
	case v.Lesson+v.Outcome+v.Kind == "":
		q.Set("all", "1")
	}
	return "/quiz/" + id + query(q)
}

// query encodes the fields that are not empty. The result begins with "?" unless it is empty.
func query(q url.Values) string {
	for k, v := range q {
		if len(v) == 0 || v[0] == "" {
			q.Del(k)
		}
	}
	if len(q) == 0 {
		return ""
	}
	return "?" + q.Encode()
}

// quizAnswer handles POST /quiz/ID. It sends only the question to a script, and otherwise the
// whole page.
func (p *Pages) quizAnswer(w http.ResponseWriter, r *http.Request) {
	q := p.Course.In(r.Context()).Question(r.PathValue("id"))
	if q == nil {
		words := stage.In(r.Context())
		p.Refuse(w, r, http.StatusNotFound, words.T("practice.quiz.missing"), words.T("practice.quiz.missing.say"))
		return
	}
	if !p.Form(w, r) {
		return
	}
	filter := r.URL.Query()
	v := coursework.Ask(r.Context(), q, newQuiz(filter).action(q.ID))
	if !p.Answer(w, r, v, progress.Quiz) {
		return
	}
	if shell.Fragment(r) {
		p.HTML(w, r, http.StatusOK, coursework.QuestionForm(v))
		return
	}
	p.showQuiz(w, r, filter, v)
}
