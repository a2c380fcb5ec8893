package runs

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
)

// measured returns a registry whose process uses as much memory as the test says.
func measured(t *testing.T, limits Limits) (rs *Registry, resident *atomic.Int64) {
	t.Helper()
	resident = new(atomic.Int64)
	pool := infer.NewPool(testmodel.Target(t), 0)
	rs = New(Config{
		Model: testmodel.Target(t), Seat: func() Seat { return pool.Seat() }, Limits: limits,
		Log: slog.New(slog.DiscardHandler), MAC: shell.NewLearners([]byte("a test's"), nil).MAC,
		Resident: resident.Load,
	})
	t.Cleanup(func() {
		if err := rs.Close(context.Background()); err != nil {
			t.Error(err)
		}
		pool.Close()
	})
	return rs, resident
}

// TestResidentLimit: when the process uses more memory than it may, idle runs are
// evicted, runs that play pause and say why, and new ones are refused; with memory
// again, everything goes on.
func TestResidentLimit(t *testing.T) {
	t.Parallel()
	rs, resident := measured(t, Limits{ResidentBytes: 1 << 30, MemoryWait: time.Millisecond})
	idle, _ := join(t, rs, "a", "")
	must(t, idle, session.Start{Prompt: "Once upon a time there was a"})
	before := must(t, idle, session.StepToken{})
	plays, _ := join(t, rs, "b", "")
	must(t, plays, session.Start{Prompt: "Once upon a time there was a"})
	must(t, plays, session.SetSpeed{Speed: session.SpeedFour})
	must(t, plays, session.Play{})

	resident.Store(2 << 30)
	browser.Eventually(t, func() bool { return idle.Latest() == nil && !plays.playing.Load() })
	if st, err := plays.Current(context.Background()); err != nil || st.Notice == "" {
		t.Errorf("the run that played: %+v, %v", st, err)
	}
	fresh, _ := join(t, rs, "c", "")
	start := session.Start{Prompt: "Once upon a time"}
	if _, err := fresh.Do(context.Background(), start, nil, 0); terms.RefusalOf(err).Code != terms.CodeFull {
		t.Fatalf("a new run: %v", err)
	}
	resident.Store(1 << 29)
	browser.Eventually(t, func() bool { return !rs.full.Load() })
	must(t, fresh, start)
	after, err := idle.Current(context.Background())
	if err != nil || len(after.Steps) != len(before.Steps) {
		t.Fatalf("the evicted run: %v", err)
	}
	must(t, plays, session.Play{})
}

// TestRunWaitsForMemory: a run that begins while the process uses too much memory waits
// until there is room, and is not refused.
func TestRunWaitsForMemory(t *testing.T) {
	t.Parallel()
	rs, resident := measured(t, Limits{ResidentBytes: 1 << 30, MemoryWait: browser.Patience})
	resident.Store(2 << 30)
	browser.Eventually(t, rs.full.Load)
	r, _ := join(t, rs, "a", "")
	begun := make(chan error, 1)
	go func() {
		_, err := r.Do(context.Background(), session.Start{Prompt: "Once upon a time"}, nil, 0)
		begun <- err
	}()
	select {
	case err := <-begun:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(10 * time.Millisecond):
	}
	resident.Store(1 << 29)
	if err := <-begun; err != nil {
		t.Error(err)
	}
}

// TestRestedRunsGiveUpTheirMemory: a run that nobody watches or uses for a while
// gives up its memory though there is enough, unless rebuilding it would take long;
// one that is watched keeps it.
func TestRestedRunsGiveUpTheirMemory(t *testing.T) {
	t.Parallel()
	rs, _ := measured(t, Limits{})
	begin := func(learner string) (*Run, *Viewer) {
		r, v := join(t, rs, learner, "")
		must(t, r, session.Start{Prompt: "Once upon a time there was a"})
		must(t, r, session.StepToken{})
		return r, v
	}
	watched, _ := begin("a")
	rested, v := begin("b")
	rs.Leave(rested, v)
	slow, v := begin("c")
	rs.Leave(slow, v)
	st := *slow.Latest()
	step := *st.Steps[0]
	step.Took[infer.KindForward] = time.Minute
	st.Steps = append([]*infer.Step{&step}, st.Steps[1:]...)
	slow.latest.Store(&st)

	now := time.Now()
	rs.lookAtMemory(now.Add(restedAfter / 2))
	rs.lookAtMemory(now.Add(restedAfter + time.Minute))
	if len(watched.evictions)+len(slow.evictions) > 0 {
		t.Error("a run is asked to give up its memory that is watched, or takes long to rebuild")
	}
	browser.Eventually(t, func() bool { return rested.bytes.Load() == 0 })
	for _, r := range []*Run{watched, slow} {
		if now, err := r.Do(context.Background(), nil, nil, 0); err != nil || now.Version != st.Version {
			t.Errorf("a run has been rebuilt that is watched, or takes long to rebuild: %v", err)
		}
	}
	if rs.memory.freed.Load() == 0 {
		t.Error("nothing was freed")
	}
	if st, err := rested.Current(context.Background()); err != nil || len(st.Steps) != 1 {
		t.Errorf("rebuilt: %v, %v", st, err)
	}
}
