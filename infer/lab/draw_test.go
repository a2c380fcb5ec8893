package lab

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
)

func near(a, b, room float64) bool { return math.Abs(a-b) <= room }

func TestMeanDeviationByHand(t *testing.T) {
	for _, c := range []struct {
		n    int
		q    float64
		want float64
	}{
		{1, 0.5, 0.5},        // |0 − ½| and |1 − ½|
		{2, 0.5, 0.5},        // ¼·1 + ½·0 + ¼·1
		{4, 0.25, 0.6328125}, // of 1: 0.31640625·1 + 0.2109375·1 + 0.046875·2 + 0.00390625·3
		{10, 1, 0},
		{10, 0, 0},
	} {
		if got := meanDeviation(c.n, c.q); !near(got, c.want, 1e-12) {
			t.Errorf("n %d, q %v: %v, want %v", c.n, c.q, got, c.want)
		}
	}
}

// TestMeanDeviationBySum: De Moivre's formula equals the sum over all outcomes.
func TestMeanDeviationBySum(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		n, q := 1+random.IntN(60), random.Float64()
		p := math.Pow(1-q, float64(n)) // the probability of 0 hits, then of 1, 2 and so on
		sum := 0.0
		for k := range n + 1 {
			sum += p * math.Abs(float64(k)-float64(n)*q)
			p *= float64(n-k) / float64(k+1) * q / (1 - q)
		}
		if got := meanDeviation(n, q); !near(got, sum, 1e-9) {
			t.Fatalf("n %d, q %v: got %v, want the sum, %v", n, q, got, sum)
		}
	}
}

func TestDistanceByHand(t *testing.T) {
	q := []float64{0.5, 0.3, 0.2}
	rank := func(r int) float64 { return q[r] }
	// Ten draws give counts of 7, 3 and 0: |0.7 − 0.5| + 0 + 0.2, halved.
	if got := distance([]int{7, 3, 0}, 10, rank); !near(got, 0.2, 1e-12) {
		t.Errorf("distance %v, want 0.2", got)
	}
	// The mean distance of one draw is ½ Σ 2q(1 − q): ½·(0.5 + 0.42 + 0.32) = 0.62.
	if got := expectedDistance(1, rank, 3); !near(got, 0.62, 1e-12) {
		t.Errorf("expected distance of one draw %v, want 0.62", got)
	}
	// For four times as many draws, the law gives half the distance. The exact mean converges to
	// the law.
	if a, b := rootLaw(100, rank, 3), rootLaw(400, rank, 3); !near(a, 2*b, 1e-12) {
		t.Errorf("the law gives %v at 100 draws, want about %v, twice the %v at 400", a, 2*b, b)
	}
	if a, b := expectedDistance(100_000, rank, 3), rootLaw(100_000, rank, 3); !near(a/b, 1, 1e-3) {
		t.Errorf("expected distance %v, want about the law's %v at 100,000 draws", a, b)
	}
	if got, want := ladder(1000), []int{10, 20, 50, 100, 200, 500, 1000}; !slices.Equal(got, want) {
		t.Errorf("ladder %v, want %v", got, want)
	}
	if got := ladder(700); got[len(got)-1] != 700 {
		t.Errorf("got ladder %v, want it to end with 700", got)
	}
	if got := ladder(10); !slices.Equal(got, []int{10}) {
		t.Errorf("ladder %v, want %v", got, []int{10})
	}
	// ln y = −½·ln x + c.
	if got := slope([]int{1, 4, 16}, []float64{8, 4, 2}); !near(got, -0.5, 1e-12) {
		t.Errorf("slope %v, want -0.5", got)
	}
}

// TestDrawHistogramHasEveryDraw: the histogram counts every draw, and the distance is close to the
// expected one.
func TestDrawHistogramHasEveryDraw(t *testing.T) {
	d, _ := result[*Draw](
		t, "draw", terms.Values{"repeats": "200", "draws": "2000", "rows": "3", "temperature": "1", "top_p": "1"},
	)
	if !slices.Equal(d.Sizes, []int{10, 100, 2000}) || d.Kept != models(t).Target.Config().Vocab ||
		d.RestTokens != d.Kept-3 {
		t.Fatalf(
			"got sizes %v, kept %d, rest %d; want [10 100 2000], the whole vocabulary, all but 3 of it", d.Sizes,
			d.Kept, d.RestTokens,
		)
	}
	checkCounts(t, d)
	whole := d.Rest.Q
	for _, x := range d.Tokens {
		whole += x.Q
	}
	if !near(whole, 1, 1e-9) {
		t.Errorf("q sums to %v, want about 1", whole)
	}
	for _, x := range d.Distances {
		// With 200 repeats, the mean is within about 5% of the expected one.
		if !near(x.Mean/x.Expected, 1, 0.15) || x.Measured.N != 200 {
			t.Errorf("at %d draws: got %v on average, want about %v from 200 measurements", x.N, x.Mean, x.Expected)
		}
	}
	if !near(d.Slope, d.SlopeExpected, 0.03) {
		t.Errorf("got slope %v, want about %v", d.Slope, d.SlopeExpected)
	}
	// If few tokens are kept, the law holds from the first draws on.
	few, _ := result[*Draw](
		t, "draw", terms.Values{"repeats": "200", "draws": "2000", "temperature": "2", "top_p": "1", "top_k": "3"},
	)
	if !near(few.Slope, -0.5, 0.06) || !near(few.SlopeExpected, -0.5, 0.02) || few.Kept != 3 {
		t.Errorf(
			"of %d tokens: slopes %v and %v; want 3, about -0.5, about -0.5", few.Kept, few.Slope, few.SlopeExpected,
		)
	}
}

