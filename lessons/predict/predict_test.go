package predict

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tokenbytoken/viz/infer/sampling"
)

// TestGradeByHand: ln 0.8 = −0.2231, ln 0.2 = −1.6094, ln 0.5 = −0.6931; ln 0.99 =
// −0.01005, ln 0.01 = −4.6052.
func TestGradeByHand(t *testing.T) {
	for _, row := range []struct {
		c     float64
		right bool
		want  float64
	}{
		{0.8, true, -0.2231},
		{0.8, false, -1.6094},
		{0.5, true, -0.6931},
		{0.5, false, -0.6931},
		{1, true, -0.01005},
		{1, false, -4.6052},
		{0, true, -4.6052},
		{0, false, -0.01005},
	} {
		r, err := Grade(row.c, row.right)
		if err != nil || !(math.Abs(r.Score-row.want) <= 1e-4) || r.Right != row.right {
			t.Errorf("Grade(%v, %v) = %+v, %v; want score %v", row.c, row.right, r, err, row.want)
		}
	}
	for _, c := range []float64{-0.01, 1.01, math.NaN(), math.Inf(1)} {
		if r, err := Grade(c, true); err == nil {
			t.Errorf("Grade(%v) = %+v, want an error", c, r)
		}
	}
}

// TestHonestConfidenceMaximizesScore: the score is proper: the expected score of a learner who
// believes q is highest if they state q.
func TestHonestConfidenceMaximizesScore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := rapid.Float64Range(Unsure, Sure).Draw(t, "believed")
		other := rapid.Float64Range(0, 1).Draw(t, "stated")
		expected := func(c float64) float64 {
			yes, _ := Grade(c, true)
			no, _ := Grade(c, false)
			return q*yes.Score + (1-q)*no.Score
		}
		if expected(other) > expected(q)+1e-12 {
			t.Fatalf(
				"with the belief %v, stating it gives %v, but %v for stating %v; want the first to be more", q,
				expected(q), expected(other), other,
			)
		}
	})
}

// TestBlindScoreByHand: with four candidates, ¼·ln ¼ + ¾·ln ¾ = −0.3466 −
// 0.2158 = −0.5623.
func TestBlindScoreByHand(t *testing.T) {
	if got := Blind(4); !(math.Abs(got+0.5623) <= 1e-4) {
		t.Errorf("Blind(4) = %v, want -0.5623", got)
	}
	if got := Blind(1); got != 0 {
		t.Errorf("a single candidate leaves nothing to guess: Blind(1) = %v, want 0", got)
	}
}

// TestDealIncludesDrawnAndLikelyTokens: for any distribution, the drawn token and the likely ones
// are included, no token is dealt twice, and the same seed deals the same tokens.
func TestDealIncludesDrawnAndLikelyTokens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z := rapid.SliceOfN(rapid.Float32Range(-8, 8), 1, 200).Draw(t, "z")
		d := sampling.Decide(z, sampling.Pure)
		drawn := int32(rapid.IntRange(0, len(z)-1).Draw(t, "drawn"))
		n := rapid.IntRange(LeastCandidates, 12).Draw(t, "n")
		seed := rapid.Uint64().Draw(t, "seed")
		hand := Deal(d, drawn, n, seed)
		if !slices.Equal(hand, Deal(d, drawn, n, seed)) {
			t.Fatal("the same seed deals differently")
		}
		if len(hand) != min(n, len(z)) || !slices.Contains(hand, drawn) {
			t.Fatalf(
				"%d candidates of %d tokens, drawn %d: %v; want %d elements, it containing %d", n, len(z), drawn, hand,
				min(n, len(z)), drawn,
			)
		}
		for _, id := range d.Order[:max(1, min(n, len(z))-2)] {
			if !slices.Contains(hand, id) {
				t.Fatalf("the likely token %d is missing from %v", id, hand)
			}
		}
		sorted := slices.Sorted(slices.Values(hand))
		if len(slices.Compact(sorted)) != len(hand) {
			t.Fatalf("a candidate is in %v twice", hand)
		}
	})
}

// TestDealPositionIsUninformative: over many seeds, the drawn token is in each position equally
// often, within 4σ where σ = √(n·p·(1−p)).
func TestDealPositionIsUninformative(t *testing.T) {
	z := make([]float32, 100)
	for i := range z {
		z[i] = -float32(i) / 10
	}
	d := sampling.Decide(z, sampling.Pure)
	const seeds, n = 6000, 6
	for _, drawn := range []int32{0, 50} {
		var places [n]int
		for seed := range uint64(seeds) {
			places[slices.Index(Deal(d, drawn, n, seed), drawn)]++
		}
		for place, got := range places {
			if !(math.Abs(float64(got)-seeds/n) <= 4*math.Sqrt(seeds*(1./n)*(1-1./n))) {
				t.Errorf(
					"token %d is at position %d in %d of %d hands, want as often as at any other one", drawn, place,
					got, seeds,
				)
			}
		}
	}
}

