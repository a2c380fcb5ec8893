package learn

import (
	"net/http"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/pool"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/coursework"
	"github.com/tokenbytoken/viz/web/shell"
)

// Deps holds the dependencies of the pages. [coursework.Deps] and Model must be set.
type Deps struct {
	coursework.Deps
	// Model is the model whose output the pages show.
	Model *infer.Model
	// Slot, if not nil, returns a slot in the pool in which Model runs for all visitors.
	Slot func() *pool.Slot
	// Draft, if not nil, returns a slot in the pool of the draft model, for lessons about
	// speculation. It may have to load the model first. Its error messages are shown to the
	// learner.
	Draft func() (*pool.Slot, error)
	// Replays is the queue in which ordinary requests wait for the model. Pictures of a learner's own
	// sentence are drawn in it.
	Replays *admission.Queue
	// Caller returns the sender of a request and, for a new visitor, the cookie to set.
	Caller func(r *http.Request) (who admission.Caller, fresh *http.Cookie)
	// FirstRun reports whether the sender of a request should still see the first run, and
	// whether they have begun it. If it is nil, there is no first run.
	FirstRun func(r *http.Request) (due, begun bool)
}

// Pages serves the pages of Learn.
type Pages struct {
	Deps
	coursework.Base
	turns       *turns
	kinds       map[lessons.WidgetKind]widgetKind
	experiments *htmlCache[result] // their first states
	pictures    *htmlCache[string]
	ownTime     time.Duration // see [ownTime]; shorter in a test
}

// New returns the pages.
func New(d Deps) *Pages {
	return &Pages{
		Deps: d, Base: coursework.New(d.Deps), turns: newTurns(d), kinds: widgetKinds,
		experiments: newHTMLCache[result](), pictures: newHTMLCache[string](), ownTime: ownTime,
	}
}

func (p *Pages) routes() shell.Routes {
	return shell.Routes{
		"GET /{$}":               p.home,
		"GET /learn/turn":        p.turn,
		"GET /learn":             p.overview,
		"GET /learn/{slug}":      p.lesson,
		"POST /learn/visit":      p.visit,
		"POST /learn/sentence":   p.sentence,
		"POST /learn/check/{id}": p.check,
		"GET /reference":         p.reference,
		"GET /checked":           p.checked,
		"GET /glossary":          p.glossary,
		"GET /search":            p.search,
	}
}

// Mount registers the routes of Learn on mux.
func (p *Pages) Mount(mux *http.ServeMux) {
	p.Base.Mount(mux, p.routes(), p.widgetRoutes())
}
