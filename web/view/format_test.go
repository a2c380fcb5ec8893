package view

import (
	"testing"
	"time"
)

func TestProb(t *testing.T) {
	for _, c := range []struct {
		p           float64
		long, short string
	}{
		{0, "0.0000", "0.00"},
		{1e-300, "<0.0001", "<0.01"},
		{0.0000499999, "<0.0001", "<0.01"},
		{0.00005, "0.0001", "<0.01"},
		{0.0049, "0.0049", "<0.01"},
		{0.005, "0.0050", "0.01"}, // 0.005 as a float64 is a little above 0.005
		{0.86426, "0.8643", "0.86"},
		{0.9949, "0.9949", "0.99"},
		{0.995, "0.9950", ">0.99"},
		{0.99994, "0.9999", ">0.99"},
		{0.99995, ">0.9999", ">0.99"},
		{0.999999, ">0.9999", ">0.99"},
		{1 - 1e-12, "1.0000", "1.00"}, // what a sum of 4,096 float64 loses
		{1, "1.0000", "1.00"},
	} {
		if got := Prob(c.p); got != c.long {
			t.Errorf("Prob(%v) = %q, want %q", c.p, got, c.long)
		}
		if got := ProbShort(c.p); got != c.short {
			t.Errorf("ProbShort(%v) = %q, want %q", c.p, got, c.short)
		}
	}
}

func TestDecimals(t *testing.T) {
	for _, c := range []struct {
		x    float64
		n    int
		want string
	}{
		{13.404, 2, "13.40"},
		{-7.5618, 2, "−7.56"},
		{-0.001, 2, "0.00"}, // no sign on a zero
		{-0.006, 2, "−0.01"},
		{1234567.891, 1, "1.23e6"},
		{-1234, 0, "−1,234"},
		{999.96, 1, "1,000.0"},
	} {
		if got := Decimals(c.x, c.n); got != c.want {
			t.Errorf("Decimals(%v, %d) = %q, want %q", c.x, c.n, got, c.want)
		}
	}
}

func TestCounts(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Count(0), "0"},
		{Count(999), "999"},
		{Count(1000), "1,000"},
		{Count(4096), "4,096"},
		{Count(int64(1234567890)), "1,234,567,890"},
		{Count(-1234), "−1,234"},
		{Bytes(0), "0 B"},
		{Bytes(3072), "3,072 B"},
		{Bytes(9999), "9,999 B"},
		{Bytes(10_000), "9.8 KiB"},      // 10000/1024 = 9.7656
		{Bytes(58_368), "57.0 KiB"},     // 19 × 3072
		{Bytes(1_572_864), "1.5 MiB"},   // 512 × 3072
		{Bytes(2 << 30), "2.0 GiB"},     // FACTS, correction 3
		{MultAdds(9_999), "9,999"},      // exact
		{MultAdds(10_000), "0.01 M"},    //
		{MultAdds(786_432), "0.79 M"},   // 192 × 4096
		{MultAdds(3_189_504), "3.19 M"}, // FACTS: one cached step at n = 19
		{MultAdds(46_050_816), "46.05 M"},
		{MultAdds(1_234_000_000), "1.23 G"},
		{Took(1500 * time.Nanosecond), "1.5 µs"},
		{Took(42 * time.Microsecond), "42 µs"},
		{Took(420 * time.Microsecond), "0.42 ms"},
		{Took(1840 * time.Microsecond), "1.8 ms"},
		{Took(21_600 * time.Microsecond), "21.6 ms"},
		{Took(123 * time.Millisecond), "123 ms"},
		{Took(1500 * time.Millisecond), "1.5 s"},
		{Times(46_050_816, 3_189_504), "14.4×"}, // 14.438
		{Times(417, 1), "417×"},
		{Times(1, 0), "–"},
		{Ordinal(1), "1st"},
		{Ordinal(2), "2nd"},
		{Ordinal(3), "3rd"},
		{Ordinal(11), "11th"},
		{Ordinal(12), "12th"},
		{Ordinal(13), "13th"},
		{Ordinal(21), "21st"},
		{Ordinal(111), "111th"},
		{Ordinal(1002), "1,002nd"},
		{Share(0), "0%"},
		{Share(0.33584), "33.58%"},
		{Share(-1), "0%"},
		{Share(1.5), "100%"},
		{setting(0.7), "0.70"},
		{setting(2), "2.00"},
		{setting(0.125), "0.125"},
		{plural(1, "token"), "1 token"},
		{plural(4096, "token"), "4,096 tokens"},
		{percent(0.7361), "74 %"},
		{percent(0.0041), "<1 %"},
		{is("p", 0.64), "p = 0.6400"},
		{is("p", 0.00001), "p <0.0001"},
		{draws(0.6339), "63 draws in 100"}, // 1 − 0.3661
		{draws(0.01), "1 draw in 100"},
		{draws(0.001), "fewer than 1 draw in 100"},
		{draws(0.9999), "more than 99 draws in 100"},
		{draws(0), "no draw"},
		{blocks(6), "Six blocks"},
		{blocks(32), "32 blocks"},
		{join([]string{"a", "b", "c"}), "a, b and c"},
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
	}{{0, "p1"}, {0.0499, "p1"}, {0.05, "p2"}, {0.1999, "p2"}, {0.2, "p3"}, {0.4999, "p3"}, {0.5, "p4"}, {0.7999, "p4"}, {0.8, "p5"}, {1, "p5"}} {
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
	want := []Tick{{"0%", "0", "start"}, {"25%", "0.15", "middle"}, {"50%", "0.3", "middle"}, {"75%", "0.45", "middle"}, {"100%", "0.6", "end"}}
	for i, got := range ticks(0.6) {
		if got != want[i] {
			t.Errorf("tick %d is %v, want %v", i, got, want[i])
		}
	}
}
