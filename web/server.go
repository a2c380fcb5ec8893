package web

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/pool"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/api"
	"github.com/tokenbytoken/viz/web/class/room"
	"github.com/tokenbytoken/viz/web/embed"
	"github.com/tokenbytoken/viz/web/labs"
	"github.com/tokenbytoken/viz/web/loop/runs"
	"github.com/tokenbytoken/viz/web/memory"
	"github.com/tokenbytoken/viz/web/metrics"
	"github.com/tokenbytoken/viz/web/model"
	"github.com/tokenbytoken/viz/web/practice"
	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/store"
	"github.com/tokenbytoken/viz/web/wire"
)

// Config configures a server.
type Config struct {
	// Model generates the texts.
	Model *infer.Model
	// OwnModel describes how visitors can load their own model.
	OwnModel model.OwnModel
	// Keeping describes how long progress is kept.
	Keeping practice.Keeping
	// Draft proposes tokens for Model on pages that show speculation; it may be nil.
	Draft *infer.Model
	// EmbedOrigins are the sites that can show the Loop, an experiment or a drill inside their
	// own pages, such as "https://school.example"; [shell.Anywhere] allows all sites.
	EmbedOrigins []string
	// OpenDraft, if not nil, opens Draft when a page first needs it. Its error message is shown to
	// users, who can then try again.
	OpenDraft func() (*infer.Model, error)
	// Course is the course in Learn and Practice, and Progress stores the learners' progress. If
	// either is nil, these pages do not exist, and the home page redirects to the Loop.
	Course   *lessons.Course
	Progress *progress.Store
	// API defines who can use the endpoints for clients of other programs.
	API api.Access
	// Away, if not nil, returns an error, [store.ErrAway], while data cannot be saved because the
	// storage is unreachable. It does not block. Pages then show a warning instead of the learner's
	// progress.
	Away func() error
	// Figures, if not nil, adds metrics to [Server.Metrics].
	Figures func(*metrics.Page)
	// Classes configures how the server holds classes. Without Course, there are none.
	Classes Classes
	// Languages lists the languages of the pages; nil means [terms.Languages].
	Languages []*terms.Language
	// AllowedHosts are the names under which browsers may reach the server, exactly as they appear
	// in the Host header: "class.example", "192.168.0.7:8080". See [shell.LoopbackHosts].
	AllowedHosts []string
	// TrustedProxies are the proxies whose X-Forwarded-For is trusted.
	TrustedProxies admission.Proxies
	// Admission, if not nil, replaces [admission.DefaultLimits].
	Admission *admission.Limits
	// Memory limits the memory of the process and its runs. If it is zero, runs have
	// [runs.DefaultLimits] and the process has no limit.
	Memory memory.Budget
	// Logger records failures, but never prompts; nil means [slog.Default].
	Logger *slog.Logger
	// Secret signs the cookies. If it is nil, a random secret is used, and after a restart every
	// browser counts as a new learner.
	Secret []byte
	// Storybook adds pages that show every part in every state, at /storybook.
	Storybook bool
	// HTML, if not nil, transforms the HTML of panels; see [wire.Config].
	HTML func(string) string
	// Database is the database in which Progress and Classes are stored. It is used only for
	// [Server.Metrics] and can be nil.
	Database *store.DB
}

// HeaderBytes is the size of the request headers that a server must accept. It allows for the
// longest link and the headers that browsers add. It also allows for links that are too long, so
// that they can be refused with a message.
const HeaderBytes = session.MaxLink + 32<<10

// A Server serves the pages and sockets for one model.
type Server struct {
	cfg      Config
	learners shell.Learners
	limits   admission.Limits
	limiter  *admission.Limiter
	targets  *pool.Pool // runs the model for everyone
	drafts   *drafts    // nil without a draft model
	runs     *runs.Registry
	replays  *admission.Queue // for ordinary HTTP requests that need a run
	hub      *room.Hub        // nil without a course or a place to store rooms
	labs     *labs.Pages
	api      *api.Server
	parts    map[string]wire.Kind
	wire     *wire.Server
	answers  answers
	handler  http.Handler

	ctx  context.Context // ends when the server shuts down
	stop context.CancelFunc
}

