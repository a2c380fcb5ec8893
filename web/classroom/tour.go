package classroom

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer/pool"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/moves"
	"github.com/tokenbytoken/viz/web/class/polls"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// A guided tour is a walkthrough that a learner takes alone. All visitors see the same run, so the
// states of its steps are computed once, in order, and stored: each step is a page with its own
// address.

// tours stores the states of walkthroughs.
type tours struct {
	slot func() *pool.Slot
	mu   sync.Mutex
	list map[*lessons.Walk]*tourRun // a translated script has its own run
}

// tourRun is the run of a walkthrough, with the states at the steps computed so far. The request
// that holds turn computes the next states; other requests wait for them.
type tourRun struct {
	turn   chan struct{} // of capacity 1
	run    *session.Session
	states []*session.State
}

// tourPrompt is the maximum length of a walkthrough's prompt, in bytes. tourTime is the
// longest time that a page waits for its step, whose forward passes take turns with all
// other runs.
const (
	tourPrompt = 16 << 10
	tourTime   = 10 * time.Second
)

func newTours(slot func() *pool.Slot) *tours {
	return &tours{slot: slot, list: map[*lessons.Walk]*tourRun{}}
}

// errBusy is returned if a step was not ready in time. Steps that have already been computed
// are kept.
var errBusy = terms.Refuse(terms.CodeBusy, "classroom.tour.busy")

// at returns the state at a step, starting at 1. Steps before it that have not been computed
// yet are computed first, once for all visitors.
func (t *tours) at(ctx context.Context, w *lessons.Walk, step int) (*session.State, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, tourTime, errBusy)
	defer cancel()
	t.mu.Lock()
	r := t.list[w]
	if r == nil {
		r = &tourRun{turn: make(chan struct{}, 1)}
		t.list[w] = r
	}
	t.mu.Unlock()
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	for len(r.states) < step {
		st, err := r.make(ctx, t.slot, w)
		if err != nil {
			if ctx.Err() != nil {
				r.run, err = nil, context.Cause(ctx) // the run may be at any stage
			}
			return nil, err
		}
		r.states = append(r.states, st)
	}
	return r.states[step-1], nil
}

// make computes the state of the next step. A new run starts at the nearest step at or before the
// next one that begins a new text.
func (r *tourRun) make(ctx context.Context, slot func() *pool.Slot, w *lessons.Walk) (*session.State, error) {
	done := len(r.states)
	before := done
	if r.run == nil {
		s := slot()
		s.Step(true) // someone is waiting for this run
		r.run = session.New(s.Model(), session.Limits{PromptBytes: tourPrompt})
		before = -1
	}
	st, err := moves.Perform(ctx, r.run.Apply, w, done+1, before)
	if a := w.Steps[done].Ask; err == nil && a != nil && (a.Kind == lessons.AskNext || a.Kind == lessons.AskDraw) {
		st, err = moves.Undrawn(ctx, r.run.Apply)
	}
	return st, err
}

// tourPage is one step of a tour.
type tourPage struct {
	Walk       *lessons.Walk
	Step       *lessons.WalkStep
	N          int
	Back, Next string // addresses; "" at the beginning and at the end
	Screen     screen
	Poll       *poll  // before and after the answer
	Mine       string // key of the learner's answer; "" before there is one
	Said       string // the learner's answer as text
	Right      *bool  // set for a question or a number
	Draws      int    // for a draw: the number of draws so far
	Loop       string // link to the same run in the Loop; "" before the answer
}

// Asked reports whether the page is waiting for an answer.
func (v tourPage) Asked() bool { return v.Poll != nil && v.Mine == "" }

func tourPath(slug string, step int) string {
	return "/tour/" + slug + "?step=" + strconv.Itoa(step)
}

func (p *Pages) tour(w http.ResponseWriter, r *http.Request) {
	p.Who(w, r)
	words := stage.In(r.Context())
	walk := p.Course.In(r.Context()).Walk(r.PathValue("walk"))
	if walk == nil {
		p.Refuse(
			w, r, http.StatusNotFound, words.T("classroom.tour.none"), words.T("classroom.tour.none.say"),
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
			w, r, http.StatusNotFound, words.T("classroom.tour.none.step"),
			words.T("classroom.tour.none.step.say", "n", len(walk.Steps)),
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
	if err := v.ask(words, st, shell.ViewOf(r), q); err != nil {
		p.fail(w, r, err)
		return
	}
	if !v.Asked() && st.Started() {
		v.Loop = "/loop?log=" + session.LinkOf(st)
	}
	p.HTML(w, r, http.StatusOK, tourHTML(v))
}

// ask sets the step's poll and, after an answer, the result.
func (v *tourPage) ask(w stage.Words, st *session.State, view shell.View, q url.Values) error {
	v.Screen = newScreen(w, st, view, false)
	a := v.Step.Ask
	if a == nil {
		return nil
	}
	seed := st.Settings.Seed
	asked, err := polls.AskAlone(st, a, seed+uint64(v.N))
	if err != nil {
		return err
	}
	choice := strings.TrimSpace(q.Get("choice"))
	seen := asked.Open()
	switch {
	case a.Kind == lessons.AskDraw: // a draw hides nothing and needs no answer
		v.Mine = "draw"
		if n, err := strconv.Atoi(q.Get("draws")); err == nil {
			v.Draws = min(max(n, 0), mostDraws)
		}
		seen = asked.Draw(v.Draws, seed^drawStream)
		seen.Prompt = "<p>" + templ.EscapeString(w.T("classroom.tour.prompt")) + "</p>"
	case choice != "":
		answer, err := asked.Answer(choice)
		if err != nil {
			return err
		}
		seen, v.Mine, v.Right = answer.Poll, answer.Mine, answer.Right
		v.Said = class.TextIn(w.Language, answer.Said)
	case a.Kind == lessons.AskNext:
		v.Screen = newVeiled(w, st, view, seen.Step)
	}
	v.Poll = newPoll(w, &class.View{Poll: seen, Here: 1})
	return nil
}

const (
	// mostDraws is the maximum number of draws in one request.
	mostDraws = 1000
	// drawStream makes a tour's draws independent of the run's draws.
	drawStream = 0x5eed
)
