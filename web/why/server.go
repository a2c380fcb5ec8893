package why

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/why"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/loop/runs"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// Deps are the dependencies of the page. Log may be nil.
type Deps struct {
	// Model is the model whose predictions the page explains.
	Model *infer.Model
	// Runs creates the sessions in which a run of the Loop is replayed.
	Runs *runs.Registry
	// Replays is the queue in which ordinary requests wait for the model.
	Replays *admission.Queue
	// Caller returns the sender of a request and, for a new visitor, the cookie to set.
	Caller func(r *http.Request) (who admission.Caller, fresh *http.Cookie)
	// Log records failures, but never the text that users write.
	Log *slog.Logger
}

// Server handles the addresses of the page.
type Server struct {
	Deps
	shell.Base
	finder finder
}

// New returns the page's server.
func New(d Deps) *Server {
	d.Log = cmp.Or(d.Log, slog.Default())
	s := &Server{Deps: d, finder: newFinder()}
	s.Base = shell.NewBase(shell.LearnerOf(d.Caller), d.Log, refusalHTML)
	return s
}

// Mount registers the page's routes on mux.
func (s *Server) Mount(mux *http.ServeMux) {
	s.Route(mux, shell.Unknown{
		NoForms: "shell.noforms", Head: "explain.refused.page", Say: "explain.refused.page.say",
	}, shell.Routes{"GET /why": s.page, "GET /why.json": s.json, "GET /score": s.score})
}

const (
	// maxTokens is the maximum length of a text. There is a limit because every part is measured at
	// every position.
	maxTokens = 256
	// positionTime is roughly the time needed for all passes at one position of a text. It only
	// affects the order of the queue.
	positionTime = time.Millisecond
	// says is the number of most probable tokens that the page lists next to the text.
	says = 3
)

// page handles GET /why?prompt=TEXT&off=PARTS, or ?log=LINK for a run of the Loop. It returns the
// page. To the page's script, it returns only the part that changes.
func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	about, words := subjectOf(r.URL.Query()), stage.In(r.Context())
	a, status, err := s.ask(w, r, &about, false)
	var v view
	switch {
	case err == nil:
		v = newView(words, a.report, about)
		v.Grid = newGrid(words, a.report, about)
		v.lacks(words, a)
	case status == http.StatusBadRequest:
		v = view{Prompt: about.prompt, Bad: shell.Sentence(words.Language, err)}
		v.Again = about.plain()
	default:
		head, say := s.failed(words, status, err)
		s.Refuse(w, r, status, head, say)
		return
	}
	if shell.Fragment(r) {
		if v.Bad != "" {
			s.Refuse(w, r, status, words.T("explain.refused.text"), v.Bad)
			return
		}
		s.HTML(w, r, status, bodyHTML(v))
		return
	}
	s.HTML(w, r, status, pageHTML(v))
}

