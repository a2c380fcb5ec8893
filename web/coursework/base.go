package coursework

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/store"
)

// Styles and Scripts are loaded by every page of the course.
var (
	Styles  = []string{"css/learn.css", "css/pages.css"}
	Scripts = []string{"js/learn.js"}
)

// Deps are the dependencies of the course pages. All fields are required.
type Deps struct {
	Course   *lessons.Course
	Progress *progress.Store
	// Learner returns the sender of a request and, for a new visitor, the cookie to set.
	Learner func(r *http.Request) (id string, fresh *http.Cookie)
	// Log records failures, but never text that learners wrote.
	Log *slog.Logger
}

// Base is embedded by the packages whose pages show the course.
type Base struct {
	shell.Base
	course   *lessons.Course
	progress *progress.Store
	log      *slog.Logger
}

// New returns the base of a package's pages.
func New(d Deps) Base {
	return Base{shell.NewBase(d.Learner, d.Log, refusalPage), d.Course, d.Progress, d.Log}
}

// Mount adds a package's routes to mux.
func (b Base) Mount(mux *http.ServeMux, all ...shell.Routes) {
	b.Route(mux, shell.Unknown{
		NoForms: "shell.noforms",
		Head:    "shell.missing.below",
		Say:     "coursework.missing",
	}, all...)
}

// Map reads a learner's map of the course.
func (b Base) Map(ctx context.Context, learner string) (*Map, error) {
	m, err := b.progress.Map(ctx, learner)
	if err != nil {
		return nil, err
	}
	return NewMap(b.course.In(ctx), m), nil
}

// Fail responds to a request for which the learner's progress could not be read or saved. If the
// cause is the learner's input or the disk, the response explains it. Fail logs all other errors.
func (b Base) Fail(w http.ResponseWriter, r *http.Request, err error) {
	l := terms.In(r.Context())
	switch {
	case errors.Is(err, progress.ErrInput):
		b.Refuse(w, r, http.StatusBadRequest, l.T("coursework.lost"), shell.Sentence(l, err))
	case errors.Is(err, progress.ErrFull):
		b.Refuse(w, r, http.StatusConflict, l.T("coursework.lost"), shell.Sentence(l, err))
	case store.Why(err) != "": // already logged by the database
		b.Refuse(
			w, r, http.StatusServiceUnavailable, l.T("coursework.lost"),
			l.T("coursework.lost.store", "why", store.WhyIn(l, err)),
		)
	case r.Context().Err() != nil: // the client has disconnected
	default:
		b.log.Error("progress", "path", r.URL.Path, "err", err)
		b.Refuse(w, r, http.StatusInternalServerError, l.T("coursework.failed.head"), l.T("coursework.failed"))
	}
}
