package stage

import "testing"

func TestWords(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Share(0), "0%"},
		{Share(0.33584), "33.58%"},
		{Share(-1), "0%"},
		{Share(1.5), "100%"},
		{English.draws(0.6339), "63 draws in 100"}, // 1 − 0.3661
		{English.draws(0.01), "1 draw in 100"},
		{English.draws(0.001), "fewer than 1 draw in 100"},
		{English.draws(0.9999), "more than 99 draws in 100"},
		{English.draws(0), "no draw"},
		{English.blocks(6), "Six blocks"},
		{English.blocks(32), "32 blocks"},
		{English.list([]string{"a", "b", "c"}), "a, b and c"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestRamp(t *testing.T) {
	for _, c := range []struct {
		p    float64
		want string
	}{
		{0, "p1"},
		{0.0499, "p1"},
		{0.05, "p2"},
		{0.1999, "p2"},
		{0.2, "p3"},
		{0.4999, "p3"},
		{0.5, "p4"},
		{0.7999, "p4"},
		{0.8, "p5"},
		{1, "p5"},
	} {
		if got := Ramp(c.p); got != c.want {
			t.Errorf("Ramp(%v) = %s, want %s", c.p, got, c.want)
		}
	}
}

func TestAxis(t *testing.T) {
	for _, c := range []struct{ x, want float64 }{
		{0.3661, 0.4}, {0.4, 0.4}, {0.4001, 0.6}, {0.81, 1}, {1, 1}, {0.002, 0.004}, {0.05, 0.08}, {0.1524, 0.2},
	} {
		if got := axisMax(c.x); got != c.want {
			t.Errorf("axisMax(%v) = %v, want %v", c.x, got, c.want)
		}
	}
	want := []Tick{
		{"0%", "0", "start"},
		{"25%", "0.15", "middle"},
		{"50%", "0.3", "middle"},
		{"75%", "0.45", "middle"},
		{"100%", "0.6", "end"},
	}
	for i, got := range ticks(0.6) {
		if got != want[i] {
			t.Errorf("tick %d is %v, want %v", i, got, want[i])
		}
	}
}
