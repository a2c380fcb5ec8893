package learn

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/chance"
	"github.com/tokenbytoken/viz/web/coursework"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/stage"
)

// A homePage is the content of the home page.
type homePage struct {
	Turn *turnView
	Map  *coursework.Map
	// Begin is the text in the prompt field. Others are further openings for the visitor to choose
	// from.
	Begin  string
	Others []string
	// Knows reports whether the openings were checked with this model.
	Knows bool
	Vocab string // such as "4,096"
	// Writes is the path to which the prompt is submitted: the first run's path or, for visitors
	// who have finished or skipped the first run, the Loop's. Begun reports whether the visitor
	// left the first run unfinished. Again reports whether the page offers another first run, next to
	// the Loop.
	Writes string
	Begun  bool
	Again  bool
}

// home handles GET /. The page has a field for the visitor's first words, a live run, and links to
// everything else. For pages without scripts, ?seed= selects the run and the openings, and ?n=
// selects the turn to show. By default, the seed is random, and [turns.unsure] selects the turn.
func (p *Pages) home(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if !q.Has("seed") {
		q.Set("seed", strconv.FormatUint(1+chance.N(r.Context(), homeSeeds), 10))
		r.URL.RawQuery = q.Encode()
	}
	turn, err := p.turnOf(r)
	if err != nil {
		p.Log.Error("home page request failed", "err", err)
		words := stage.In(r.Context())
		p.Refuse(
			w, r, http.StatusInternalServerError, words.T("learn.home.failed"), words.T("learn.home.failed.say"),
		)
		return
	}
	m, err := p.Map(r.Context(), p.Who(w, r))
	if err != nil {
		p.Fail(w, r, err)
		return
	}
	v := homePage{
		Turn: turn, Map: m, Begin: session.OpeningOf(session.Tale, turn.Seed).Text,
		Knows: session.KnowsOpenings(p.Model), Vocab: terms.Count(p.Model.Config().Vocab),
	}
	v.Writes = "/loop"
	if p.FirstRun != nil {
		var due bool
		if due, v.Begun = p.FirstRun(r); due {
			v.Writes = "/first"
		}
		v.Again = !due
	}
	for i := range 3 {
		v.Others = append(v.Others, session.OpeningOf(session.Tale, turn.Seed+1+i).Text)
	}
	p.HTML(w, r, http.StatusOK, homeHTML(v))
}

// with returns the address that starts a run with the given prompt.
func (v homePage) with(text string) string {
	return v.Writes + "?" + url.Values{"prompt": {text}}.Encode()
}

// nextRun returns the query of the turn after v or, after the last turn, of the next run.
func nextRun(v *turnView) string {
	if v.Last {
		return url.Values{"seed": {strconv.Itoa(v.Seed%homeSeeds + 1)}}.Encode()
	}
	return url.Values{"seed": {strconv.Itoa(v.Seed)}, "n": {strconv.Itoa(v.N + 1)}}.Encode()
}
