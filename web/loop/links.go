package loop

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/loop/runs"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/stage"
)

// stepTime is roughly the time needed to replay one step. It only affects the order of the queue.
const stepTime = 2 * time.Millisecond

// acquire waits for the slot in which ordinary requests use the model. There is only one, so that
// links and files take at most one core away from the live runs. Learners take turns, and requests
// with few steps go first. The returned context limits the time; release frees the slot.
func (s *Server) acquire(
	ctx context.Context, who admission.Caller, steps int,
) (_ context.Context, release func(), err error) {
	return s.replays.EnterRequest(ctx, who, time.Duration(steps)*stepTime)
}

// problem explains why no run can be shown for an address.
type problem struct {
	status int
	head   string // "This link cannot be opened."
	say    string // what was wrong, and what the learner can do
}

// newProblem returns the problem with the given name in the catalog of texts, in the request's
// language.
func newProblem(ctx context.Context, status int, name string) *problem {
	w, key := stage.In(ctx), "loop.problem."+name
	return &problem{status, w.T(key), w.T(key + ".say")}
}

// address is the part of an address that names a run.
type address struct{ run, link string }

func addressOf(r *http.Request) address {
	q := r.URL.Query()
	return address{q.Get("run"), q.Get("log")}
}

// stateOf returns the state that an address names. This is the state of the learner's live run or,
// if there is no such run, of the run that the link describes, which is replayed for this response
// only. A live run without a text is ignored: it was created by a page that was closed while it was
// reconnecting.
func (s *Server) stateOf(ctx context.Context, who admission.Caller, a address) (*session.State, *problem) {
	if run := s.Runs.Find(who.Learner, a.run); run != nil {
		st, err := run.Current(ctx)
		if err == nil && (st.Started() || a.link == "") {
			return st, nil
		}
		if err != nil && !errors.Is(err, runs.ErrGone) {
			s.Log.Error("failed to show a run", "err", err)
			return nil, newProblem(ctx, http.StatusServiceUnavailable, "failed")
		}
	}
	if a.link != "" {
		return s.replay(ctx, who, a.link)
	}
	return nil, newProblem(ctx, http.StatusNotFound, "gone")
}

// replay replays the run that a link describes, once the slot is free.
func (s *Server) replay(ctx context.Context, who admission.Caller, text string) (*session.State, *problem) {
	link, err := session.ParseLink(s.Model, text)
	if err != nil {
		return nil, linkProblem(ctx, err)
	}
	ctx, release, err := s.acquire(ctx, who, link.Log.Steps)
	if err != nil {
		return nil, linkProblem(ctx, err)
	}
	defer release()
	st, err := s.Runs.NewSession().Apply(ctx, session.Open{Link: link})
	if err != nil {
		return nil, linkProblem(ctx, err)
	}
	return st, nil
}

// linkProblem explains why a link could not be opened.
func linkProblem(ctx context.Context, err error) *problem {
	var e *terms.Refusal
	if !errors.As(err, &e) {
		return newProblem(ctx, http.StatusServiceUnavailable, "late")
	}
	w := stage.In(ctx)
	if e.Code == session.CodeOther {
		return &problem{http.StatusConflict, w.T("loop.link.model"), e.In(w.Language)}
	}
	return &problem{http.StatusBadRequest, w.T("loop.link.bad"), e.In(w.Language)}
}
