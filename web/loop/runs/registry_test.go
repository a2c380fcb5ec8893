package runs

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/pool"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(fixture.Suite{M: m}) }

// registry returns a registry that ends with the test.
func registry(t *testing.T, limits Limits) *Registry {
	t.Helper()
	pool := pool.New(testmodel.Target(t), 0)
	rs := New(Config{
		Model: testmodel.Target(t), Slot: func() Slot { return pool.Slot() }, Limits: limits,
		Log: slog.New(slog.DiscardHandler), MAC: shell.NewLearners([]byte("a test's"), nil).MAC,
	})
	t.Cleanup(func() {
		if err := rs.Close(context.Background()); err != nil {
			t.Error(err)
		}
		pool.Close()
	})
	return rs
}

func join(t *testing.T, rs *Registry, learner, id string) (*Run, *Viewer) {
	t.Helper()
	v := NewViewer("")
	r, _ := rs.Join(admission.Caller{Learner: learner}, id, v)
	return r, v
}

func must(t *testing.T, r *Run, c session.Command) *session.State {
	t.Helper()
	st, err := r.Do(context.Background(), c, nil, 0)
	if err != nil {
		t.Fatalf("%+v: %v", c, err)
	}
	return st
}

// TestBudgetEvictsLeastRecentlyUsed: above the memory budget, the least recently used run is
// evicted first, and runs that are watched are evicted last. Evicted runs are rebuilt bit for bit.
func TestBudgetEvictsLeastRecentlyUsed(t *testing.T) {
	t.Parallel()
	probe := registry(t, Limits{})
	r, _ := join(t, probe, "a", "")
	must(t, r, session.Start{Prompt: "Once upon a time"})
	must(t, r, session.StepToken{})
	one := r.bytes.Load()

	rs := registry(t, Limits{MemoryBytes: 2*one + one/2}) // enough for two
	type watched struct {
		*Run
		viewer *Viewer
		state  *session.State
	}
	var list []watched
	for i := range 3 {
		r, v := join(t, rs, "a", "")
		must(t, r, session.Start{Prompt: "Once upon a time"})
		list = append(list, watched{r, v, must(t, r, session.StepToken{})})
		if i == 1 {
			rs.Leave(r, v) // the second is not watched, so it goes first
		}
	}
	evicted := func(r *Run) bool { return r.latest.Load() == nil }
	// Evictions are only requested here, and happen a moment later.
	browser.Eventually(t, func() bool { return evicted(list[1].Run) })
	if evicted(list[0].Run) || evicted(list[2].Run) {
		t.Fatalf("evicted: first %v, third %v, want only the second", evicted(list[0].Run), evicted(list[2].Run))
	}
	if got := rs.memory.total.Load(); got > rs.cfg.Limits.MemoryBytes {
		t.Errorf("got %d bytes, want at most the budget, %d", got, rs.cfg.Limits.MemoryBytes)
	}
	back, err := list[1].Current(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	a, b := list[1].state.Steps[0], back.Steps[0]
	if !slices.Equal(a.Logits, b.Logits) || a.Chosen != b.Chosen || back.Cursor != list[1].state.Cursor {
		t.Error("the rebuilt run differs from the original")
	}
	browser.Eventually(t, func() bool { return evicted(list[0].Run) }) // rebuilding one run causes the next eviction
}

// TestOpenPagesDoNotCountAsRuns: only runs that have been started count toward the limits, so open
// pages do not prevent others from starting a run.
func TestOpenPagesDoNotCountAsRuns(t *testing.T) {
	t.Parallel()
	rs := registry(t, Limits{})
	rs.cfg.Places = admission.NewPool(admission.Share{Most: 1, PerLearner: 1}, nil)
	for range 5 {
		join(t, rs, "a", "")
	}
	waiting, _ := join(t, rs, "a", "")
	r, _ := join(t, rs, "b", "")
	long := session.Start{Prompt: strings.Repeat("a", 1<<16)}
	if _, err := r.Do(context.Background(), long, nil, 0); err == nil {
		t.Fatal("a prompt of 64 KiB was accepted")
	}
	must(t, waiting, session.Start{Prompt: "Hello"}) // the refused run does not hold a place
	for _, c := range []session.Command{
		session.Start{Prompt: "Hello"}, session.Try{Key: "sure"}, session.Open{}, session.Rebuild{},
	} {
		if _, err := r.Do(context.Background(), c, nil, 0); terms.RefusalOf(err).Code != terms.CodeFull {
			t.Errorf("a second run, by %T: got %v, want code = %q", c, err, terms.CodeFull)
		}
	}
	if st := must(t, r, session.SetPreset{Key: "greedy"}); st.Started() {
		t.Error("a run that was refused has started")
	}
}

// TestRunLimitsPerLearner: a learner's third run replaces the oldest of the learner's runs that
// nobody watches. If all of them are watched, the third run is refused. A learner without a run
// takes a place from the learner with the most runs, unless nobody has more than one.
func TestRunLimitsPerLearner(t *testing.T) {
	t.Parallel()
	rs := registry(t, Limits{})
	rs.cfg.Places = admission.NewPool(admission.Share{Most: 3, PerLearner: 2}, nil)
	first, v := join(t, rs, "a", "")
	must(t, first, session.Start{Prompt: "Hello"})
	rs.Leave(first, v)
	start := func(learner string) error {
		r, _ := join(t, rs, learner, "")
		_, err := r.Do(context.Background(), session.Start{Prompt: "Hello"}, nil, 0)
		if err != nil {
			rs.End(r)
		}
		return err
	}
	for _, learner := range []string{"a", "a"} {
		if err := start(learner); err != nil {
			t.Fatal(err)
		}
	}
	if rs.Find("a", first.id) != nil {
		t.Error("the run that nobody watched was not dropped for the third")
	}
	if err := start("a"); terms.RefusalOf(err).Code != terms.CodeFull {
		t.Errorf("a third watched run: got %v, want code = %q", err, terms.CodeFull)
	}
	for _, learner := range []string{"b", "c"} {
		if err := start(learner); err != nil {
			t.Fatal(err)
		}
	}
	browser.Eventually(t, func() bool { return len(runsOf(rs, "a")) == 1 && len(runsOf(rs, "c")) == 1 })
	if err := start("d"); terms.RefusalOf(err).Code != terms.CodeFull {
		t.Errorf("a fourth run, where three are allowed: got %v, want code = %q", err, terms.CodeFull)
	}
}

func runsOf(rs *Registry, learner string) (list []*Run) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for _, r := range rs.byID {
		if r.learner == learner {
			list = append(list, r)
		}
	}
	return list
}