// New returns a server. It starts goroutines that [Server.Shutdown] stops.
func New(cfg Config) (*Server, error) {
	if cfg.Model == nil {
		return nil, errors.New("web: Config.Model is nil")
	}
	if len(cfg.AllowedHosts) == 0 {
		return nil, errors.New("web: Config.AllowedHosts is empty, so every request would be refused")
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	s := &Server{
		cfg: cfg, learners: shell.NewLearners(cfg.Secret, cfg.TrustedProxies), targets: pool.New(cfg.Model, 0),
		parts: map[string]wire.Kind{},
	}
	s.limits = admission.DefaultLimits()
	if cfg.Admission != nil {
		s.limits = *cfg.Admission
	}
	s.limiter = admission.New(s.limits, nil)
	s.replays = admission.NewQueue(s.limits.Links, 0)
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.drafts = newDrafts(cfg)
	s.runs = runs.New(runs.Config{
		Model: cfg.Model, Slot: func() runs.Slot { return s.targets.Slot() }, MAC: s.learners.MAC,
		Places:   s.limiter.Runs,
		Grammars: admission.NewQueue(s.limits.Grammars, 0), BadGrammars: s.limiter.BadGrammars,
		Limits: runs.Limits{MemoryBytes: cfg.Memory.Runs, ResidentBytes: cfg.Memory.Limit}, Log: cfg.Logger,
	})
	s.wire = wire.NewServer(wire.Config{
		Parts: s.parts, Caller: s.learners.Caller, Limiter: s.limiter, Refuse: shell.Text, HTML: cfg.HTML,
		Log: cfg.Logger,
	})
	mux := http.NewServeMux()
	s.mountOwn(mux)
	s.mountLoop(mux)
	s.mountCourse(mux)
	s.mountLabs(mux)
	s.mountAPI(mux)
	if err := s.mountClasses(mux); err != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		return nil, errors.Join(err, s.Shutdown(ctx))
	}
	s.mountEmbed(mux)
	s.handler = shell.InLanguage(cfg.Languages, embed.Front(cfg.EmbedOrigins, s.api.Front(shell.Gate(
		cfg.AllowedHosts, cfg.Classes.Phones.Host, cfg.Classes.Access.URL, cfg.Logger,
		shell.Embeds(
			cfg.EmbedOrigins, cfg.Classes.Access.URL,
			s.learners.Admit(s.limiter, shell.Compressed(s.warned(mux))),
		),
	))))
	return s, nil
}

// warned returns a handler that passes requests on to next and adds a warning to pages while data
// cannot be saved.
func (s *Server) warned(next http.Handler) http.Handler {
	if s.cfg.Away == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/ws" { // a socket can outlive the outage
			err := s.cfg.Away()
			ctx, away := progress.Reach(r.Context(), err != nil)
			r = r.WithContext(shell.Warn(ctx, func(l *terms.Language) string {
				if !away() {
					return ""
				}
				return l.T("server.away", "why", store.WhyIn(l, cmp.Or(err, store.ErrAway)))
			}))
		}
		next.ServeHTTP(w, r)
	})
}

// Handler returns the handler of all requests, behind the gate.
func (s *Server) Handler() http.Handler { return s.answers.count(s.handler) }

// ServePort serves one live part of a page over a message port; see
// [wire.Server.ServePort].
func (s *Server) ServePort(r *http.Request, p wire.Port) { s.wire.ServePort(shell.Framed(r), p) }

// Greet returns the cookie that identifies a visitor who opens a live part. It returns nil if the
// request already has a cookie, or if it comes from a page in another site's frame. Call Greet for
// a visitor who might not have requested a page before. A response with a page sets the cookie
// itself. A response with a file does not, because pages in frames need files, too.
func (s *Server) Greet(r *http.Request) *http.Cookie {
	if r.URL.Path != "/ws" {
		return nil
	}
	_, fresh := s.learners.Of(shell.Framed(r))
	return fresh
}

// mountOwn adds the addresses that do not belong to another package.
func (s *Server) mountOwn(mux *http.ServeMux) {
	shell.MountFiles(mux)
	mux.Handle("GET /ws", s.wire)
	mux.HandleFunc("GET /healthz", s.healthy)
	mux.HandleFunc("GET /livez", s.live)
	mux.HandleFunc("GET /readyz", s.ready)
	mux.HandleFunc("/", shell.Elsewhere(mux))
}

// healthy reports that the process is running.
func (s *Server) healthy(w http.ResponseWriter, r *http.Request) {
	shell.Text(w, http.StatusOK, terms.In(r.Context()).T("server.running"))
}

// live reports whether the server accepts new connections. If it does, people can read lessons and
// generate texts on this server, even while data cannot be saved.
func (s *Server) live(w http.ResponseWriter, r *http.Request) {
	l := terms.In(r.Context())
	if s.ctx.Err() != nil {
		shell.Text(w, http.StatusServiceUnavailable, l.T("server.closing"))
		return
	}
	shell.Text(w, http.StatusOK, l.T("server.live"))
}

// ready reports whether the server accepts new connections and can save data.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	l := terms.In(r.Context())
	if s.ctx.Err() != nil {
		shell.Text(w, http.StatusServiceUnavailable, l.T("server.closing"))
		return
	}
	if s.cfg.Away != nil {
		if err := s.cfg.Away(); err != nil {
			shell.Text(w, http.StatusServiceUnavailable, store.WhyIn(l, err))
			return
		}
	}
	if s.cfg.Progress != nil {
		if why := s.cfg.Progress.Trouble(r.Context()); why != "" {
			shell.Text(w, http.StatusServiceUnavailable, why)
			return
		}
	}
	shell.Text(w, http.StatusOK, l.T("server.ready"))
}
