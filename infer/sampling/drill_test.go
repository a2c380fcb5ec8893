package sampling

import (
	"math"
	"testing"
)

// drill holds the scores of the five-token exercise: the, a, an, and, or.
var drill = []float32{4, 3, 2, 1, 0.5}

// near4 reports whether got equals want rounded to four places.
func near4(got, want float64) bool { return math.Abs(got-want) <= 0.5e-4+1e-12 }

func wantRow(t *testing.T, what string, got []float64, want ...float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i := range want {
		if !near4(got[i], want[i]) {
			t.Errorf("%s[%d] = %.6f, want %.4f", what, i, got[i], want[i])
		}
	}
}

func sumOf(list []float64) (s float64) {
	for _, x := range list {
		s += x
	}
	return s
}

// with returns [Pure] with some changes.
func with(change func(*Settings)) Settings {
	s := Pure
	change(&s)
	return s
}

func TestDrillSoftmax(t *testing.T) {
	for _, row := range []struct {
		t      float64
		p      []float64
		expSum float64 // Σ e^{z/T}, without the shift by the maximum
	}{
		{1, []float64{0.6316, 0.2324, 0.0855, 0.0314, 0.0191}, 86.4397},
		{0.5, []float64{0.8643, 0.1170, 0.0158, 0.0021, 0.0008}, 3449.0923},
		{2, []float64{0.4217, 0.2558, 0.1551, 0.0941, 0.0733}, 17.5218},
		{0, []float64{0.6316, 0.2324, 0.0855, 0.0314, 0.0191}, 86.4397}, // greedy shows T = 1
	} {
		p, max, sum := Softmax(drill, row.t)
		wantRow(t, "softmax", p, row.p...)
		scale := row.t
		if scale == 0 {
			scale = 1
		}
		if max != 4 || !near4(sum*math.Exp(max/scale), row.expSum) {
			t.Errorf(
				"T=%v: max %v and Σe^{z/T} = %.6f, want 4 and %.4f", row.t, max, sum*math.Exp(max/scale), row.expSum,
			)
		}
		if s := sumOf(p); !(math.Abs(s-1) <= 1e-15) {
			t.Errorf("T=%v: Σp = %v, want 1", row.t, s)
		}
	}
}

// TestDrillExponentials: the exponentials in the table are p × Σe^z.
func TestDrillExponentials(t *testing.T) {
	p, max, sum := Softmax(drill, 1)
	var e []float64
	for _, x := range p {
		e = append(e, x*sum*math.Exp(max))
	}
	wantRow(t, "exp(z)", e, 54.5982, 20.0855, 7.3891, 2.7183, 1.6487)
}

func TestDrillCumulative(t *testing.T) {
	d := Decide(drill, Pure)
	wantRow(t, "cumulative", d.Cum, 0.6316, 0.8640, 0.9495, 0.9809, 1)
	if d.Keep != 5 {
		t.Errorf("pure sampling keeps %d tokens, want 5", d.Keep)
	}
}

func TestDrillTopK(t *testing.T) {
	d := Decide(drill, with(func(s *Settings) { s.TopK = 3 }))
	// q is 0.6316, 0.2324 and 0.0855 divided by 0.9495, or 54.5982, 20.0855 and 7.3891 divided by
	// 82.0728.
	wantRow(t, "q", []float64{d.Q(0), d.Q(1), d.Q(2), d.Q(3), d.Q(4)}, 0.6652, 0.2447, 0.0900, 0, 0)
	if d.Keep != 3 || !near4(d.Mass, 0.9495) {
		t.Errorf("keeps %d tokens with mass %v, want 3 with 0.9495", d.Keep, d.Mass)
	}
}