// checkCounts checks that each histogram counts every draw once.
func checkCounts(t *testing.T, d *Draw) {
	t.Helper()
	for i, n := range d.Sizes {
		sum := d.Rest.Counts[i]
		for _, x := range d.Tokens {
			sum += x.Counts[i]
		}
		if sum != n {
			t.Errorf("%d draws in the histogram, want %d", sum, n)
		}
	}
}

// TestDrawBarsWithTopTokenCut: the bars show the kept tokens, each with its rank. The rest begins
// at the rank of the first token without a bar.
func TestDrawBarsWithTopTokenCut(t *testing.T) {
	want := firstDistribution(t, 0.2)
	d, _ := result[*Draw](t, "draw", terms.Values{
		"repeats": "1", "draws": "1000", "rows": "3", "temperature": "1", "top_p": "1", "typical_p": "0.2",
	})
	if want.Stays(0) || d.Kept != want.Keep || len(d.Tokens) != 3 || d.RestTokens != want.Keep-3 {
		t.Fatalf(
			"got %d kept, %d bars, %d others; want %d, 3, %d", d.Kept, len(d.Tokens), d.RestTokens, want.Keep,
			want.Keep-3,
		)
	}
	q, p := d.Rest.Q, d.Rest.P
	for i, x := range d.Tokens {
		rank := want.KeptRank(i)
		if x.Rank != rank+1 || x.Token.ID != int(want.Order[rank]) || x.Q != want.Q(rank) || x.P != want.P[x.Token.ID] {
			t.Errorf("bar %d is %+v, want rank %d with q %v", i+1, x, rank+1, want.Q(rank))
		}
		q, p = q+x.Q, p+x.P
	}
	if !near(q, 1, 1e-12) || !near(p, want.Mass, 1e-12) {
		t.Errorf("bars and rest have q %v and p %v, want 1 and %v", q, p, want.Mass)
	}
	checkCounts(t, d)
	if last, first := d.Sizes[len(d.Sizes)-1], d.Tokens[0]; !near(
		float64(first.Counts[len(d.Sizes)-1])/float64(last), first.Q, 0.05, // 1,000 draws: within 4 √(q/1,000)
	) {
		t.Errorf("the first bar's token was drawn %v of %d times at q %v", first.Counts, last, first.Q)
	}
	if rank := want.KeptRank(3) + 1; d.Rest.Rank != rank {
		t.Errorf("the rest begins at rank %d, want %d", d.Rest.Rank, rank)
	}
}

// TestDrawAtLaterStep: at a later step, the lab draws from the same distribution as the loop.
func TestDrawAtLaterStep(t *testing.T) {
	s, _ := result[*Strategies](t, "strategies", terms.Values{
		"lanes": "common", "tokens": "3", "runs": "1", "horizon": "0",
	})
	d, _ := result[*Draw](t, "draw", terms.Values{"step": "3", "draws": "10", "repeats": "1"})
	lane := s.Lanes[0].Steps
	if len(d.Before) != 2 || d.Before[0] != lane[0].Token || d.Before[1] != lane[1].Token || d.Kept != lane[2].Kept {
		t.Errorf(
			"before %v, kept %d; the lane has %+v; want 2 elements, d.Before[0] = %+v, d.Before[1] = %+v, d.Kept = %d",
			d.Before, d.Kept, lane, lane[0].Token, lane[1].Token, lane[2].Kept,
		)
	}
	for _, x := range d.Tokens {
		if x.Token == lane[2].Token && (x.P != lane[2].P || x.Q != lane[2].Q) {
			t.Errorf("%q has p %v, want the lane's %v, and its q", x.Token.Text, x.P, lane[2].P)
		}
	}
}
