package practice

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/coursework"
	"github.com/tokenbytoken/viz/web/progress"
)

// An assignedPage lists the tasks that its address assigns or, if the address assigns none, all
// tasks that can be assigned. The address contains the whole state of the page.
type assignedPage struct {
	Lessons []coursework.Task
	Drills  []coursework.Task
	Chosen  int // number of assigned tasks
	Missing int // number of tasks in the address that are not in this course
}

// Making reports whether the page is for choosing the tasks of an assignment.
func (v *assignedPage) Making() bool { return v.Chosen == 0 }

// assigned handles GET /assigned?do=learn/SLUG&do=practice/DRILL.
func (p *Pages) assigned(w http.ResponseWriter, r *http.Request) {
	m, err := p.Progress.Map(r.Context(), p.Who(w, r))
	if err != nil {
		p.Fail(w, r, err)
		return
	}
	v := newAssigned(terms.In(r.Context()), r.URL.Query(), coursework.NewMap(p.Course.In(r.Context()), m), m.Drills)
	p.HTML(w, r, http.StatusOK, assignedHTML(v))
}

func newAssigned(l *terms.Language, q url.Values, m *coursework.Map, been []progress.DrillMap) *assignedPage {
	named := q["do"]
	if slices.Sort(named); len(named) > 0 {
		named = slices.Compact(named)
	}
	named = named[:min(len(named), coursework.MostTasks)]
	v := &assignedPage{}
	v.Lessons, v.Drills = coursework.Tasks(l, m, been)
	lessons, drills := coursework.Only(v.Lessons, named), coursework.Only(v.Drills, named)
	v.Chosen = len(lessons) + len(drills)
	if v.Missing = len(named) - v.Chosen; v.Chosen > 0 {
		v.Lessons, v.Drills = lessons, drills
	}
	return v
}