// TestEmptyRunGoesWithItsViewer: pages that are opened and closed leave no runs behind.
func TestEmptyRunGoesWithItsViewer(t *testing.T) {
	t.Parallel()
	rs := registry(t, Limits{})
	r, v := join(t, rs, "a", "")
	rs.Leave(r, v)
	<-r.done
	if rs.Find("a", r.id) != nil {
		t.Error("the run is still there")
	}
}

// TestRunsExpireAfterSixHours checks the expiry of runs after six hours of fake time.
// Promise: A run that nobody uses is deleted after six hours.
func TestRunsExpireAfterSixHours(t *testing.T) {
	testmodel.Target(t) // loaded outside the bubble, in real time
	synctest.Test(t, func(t *testing.T) {
		rs := registry(t, Limits{})
		watched, _ := join(t, rs, "a", "")
		left, v := join(t, rs, "a", "")
		must(t, left, session.Start{Prompt: "Hello"})
		rs.Leave(left, v)
		fixture.Pass(5*time.Hour + 50*time.Minute)
		if rs.Find("a", left.id) == nil { // Find counts as use
			t.Error("the run expired before six hours had passed")
		}
		fixture.Pass(6*time.Hour + 7*time.Minute) // six hours, plus the next sweep, which runs every six minutes
		if rs.Find("a", left.id) != nil {
			t.Error("the run has not expired after six hours")
		}
		if rs.Find("a", watched.id) == nil {
			t.Error("a watched run expired")
		}
	})
}

// TestPlayPaceByTheClock counts the stages that run in eleven seconds at 1.2 s each: nine, at
// 1.2, 2.4, … 10.8 s.
func TestPlayPaceByTheClock(t *testing.T) {
	testmodel.Target(t) // loaded outside the bubble, in real time
	synctest.Test(t, func(t *testing.T) {
		rs := registry(t, Limits{})
		r, _ := join(t, rs, "a", "")
		must(t, r, session.Start{Prompt: "Hello"})
		must(t, r, session.Play{})
		fixture.Pass(11 * time.Second)
		// The start runs the first stage, so these are stages 2 to 10. The 10th is the 3rd stage of
		// the second turn.
		if got := r.latest.Load().Cursor; got != (session.Cursor{Step: 2, Stage: 3}) {
			t.Errorf("the run is at %+v, want step 2, stage 3", got)
		}
		must(t, r, session.Pause{})
		before := r.latest.Load()
		fixture.Pass(time.Minute)
		if r.latest.Load() != before {
			t.Error("the run continued after the pause")
		}
	})
}

// TestWakeupsCoalesce: a viewer that never reads is woken only once, no matter how much happens.
func TestWakeupsCoalesce(t *testing.T) {
	t.Parallel()
	rs := registry(t, Limits{})
	r, v := join(t, rs, "a", "")
	must(t, r, session.Start{Prompt: "Hello"})
	for range 20 {
		must(t, r, session.StepStage{})
	}
	if len(v.wake) != 1 {
		t.Errorf("%d wake-ups are pending, want 1", len(v.wake))
	}
}

// TestPanicEndsOneRun: if a run panics, only this run ends.
// Promise: A crash in one run ends that run, not the server.
func TestPanicEndsOneRun(t *testing.T) {
	t.Parallel()
	rs := registry(t, Limits{})
	r, _ := join(t, rs, "a", "")
	other, _ := join(t, rs, "a", "")
	r.fits = func(*Run) bool { panic("as if the engine had a fault") } // called by the run's goroutine
	if _, err := r.Do(context.Background(), session.Start{Prompt: "Hello"}, nil, 0); err == nil {
		t.Error("the command was carried out")
	}
	<-r.Done()
	must(t, other, session.Start{Prompt: "Hello"})
	browser.Eventually(t, func() bool { return rs.Find("a", r.id) == nil })
}

// TestRunIDsBelongToTheirLearner: an id is recognized only for the learner to whom it was
// issued.
func TestRunIDsBelongToTheirLearner(t *testing.T) {
	t.Parallel()
	rs := registry(t, Limits{})
	id := rs.newID("a")
	changed := "A" + id[1:]
	if changed == id {
		changed = "B" + id[1:]
	}
	if !rs.issued("a", id) || rs.issued("b", id) || rs.issued("a", changed) || rs.issued("a", "") {
		t.Errorf(
			"%s is a's: %v, b's: %v; changed it is a's: %v", id, rs.issued("a", id), rs.issued("b", id),
			rs.issued("a", changed),
		)
	}
	// The first of learner a's pages to reconnect gets this id, while learner b gets another id.
	if r, _ := join(t, rs, "b", id); r.id == id {
		t.Error("b's run has the id that was given to a")
	}
	if r, _ := join(t, rs, "a", id); r.id != id {
		t.Errorf("a's run has the id %s, want %s", r.id, id)
	}
}
