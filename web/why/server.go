package why

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/why"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/loop/runs"
	"github.com/tokenbytoken/viz/web/pages"
)

// Deps is what the page needs. Log may be nil.
type Deps struct {
	// Model is the one that is asked.
	Model *infer.Model
	// Runs makes the sessions in which a run of the Loop is replayed.
	Runs *runs.Registry
	// Replays is the queue in which plain requests wait for the model.
	Replays *admission.Queue
	// Caller returns who sent a request, and for a new visitor the cookie to set.
	Caller func(r *http.Request) (who admission.Caller, fresh *http.Cookie)
	// Log records failures; never what people write.
	Log *slog.Logger
}

// Server answers the addresses of the page.
type Server struct {
	Deps
	pages.Base
	finder finder
}

// New returns the page's server.
func New(d Deps) *Server {
	d.Log = cmp.Or(d.Log, slog.Default())
	s := &Server{Deps: d}
	s.Base = pages.New(func(r *http.Request) (string, *http.Cookie) {
		who, fresh := d.Caller(r)
		return who.Learner, fresh
	}, d.Log, refusalHTML)
	return s
}

// Mount adds the page's addresses to the server's.
func (s *Server) Mount(mux *http.ServeMux) {
	s.Route(mux, pages.Elsewhere{
		NoForms: "This address does not accept forms.", Head: "There is no page here.",
		Say: "“Why this token?” is at /why.",
	}, pages.Routes{"GET /why": s.page})
}

const (
	// begins is the text that the page opens with.
	begins = "The capital of France is"
	// maxTokens is how long a text the page takes: every part is looked at, at every
	// position.
	maxTokens = 256
	// positionTime is about what a position of one question takes, all passes
	// included. It only orders those who wait.
	positionTime = time.Millisecond
	// says is how many of the most probable tokens are listed.
	says = 3
)

// page answers GET /why?prompt=TEXT&off=PARTS, or ?log=LINK of a run of the Loop: the
// page, or for its script only the part that changes.
func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	about := subject{prompt: begins, log: q.Get("log"), token: -1}
	if q.Has("prompt") {
		about = subject{prompt: q.Get("prompt"), token: -1}
	}
	who, _ := s.Caller(r)
	who.Learner = s.Who(w, r)
	about.with, about.heads = q.Get("with"), q.Get("heads") != ""
	v, status, err := s.ask(r.Context(), who, about, q.Get("off"))
	switch {
	case err == nil:
	case status == http.StatusBadRequest:
		v = view{Prompt: about.prompt, Bad: pages.Sentence(err)}
	default:
		s.fail(w, r, status, err)
		return
	}
	if pages.Fragment(r) {
		if v.Bad != "" {
			s.Refuse(w, r, status, "This text can't be asked about.", v.Bad)
			return
		}
		s.HTML(w, r, status, bodyHTML(v))
		return
	}
	s.HTML(w, r, status, pageHTML(v))
}

// fail answers a request that the server could not carry out.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, status int, err error) {
	if status == http.StatusServiceUnavailable {
		s.Refuse(
			w, r, status, "The server is busy.",
			"Many people are using it right now. Your text is not lost: reload this page in a moment.",
		)
		return
	}
	s.Log.Error("asking why", "err", err)
	s.Refuse(w, r, status, "The model could not answer.", "The error has been logged. Nothing was changed.")
}

// ask asks the model about a text, in the queue for plain requests. An error comes with
// the status of the answer.
func (s *Server) ask(ctx context.Context, who admission.Caller, about subject, off string) (view, int, error) {
	parts, positions, err := why.ParseOff(s.Model, off)
	if err != nil {
		return view{}, http.StatusBadRequest, err
	}
	ctx, release, err := s.Replays.EnterRequest(ctx, who, maxTokens*positionTime)
	if err != nil {
		return view{}, http.StatusServiceUnavailable, err
	}
	defer release()
	if err := about.read(ctx, s.Model, s.Runs); err != nil {
		return view{}, http.StatusBadRequest, sentenceOf(err)
	}
	study, err := why.New(ctx, s.Model, about.tokens)
	if err == nil {
		q := why.Question{
			Token: about.token, Over: -1, Says: says,
			Intervention: infer.Intervention{Off: parts, Positions: positions},
		}
		var v view
		if v, err = newView(ctx, study, q, about); err == nil {
			err = s.more(ctx, &v, study, about)
		}
		if err == nil {
			return v, http.StatusOK, nil
		}
	}
	var place *infer.PlaceError
	switch {
	case errors.As(err, &place):
		return view{}, http.StatusBadRequest, err
	case ctx.Err() != nil:
		return view{}, http.StatusServiceUnavailable, err
	}
	return view{}, http.StatusInternalServerError, err
}

// more adds what is asked for besides the sum: another text's vectors, and heads.
func (s *Server) more(ctx context.Context, v *view, study *why.Study, about subject) (err error) {
	if about.with != "" {
		if v.Grid, err = newGrid(ctx, study, about.with); err != nil {
			return err
		}
	}
	if !about.heads {
		return nil
	}
	found, err := s.finder.find(ctx, s.Model)
	if err != nil {
		return err
	}
	v.How, v.Habits = inWords(found)
	return nil
}

// sentenceOf is an error of a text as pages say it.
func sentenceOf(err error) error {
	var e *terms.RangeError
	if errors.As(err, &e) {
		return errors.New(e.Sentence())
	}
	return err
}
