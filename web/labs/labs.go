package labs

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/pool"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/shell"
)

// Deps holds the dependencies of the pages. Context, Draft and Log can be nil.
type Deps struct {
	// Context is canceled when the server shuts down, which ends every measurement.
	Context context.Context
	// Target is the model that is measured.
	Target *infer.Model
	// Slot, if not nil, returns a slot in the pool that runs Target for everyone.
	Slot func() *pool.Slot
	// Draft returns a slot in the draft model's pool for the speculation lab. It may have to load
	// the model first. Its error message is shown to users.
	Draft func() (*pool.Slot, error)
	// Caller identifies the visitor. For a new visitor, fresh is the cookie to set.
	Caller func(r *http.Request) (who admission.Caller, fresh *http.Cookie)
	// Log records failures, but never the users' prompts.
	Log *slog.Logger
}

// Pages serves the addresses under /labs.
type Pages struct {
	Deps
	shell.Base
	queue *admission.Queue
	kept  *reportCache
	runs  runs
	every time.Duration // the interval at which a run in progress is rendered
}

// New returns the pages.
func New(d Deps) *Pages {
	d.Log = cmp.Or(d.Log, slog.Default())
	d.Context = cmp.Or(d.Context, context.Background())
	return &Pages{
		Deps: d, Base: shell.NewBase(shell.LearnerOf(d.Caller), d.Log, refusalPage),
		queue: admission.NewQueue(admission.DefaultLimits().Labs, slice), kept: newReportCache(cachedReports),
		every: showEvery,
	}
}

// Mount registers the labs' addresses with the server's mux.
func (p *Pages) Mount(mux *http.ServeMux) {
	p.Route(mux, shell.Unknown{
		NoForms: "labs.unknown.noforms", Head: "labs.unknown", Say: "The address may be outdated or mistyped.",
	}, shell.Routes{
		"GET /labs":                 p.index,
		"GET /labs/{name}":          p.lab,
		"GET /labs/{name}/rows.csv": p.rows,
	})
}

// Waiting returns the number of measurements that are waiting or running.
func (p *Pages) Waiting() int { return p.queue.Len() }

// index handles GET /labs, which lists every lab's question.
func (p *Pages) index(w http.ResponseWriter, r *http.Request) {
	var list []lab.Info
	for _, l := range lab.All() {
		list = append(list, l.Info(terms.In(r.Context())))
	}
	p.HTML(w, r, http.StatusOK, indexPage(list))
}

// caller identifies the sender of a request, and sets a cookie for a new visitor.
func (p *Pages) caller(w http.ResponseWriter, r *http.Request) admission.Caller {
	who, _ := p.Caller(r)
	who.Learner = p.Who(w, r)
	return who
}
