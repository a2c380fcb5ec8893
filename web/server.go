package web

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/wire"
)

// Config is what a server needs to know.
type Config struct {
	// Model writes the texts.
	Model *infer.Model
	// Draft proposes tokens for Model where speculation is shown; it may be nil.
	Draft *infer.Model
	// Course and Progress are what Learn and Practise teach and where they keep
	// what learners do; without both there are no such pages, and the home page
	// leads to the loop.
	Course   *lessons.Course
	Progress *progress.Store
	// Classes is where and how classes are held; none are without Course.
	Classes Classes
	// AllowedHosts are the names under which browsers may reach the server,
	// exactly as they write them in the Host header: "class.example",
	// "192.168.0.7:8080". See [shell.LoopbackHosts].
	AllowedHosts []string
	// Limits, where not zero, replace [DefaultLimits].
	Limits Limits
	// Logger, [slog.Default] if nil, records failures; never prompts.
	Logger *slog.Logger
	// Secret signs the cookies. If nil it is random: after a restart every
	// browser is a new learner.
	Secret []byte
	// Storybook adds pages that show every part in every state, at /storybook.
	Storybook bool
}

// Server serves pages and sockets of one model.
type Server struct {
	cfg      Config
	learners shell.Learners
	runs     *runs
	replays  chan struct{}  // of capacity 1: held while a link is replayed
	empty    *session.State // what a page without a run shows
	hub      *class.Hub     // nil without a course or somewhere to keep rooms
	parts    map[string]wire.Kind
	wire     *wire.Server
	drafts   *infer.Pool // runs the draft model for all, nil without one
	handler  http.Handler

	ctx  context.Context // ends when the server shuts down
	stop context.CancelFunc
}

// New returns a server. It starts a goroutine that [Server.Shutdown] ends.
func New(cfg Config) (*Server, error) {
	if cfg.Model == nil {
		return nil, errors.New("web: Config.Model is nil")
	}
	if len(cfg.AllowedHosts) == 0 {
		return nil, errors.New("web: Config.AllowedHosts is empty: no request would be answered")
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	cfg.Limits = cfg.Limits.orDefaults()
	learners := shell.NewLearners(cfg.Secret)
	s := &Server{
		cfg:      cfg,
		learners: learners,
		runs:     newRuns(cfg.Model, cfg.Limits, cfg.Logger, learners.MAC),
		replays:  make(chan struct{}, 1),
		empty:    session.New(cfg.Model, session.Limits{PromptBytes: cfg.Limits.PromptBytes}).State(),
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	if cfg.Draft != nil {
		s.drafts = infer.NewPool(cfg.Draft, 0)
	}
	s.parts = map[string]wire.Kind{"": {Open: s.openLoop, Programs: true, Ordered: true}}
	s.wire = wire.NewServer(wire.Config{
		Parts: s.parts, Learner: learners.Of, Refuse: shell.Text, Limits: cfg.Limits.Wire, Log: cfg.Logger,
	})
	mux := http.NewServeMux()
	s.mountOwn(mux)
	s.mountCourse(mux)
	s.mountLabs(mux)
	if err := s.mountClasses(mux); err != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		return nil, errors.Join(err, s.Shutdown(ctx))
	}
	s.handler = shell.OverTLS(
		cfg.Classes.Access.URL, shell.Gate(cfg.AllowedHosts, cfg.Logger, shell.Compressed(mux)),
	)
	return s, nil
}

// Handler answers every request, behind the gate.
func (s *Server) Handler() http.Handler { return s.handler }

// Shutdown closes all sockets with code 1012, which tells clients to come
// back, ends all runs and waits until both are done, no longer than ctx.
// [http.Server.Shutdown] knows nothing of sockets; call it first.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stop()
	err := s.wire.Shutdown(ctx)
	if s.hub != nil {
		err = errors.Join(err, s.hub.Close(ctx)) // before its runs
	}
	err = errors.Join(err, s.runs.close(ctx))
	if s.drafts != nil {
		s.drafts.Close()
	}
	return err
}

// mountOwn adds the addresses that belong to no room.
func (s *Server) mountOwn(mux *http.ServeMux) {
	for pattern, handle := range map[string]http.HandlerFunc{
		"GET /loop":    s.loop,
		"GET /ws":      s.wire.ServeHTTP,
		"GET /healthz": s.healthy,
		"GET /readyz":  s.ready,

		"GET /export/{name...}":    s.export,
		"GET /storybook":           s.storybook,
		"GET /storybook/{name...}": s.storybook,

		"/export": shell.NotFound, // the mux would redirect it to the folder, which is no page

		"/": shell.Elsewhere(mux),
	} {
		mux.HandleFunc(pattern, handle)
	}
	shell.MountFiles(mux)
}

// healthy tells that the process answers.
func (s *Server) healthy(w http.ResponseWriter, _ *http.Request) {
	shell.Text(w, http.StatusOK, "The server is running.")
}

// ready tells whether the server takes new connections.
func (s *Server) ready(w http.ResponseWriter, _ *http.Request) {
	if s.ctx.Err() != nil {
		shell.Text(w, http.StatusServiceUnavailable, "The server is shutting down.")
		return
	}
	shell.Text(w, http.StatusOK, "The server is ready.")
}
