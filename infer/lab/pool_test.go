package lab

import (
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/fixture"

	"github.com/tokenbytoken/viz/infer/pool"
	"github.com/tokenbytoken/viz/infer/terms"
)

// TestLabsThroughPoolsEqualSoloRuns: except for measured times, labs that run in the slots of a
// pool get the same results as labs that run alone. The time that labs spend waiting for each other
// is not counted.
func TestLabsThroughPoolsEqualSoloRuns(t *testing.T) {
	fixture.Long(t)
	alone := models(t)
	targets, drafts := pool.New(alone.Target, 2), pool.New(alone.Draft, 1)
	defer targets.Close()
	defer drafts.Close()
	var all sync.WaitGroup
	for _, l := range All() {
		name := l.Info(terms.English).Name
		v := values(t, l, small[name])
		_, want := result[any](t, name, small[name])
		for range 2 {
			all.Go(func() {
				target, draft := targets.Slot(), drafts.Slot()
				env := Env{Target: target.Model(), TargetRunner: target, Draft: draft.Model(), DraftRunner: draft}
				r, err := l.Run(t.Context(), env, v, nil)
				if err != nil {
					t.Errorf("%s: %v", name, err)
					return
				}
				if name == "memory" { // a pool may read a prompt in smaller parts, which changes the reserved bytes
					return
				}
				alike(t, name, decoded(t, r.Result), decoded(t, want.Result))
			})
		}
	}
	all.Wait()
}

func decoded(t *testing.T, v any) any {
	var out any
	if err := json.Unmarshal([]byte(asJSON(t, v)), &out); err != nil {
		t.Error(err)
	}
	return untimed(out)
}

// TestMeterSubtractsWaiting: a meter subtracts the waiting time that a runner reports, and counts
// the rest.
func TestMeterSubtractsWaiting(t *testing.T) {
	env := models(t)
	pool := pool.New(env.Target, 1)
	defer pool.Close()
	slot := pool.Slot()
	m, counted := metered(slot.Model(), slot)
	cache := m.NewCache()
	last, _, err := m.Forward(t.Context(), cache, []int{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := m.Logits(last); err != nil {
		t.Fatal(err)
	}
	if want := m.Shape().Pass(3); counted.parts != want || counted.passes != 1 || counted.positions != 3 ||
		counted.took <= 0 || counted.waited < 0 {
		t.Errorf("got %+v, want %+v", counted.tally, want)
	}
	// Rejected passes are not counted.
	before := counted.tally
	if _, _, err := m.Forward(t.Context(), cache, []int{-1}); err == nil {
		t.Error("token -1 was accepted")
	}
	if counted.tally != before {
		t.Errorf("a rejected pass was counted: got %+v, want %+v", counted.tally, before)
	}
	clock := watchOf(counted)
	counted.waited += 1 << 40 // as if passes had waited for a long time
	if took := clock.took(); took > 0 {
		t.Errorf("the clock counts the wait: got %v, want 0", took)
	}
}

// lets is a runner that claims to have waited an hour for every pass.
type lets struct{ infer.Runner }

func (lets) Waited() time.Duration { return time.Hour }

// TestMeterExcludesReportedWait: a pass's time excludes the wait that its runner reports. Because
// an hour is reported for each of two calls, the remaining time is negative.
func TestMeterExcludesReportedWait(t *testing.T) {
	m := models(t).Target
	counted, meter := metered(m, lets{})
	last, _, err := counted.Forward(t.Context(), counted.NewCache(), []int{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := counted.Logits(last); err != nil {
		t.Fatal(err)
	}
	if meter.waited != 2*time.Hour || meter.took >= 0 {
		t.Errorf("waited %v, took %v; want %v, less than 0", meter.waited, meter.took, 2*time.Hour)
	}
}
