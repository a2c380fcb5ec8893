package loop

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/loop/runs"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// Deps are the dependencies of the Loop. Context, Course and Log may be nil.
type Deps struct {
	// Context ends when the server shuts down.
	Context context.Context
	// Model generates the texts.
	Model *infer.Model
	// Runs holds the runs of all learners.
	Runs *runs.Registry
	// Course contains the lessons that link to runs; nil if there are no lessons.
	Course *lessons.Course
	// Caller returns the sender of a request, and, for a new visitor, the cookie to set.
	Caller func(r *http.Request) (who admission.Caller, fresh *http.Cookie)
	// Sentence, if not nil, returns the sentence with which a learner's Loop starts, or "".
	Sentence func(ctx context.Context, learner string) (string, error)
	// Storybook adds pages that show every part in every state, at /storybook.
	Storybook bool
	// Replays is the queue in which ordinary requests wait for the model; nil means a separate
	// queue.
	Replays *admission.Queue
	// Log records failures, but never prompts.
	Log *slog.Logger
}

// Server handles the addresses of the Loop.
type Server struct {
	Deps
	shell.Base
	empty   *session.State   // shown on a page without a run
	replays *admission.Queue // for replaying links and writing files
	texts   *admission.Queue // for reading long texts and answering queries
}

// New returns the Loop's server.
func New(d Deps) *Server {
	d.Context = cmp.Or(d.Context, context.Background())
	d.Log = cmp.Or(d.Log, slog.Default())
	if d.Replays == nil {
		d.Replays = admission.NewQueue(admission.DefaultLimits().Links, 0)
	}
	s := &Server{
		Deps: d, empty: d.Runs.NewSession().State(), replays: d.Replays,
		texts: admission.NewQueue(admission.DefaultLimits().Links, 0),
	}
	s.Base = shell.NewBase(shell.LearnerOf(d.Caller), d.Log, s.refusal)
	return s
}

// refusal returns a page that has no run and explains why.
func (s *Server) refusal(head, say string) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, out io.Writer) error {
		page := NewPage(stage.In(ctx), s.empty)
		page.Notice = Notice{Head: head, Say: say}
		return PageHTML(page).Render(ctx, out)
	})
}
