package learn

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/tokenbytoken/viz/web/coursework"
	"github.com/tokenbytoken/viz/web/stage"
)

// An overviewPage shows the map of the course, or the part of it that fits into the learner's time.
type overviewPage struct {
	Map     *coursework.Map
	All     int // lessons in the course
	Minutes int // total reading time
	Times   []coursework.TimeLink
	Plan    string // describes the lessons that fit, "" for all lessons
}

// overview handles GET /learn.
func (p *Pages) overview(w http.ResponseWriter, r *http.Request) {
	m, err := p.Progress.Map(r.Context(), p.Who(w, r))
	if err != nil {
		p.Fail(w, r, err)
		return
	}
	v := overviewPage{Map: coursework.NewMap(p.Course.In(r.Context()), m), All: len(p.Course.Lessons)}
	v.Minutes = v.Map.Minutes
	v.forTime(stage.In(r.Context()), r.URL.Query().Get("minutes"))
	p.HTML(w, r, http.StatusOK, overviewHTML(v))
}

// forTime removes the lessons that do not fit into the requested time, if that time is one of the
// choices.
func (v *overviewPage) forTime(w stage.Words, asked string) {
	minutes, err := strconv.Atoi(asked)
	if err != nil || !slices.Contains(coursework.Times, minutes) {
		minutes = 0
	}
	if v.Times = coursework.TimeLinks(w.Language, v.Minutes, minutes); minutes == 0 {
		return
	}
	var took int
	v.Map, took = v.Map.Within(minutes)
	switch {
	case len(v.Map.Lessons) > 0:
		v.Plan = w.T("learn.overview.plan", "n", len(v.Map.Lessons), "minutes", took)
	case v.Map.Next != nil:
		v.Plan = w.T("learn.overview.plan.none")
	default:
		v.Plan = w.T("learn.overview.plan.done")
	}
}
