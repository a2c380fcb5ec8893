package practice

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/coursework"
	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// A quizPage shows the questions of the course, or some of them.
type quizPage struct {
	Course    *lessons.Course
	Lesson    string // slug, or ""
	Outcome   string // id, or ""
	Kind      string // "recall", "choice" or ""
	Questions []*coursework.Question
	All       int
	Done      progress.Tally
	Answered  map[string]bool // by question ID; true if it was ever answered
}

// quiz handles GET /quiz?lesson=&outcome=&kind=.
func (p *Pages) quiz(w http.ResponseWriter, r *http.Request) {
	p.showQuiz(w, r, r.URL.Query(), nil)
}

// showQuiz sends the questions that a query selects. If a form was submitted without scripts, the
// page is its response, and asked is the question that was answered. Otherwise, asked is nil.
func (p *Pages) showQuiz(w http.ResponseWriter, r *http.Request, q url.Values, asked *coursework.Question) {
	v := quizPage{
		Course: p.Course.In(r.Context()), Lesson: q.Get("lesson"), Outcome: q.Get("outcome"), Kind: q.Get("kind"),
		All: len(p.Course.In(r.Context()).Questions),
	}
	if v.Lesson != "" && p.Course.In(r.Context()).Lesson(v.Lesson) == nil {
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
	for _, one := range byLesson(p.Course.In(r.Context())) {
		slug, _, _ := strings.Cut(one.Section, "#")
		if v.Lesson != "" && slug != v.Lesson || v.Outcome != "" && one.Outcome != v.Outcome || v.Kind != "" &&
			one.Kind != v.Kind {
			continue
		}
		if asked != nil && asked.Q == one {
			v.Questions = append(v.Questions, asked)
			continue
		}
		v.Questions = append(v.Questions, coursework.Ask(r.Context(), one, v.action(one.ID)))
	}
	p.HTML(w, r, http.StatusOK, quizHTML(v))
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

// action returns the address of a question's form. It includes the filter.
func (v *quizPage) action(id string) string {
	return "/quiz/" + id + query(url.Values{"lesson": {v.Lesson}, "outcome": {v.Outcome}, "kind": {v.Kind}})
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
	v := coursework.Ask(
		r.Context(),
		q,
		(&quizPage{
			Lesson: filter.Get("lesson"), Outcome: filter.Get("outcome"), Kind: filter.Get("kind"),
		}).action(q.ID),
	)
	if !p.Answer(w, r, v, progress.Quiz) {
		return
	}
	if shell.Fragment(r) {
		p.HTML(w, r, http.StatusOK, coursework.QuestionForm(v))
		return
	}
	p.showQuiz(w, r, filter, v)
}
