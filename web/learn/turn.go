package learn

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/stage"
)

// The home page's run has a fixed prompt and ends after a sentence or two. It uses one of a few
// seeds, so that visitors do not always see the same text.
const (
	homePrompt = "Once upon a time there was a"
	homePreset = "common"
	homeSeeds  = 8
	homeTurns  = 32
	homeRows   = 5
)

// turns computes the runs of the home page, each once for all visitors and only as far as some
// visitor has watched it. The cost does not depend on the number of visitors: one pass per token,
// and memory for [homeSeeds] times [homeTurns] small view models in each language.
type turns struct {
	model func() *infer.Model // if there is a pool, the model runs in its own slot
	mu    sync.Mutex
	runs  map[string]*[homeSeeds]homeRun // by language
}

// A homeRun is the run with one seed.
type homeRun struct {
	mu      sync.Mutex
	session *session.Session // nil before the first turn and after the last
	done    []*turnView
}

func newTurns(d Deps) *turns {
	return &turns{runs: map[string]*[homeSeeds]homeRun{}, model: func() *infer.Model {
		if d.Slot != nil {
			return d.Slot().Model()
		}
		return d.Model
	}}
}

// run returns the run with the given seed, in language l.
func (t *turns) run(l *terms.Language, seed int) *homeRun {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.runs[l.Tag] == nil {
		t.runs[l.Tag] = &[homeSeeds]homeRun{}
	}
	return &t.runs[l.Tag][seed-1]
}

// at returns turn n, counted from 1, of the run with the given seed, from 1 to homeSeeds. It
// first runs the turns before n that have not been run yet. If n is beyond the last turn, at
// returns the last one.
func (t *turns) at(ctx context.Context, seed, n int) (*turnView, error) {
	r := t.run(terms.In(ctx), seed)
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.done) < n && (len(r.done) == 0 || !r.done[len(r.done)-1].Last) {
		if err := r.next(ctx, t.model, seed); err != nil {
			return nil, err
		}
	}
	return r.done[min(n, len(r.done))-1], nil
}

// next runs one more turn. If it fails halfway, it starts the run again the next time. The result
// is the same, because a run's seed is the only random choice.
func (r *homeRun) next(ctx context.Context, model func() *infer.Model, seed int) error {
	var err error
	if r.session == nil {
		r.session = session.New(model(), session.DefaultLimits())
		err = start(ctx, r.session, seed, len(r.done))
	}
	var st *session.State
	if err == nil {
		st, err = r.session.Apply(ctx, session.StepToken{})
	}
	if err != nil {
		r.session = nil
		return fmt.Errorf("home page run with seed %d: %w", seed, err)
	}
	v := newTurn(stage.In(ctx), st, seed)
	r.done = append(r.done, v)
	if v.Last {
		r.session = nil // its trace is no longer needed
	}
	return nil
}

// start sets a session's settings and prompt, and replays its first turns; done is their number.
func start(ctx context.Context, s *session.Session, seed, done int) error {
	commands := []session.Command{
		session.SetPreset{Key: homePreset},
		session.Set{Knobs: infer.Knobs{"seed": float64(seed), "max_tokens": homeTurns}},
		session.Start{Prompt: homePrompt},
	}
	for range done {
		commands = append(commands, session.StepToken{})
	}
	for _, c := range commands {
		if _, err := s.Apply(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// turn handles GET /learn/turn?seed=S&n=N. It sends one turn of the home page's run.
func (p *Pages) turn(w http.ResponseWriter, r *http.Request) {
	v, err := p.turnOf(r)
	if err != nil {
		p.Log.Error("home page turn failed", "err", err)
		words := stage.In(r.Context())
		p.Refuse(
			w, r, http.StatusInternalServerError, words.T("learn.home.failed"), words.T("learn.home.failed.turn"),
		)
		return
	}
	p.HTML(w, r, http.StatusOK, turnHTML(v))
}

// turnOf returns the requested turn. If the request's turn number is invalid, it returns turn 1; if
// the request has none, [turns.unsure] selects the turn.
func (p *Pages) turnOf(r *http.Request) (*turnView, error) {
	number := func(name string, most int) int {
		n, _ := strconv.Atoi(r.URL.Query().Get(name))
		return min(max(n, 1), most)
	}
	seed := number("seed", homeSeeds)
	if !r.URL.Query().Has("n") {
		return p.turns.unsure(r.Context(), seed)
	}
	return p.turns.at(r.Context(), seed, number("n", homeTurns))
}

// unsure returns the turn of a run at which the home page slows down: the first turn after a
// complete sentence at which the likeliest token has a probability below one half. If there is
// none, it returns the last turn.
func (t *turns) unsure(ctx context.Context, seed int) (*turnView, error) {
	sentence := false
	for n := 1; ; n++ {
		v, err := t.at(ctx, seed, n)
		if err != nil || v.Last || sentence && !v.Sure {
			return v, err
		}
		sentence = sentence || v.Ends
	}
}

// A turnView shows one turn of the loop with all seven stages.
type turnView struct {
	Seed, N    int
	Given      []stage.Token // the prompt
	Made       []stage.Token // generated before this turn
	New        stage.Token   // the token that this turn adds
	Map        stage.Map
	Rail       []stage.RailStage
	Candidates stage.Candidates
	Says       []turnSay
	Loop       string // address of the Loop at this state
	Sure       bool   // the likeliest token has a probability of at least one half
	Ends       bool   // the new token ends a sentence
	Last       bool
}

// A turnSay is a sentence about one stage.
type turnSay struct {
	N    int
	Name string
	Say  stage.Rich
}

func newTurn(w stage.Words, st *session.State, seed int) *turnView {
	strip := w.NewStrip(st)
	made := strip.Tokens
	v := &turnView{
		Seed: seed, N: len(made), Given: strip.Prompt, Made: made[:len(made)-1], New: made[len(made)-1],
		Says: says(w, st), Loop: "/loop?log=" + session.LinkOf(st), Last: st.Stopped != infer.StopNone,
	}
	f := st.StageOf(infer.KindFilter, homeRows).(infer.Filter)
	v.Sure = f.Rows.Rows[0].P >= 0.5
	v.Ends = strings.ContainsAny(st.Steps[len(st.Steps)-1].Text, ".!?")
	v.Candidates = w.NewCandidates(st, infer.KindCache, homeRows)
	v.Candidates.Walked = true
	v.Map = w.NewMap(st, stage.MapOptions{ID: "turn-map", Form: stage.MapBig, At: infer.KindSoftmax, Walk: true})
	v.Rail = stage.Verbs(w.NewSteps(0)) // the page's styles select the one that is shown
	return v
}

// says returns a sentence for each of the seven stages of a turn. It uses the Story's sentences,
// because a learner on this page has not chosen Numbers yet.
func says(w stage.Words, st *session.State) []turnSay {
	v := make([]turnSay, stages)
	rail := stage.Verbs(w.NewSteps(0))
	for i, k := range infer.Kinds {
		v[i] = turnSay{i + 1, rail[i].Name, w.SentenceOf(stage.Tale, st, k)}
	}
	return v
}