// TestBinsByHand: three of four guesses of 0.7 and 0.72 are right, which is a rate of 0.75.
// Wilson's interval for 3 of 4: (0.75 + 0.4802) / 1.9604 ± 1.96/1.9604·√(0.046875 + 0.060025) =
// 0.6275 ± 0.3269.
func TestBinsByHand(t *testing.T) {
	bins := Bins(
		[]Outcome{
			{0.7, true},
			{0.7, true},
			{0.72, true},
			{0.72, false},
			{1, true},
			{0.3, false},
			{math.NaN(), true},
			{1.5, true},
		},
	)
	if len(bins) != BinCount {
		t.Fatalf("%d bins, want %d", len(bins), BinCount)
	}
	b := bins[7]
	if b.N != 4 || b.Hits != 3 || b.Rate != 0.75 || !(math.Abs(b.Stated-0.71) <= 1e-12) {
		t.Errorf("from 0.7 to 0.8: got %+v, want N = 4, Hits = 3, Rate = 0.75, Stated ≈ 0.71", b)
	}
	if !(math.Abs(b.Low-0.3006) <= 1e-3) || !(math.Abs(b.High-0.9544) <= 1e-3) {
		t.Errorf("the interval is %v to %v, want 0.3006 to 0.9544", b.Low, b.High)
	}
	if bins[9].N != 1 || bins[3].N != 1 || bins[2].N != 0 || bins[0].High != 1 {
		t.Errorf("borders: got %+v, want [9].N = 1, [3].N = 1, [2].N = 0, [0].High = 1", bins)
	}
}

// TestBinsStartAtTheirBorders: a confidence on a border belongs to the bin that begins there, even
// if its product with ten is rounded down.
func TestBinsStartAtTheirBorders(t *testing.T) {
	for confidence, want := range map[float64]int{
		0: 0, 0.05: 0, 0.0999: 0, 0.1: 1, 0.2: 2, 0.3: 3, 0.4: 4, 0.5: 5, 0.6: 6, 0.7: 7, 0.8: 8, 0.9: 9, 0.999: 9,
		1: 9,
	} {
		got := slices.IndexFunc(Bins([]Outcome{{Confidence: confidence}}), func(b Bin) bool { return b.N == 1 })
		if got != want {
			t.Errorf("a confidence of %v falls into bin %d, want %d", confidence, got, want)
		}
	}
}

// TestMeanScoreByHand: (ln 0.8 + ln 0.2) / 2 = (−0.2231 − 1.6094) / 2 = −0.9163.
func TestMeanScoreByHand(t *testing.T) {
	mean, n := MeanScore([]Outcome{{0.8, true}, {0.8, false}, {2, true}})
	if n != 2 || !(math.Abs(mean+0.9163) <= 1e-4) {
		t.Errorf("mean %v of %d, want -0.9163 of 2", mean, n)
	}
	if mean, n := MeanScore(nil); mean != 0 || n != 0 {
		t.Errorf("without guesses: got %v, %d; want 0, 0", mean, n)
	}
}

// TestSumsIgnoreOrder: the sums are bit-identical for any order of guesses, so a
// calibration does not depend on the order.
func TestSumsIgnoreOrder(t *testing.T) {
	list := []Outcome{
		{0.1, true}, {0.7, false}, {0.15, true}, {1, true}, {0.3, false}, {2, true}, {1. / 3, false}, {0.72, true},
	}
	var forward, back Sums
	for i := range list {
		forward.Add(list[i])
		back.Add(list[len(list)-1-i])
	}
	if forward != back {
		t.Errorf("got %v forwards, %v backwards; want the same bits", forward, back)
	}
	// (0.1 + 0.7 + 0.15 + 1 + 0.3 + 1/3 + 0.72) / 7 = 3.303333… / 7. The confidence of 2 is
	// ignored.
	if got, want := forward.Stated(), (3.27+1./30)/7; math.Abs(got-want) > 1e-13 {
		t.Errorf("the mean is %v, want %v", got, want)
	}
	if got := new(Sums).Stated(); got != 0 {
		t.Errorf("got %v as the mean of no confidences, want 0", got)
	}
}

// TestPointsByHand: with six candidates, blind guessing scores ln(1/6)/6 + 5 ln(5/6)/6 = −0.2986 −
// 0.1519 = −0.4506.
func TestPointsByHand(t *testing.T) {
	t.Parallel()
	for score, want := range map[float64]int{
		0: 100, math.Log(0.8): 50, Blind(6): 0, math.Log(0.5): -54, math.Log(0.01): -922,
	} {
		if got := Points(score, 6); got != want {
			t.Errorf("%v is %d points, want %d", score, got, want)
		}
	}
	if got := Points(-1, 1); got != 0 {
		t.Errorf("without a choice: got %d points", got)
	}
}
