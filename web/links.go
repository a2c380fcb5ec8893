package web

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// replayTime bounds the replay of a link, and the making of a file: the longest
// run of the bundled model takes a second.
const replayTime = 10 * time.Second

// turn waits for the one place where work is done for a plain request, so that
// links and files cost the runs that are alive no more than one core's time.
// What is done there is bounded by the context returned; done gives the place
// free again.
func (s *Server) turn(ctx context.Context) (_ context.Context, done func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, replayTime)
	select {
	case s.replays <- struct{}{}:
		return ctx, func() { <-s.replays; cancel() }, nil
	case <-ctx.Done():
		cancel()
		return nil, nil, ctx.Err()
	}
}

// HeaderBytes is what a server must take of a request's header: the longest
// link, somewhat longer ones, so that they are refused with a sentence, and
// what browsers send besides.
const HeaderBytes = session.MaxLink + 32<<10

// trouble is why an address leads to no run.
type trouble struct {
	status int
	head   string // "This link cannot be opened."
	say    string // what was wrong and what can be done
}

// asked is what an address asks for.
type asked struct{ run, link string }

func askedOf(r *http.Request) asked {
	q := r.URL.Query()
	return asked{q.Get("run"), q.Get("log")}
}

// stateOf returns the state that an address leads to: the learner's live run,
// or, where that is not here, the one described by its link, made for this
// answer only.
func (s *Server) stateOf(ctx context.Context, learner string, a asked) (*session.State, *trouble) {
	if run := s.runs.find(learner, a.run); run != nil {
		st, err := run.current(ctx)
		if err == nil {
			return st, nil
		}
		if !errors.Is(err, errGone) {
			s.cfg.Logger.Error("showing a run", "err", err)
			return nil, &trouble{
				http.StatusServiceUnavailable, "This run cannot be shown right now.", "Try again in a moment.",
			}
		}
	}
	if a.link != "" {
		return s.replay(ctx, a.link)
	}
	return nil, &trouble{http.StatusNotFound, "This run is not on this server.", notHere}
}

// replay makes the run of a link, when it is its turn.
func (s *Server) replay(ctx context.Context, text string) (*session.State, *trouble) {
	link, err := session.ParseLink(s.cfg.Model, text)
	if err != nil {
		return nil, linkTrouble(err)
	}
	ctx, done, err := s.turn(ctx)
	if err != nil {
		return nil, linkTrouble(err)
	}
	defer done()
	run := session.New(s.runs.pool.Seat().Model(), session.Limits{PromptBytes: s.cfg.Limits.PromptBytes})
	st, err := run.Apply(ctx, session.Open{Link: link})
	if err != nil {
		return nil, linkTrouble(err)
	}
	return st, nil
}

// linkTrouble says why a link could not be opened.
func linkTrouble(err error) *trouble {
	var e *terms.Refusal
	switch {
	case !errors.As(err, &e):
		return &trouble{
			http.StatusServiceUnavailable, "Opening this link took too long.",
			"The server is busy. Reload the page in a moment.",
		}
	case e.Code == session.CodeOther:
		return &trouble{http.StatusConflict, "This link is for another model.", e.Message}
	}
	return &trouble{http.StatusBadRequest, "This link cannot be opened.", e.Message}
}
