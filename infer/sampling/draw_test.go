package sampling

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestUIsSplitMix64 checks U against published outputs of SplitMix64: seed 0 from the
// common test vectors of the reference C code, seed 1234567 from Rosetta Code.
func TestUIsSplitMix64(t *testing.T) {
	for seed, outputs := range map[uint64][]uint64{
		0: {0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f},
		1234567: {
			6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821,
		},
	} {
		for i, x := range outputs {
			want := float64(x>>11) / (1 << 53)
			if got := U(seed, i+1); got != want {
				t.Errorf("U(%d, %d) = %v, want %v", seed, i+1, got, want)
			}
		}
	}
}

// TestUIsUniform: u is uniformly distributed over many steps of one seed, and over many seeds at
// one step. The mean is ½ ± 4σ with σ = 1/√(12n), and each tenth is within 4σ of its expected
// count.
func TestUIsUniform(t *testing.T) {
	const n = 100_000
	for name, u := range map[string]func(i int) float64{
		"steps of seed 42": func(i int) float64 { return U(42, i+1) },
		"seeds at step 1":  func(i int) float64 { return U(uint64(i), 1) },
	} {
		var sum float64
		var tenths [10]int
		for i := range n {
			x := u(i)
			if x < 0 || x >= 1 {
				t.Fatalf("%s: u = %v is outside [0, 1)", name, x)
			}
			sum += x
			tenths[int(x*10)]++
		}
		if mean := sum / n; !(math.Abs(mean-0.5) <= 4/math.Sqrt(12*n)) {
			t.Errorf("%s: mean %v, want about 0.5", name, mean)
		}
		for i, got := range tenths {
			if !(math.Abs(float64(got)-n/10) <= 4*math.Sqrt(n*0.1*0.9)) {
				t.Errorf("%s: got %d of %d in tenth %d, want about %v", name, got, n, i, n/10)
			}
		}
	}
}

// TestDrawByHand: with top-k 3 on the drill, q is 0.6652, 0.2447 and 0.0900, so the segments end at
// 0.6652, 0.9100 and 1.
func TestDrawByHand(t *testing.T) {
	d := Decide(drill, with(func(s *Settings) { s.TopK = 3 }))
	for _, row := range []struct {
		u    float64
		rank int
	}{{0, 0}, {0.6652, 0}, {0.6653, 1}, {0.9099, 1}, {0.9101, 2}, {0.99999, 2}, {math.Nextafter(1, 0), 2}} {
		if got := d.Draw(row.u); got != row.rank {
			t.Errorf("u=%v draws rank %d, want %d", row.u, got, row.rank)
		}
	}
	// A segment includes its start and excludes its end.
	for r := range 2 {
		_, to := d.Segment(r)
		if d.Draw(to) != r+1 || d.Draw(math.Nextafter(to, 0)) != r {
			t.Errorf("at the border %v: got rank %d, and %d just below it; want %d and %d",
				to, d.Draw(to), d.Draw(math.Nextafter(to, 0)), r+1, r)
		}
	}
}

// TestImpossibleTokensAreNeverDrawn: pure sampling keeps tokens so unlikely that their
// probability is 0, but never draws them.
func TestImpossibleTokensAreNeverDrawn(t *testing.T) {
	d := Decide([]float32{0, 0, 0, -1e30, -1e30}, Pure)
	if d.Keep != 5 {
		t.Fatalf("pure sampling keeps %d of 5, want 5", d.Keep)
	}
	if got := d.Draw(math.Nextafter(1, 0)); got != 2 {
		t.Errorf("the largest u draws rank %d, want 2", got)
	}
}

// TestTopIsAPrefixOfRank: Top returns a prefix of Rank, ties included.
func TestTopIsAPrefixOfRank(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z := rapid.SliceOfN(rapid.Float32Range(-3, 3), 1, 40).Draw(t, "z")
		for i := range z {
			z[i] = float32(int(z[i])) // this makes many scores equal
		}
		n := rapid.IntRange(1, 45).Draw(t, "n")
		if got, want := Top(z, n), Rank(z)[:min(n, len(z))]; !slices.Equal(got, want) {
			t.Fatalf("got Top %v, want the first of Rank, %v", got, want)
		}
	})
}
