package runs

import (
	"context"
	"log/slog"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/pool"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
)

// measured returns a registry, and a variable that determines how much memory the process appears
// to use.
func measured(t *testing.T, limits Limits) (rs *Registry, resident *atomic.Int64) {
	t.Helper()
	resident = new(atomic.Int64)
	pool := pool.New(testmodel.Target(t), 0)
	rs = New(Config{
		Model: testmodel.Target(t), Slot: func() Slot { return pool.Slot() }, Limits: limits,
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

// TestResidentMemoryLimit: when the process uses more memory than allowed, idle runs are
// evicted, playing runs pause and explain why, and new runs are refused. Once enough memory is
// free, everything works as before.
func TestResidentMemoryLimit(t *testing.T) {
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
		t.Errorf("the run that played: got %+v, %v; want no error, Notice not empty", st, err)
	}
	fresh, _ := join(t, rs, "c", "")
	start := session.Start{Prompt: "Once upon a time"}
	if _, err := fresh.Do(context.Background(), start, nil, 0); terms.RefusalOf(err).Code != terms.CodeFull {
		t.Fatalf("a new run: got %v, want code = %q", err, terms.CodeFull)
	}
	resident.Store(1 << 29)
	browser.Eventually(t, func() bool { return !rs.full.Load() })
	must(t, fresh, start)
	after, err := idle.Current(context.Background())
	if err != nil || len(after.Steps) != len(before.Steps) {
		t.Fatalf("the evicted run: got %v, want no error, len(after.Steps) = %d", err, len(before.Steps))
	}
	must(t, plays, session.Play{})
}

// TestRunWaitsForMemory: a run that begins while the process uses too much memory is not refused,
// but waits until enough memory is free.
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
		t.Fatalf("the run did not wait: %v", err)
	case <-time.After(10 * time.Millisecond):
	}
	resident.Store(1 << 29)
	if err := <-begun; err != nil {
		t.Error(err)
	}
}

// TestIdleRunsReleaseTheirMemory: a run that has not been watched or used for restedAfter releases
// its memory even if there is enough memory, unless rebuilding the run would take a long time. A
// run that is being watched keeps its memory.
func TestIdleRunsReleaseTheirMemory(t *testing.T) {
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
		t.Error("a run that is watched, or takes long to rebuild, is asked to release its memory")
	}
	browser.Eventually(t, func() bool { return rested.bytes.Load() == 0 && rested.Latest() == nil })
	for _, r := range []*Run{watched, slow} {
		if now, err := r.Do(context.Background(), nil, nil, 0); err != nil || now.Version != st.Version {
			t.Errorf(
				"a run has been rebuilt that is watched, or takes long to rebuild: got %v, want no error, "+
					"now.Version = %d",
				err, st.Version,
			)
		}
	}
	if rs.memory.freed.Load() == 0 {
		t.Error("nothing was freed")
	}
	if st, err := rested.Current(context.Background()); err != nil || len(st.Steps) != 1 {
		t.Errorf("rebuilt: got %v, %v; want no error, len(Steps) = 1", st, err)
	}
}

// TestIdleRunIsRebuiltTheSame: a run that has not been watched or used for restedAfter is reduced
// to a few bytes, without a goroutine. When its learner returns, and only then, it is rebuilt
// exactly, including its tree of branches. A run at rest can also be dropped to make room for
// others.
func TestIdleRunIsRebuiltTheSame(t *testing.T) {
	t.Parallel()
	rs, _ := measured(t, Limits{})
	rs.cfg.Places = admission.NewPool(admission.Share{Most: 2, PerLearner: 1}, nil)
	v := NewViewer("tab")
	r, _ := rs.Join(admission.Caller{Learner: "a"}, "", v)
	must(t, r, session.Start{Prompt: "Once upon a time"})
	for range 3 {
		must(t, r, session.StepToken{})
	}
	must(t, r, session.Seek{Step: 2, Stage: infer.KindFilter})
	must(t, r, session.SetKnob("temperature", 2.5))
	before, err := r.Do(t.Context(), session.StepToken{}, v, 7)
	if err != nil {
		t.Fatal(err)
	}
	rs.Leave(r, v)
	rest := func(r *Run) {
		t.Helper()
		r.used.Store(time.Now().Add(-restedAfter - time.Second).UnixNano())
		rs.lookAtMemory(time.Now())
		<-r.Done()
		if n := len(rs.resting[r.id].session); n == 0 || n > 4<<10 {
			t.Fatalf("a run at rest takes %d bytes, want more than 0 and at most 4<<10", n)
		}
	}
	rest(r)
	if s := rs.Stats(); s.Unseen != 1 || s.Bytes != 0 {
		t.Errorf("one run at rest counts as %+v, want Unseen = 1, Bytes = 0", s)
	}
	if rs.Find("b", r.id) != nil || len(rs.resting) != 1 {
		t.Error("another learner can find the run, or wake it")
	}
	again := NewViewer("tab")
	woken, found := rs.Join(admission.Caller{Learner: "a"}, r.id, again)
	if ack, _ := again.Progress(); !found || woken == r || !again.Again() || ack != 7 {
		t.Errorf("found = %v, Again() = %v, last command %d; want true, true, 7", found, again.Again(), ack)
	}
	after, err := woken.Current(t.Context())
	if err != nil || after.Version <= before.Version || after.Cursor != before.Cursor ||
		len(after.Steps) != len(before.Steps) || !reflect.DeepEqual(after.Branches, before.Branches) {
		t.Fatalf("woken: %+v, %v, want %+v", after, err, before)
	}
	must(t, woken, session.TakeBranch{ID: before.Branches[0].ID})

	rs.Leave(woken, again)
	rest(woken)
	for _, learner := range []string{"b", "c"} {
		other, _ := join(t, rs, learner, "")
		must(t, other, session.Start{Prompt: "Hello"})
	}
	if rs.Find("a", r.id) != nil {
		t.Error("a run at rest was not dropped for a third run where two are allowed")
	}
}

// TestIdleRunExpires: a run at rest expires, which frees its place. If its place is given to
// another learner before that, the run ends.
func TestIdleRunExpires(t *testing.T) {
	t.Parallel()
	rs, _ := measured(t, Limits{})
	pool := admission.NewPool(admission.Share{Most: 1}, nil)
	rs.cfg.Places = pool
	resting := func(learner string) string {
		r, v := join(t, rs, learner, "")
		must(t, r, session.Start{Prompt: "Hello"})
		rs.Leave(r, v)
		r.used.Store(time.Now().Add(-restedAfter - time.Second).UnixNano())
		rs.lookAtMemory(time.Now())
		<-r.Done()
		return r.id
	}
	id := resting("a")
	rs.dropUnusedSince(time.Now())
	if rs.Find("a", id) != nil || pool.Stats().Held != 0 {
		t.Errorf("the expired run still exists or holds a place (%d places held)", pool.Stats().Held)
	}
	id = resting("b")
	rs.endOf(id, new(admission.Permit)) // the permit of an earlier run with the same id
	place := rs.resting[id].place
	if place == nil {
		t.Fatal("the run ended although the place was not its own")
	}
	rs.endOf(id, place)
	if rs.Find("b", id) != nil {
		t.Error("the run still exists without its place")
	}
}