// TestDrillNucleus: the token that crosses top-p is kept, and the temperature moves the
// crossing.
func TestDrillNucleus(t *testing.T) {
	for temperature, want := range map[float64]int{1: 3, 0.5: 2, 2: 4} {
		d := Decide(drill, Settings{Temperature: temperature, TopP: 0.9})
		if d.Keep != want || d.Reach(RuleTopP) != want {
			t.Errorf("T=%v: nucleus of %d (reach %d), want %d", temperature, d.Keep, d.Reach(RuleTopP), want)
		}
	}
}

// TestDrillRenormalizesBetweenFilters: filters that are all measured on the uncut distribution keep
// {the, a, an}. With rescaling between the filters, they keep {the, a}, since 0.8640/0.9495 =
// 0.9100 ≥ 0.9.
func TestDrillRenormalizesBetweenFilters(t *testing.T) {
	d := Decide(drill, Settings{Temperature: 1, TopK: 3, TopP: 0.9})
	if d.Keep != 3 || d.KeepRenormalizing() != 2 {
		t.Errorf("keeps %d, with renormalizing %d; want 3 and 2", d.Keep, d.KeepRenormalizing())
	}
	// With a single filter, there is no step in between.
	for _, s := range []Settings{
		{Temperature: 1, TopP: 0.9}, {Temperature: 1, TopK: 3, TopP: 1}, {Temperature: 1, TopP: 1, MinP: 0.1},
	} {
		if d := Decide(drill, s); d.Keep != d.KeepRenormalizing() {
			t.Errorf("%+v: keeps %d, with renormalizing %d; want the same", s, d.Keep, d.KeepRenormalizing())
		}
	}
	if d := Decide(drill, Settings{TopP: 1}); d.KeepRenormalizing() != 1 {
		t.Errorf("greedy: renormalizing keeps %d, want 1", d.KeepRenormalizing())
	}
}

// TestTemperatureIsAPower: applying a temperature to logits gives p^(1/T), renormalized: 0.6316² /
// Σp² = 0.8643.
func TestTemperatureIsAPower(t *testing.T) {
	p, _, _ := Softmax(drill, 1)
	for _, temperature := range []float64{0.5, 0.7, 2, 10} {
		var powers []float64
		for _, x := range p {
			powers = append(powers, math.Pow(x, 1/temperature))
		}
		total := sumOf(powers)
		got, _, _ := Softmax(drill, temperature)
		for i := range got {
			if !(math.Abs(got[i]-powers[i]/total) <= 1e-14) {
				t.Errorf("T=%v: p[%d] = %v, want %v from the power", temperature, i, got[i], powers[i]/total)
			}
		}
	}
}

// TestAddingAConstantChangesNothing: only differences between logits matter; a positive
// logit is not 'likely' in itself.
func TestAddingAConstantChangesNothing(t *testing.T) {
	for _, c := range []float32{1, -5, 1024, -4096} {
		moved := make([]float32, len(drill))
		for i, z := range drill {
			moved[i] = z + c // exact in float32
		}
		for _, temperature := range []float64{0.5, 1, 2} {
			s := Settings{Temperature: temperature, TopK: 4, TopP: 0.9, MinP: 0.05}
			a, b := Decide(drill, s), Decide(moved, s)
			for i := range a.P {
				if a.P[i] != b.P[i] || a.Q(i) != b.Q(i) || a.CutBy(i) != b.CutBy(i) {
					t.Errorf("T=%v, %+v added: token %d changed", temperature, c, i)
				}
			}
		}
	}
}

func TestEntropyByHand(t *testing.T) {
	for _, row := range []struct {
		p    []float64
		bits float64
	}{
		{[]float64{1}, 0},
		{[]float64{0, 1, 0}, 0},
		{[]float64{0.25, 0.25, 0.25, 0.25}, 2},
		{[]float64{0.5, 0.25, 0.25}, 1.5}, // ½·1 + ¼·2 + ¼·2
	} {
		if got := Entropy(row.p); got != row.bits {
			t.Errorf("Entropy(%v) = %v bits, want %v", row.p, got, row.bits)
		}
	}
}
