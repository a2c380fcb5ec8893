package admission

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenbytoken/viz/infer/fixture"
)

// TestMeterBudgets: a newcomer uses their own budget and their address's budget. A known learner
// uses only their own budget. Both kinds of budgets refill.
func TestMeterBudgets(t *testing.T) {
	c := &clock{time.Unix(1e9, 0)}
	m := NewMeter(Pace{PerLearner: Rate{PerSecond: 0.5, Burst: 2}, PerAddress: Rate{PerSecond: 0.1, Burst: 3}}, c.now)
	a, b := newcomer("a", home, c), newcomer("b", home, c)
	for n, row := range []struct {
		who  Caller
		wait time.Duration
	}{
		{a, 0},
		{a, 0},
		{a, 2 * time.Second}, // 1 token at 0.5 tokens a second
		{b, 0},
		{b, 10 * time.Second}, // the address has no tokens left, and gets 0.1 tokens a second
		{known("k", home), 0},
		{newcomer("c", school, c), 0},
	} {
		if got := m.Allow(row.who); got.Round(time.Millisecond) != row.wait {
			t.Errorf("call %d: got wait %v, want %v", n+1, got, row.wait)
		}
	}
	c.t = c.t.Add(10 * time.Second)
	if wait := m.Wait(b); wait != 0 {
		t.Errorf("ten seconds later: got wait %v, want 0", wait)
	}
	if wait := m.Allow(a); wait != 0 {
		t.Errorf("ten seconds later: got wait %v, want 0", wait)
	}
	if wait := m.Allow(a); wait == 0 {
		t.Error("the address has two tokens after ten seconds, want one")
	}
}

// TestMeterWithoutLimits: the zero Pace imposes no limit.
func TestMeterWithoutLimits(t *testing.T) {
	m := NewMeter(Pace{}, nil)
	for range 1000 {
		if wait := m.Allow(known("k", home)); wait != 0 {
			t.Fatalf("got wait %v, want 0", wait)
		}
	}
}

// TestMeterRemembersLimitedCallers: the meter remembers a limited number of callers.
func TestMeterRemembersLimitedCallers(t *testing.T) {
	c := &clock{time.Unix(1e9, 0)}
	m := NewMeter(Pace{PerLearner: Rate{PerSecond: 1, Burst: 1}}, c.now)
	for i := range maxKept + 10 {
		m.Allow(known(fmt.Sprint(i), home))
	}
	if n := len(m.learners.kept); n != maxKept {
		t.Errorf("%d callers are remembered, want %d", n, maxKept)
	}
	if m.Wait(known("0", home)) != 0 || m.Wait(known(fmt.Sprint(maxKept), home)) == 0 {
		t.Error("the newest callers were forgotten first")
	}
}

// TestMeterForgetsFullBuckets: callers who are no longer active use no memory, while active
// callers are remembered.
func TestMeterForgetsFullBuckets(t *testing.T) {
	c := &clock{time.Unix(1e9, 0)}
	m := NewMeter(Pace{PerLearner: Rate{PerSecond: 1, Burst: 20}, PerAddress: Rate{PerSecond: 1, Burst: 500}}, c.now)
	for i := range 300 {
		m.Allow(newcomer(fmt.Sprint(i), home, c))
	}
	c.t = c.t.Add(time.Second)
	busy := newcomer("busy", home, c)
	for range 20 {
		m.Allow(busy)
	}
	m.sweep()
	if len(m.learners.kept) != 1 || len(m.learners.order) != 1 || len(m.addresses.kept) != 1 {
		t.Errorf(
			"remembered: got %d learners, %d addresses; want len(m.learners.kept) = 1, "+
				"len(m.learners.order) = 1, len(m.addresses.kept) = 1",
			len(m.learners.kept), len(m.addresses.kept),
		)
	}
	if m.Wait(busy) == 0 {
		t.Error("the active caller has tokens again")
	}
	c.t = c.t.Add(time.Hour)
	m.sweep()
	if len(m.learners.kept)+len(m.addresses.kept) != 0 {
		t.Error("an hour later, a caller is still remembered")
	}
}

// TestMeterSweepsAutomatically: a meter discards full buckets without being called.
func TestMeterSweepsAutomatically(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMeter(Pace{PerLearner: Rate{PerSecond: 1, Burst: 15}}, nil)
		for range 15 {
			m.Allow(known("a", home))
		}
		fixture.Pass(sweepAfter + time.Second)
		m.mu.Lock()
		early := len(m.learners.kept)
		m.mu.Unlock()
		fixture.Pass(sweepAfter)
		m.mu.Lock()
		defer m.mu.Unlock()
		if early != 1 || len(m.learners.kept) != 0 || m.sweeping {
			t.Errorf(
				"got %d and then %d callers remembered, and another sweep: %v; want 1, 0, false",
				early, len(m.learners.kept),
				m.sweeping,
			)
		}
	})
}

// TestMeterChargesBySize: larger operations cost more, and one operation can use up all remaining
// tokens.
func TestMeterChargesBySize(t *testing.T) {
	t.Parallel()
	c := &clock{time.Now()}
	m := NewMeter(Pace{PerLearner: Rate{PerSecond: 1, Burst: 5}}, c.now)
	who := Caller{Learner: "a"}
	for _, step := range []struct {
		size int
		wait time.Duration
	}{{3, 0}, {9, 0}, {1, time.Second + 1}} {
		if got := m.AllowSize(who, step.size); got != step.wait {
			t.Errorf("a size of %d: got wait %v, want %v", step.size, got, step.wait)
		}
	}
}

// TestPersistsAfterManyRefusals: Persists returns true for callers who continue after many
// refusals. Callers without a cookie are counted by address.
func TestPersistsAfterManyRefusals(t *testing.T) {
	t.Parallel()
	c := &clock{time.Now()}
	d := New(Limits{Refusals: Pace{PerLearner: Rate{PerSecond: 1, Burst: 3}}}, c.now)
	count := 0
	for i := range 5 {
		if d.Persists(Caller{Learner: string(rune('a' + i)), Address: home, Fresh: true}) {
			count++
		}
	}
	if count != 2 {
		t.Errorf("%d of five refusals without a cookie counted as too many, want 2", count)
	}
	for _, who := range []Caller{{Learner: "b", Address: home}, {Learner: "c", Address: school, Fresh: true}} {
		if d.Persists(who) {
			t.Errorf("one refusal of %+v counted as too many", who)
		}
	}
}

// TestRefusedSizesAreCounted: the statistics include refused calls of AllowSize.
func TestRefusedSizesAreCounted(t *testing.T) {
	t.Parallel()
	m := NewMeter(Pace{PerLearner: Rate{0.1, 2}}, nil)
	for range 3 {
		m.AllowSize(Caller{Learner: "a"}, 2)
	}
	if got, want := m.Stats(), (MeterStats{Spent: 2, Refused: 2}); got != want {
		t.Errorf("the statistics are %+v, want %+v", got, want)
	}
}
