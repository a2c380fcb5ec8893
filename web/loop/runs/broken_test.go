package runs

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/cost"
	"github.com/tokenbytoken/viz/infer/pool"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
)

// faulty is a slot whose passes panic while broken is positive. Each panic decrements broken.
type faulty struct {
	*pool.Slot
	broken *atomic.Int64
}

func (f faulty) Model() *infer.Model { return f.Slot.Model().Through(f) }

func (f faulty) ForwardTo(ctx context.Context, c *infer.Cache, tokens []int, out []float32) (cost.Parts, error) {
	if f.broken.Load() > 0 {
		f.broken.Add(-1)
		panic("what somebody typed")
	}
	return f.Slot.ForwardTo(ctx, c, tokens, out)
}

// faultyRegistry returns a registry whose model panics the number of times stored in broken.
func faultyRegistry(t *testing.T) (rs *Registry, broken *atomic.Int64, log *strings.Builder) {
	t.Helper()
	broken, log = new(atomic.Int64), &strings.Builder{}
	pool := pool.New(testmodel.Target(t), 0)
	rs = New(Config{
		Model: testmodel.Target(t), Slot: func() Slot { return faulty{pool.Slot(), broken} },
		Log: slog.New(slog.NewTextHandler(log, nil)), MAC: shell.NewLearners([]byte("a test's"), nil).MAC,
	})
	t.Cleanup(func() {
		if err := rs.Close(context.Background()); err != nil {
			t.Error(err)
		}
		pool.Close()
	})
	return rs, broken, log
}

// TestRunSurvivesAPanic: a command that panics is refused, the run is unchanged and
// continues, and the log has the stack but nothing that a learner typed.
func TestRunSurvivesAPanic(t *testing.T) {
	t.Parallel()
	rs, broken, log := faultyRegistry(t)
	r, _ := join(t, rs, "a", "")
	broken.Store(1)
	if _, err := r.Do(context.Background(), session.Start{Prompt: "Once upon"}, nil, 0); !errors.Is(err, errBroken) {
		t.Fatalf("the first text: got error %v, want %v", err, errBroken)
	}
	if n := rs.cfg.Places.Stats().Held; n != 0 {
		t.Errorf("a run that did not start holds %d places, want 0", n)
	}
	must(t, r, session.Start{Prompt: "Once upon a time"})
	must(t, r, session.StepToken{})
	before := must(t, r, session.StepToken{})
	broken.Store(1)
	st, err := r.Do(context.Background(), session.StepToken{}, nil, 0)
	if !errors.Is(err, errBroken) || session.LinkOf(st) != session.LinkOf(before) {
		t.Fatalf("a step: %v; the text is %s, want %s", err, session.LinkOf(st), session.LinkOf(before))
	}
	if st := must(t, r, session.StepToken{}); len(st.Steps) != 3 {
		t.Errorf("%d steps afterwards, want 3", len(st.Steps))
	}
	must(t, r, session.SetSpeed{Speed: session.SpeedMax})
	broken.Store(1)
	must(t, r, session.Play{})
	browser.Eventually(t, func() bool { return !r.playing.Load() })
	if st, err := r.Current(context.Background()); err != nil || st.Notice != session.WhyFailed {
		t.Errorf("a run that played: got %+v, %v; want no error, Notice = %q", st, err, session.WhyFailed)
	}
	must(t, r, session.Pause{}) // the log is written by the run's goroutine
	if got := log.String(); !strings.Contains(got, "faulty") || strings.Contains(got, "typed") {
		t.Errorf("the log: got %s, want it with %q and without %q", got, "faulty", "typed")
	}
}

// TestRepeatedPanicEndsTheRun: if a run panics again when it is rebuilt, only this run ends.
func TestRepeatedPanicEndsTheRun(t *testing.T) {
	t.Parallel()
	rs, broken, _ := faultyRegistry(t)
	r, _ := join(t, rs, "a", "")
	must(t, r, session.Start{Prompt: "Once upon a time"})
	must(t, r, session.StepToken{})
	broken.Store(2)
	if _, err := r.Do(context.Background(), session.StepToken{}, nil, 0); !errors.Is(err, ErrGone) {
		t.Errorf("the command: got error %v, want %v", err, ErrGone)
	}
	<-r.Done()
	other, found := rs.Join(admission.Caller{Learner: "a"}, r.id, NewViewer(""))
	if found {
		t.Fatal("the run that ended was found")
	}
	must(t, other, session.Start{Prompt: "Once upon a time"})
}

// TestRoomRunEndIsNotified: a class is notified when its run ends, even if the run ends without
// [RoomRun.Close] because it panicked again when it was rebuilt.
func TestRoomRunEndIsNotified(t *testing.T) {
	t.Parallel()
	rs, broken, _ := faultyRegistry(t)
	room, err := rs.OpenRoom(t.Context(), "K7Q4MX", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := room.Do(t.Context(), session.Start{Prompt: "Once upon a time"}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-room.Done():
		t.Fatal("the run has ended")
	default:
	}
	if _, err := room.Do(t.Context(), session.StepToken{}); err != nil {
		t.Fatal(err)
	}
	broken.Store(2)
	if _, err := room.Do(t.Context(), session.StepToken{}); !errors.Is(err, ErrGone) {
		t.Errorf("the command: got error %v, want %v", err, ErrGone)
	}
	<-room.Done()
}
