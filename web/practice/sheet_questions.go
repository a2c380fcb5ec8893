package practice

import (
	"net/http"

	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/stage"
)

// answerLines is the number of lines for a written answer.
const answerLines = 4

// A questionSheet is a worksheet with the questions of a lesson's plan, in the plan's order. The plan
// has the answers.
type questionSheet struct {
	Lesson    *lessons.Lesson
	Questions []*lessons.Question
}

// questionSheet handles GET /quiz/sheet?lesson=SLUG. Without a lesson, it serves the first lesson's
// sheet.
func (p *Pages) questionSheet(w http.ResponseWriter, r *http.Request) {
	p.Who(w, r)
	course := p.Course.In(r.Context())
	slug := r.URL.Query().Get("lesson")
	if slug == "" {
		slug = course.Lessons[0].Slug
	}
	s := questionSheet{Lesson: course.Lesson(slug)}
	if s.Lesson != nil {
		s.Questions = course.Plan(s.Lesson).Questions()
	}
	if len(s.Questions) == 0 {
		words := stage.In(r.Context())
		p.Refuse(w, r, http.StatusNotFound, words.T("practice.sheet.none"), words.T("practice.sheet.none.say"))
		return
	}
	p.HTML(w, r, http.StatusOK, questionSheetPage(s))
}
