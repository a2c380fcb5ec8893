package runs

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/session"
)

// TestPlayingRunsKeepTheBudget: the memory budget also applies to playing runs. If no other run can
// be evicted, a growing run pauses and explains why. Once that run is idle, it can be evicted to
// free memory for others.
func TestPlayingRunsKeepTheBudget(t *testing.T) {
	t.Parallel()
	rs := registry(t, Limits{MemoryBytes: 4 << 20})
	var list []*Run
	for range 8 {
		r, _ := join(t, rs, "a", "")
		list = append(list, r)
		must(t, r, session.Start{Prompt: "Once upon a time there was a"})
		must(t, r, session.SetKnob("max_tokens", 400))
		must(t, r, session.SetSpeed{Speed: session.SpeedMax})
		if _, err := r.Do(context.Background(), session.Play{}, nil, 0); err != nil {
			t.Fatal(err)
		}
	}
	// When memory runs out, each of the eight runs may be in the middle of a token. This test does
	// not check the reason for the pause, since the runs may be evicted before the reason can be
	// read. The next test does.
	const slack = 8 * 256 << 10
	browser.Eventually(t, func() bool {
		if got := rs.memory.total.Load(); got > rs.cfg.Limits.MemoryBytes+slack {
			t.Fatalf(
				"got %d bytes held, want at most %d, budget %d", got, rs.cfg.Limits.MemoryBytes+slack,
				rs.cfg.Limits.MemoryBytes,
			)
		}
		return !slices.ContainsFunc(list, func(r *Run) bool { return r.playing.Load() })
	})
}

// TestPausedRunExplainsWhy: a run that cannot get more memory pauses and explains why.
func TestPausedRunExplainsWhy(t *testing.T) {
	t.Parallel()
	rs := registry(t, Limits{MemoryBytes: 300 << 10})
	r, _ := join(t, rs, "a", "")
	must(t, r, session.Start{Prompt: "Once upon a time there was a"})
	must(t, r, session.SetSpeed{Speed: session.SpeedMax})
	must(t, r, session.Play{})
	browser.Eventually(t, func() bool { return !r.playing.Load() })
	if st := r.latest.Load(); st.Playing || st.Notice == "" || st.Stopped != "" {
		t.Errorf(
			`playing %v, notice %q, stopped %q, with %d bytes; want false, non-empty, ""`, st.Playing, st.Notice,
			st.Stopped, r.bytes.Load(),
		)
	}
}

// TestOneRunCannotExceedTheBudget: a run that uses the whole budget by itself cannot grow, but can
// still be viewed.
func TestOneRunCannotExceedTheBudget(t *testing.T) {
	t.Parallel()
	rs := registry(t, Limits{MemoryBytes: 100 << 10})
	r, _ := join(t, rs, "a", "")
	must(t, r, session.Start{Prompt: "Once upon a time there was a"})
	var refused *terms.Refusal
	for range 20 {
		if _, err := r.Do(context.Background(), session.StepToken{}, nil, 0); errors.As(err, &refused) {
			break
		}
	}
	if refused == nil || refused.Code != terms.CodeFull {
		t.Fatalf(
			"a run of %d bytes grew on within a budget of 100 KiB: %v; want an error, Code = %q", r.bytes.Load(),
			refused, terms.CodeFull,
		)
	}
	must(t, r, session.Back{})
}

// TestUnwatchedRunPauses: a run pauses some time after its last viewer has left, but not
// while a page reloads.
func TestUnwatchedRunPauses(t *testing.T) {
	t.Parallel()
	rs := registry(t, Limits{})
	r, v := join(t, rs, "a", "")
	must(t, r, session.Start{Prompt: "Once upon a time there was a"})
	rs.Leave(r, v)
	if r.abandoned() {
		t.Error("the run was abandoned as soon as the viewer left")
	}
	r.left.Store(time.Now().Add(-abandonedAfter - time.Second).UnixNano())
	must(t, r, session.SetSpeed{Speed: session.SpeedMax})
	if _, err := r.Do(context.Background(), session.Play{}, nil, 0); err != nil {
		t.Fatal(err)
	}
	browser.Eventually(t, func() bool { return !r.playing.Load() })
	if st := r.latest.Load(); len(st.Steps) > 1 {
		t.Errorf("the run played %d steps while nobody was watching, want at most 1", len(st.Steps))
	}
}
