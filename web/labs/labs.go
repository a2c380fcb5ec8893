package labs

import (
	"bytes"
	"log/slog"
	"net/http"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/lab"
)

// Deps is what the pages stand on. Draft, DraftSeat and Log may be nil.
type Deps struct {
	// Target is measured; Draft proposes for it in the lab of speculation.
	Target, Draft *infer.Model
	// Seat and DraftSeat, where not nil, give a place at the pools that run the
	// two models for everybody.
	Seat, DraftSeat func() *infer.Seat
	// Learner tells who asks. Where that is somebody new, fresh is the cookie
	// to set.
	Learner func(r *http.Request) (id string, fresh *http.Cookie)
	// Log is told of failures; never of prompts.
	Log *slog.Logger
}

// Pages answers the addresses under /labs.
type Pages struct {
	Deps
	queue *queue
	kept  *kept
}

// New returns the pages.
func New(d Deps) *Pages {
	if d.Log == nil {
		d.Log = slog.Default()
	}
	return &Pages{Deps: d, queue: newQueue(), kept: newKept(keptReports)}
}

// Handler answers GET and HEAD below /labs.
func (p *Pages) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /labs", p.index)
	mux.HandleFunc("GET /labs/{name}", p.lab)
	mux.HandleFunc("GET /labs/{name}/rows.csv", p.rows)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			p.refuse(w, r, http.StatusMethodNotAllowed, "Nothing to change here.", "The labs answer GET and HEAD only.")
			return
		}
		p.refuse(w, r, http.StatusNotFound, "There is no such lab.", "The address may be old or mistyped.")
	})
	return mux
}

// index answers GET /labs: every lab's question.
func (p *Pages) index(w http.ResponseWriter, r *http.Request) {
	var list []lab.Info
	for _, l := range lab.All() {
		list = append(list, l.Info())
	}
	p.html(w, r, http.StatusOK, indexPage(list))
}

// learner returns who asks, and sets the cookie of somebody new.
func (p *Pages) learner(w http.ResponseWriter, r *http.Request) string {
	id, fresh := p.Learner(r)
	if fresh != nil {
		http.SetCookie(w, fresh)
	}
	return id
}

// html sends a page.
func (p *Pages) html(w http.ResponseWriter, r *http.Request, status int, c templ.Component) {
	var b bytes.Buffer
	if err := c.Render(r.Context(), &b); err != nil {
		p.Log.Error("rendering a lab", "path", r.URL.Path, "err", err)
		http.Error(w, "The page could not be made. It has been logged.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store") // it holds what this learner measured
	w.WriteHeader(status)
	b.WriteTo(w)
}

func (p *Pages) refuse(w http.ResponseWriter, r *http.Request, status int, head, say string) {
	p.html(w, r, status, refusalPage(head, say))
}
