package first

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/chance"
	"github.com/tokenbytoken/viz/web/loop/runs"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// base is the address of the first run.
const base = "/first"

// Deps are the dependencies of the first run. Log may be nil.
type Deps struct {
	// Model generates the texts.
	Model *infer.Model
	// Runs creates the sessions in which a request's run is replayed.
	Runs *runs.Registry
	// Replays is the queue in which ordinary requests wait for the model.
	Replays *admission.Queue
	// Caller returns the sender of a request and, for a new visitor, the cookie to set.
	Caller func(r *http.Request) (who admission.Caller, fresh *http.Cookie)
	// Lesson is the address of the first lesson; "" for none.
	Lesson string
	// SaveSentence, if not nil, saves the learner's sentence for the rest of the course.
	SaveSentence func(ctx context.Context, learner, sentence string) error
	// Minutes is the duration of the whole course.
	Minutes int
	// Log records failures, but never the text that users write.
	Log *slog.Logger
}

// Server handles the addresses of the first run.
type Server struct {
	Deps
	shell.Base
}

// New returns the first run's server.
func New(d Deps) *Server {
	d.Log = cmp.Or(d.Log, slog.Default())
	s := &Server{Deps: d}
	s.Base = shell.NewBase(shell.LearnerOf(d.Caller), d.Log, refusalHTML)
	return s
}

// Mount registers the first run's routes on mux.
func (s *Server) Mount(mux *http.ServeMux) {
	s.Route(mux, shell.Unknown{
		NoForms: "shell.noforms", Head: "shell.missing.below",
		Say: "first.missing",
	}, shell.Routes{
		"GET /first":          s.page,
		"POST /first/next":    s.next,
		"POST /first/leave":   s.leave,
		"GET /first/card":     s.card,
		"GET /first/card.svg": s.cardSVG,
		"GET /first/card.png": s.cardPNG,
	})
}

// stepTime is roughly the time needed to replay one step. It only affects the order of the queue.
const stepTime = 2 * time.Millisecond

// errBusy means that a request has waited too long, or that too many requests are waiting.
var errBusy = errors.New("the server is busy")

// within waits in the queue for ordinary requests and then calls f with a run. If link is not nil,
// it first opens the link in that run.
func (s *Server) within(
	w http.ResponseWriter, r *http.Request, link *session.Link, f func(m *mover) error,
) error {
	who, _ := s.Caller(r)
	who.Learner = s.Who(w, r)
	steps := 1
	if link != nil {
		steps = link.Log.Steps
	}
	ctx, release, err := s.Replays.EnterRequest(r.Context(), who, time.Duration(steps)*stepTime)
	if err != nil {
		return errBusy
	}
	defer release()
	m := &mover{ctx: ctx, run: s.Runs.NewSession()}
	if link != nil {
		m.do(session.Open{Link: *link})
	}
	if m.err == nil {
		m.err = f(m)
	}
	if errors.Is(m.err, context.DeadlineExceeded) || errors.Is(m.err, context.Canceled) {
		return errBusy
	}
	return m.err
}

// fail responds to a request with the error page for err.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	var e *terms.Refusal
	l := terms.In(r.Context())
	switch {
	case errors.Is(err, errBusy):
		s.Busy(w, r)
	case errors.As(err, &e) && e.Code == session.CodeOther:
		s.Refuse(w, r, http.StatusConflict, l.T("first.other"), e.In(l))
	default:
		s.Refuse(w, r, http.StatusBadRequest, l.T("first.nowhere"), shell.Sentence(l, err))
	}
}

// page handles GET /first. It shows the scene in the address or, with ?prompt=TEXT, starts a new
// run. If the address contains neither, it shows the scene at which the learner left off or, for a
// new learner, the first scene.
func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Has("prompt") {
		s.begin(w, r, q.Get("prompt"))
		return
	}
	if !q.Has("scene") {
		if kept, ok := keptPlace(r); ok {
			s.Who(w, r)
			http.Redirect(w, r, kept.address(), http.StatusSeeOther)
			return
		}
		q.Set("scene", string(sceneWrite))
	}
	p := placeOf(q)
	if p.scene == sceneWrite {
		s.Who(w, r)
		s.HTML(w, r, http.StatusOK, pageHTML(s.writePage(r.Context(), "", "")))
		return
	}
	link, err := p.parse(s.Model)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	var v view
	err = s.within(w, r, &link, func(m *mover) error {
		v = newView(stage.In(r.Context()), p, m)
		return m.err
	})
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.HTML(w, r, http.StatusOK, pageHTML(v))
}

// fewest is the minimum length of a prompt in bytes, not counting surrounding spaces: a word of
// three letters, or one character of a script that needs three bytes per character.
const fewest = 3

