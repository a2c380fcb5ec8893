package classroom

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
)

// A guided tour is a walkthrough that one learner plays alone. It shows the same
// run to everybody, so the states of its steps are made once, in their order,
// and kept: a step is a page with an address of its own.

// tours keeps the states of walkthroughs.
type tours struct {
	seat func() *infer.Seat
	mu   sync.Mutex
	list map[string]*tourRun // by slug
}

// tourRun is a walkthrough's run and what it looked like at its steps. Who holds
// turn works on it; the others wait for the states that come of it.
type tourRun struct {
	turn   chan struct{} // of capacity 1
	run    *session.Session
	states []*session.State
}

// tourPrompt bounds the prompts of walkthroughs, in bytes; tourTime how long a
// page waits for its step. The passes take their turn with those of all other
// runs.
const (
	tourPrompt = 16 << 10
	tourTime   = 10 * time.Second
)

func newTours(seat func() *infer.Seat) *tours {
	return &tours{seat: seat, list: map[string]*tourRun{}}
}

// errBusy is said where a step was not made in time. What was made is kept.
var errBusy = &terms.Refusal{
	Code: terms.CodeBusy, Message: "The model is busy, and this step is not ready yet. Reload the page in a moment.",
}

// at returns the state at a step, which counts from 1. The steps before it are
// made first, once for everybody.
func (t *tours) at(ctx context.Context, w *lessons.Walk, step int) (*session.State, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, tourTime, errBusy)
	defer cancel()
	t.mu.Lock()
	r := t.list[w.Slug]
	if r == nil {
		r = &tourRun{turn: make(chan struct{}, 1)}
		t.list[w.Slug] = r
	}
	t.mu.Unlock()
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	for len(r.states) < step {
		st, err := r.make(ctx, t.seat, w)
		if err != nil {
			if ctx.Err() != nil {
				r.run, err = nil, context.Cause(ctx) // the run may be anywhere
			}
			return nil, err
		}
		r.states = append(r.states, st)
	}
	return r.states[step-1], nil
}

// make makes the state of the next step. A new run is led up to it from the last
// new text before.
func (r *tourRun) make(ctx context.Context, seat func() *infer.Seat, w *lessons.Walk) (*session.State, error) {
	done := len(r.states)
	before := done
	if r.run == nil {
		s := seat()
		s.Step(true) // someone waits for it
		r.run = session.New(s.Model(), session.Limits{PromptBytes: tourPrompt})
		before = -1
	}
	st, err := class.Perform(ctx, r.run.Apply, w, done+1, before)
	if a := w.Steps[done].Ask; err == nil && a != nil && (a.Kind == lessons.AskNext || a.Kind == lessons.AskDraw) {
		st, err = class.Undrawn(ctx, r.run.Apply)
	}
	return st, err
}

// tourPage is one step of a tour.
type tourPage struct {
	Walk       *lessons.Walk
	Step       *lessons.WalkStep
	N          int
	Back, Next string // addresses, "" at either end
	Screen     screen
	Poll       *poll  // what is asked, before and after the answer
	Mine       string // key of the learner's answer, "" before it
	Said       string // what that answer reads
	Right      *bool  // of a question or a number
	Draws      int    // of a draw: how many there have been
	Loop       string // the same run in the loop, "" while something is asked
}

// Asked says that an answer is waited for.
func (v tourPage) Asked() bool { return v.Poll != nil && v.Mine == "" }

func tourPath(slug string, step int) string {
	return "/tour/" + slug + "?step=" + strconv.Itoa(step)
}

func (p *Pages) tour(w http.ResponseWriter, r *http.Request) {
	p.Who(w, r)
	walk := p.Course.Walk(r.PathValue("walk"))
	if walk == nil {
		p.Refuse(
			w, r, http.StatusNotFound, "There is no such tour.",
			"The walkthroughs are listed on the page for teachers.",
		)
		return
	}
	q := r.URL.Query()
	n, err := strconv.Atoi(q.Get("step"))
	if q.Get("step") == "" {
		n, err = 1, nil
	}
	if err != nil || n < 1 || n > len(walk.Steps) {
		p.Refuse(
			w, r, http.StatusNotFound, "There is no such step.",
			"This walkthrough has the steps 1 to "+strconv.Itoa(len(walk.Steps))+".",
		)
		return
	}
	st, err := p.tours.at(r.Context(), walk, n)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	v := tourPage{Walk: walk, Step: walk.Steps[n-1], N: n}
	if n > 1 {
		v.Back = tourPath(walk.Slug, n-1)
	}
	if n < len(walk.Steps) {
		v.Next = tourPath(walk.Slug, n+1)
	}
	if err := v.ask(st, shell.ViewOf(r), q); err != nil {
		p.fail(w, r, err)
		return
	}
	if !v.Asked() && st.Started() {
		v.Loop = "/loop?log=" + session.LinkOf(st)
	}
	p.HTML(w, r, http.StatusOK, tourHTML(v))
}

// ask prepares what the step asks, and what an answer brings to light.
func (v *tourPage) ask(st *session.State, view shell.View, q url.Values) error {
	v.Screen = newScreen(st, view, false)
	a := v.Step.Ask
	if a == nil {
		return nil
	}
	seed := st.Settings.Seed
	asked, err := class.AskAlone(st, a, seed+uint64(v.N))
	if err != nil {
		return err
	}
	choice := strings.TrimSpace(q.Get("choice"))
	seen := asked.Open()
	switch {
	case a.Kind == lessons.AskDraw: // it hides nothing and waits for nothing
		v.Mine = "draw"
		if n, err := strconv.Atoi(q.Get("draws")); err == nil {
			v.Draws = min(max(n, 0), mostDraws)
		}
		seen = asked.Draw(v.Draws, seed^drawStream)
		seen.Prompt = "<p>Draw as a class would: one number for each person.</p>"
	case choice != "":
		answer, err := asked.Answer(choice)
		if err != nil {
			return err
		}
		seen, v.Mine, v.Said, v.Right = answer.Poll, answer.Mine, answer.Said, answer.Right
	case a.Kind == lessons.AskNext:
		v.Screen = newVeiled(st, view, seen.Step)
	}
	v.Poll = newPoll(&class.View{Poll: seen, Here: 1})
	return nil
}

const (
	// mostDraws is how many draws a learner makes at once.
	mostDraws = 1000
	// drawStream sets the draws of a tour apart from those of the run.
	drawStream = 0x5eed
)
