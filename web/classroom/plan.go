package classroom

import (
	"net/http"

	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/lessons/drill"
	"github.com/tokenbytoken/viz/web/stage"
)

// planPage is the plan of a class for one lesson, for printing on one A4 page.
type planPage struct {
	*lessons.Plan
	Sheets []drill.Info // the drills of the lesson, which have worksheets of their own
}

// plan handles GET /teach/plan/SLUG.
func (p *Pages) plan(w http.ResponseWriter, r *http.Request) {
	p.Who(w, r)
	words, course := stage.In(r.Context()), p.Course.In(r.Context())
	l := course.Lesson(r.PathValue("slug"))
	if l == nil {
		p.Refuse(w, r, http.StatusNotFound, words.T("classroom.plan.none"), words.T("classroom.plan.none.say"))
		return
	}
	v := planPage{Plan: course.Plan(l)}
	for _, name := range l.Drills {
		if info, ok := drill.Find(words.Language, name); ok {
			v.Sheets = append(v.Sheets, info)
		}
	}
	p.HTML(w, r, http.StatusOK, planHTML(v))
}

// walkMinutes returns about how many minutes the shortest and the longest walkthrough take in a class, or
// zeros without walkthroughs.
func walkMinutes(walks []*lessons.Walk) (least, most int) {
	for i, walk := range walks {
		n := walk.ClassMinutes()
		if i == 0 || n < least {
			least = n
		}
		most = max(most, n)
	}
	return least, most
}
