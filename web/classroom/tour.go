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
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/lessons/predict"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/session"
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
	if err := v.ask(st, q); err != nil {
		p.fail(w, r, err)
		return
	}
	if !v.Asked() && st.Started() {
		v.Loop = "/loop?log=" + session.LinkOf(st)
	}
	p.HTML(w, r, http.StatusOK, tourHTML(v))
}

// ask prepares what the step asks, and what an answer brings to light.
func (v *tourPage) ask(st *session.State, q url.Values) error {
	v.Screen = newScreen(st, false)
	a := v.Step.Ask
	if a == nil {
		return nil
	}
	v.Mine = strings.TrimSpace(q.Get("choice"))
	phase := class.Open
	if v.Mine != "" {
		phase = class.Revealed
	}
	ask := &class.Poll{ID: "tour", Kind: class.Kind(a.Kind), Phase: phase, Round: 1}
	var err error
	switch a.Kind {
	case lessons.AskNext:
		err = v.askNext(st, ask, max(a.Choices, predict.LeastCandidates))
	case lessons.AskDraw:
		v.askDraw(st, ask, q)
	case lessons.AskQuestion:
		v.askQuestion(ask, a.Question)
	case lessons.AskNumber:
		err = v.askNumber(ask, a)
	}
	if err != nil {
		return err
	}
	v.Poll = newPoll(&class.View{Poll: ask, Here: 1})
	return nil
}

// askedStep is the step that is not drawn yet.
func askedStep(st *session.State) (*infer.Step, error) {
	if len(st.Steps) > 0 {
		if last := st.Steps[len(st.Steps)-1]; last.Logits != nil && last.Ran < infer.KindSample {
			return last, nil
		}
	}
	return nil, &terms.Refusal{
		Code: class.CodeAsk, Message: "This step asks for the next token where none is about to be drawn.",
	}
}

var errChoice = &terms.Refusal{
	Code: class.CodeNotOffer, Message: "That is not one of the choices. Go back and choose one of those shown.",
}

func (v *tourPage) askNext(st *session.State, ask *class.Poll, n int) error {
	step, err := askedStep(st)
	if err != nil {
		return err
	}
	d := step.Distribution()
	drawn := d.Order[d.Draw(sampling.U(step.Settings.Seed, step.N))]
	ask.Prompt, ask.Step = "<p>Which token comes next?</p>", step.N
	for i, id := range predict.Deal(d, drawn, n, step.Settings.Seed+uint64(v.N)) {
		t := st.Model.Token(int(id))
		o := class.Option{Key: strconv.Itoa(int(id)), Letter: letter(i), Text: t.Text, Token: true}
		if ask.Phase == class.Revealed {
			o.P, o.Q, o.Right = d.P[id], d.Q(d.RankOf(id)), id == drawn
		}
		ask.Options = append(ask.Options, o)
	}
	if !v.choose(ask) {
		return errChoice
	}
	if v.Asked() || v.Mine == "" {
		v.Screen = newVeiled(st, step.N)
	}
	return nil
}

func letter(i int) string { return string(rune('A' + i)) }

// choose counts the learner's answer; false where it was not on offer.
func (v *tourPage) choose(ask *class.Poll) bool {
	if v.Mine == "" {
		return true
	}
	for i := range ask.Options {
		if o := &ask.Options[i]; o.Key == v.Mine {
			o.Count, ask.Votes, v.Said = 1, 1, o.Text
			return true
		}
	}
	return false
}

// mostDraws is how many draws a learner makes at once.
const mostDraws = 1000

// askDraw draws as a class would: each draw has a u of its own, from a stream
// apart from the run's.
func (v *tourPage) askDraw(st *session.State, ask *class.Poll, q url.Values) {
	ask.Phase = class.Open
	v.Mine = "draw" // it hides nothing and waits for nothing
	step, err := askedStep(st)
	if err != nil {
		return
	}
	d := step.Distribution()
	n, err := strconv.Atoi(q.Get("draws"))
	if err != nil {
		n = 0
	}
	v.Draws = min(max(n, 0), mostDraws)
	ask.Prompt, ask.Step, ask.Votes = "<p>Draw as a class would: one number for each person.</p>", step.N, v.Draws
	counts := map[int]int{}
	for i := range v.Draws {
		counts[d.DrawKept(sampling.U(step.Settings.Seed^drawStream, i+1))]++
	}
	rest := class.Option{Text: "all others", Rest: true}
	for i := range d.Keep {
		if i >= optionsOfDraw {
			rest.Count += counts[i]
			rest.Q += d.KeptQ(i)
			continue
		}
		id := int(d.Order[d.KeptRank(i)])
		ask.Options = append(ask.Options, class.Option{
			Key: strconv.Itoa(id), Text: st.Model.Token(id).Text, Token: true, Count: counts[i], Q: d.KeptQ(i),
		})
	}
	if rest.Q > 0 {
		ask.Options = append(ask.Options, rest)
	}
}

const (
	// drawStream sets the draws of a tour apart from those of the run.
	drawStream = 0x5eed
	// optionsOfDraw is how many tokens a histogram names.
	optionsOfDraw = 8
)

func (v *tourPage) askQuestion(ask *class.Poll, q *lessons.Question) {
	ask.Prompt = q.Prompt
	if q.Kind != "choice" {
		ask.Options = []class.Option{
			{Key: "yes", Letter: "A", Text: "I have an answer"}, {Key: "no", Letter: "B", Text: "Not yet"},
		}
	}
	for i, c := range q.Choices {
		o := class.Option{Key: strconv.Itoa(i + 1), Letter: letter(i), HTML: c.HTML}
		if ask.Phase == class.Revealed {
			o.Right, o.Why = c.Right, c.Why
		}
		ask.Options = append(ask.Options, o)
	}
	if !v.choose(ask) {
		v.Mine, ask.Phase = "", class.Open
	}
	if ask.Phase != class.Revealed {
		return
	}
	ask.Answer = q.Answer
	for _, o := range ask.Options {
		if o.Key == v.Mine && q.Kind == "choice" {
			right := o.Right
			v.Right = &right
		}
	}
	if len(q.Rubric) > 0 {
		ask.Answer += "<ul><li>" + strings.Join(q.Rubric, "</li><li>") + "</li></ul>"
	}
}

func (v *tourPage) askNumber(ask *class.Poll, a *lessons.AskSpec) error {
	ask.Prompt, ask.Unit = a.Prompt, a.Unit
	if v.Mine == "" {
		return nil
	}
	x, err := class.ReadNumber(v.Mine)
	if err != nil {
		return err
	}
	right := abs(x-a.Answer) <= a.Within+1e-9*abs(a.Answer)
	v.Right, v.Said, ask.Right = &right, number(x)+" "+a.Unit, &a.Answer
	return nil
}

func abs(x float64) float64 { return max(x, -x) }
