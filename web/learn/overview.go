package learn

import (
	"net/http"

	"github.com/tokenbytoken/viz/web/coursework"
	"github.com/tokenbytoken/viz/web/progress"
)

// overviewPage is the map of the course.
type overviewPage struct {
	Map      *coursework.Map
	Outcomes []progress.OutcomeMap
}

// overview answers GET /learn.
func (p *Pages) overview(w http.ResponseWriter, r *http.Request) {
	m, err := p.Progress.Map(r.Context(), p.Who(w, r))
	if err != nil {
		p.Fail(w, r, err)
		return
	}
	p.HTML(w, r, http.StatusOK, overviewHTML(overviewPage{coursework.NewMap(p.Course, m), m.Outcomes}))
}
