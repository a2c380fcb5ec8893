package practice

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons/drill"
	"github.com/tokenbytoken/viz/web/coursework"
	"github.com/tokenbytoken/viz/web/progress"
)

// most is how many tasks one address may assign.
const most = 40

// assignedPage is what an address assigns, or, if it assigns nothing, everything that it
// could. Its address is all of its state.
type assignedPage struct {
	Lessons []task
	Drills  []task
	Chosen  int // how many are assigned
	Missing int // how many the address names that are not in this course
}

// A task is a lesson or a drill that can be assigned.
type task struct {
	Key   string // "learn/SLUG" or "practice/DRILL", as in the address
	Title string
	Time  string
	Been  string // how far the learner is, in words
	Done  bool
}

// Making reports whether tasks are to be chosen.
func (v *assignedPage) Making() bool { return v.Chosen == 0 }

// assigned answers GET /assigned?do=learn/SLUG&do=practice/DRILL.
func (p *Pages) assigned(w http.ResponseWriter, r *http.Request) {
	m, err := p.Progress.Map(r.Context(), p.Who(w, r))
	if err != nil {
		p.Fail(w, r, err)
		return
	}
	v := newAssigned(r.URL.Query(), coursework.NewMap(p.Course, m), m.Drills)
	p.HTML(w, r, http.StatusOK, assignedHTML(v))
}

func newAssigned(q url.Values, m *coursework.Map, drills []progress.DrillMap) *assignedPage {
	v := &assignedPage{}
	named := map[string]bool{}
	for _, key := range q["do"] {
		if len(named) < most {
			named[key] = true
		}
	}
	add := func(list *[]task, t task) {
		if named[t.Key] {
			v.Chosen++
		}
		*list = append(*list, t)
	}
	for i := range m.Lessons {
		l := &m.Lessons[i]
		add(&v.Lessons, task{
			Key: "learn/" + l.Slug, Title: l.Title, Time: l.Time(), Been: join(l.Seen(), l.Answers()),
			Done: l.State() == "done" && l.Tally.Answered == l.Tally.Questions,
		})
	}
	for _, info := range drill.Kinds() {
		t := task{
			Key: "practice/" + string(info.Kind), Title: info.Title, Time: terms.Counted(info.Minutes, "minute"),
			Been: been(drills, info.Kind),
		}
		if t.Done = t.Been != ""; !t.Done {
			t.Been = "not begun"
		}
		add(&v.Drills, t)
	}
	if v.Missing = len(named) - v.Chosen; v.Chosen > 0 {
		v.Lessons, v.Drills = only(v.Lessons, named), only(v.Drills, named)
	}
	return v
}

// only are the tasks that are named.
func only(list []task, named map[string]bool) (kept []task) {
	for _, t := range list {
		if named[t.Key] {
			kept = append(kept, t)
		}
	}
	return kept
}

// join joins what is not empty by commas.
func join(list ...string) string {
	var kept []string
	for _, s := range list {
		if s != "" {
			kept = append(kept, s)
		}
	}
	return strings.Join(kept, ", ")
}
