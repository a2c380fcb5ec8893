package learn

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"log/slog"
	"net/http"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/pages"
	"github.com/tokenbytoken/viz/web/progress"
)

// Deps is what the pages stand on. Course, Progress, Model and
// Learner must be set.
type Deps struct {
	Course   *lessons.Course
	Progress *progress.Store
	// Model writes what the pages show; Draft proposes for it where speculation
	// is taught, and may be nil.
	Model, Draft *infer.Model
	// Seat and DraftSeat, where not nil, give a place at the pools that run the
	// two models for everybody.
	Seat, DraftSeat func() *infer.Seat
	// Learner tells who asks. Where that is someone new, fresh is the cookie
	// to set.
	Learner func(r *http.Request) (id string, fresh *http.Cookie)
	// Forget, where not nil, takes a learner who deletes everything out of what
	// is kept elsewhere: the lists of classes.
	Forget func(ctx context.Context, learner string) error
	// Log records failures; never what learners write.
	Log *slog.Logger
}

// Pages answers the addresses of Learn and Practise.
type Pages struct {
	Deps
	pages.Base
	turns   *turns
	widgets *widgets
}

// New returns the pages.
func New(d Deps) *Pages {
	d.Log = cmp.Or(d.Log, slog.Default())
	return &Pages{
		Deps: d, Base: pages.New(d.Learner, d.Log, refusalPage), turns: newTurns(d), widgets: newWidgets(d.Course),
	}
}

func (p *Pages) learnRoutes() pages.Routes {
	return pages.Routes{
		"GET /{$}":               p.home,
		"GET /learn/turn":        p.turn,
		"GET /learn":             p.overview,
		"GET /learn/{slug}":      p.lesson,
		"POST /learn/visit":      p.visit,
		"POST /learn/check/{id}": p.check,
		"GET /reference":         p.reference,
		"GET /glossary":          p.glossary,
		"GET /search":            p.search,
		"GET /progress":          p.progress,
		"GET /progress/export":   p.export,
		"POST /progress/import":  p.importFile,
		"POST /progress/delete":  p.deleteAll,
	}
}

// Mount adds the addresses of Learn and Practise to the server's.
func (p *Pages) Mount(mux *http.ServeMux) {
	p.Route(mux, pages.Elsewhere{
		NoForms: "This address does not accept forms.",
		Head:    "There is no page here.",
		Say:     "The address may be old or mistyped. The lessons, or a search, may have what you want.",
	}, p.learnRoutes(), p.practiceRoutes(), p.widgetRoutes())
}

// fail answers where the record of progress could not do something. The learner
// is told what was wrong with what they sent; everything else is logged.
func (p *Pages) fail(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case errors.Is(err, progress.ErrInput):
		p.Refuse(w, r, http.StatusBadRequest, "Not kept.", sentenceOf(err))
	case errors.Is(err, progress.ErrFull):
		p.Refuse(w, r, http.StatusConflict, "Not kept.", sentenceOf(err))
	case r.Context().Err() != nil: // nobody waits for an answer
	default:
		p.Log.Error("progress", "path", r.URL.Path, "err", err)
		p.Refuse(w, r, http.StatusInternalServerError, "Something went wrong on the server.",
			"It has been logged. What you had before is still there; try again in a moment.")
	}
}

// newKey returns a key for one answer, so that sending it twice counts once.
func newKey() string {
	var b [12]byte
	rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}
