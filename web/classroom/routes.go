package classroom

import (
	"net/http"

	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/wire"
)

// Feeds returns the live parts of these pages, by name.
//
// The feed class?room=CODE is for phones; with screen=projector, it is for the wall. The
// parameter view=story or view=numbers selects the view. The feed present?room=CODE&ticket=T
// is for the instructor, with a ticket from POST /class/CODE/ticket.
func (p *Pages) Feeds() map[string]wire.Open {
	return map[string]wire.Open{"class": p.openFollow, "present": p.openPresent}
}

// Mount adds the routes of classes to mux.
func (p *Pages) Mount(mux *http.ServeMux) {
	if None || p.Hub == nil {
		p.mountNone(mux)
		return
	}
	p.Route(mux, shell.Unknown{
		NoForms: "shell.noforms",
		Head:    "shell.missing.below",
		Say:     "classroom.unknown",
	}, shell.Routes{
		"GET /teach":                    p.teach,
		"POST /teach":                   p.makeRoom,
		"GET /teach/walk":               p.draft,
		"POST /teach/walk":              p.checkDraft,
		"GET /teach/plan/{slug}":        p.plan,
		"GET /teach/study":              p.study,
		"GET /teach/study/sheet":        p.studySheet,
		"GET /join":                     p.join,
		"GET /class/{code}":             p.follow,
		"GET /class/{code}/alone":       p.alone,
		"POST /class/{code}/vote":       p.vote,
		"POST /class/{code}/name":       p.name,
		"POST /class/{code}/ask":        p.raiseForm,
		"GET /class/{code}/projector":   p.projector,
		"GET /class/{code}/made":        p.made,
		"GET /class/{code}/present":     p.present,
		"POST /class/{code}/do":         p.do,
		"POST /class/{code}/ticket":     p.ticket,
		"POST /class/{code}/phones":     p.phones,
		"GET /class/{code}/summary":     p.summary,
		"GET /class/{code}/summary.csv": p.summaryCSV,
		"GET /class/{code}/study.csv":   p.studyCSV,
		"GET /class/{code}/replay":      p.replay,
		"GET /class/{code}/assign":      p.assign,
		"GET /class/{code}/assigned":    p.work,
		"POST /class/{code}/assigned":   p.handIn,
		"GET /tour/{walk}":              p.tour,
	})
}

// mountNone adds the routes of a server without classes: the tours, which visitors take alone, the
// printed plans, and, at the addresses of classes, a page that explains what a class needs.
func (p *Pages) mountNone(mux *http.ServeMux) {
	none := func(w http.ResponseWriter, r *http.Request) { p.HTML(w, r, http.StatusOK, nonePage()) }
	p.Route(mux, shell.Unknown{
		NoForms: "classroom.unknown.server", Head: "classroom.unknown.class",
		Say: "classroom.unknown.server",
	}, shell.Routes{
		"GET /teach": none, "GET /join": none, "GET /class/{code}": none, "GET /tour/{walk}": p.tour,
		"GET /teach/plan/{slug}": p.plan, "GET /teach/study": p.study, "GET /teach/study/sheet": p.studySheet,
	})
}