// begin starts a run with a prompt. If the prompt cannot be used, it shows the first page again,
// with the prompt in its field and the reason.
func (s *Server) begin(w http.ResponseWriter, r *http.Request, prompt string) {
	words := stage.In(r.Context())
	// Phone keyboards add a space after every word, and at this point learners do not know
	// about tokens yet.
	if space, ok := session.NewSpaceAtEnd(terms.In(r.Context()), s.Model, prompt); ok {
		prompt = space.Prompt
	}
	if len(prompt) > infer.MaxSampleBytes { // the run's addresses contain the prompt, so it must be short
		s.HTML(w, r, http.StatusBadRequest, pageHTML(s.writePage(r.Context(), prompt, s.overlong(words, prompt))))
		return
	}
	if len(strings.TrimSpace(prompt)) < fewest {
		v := s.writePage(r.Context(), prompt, words.T("first.write.short"))
		s.HTML(w, r, http.StatusBadRequest, pageHTML(v))
		return
	}
	var link string
	err := s.within(w, r, nil, func(m *mover) error {
		seed := 1 + chance.N(r.Context(), seeds)
		st := m.do(session.SetKnob("seed", float64(seed)), session.Start{Prompt: prompt})
		if m.err == nil {
			link = session.LinkOf(st)
		}
		return m.err
	})
	var e *terms.Refusal
	switch {
	case err == nil:
		p := location{scene: sceneRead, link: link}
		if r.Header.Get("Sec-Fetch-Site") != "cross-site" { // another site's link is not the learner's own run
			keep(w, r, p)
		}
		http.Redirect(w, r, p.address(), http.StatusSeeOther)
	case errors.Is(err, errBusy):
		v := s.writePage(r.Context(), prompt, words.T("first.write.busy"))
		s.HTML(w, r, http.StatusServiceUnavailable, pageHTML(v))
	case errors.As(err, &e):
		bad := cmp.Or(s.overlong(words, prompt), e.In(words.Language))
		s.HTML(w, r, http.StatusBadRequest, pageHTML(s.writePage(r.Context(), prompt, bad)))
	default:
		s.Log.Error("failed to start a first run", "err", err)
		v := s.writePage(r.Context(), prompt, words.T("first.write.failed"))
		s.HTML(w, r, http.StatusInternalServerError, pageHTML(v))
	}
}

// overlong returns advice on a text that is longer than the model can read, or "" if the text is
// short enough.
func (s *Server) overlong(w stage.Words, text string) string {
	if _, over := session.TooLong(s.Model, text, infer.MaxSampleBytes); !over {
		return ""
	}
	return w.T("first.write.long", "n", utf8.RuneCountInString(text))
}

// seeds is the number of different seeds. It is small enough for people to read a seed aloud.
const seeds = 9999

// next handles POST /first/next. It performs the action of the pressed button, stores the resulting
// location and redirects to it.
func (s *Server) next(w http.ResponseWriter, r *http.Request) {
	if !s.Form(w, r) {
		return
	}
	// The location in the address does not contain the new guess, which is therefore added after
	// the location has been parsed.
	p, guess := placeOf(r.PostForm), ""
	if p.scene == sceneGuess {
		guess, p.guess = p.guess, ""
	}
	link, err := p.parse(s.Model)
	if err == nil && guess != "" {
		p.guess = guess
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if p.scene == sceneRead { // the learner continues with this sentence
		s.saveSentence(w, r, p.link)
	}
	x, _ := strconv.ParseFloat(r.PostForm.Get("t"), 64) // 0 is not a value of the knob
	err = s.within(w, r, &link, func(m *mover) error {
		p, err = m.move(p, r.PostForm.Get("do"), x)
		return err
	})
	switch {
	case err != nil:
		s.fail(w, r, err)
	case p.scene == "":
		finish(w, r)
		http.Redirect(w, r, cardAddress(p.link), http.StatusSeeOther)
	default:
		keep(w, r, p)
		http.Redirect(w, r, p.address(), http.StatusSeeOther)
	}
}

// leave handles POST /first/leave. It redirects to the Loop, at the same point of the run. The
// first run is not shown again.
func (s *Server) leave(w http.ResponseWriter, r *http.Request) {
	if !s.Form(w, r) {
		return
	}
	s.Who(w, r)
	log := r.PostForm.Get("log")
	s.saveSentence(w, r, log)
	finish(w, r)
	http.Redirect(w, r, loopAddress(log), http.StatusSeeOther)
}

// saveSentence saves the sentence of a run for the rest of the course if this browser has just
// started that run. Anyone can send a link to a run of their own, which must not replace the learner's
// sentence. If the sentence cannot be saved, the first run goes on without it.
func (s *Server) saveSentence(w http.ResponseWriter, r *http.Request, log string) {
	if s.SaveSentence == nil || !justStarted(r, log) {
		return
	}
	link, err := session.ParseLink(s.Model, log)
	if err == nil {
		err = s.SaveSentence(r.Context(), s.Who(w, r), link.Log.Prompt)
	}
	if err != nil {
		s.Log.Debug("did not save the sentence of a first run", "err", err) // the database logs its own failures
	}
}

// loopAddress returns the address of the Loop at a point of a run.
func loopAddress(link string) string {
	if link == "" {
		return "/loop"
	}
	return "/loop?" + url.Values{"log": {link}}.Encode()
}
