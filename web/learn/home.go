package learn

import (
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/coursework"
)

// homePage is the front door.
type homePage struct {
	Turn  *turnView
	Map   *coursework.Map
	Model string
}

// home answers GET /: what this is, with the loop running, and the map of the
// lessons. ?seed= and ?n= ask for a turn of the run, for pages without a
// script; else the seed is any.
func (p *Pages) home(w http.ResponseWriter, r *http.Request) {
	if !r.URL.Query().Has("seed") {
		q := r.URL.Query()
		q.Set("seed", strconv.Itoa(1+rand.IntN(homeSeeds)))
		r.URL.RawQuery = q.Encode()
	}
	turn, err := p.turnOf(r)
	if err != nil {
		p.Log.Error("home", "err", err)
		p.Refuse(
			w, r, http.StatusInternalServerError, "The model could not go on.",
			"It has been logged. The lessons are still there.",
		)
		return
	}
	m, err := p.Map(r.Context(), p.Who(w, r))
	if err != nil {
		p.Fail(w, r, err)
		return
	}
	c := p.Model.Config()
	p.HTML(w, r, http.StatusOK, homeHTML(homePage{turn, m, p.Model.Name() + ", " + terms.Count(p.Model.Parameters()) +
		" parameters in " + terms.Counted(c.Layers, "block")}))
}

// nextRun is the query of the turn after one, or of the first of another run.
func nextRun(v *turnView) string {
	q := url.Values{"seed": {strconv.Itoa(v.Seed)}, "n": {strconv.Itoa(v.N + 1)}}
	if v.Last {
		q = url.Values{"seed": {strconv.Itoa(v.Seed%homeSeeds + 1)}, "n": {"1"}}
	}
	return q.Encode()
}

// learnDoor is where the door to the lessons leads: to the place where the
// learner is, once there is one.
func learnDoor(m *coursework.Map) string {
	if m.Begun && m.Next != nil {
		return m.Next.Href()
	}
	return "/learn"
}