// json handles GET /why.json, whose address has the same fields as the page's. It sends the content
// of the page in the format of `viz why -json`.
func (s *Server) json(w http.ResponseWriter, r *http.Request) {
	about, words := subjectOf(r.URL.Query()), stage.In(r.Context())
	a, status, err := s.ask(w, r, &about, true)
	switch {
	case err != nil && status == http.StatusBadRequest:
		shell.Text(w, status, shell.Sentence(words.Language, err))
		return
	case err != nil:
		head, say := s.failed(words, status, err)
		shell.Text(w, status, head+" "+say)
		return
	case errors.Is(a.heads, errMeasuring):
		w.Header().Set("Retry-After", "2")
		shell.Text(w, http.StatusServiceUnavailable, shell.Sentence(words.Language, a.heads))
		return
	case a.patch != nil || a.heads != nil:
		shell.Text(w, http.StatusBadRequest, shell.Sentence(words.Language, cmp.Or(a.patch, a.heads)))
		return
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	if err := e.Encode(a.report); err != nil {
		head, say := s.failed(words, http.StatusInternalServerError, err)
		shell.Text(w, http.StatusInternalServerError, head+" "+say)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if _, err := b.WriteTo(w); err != nil {
		s.Log.Debug("failed to send an explanation", "err", err)
	}
}

// errTooLong means that the model exceeded the time limit of a request.
var errTooLong = errors.New("why: the model exceeded the request's time limit")

// failed returns a heading and a sentence that explain why the server could not answer.
func (s *Server) failed(w stage.Words, status int, err error) (head, say string) {
	switch {
	case errors.Is(err, errTooLong):
		return w.T("explain.refused.slow"), w.T("explain.refused.slow.say")
	case status == http.StatusServiceUnavailable:
		return shell.Busy(w.Language)
	}
	s.Log.Error("failed to explain a token", "err", err)
	return w.T("explain.refused.failed"), w.T("explain.refused.failed.say")
}

// answer is the result of a request. If the second text cannot be used, or if there are no heads
// yet, only that part of the result is missing.
type answer struct {
	report       *why.Report
	patch, heads error
}

// ask waits in the queue for ordinary requests and then answers the question in a URL. If there is
// an error, it also returns the status of the response. all has the same meaning as in
// [Server.report].
func (s *Server) ask(w http.ResponseWriter, r *http.Request, about *subject, all bool) (answer, int, error) {
	var a answer
	who, _ := s.Caller(r)
	who.Learner = s.Who(w, r)
	question, err := about.question(stage.In(r.Context()), s.Model)
	if err != nil {
		return a, http.StatusBadRequest, err
	}
	var heads *why.Findings
	if about.heads { // find waits for the head measurement, which must not block the queue
		heads, a.heads = s.finder.find(r.Context(), s.Model, s.Log)
	}
	ctx, release, err := s.Replays.EnterRequest(r.Context(), who, maxTokens*positionTime)
	if err != nil {
		return a, http.StatusServiceUnavailable, err
	}
	defer release()
	if err := about.read(ctx, s.Model, s.Runs); err != nil {
		return a, http.StatusBadRequest, err
	}
	if question.Token < 0 {
		question.Token = about.drawn
	}
	if _, _, _, err := about.cellOf(s.Model); err != nil {
		return a, http.StatusBadRequest, err
	}
	a.report, err = s.report(ctx, *about, question, all)
	var patch *patchError
	if errors.As(err, &patch) {
		a.patch, err = patch.error, nil
	}
	switch {
	case err == nil:
		a.report.Heads = heads
		return a, http.StatusOK, nil
	case errors.As(err, new(*terms.Refusal)): // a position that cannot be hidden
		return a, http.StatusBadRequest, err
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return a, http.StatusServiceUnavailable, errTooLong
	case ctx.Err() != nil:
		return a, http.StatusServiceUnavailable, err
	}
	return a, http.StatusInternalServerError, err
}

// report answers all questions about the text. If all is true, the report includes the predictions
// at all heights below the last one. Otherwise, it includes only those that the page shows.
func (s *Server) report(ctx context.Context, about subject, q why.Question, all bool) (*why.Report, error) {
	study, err := why.New(ctx, s.Model, about.tokens)
	if err != nil {
		return nil, err
	}
	r := &why.Report{Study: study, Mean: q.Mean, Off: why.FormatOff(s.Model, q.Off, q.Positions), Question: q}
	if r.Answer, err = study.Ask(ctx, q); err != nil {
		return nil, err
	}
	first := 0
	if !all {
		first = stage.MapFolded(len(about.tokens))
		if height, position, open, _ := about.cellOf(s.Model); open && height < s.Model.Config().Layers {
			first = min(first, position)
		}
	}
	if r.Lens, err = study.Lens(ctx, q.Intervention, first, why.Shown); err != nil {
		return nil, err
	}
	if about.with != "" {
		err = patch(ctx, r, about.with)
	}
	return r, err
}
