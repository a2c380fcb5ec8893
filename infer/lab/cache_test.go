package lab

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/tokenbytoken/viz/infer/cost"
	"github.com/tokenbytoken/viz/infer/terms"
)

// tinyShape is a shape for calculations by hand: A = d·h·s·2 + 2·d·g·s + 3·d·f = 2·4·2·2 +
// 2·4·1·2 + 3·4·3 = 32 + 16 + 36 = 84; L·A = 168; d·V = 20; L·h·s = 8.
var tinyShape = cost.Shape{Layers: 2, Width: 4, Heads: 2, KVHeads: 1, HeadDim: 2, FFN: 3, Vocab: 5}

func TestCostPolynomialsByHand(t *testing.T) {
	p := polynomialsOf(tinyShape, 3)
	for _, c := range []struct {
		name      string
		got, want []float64
	}{
		{"cached step", p.cachedStep, []float64{188, 16}},            // 168 + 20; 2·8
		{"recomputed step", p.recomputedStep, []float64{20, 176, 8}}, // 168 + 8
		{"cached total", p.cachedTotal, []float64{384, 228, 8}},      // 2·168 + 8·3·2; 188 + 8·5
		{"recomputed total", p.recomputedTotal, []float64{0, 20 + 176*2.5 + 8*(6+1.0/6), 88 + 8*2.5, 8.0 / 3}},
	} {
		for k := range c.want {
			if !near(c.got[k], c.want[k], 1e-9) {
				t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
			}
		}
	}
	for _, m := range []int{1, 3, 10} {
		p := polynomialsOf(tinyShape, m)
		for n := 1; n <= 30; n++ {
			cached, recomputed := tinyShape.Generate(m, n)
			if got := at(p.cachedTotal, float64(n)); !near(got, float64(cached.Total()), 1e-6) {
				t.Errorf(
					"m %d, N %d: got %v, want about %v, the steps' sum, %d", m, n, got, float64(cached.Total()),
					cached.Total(),
				)
			}
			if got := at(p.recomputedTotal, float64(n)); !near(got, float64(recomputed.Total()), 1e-6) {
				t.Errorf(
					"m %d, N %d: got %v, want about %v, the steps' sum, %d", m, n, got, float64(recomputed.Total()),
					recomputed.Total(),
				)
			}
		}
	}
}

func TestPolynomialFitIsExact(t *testing.T) {
	var x, y []float64
	for i := 1; i <= 9; i++ {
		v := float64(i)
		x, y = append(x, v), append(y, 7-2*v+0.5*v*v*v)
	}
	c, r2, err := polynomial(x, y, 3)
	if err != nil || !near(r2, 1, 1e-12) {
		t.Fatalf("R² %v, %v; want about 1, <nil>", r2, err)
	}
	for k, want := range []float64{7, -2, 0, 0.5} {
		if !near(c[k], want, 1e-9) {
			t.Errorf("coefficient %d is %v, want %v", k, c[k], want)
		}
	}
	// The least-squares line through (1, 1), (2, 2), (3, 2) has the slope ½ and the constant 2/3,
	// and R² = 1 − (1/6)/(2/3) = 0.75.
	c, r2, err = polynomial([]float64{1, 2, 3}, []float64{1, 2, 2}, 1)
	if err != nil || !near(c[0], 2.0/3, 1e-12) || !near(c[1], 0.5, 1e-12) || !near(r2, 0.75, 1e-12) {
		t.Errorf("got c = %v, R² %v, error %v; want no error, c[0] ≈ 2.0/3, c[1] ≈ 0.5, r2 ≈ 0.75", c, r2, err)
	}
	if _, _, err := polynomial([]float64{1, 2}, []float64{1, 2}, 2); err == nil {
		t.Error("polynomial fitted a parabola to two points")
	}
}

func TestBreakEvenByHand(t *testing.T) {
	// (168 + 20) / 16.
	if got := breakEven(tinyShape); got != 11.75 {
		t.Errorf("got %v, want 11.75", got)
	}
	// For the bundled model's shape, the position is about 1,365.
	shape := cost.Shape{Layers: 6, Width: 192, Heads: 6, KVHeads: 2, HeadDim: 32, FFN: 512, Vocab: 4096}
	if got := math.Round(breakEven(shape)); got != 1365 {
		t.Errorf("got %v, want 1365", got)
	}
	// Without attention, a step of tinyShape costs 188, as much as 23.5 attended positions at 2·h·s
	// = 8 each, summed over its 2 layers. The rows test a window that is longer than that; a window
	// of 5 in one layer, which leaves 18.5 positions for the other layer; and a window of 5 in both
	// layers, which gives only 10 positions in total.
	for _, row := range []struct {
		window, layers int
		want           float64
	}{{50, 2, 11.75}, {5, 1, 18.5}, {5, 2, 0}} {
		s := tinyShape
		s.Window, s.WindowLayers = row.window, row.layers
		if got := breakEven(s); got != row.want {
			t.Errorf("a window of %d in %d layers: %v, want %v", row.window, row.layers, got, row.want)
		}
	}
}

// TestCachedEqualsRecomputed compares cached results with recomputed ones bit for bit, and tallies
// with the formulas.
func TestCachedEqualsRecomputed(t *testing.T) {
	c, _ := result[*Cache](
		t, "cache", terms.Values{"tokens": "12", "repeats": "2", "temperature": "0.7", "position": "7", "block": "3"},
	)
	if !c.SameLogits || c.Columns.Different != 0 || c.Compared != int64(12*c.Shape.Vocab) {
		t.Errorf("same logits %v, %d of %d numbers differ", c.SameLogits, c.Columns.Different, c.Columns.Compared)
	}
	m := len(c.Prompt)
	for i, s := range c.Steps {
		n := m + i
		want := c.Shape.Step(n)
		if i == 0 {
			want = c.Shape.Pass(n)
		}
		if s.Positions != n || s.Cached.Parts != want || s.Cached.Formula != want.Total() ||
			s.Recomputed.Parts != c.Shape.Pass(n) || s.Recomputed.Formula != c.Shape.Pass(n).Total() {
			t.Errorf(
				"step %d: got %+v, want %d positions, %+v cached and %+v recomputed, by tally and formula", s.Step, s,
				n, want, c.Shape.Pass(n),
			)
		}
		cached, recomputed := c.Shape.Generate(m, i+1)
		if s.Cached.TotalParts != cached || s.Recomputed.TotalParts != recomputed ||
			s.Cached.TotalMultAdds != cached.Total() {
			t.Errorf(
				"step %d: totals %+v and %+v, want %+v and %+v", s.Step, s.Cached.TotalParts, s.Recomputed.TotalParts,
				cached, recomputed,
			)
		}
		if s.Recomputed.Read != n || s.Cached.Read != map[bool]int{true: n, false: 1}[i == 0] || s.Cached.Ms.N != 2 ||
			s.Cached.Ms.Median <= 0 {
			t.Errorf(
				"step %d read %d and %d positions, %d times; want s.Recomputed.Read = %d, s.Cached.Read = "+
					"%d, s.Cached.Ms.N = 2, s.Cached.Ms.Median more than 0",
				s.Step, s.Cached.Read, s.Recomputed.Read, s.Cached.Ms.N, n, map[bool]int{true: n, false: 1}[i == 0],
			)
		}
	}
	checkLogits(t, c)
	k := c.Columns
	if k.Block != 3 || k.Position != 7 || len(k.KeyA) != c.Shape.KVHeads*c.Shape.HeadDim ||
		!slices.Equal(k.KeyA, k.KeyB) || !slices.Equal(k.ValueA, k.ValueB) {
		t.Errorf(
			"column %+v, want Block = 3, Position = 7, len(KeyA) = %d, KeyA = %v, ValueA = %v", k,
			c.Shape.KVHeads*c.Shape.HeadDim, k.KeyB, k.ValueB,
		)
	}
	if want := c.Steps[7-m].Token; 7 >= m && (k.WrittenAt != 7-m+2 || k.MadeAt != 12 || k.Token != want) {
		t.Errorf("position 7 was written at step %d from %v, want step %d from %v", k.WrittenAt, k.Token, 7-m+2, want)
	}
	for _, f := range c.Fits {
		for _, p := range f.Parts {
			if p.Formula != nil && !near(p.Fitted, *p.Formula, 1e-6*math.Max(1e6, math.Abs(*p.Formula))) {
				t.Errorf("%s, power %d: got the fit %v, want the formula's %v", f.Name, p.Power, p.Fitted, *p.Formula)
			}
		}
		if (f.Of.String() == "multiply-adds") != (f.Parts[0].Formula != nil) || f.Say.IsZero() {
			t.Errorf("%s of %s: got %+v, want words, and a formula for multiply-adds only", f.Name, f.Of, f)
		}
	}
	if len(c.Fits) != 8 {
		t.Errorf("%d fits, want 8", len(c.Fits))
	}
}

// checkLogits checks that the largest logits are in descending order and have the same bits whether
// they are cached or recomputed, and that the times of each repeat add up.
func checkLogits(t *testing.T, c *Cache) {
	t.Helper()
	for i, x := range c.Logits {
		bits := fmt.Sprintf("%08x", math.Float32bits(x.Cached))
		if x.CachedBits != bits || x.RecomputedBits != bits || x.Recomputed != x.Cached ||
			i > 0 && x.Cached > c.Logits[i-1].Cached {
			t.Errorf("logit %d: got %+v, want the same bits in both ways, in descending order", i, x)
		}
	}
	if len(c.Logits) != 6 {
		t.Errorf("%d logits are shown, want 6", len(c.Logits))
	}
	if first := c.Steps[0].Recomputed; first.TotalMs != first.Ms {
		t.Errorf("after one step: got total time %+v, want the step's own time, %+v", first.TotalMs, first.Ms)
	}
	for i, s := range c.Steps[1:] {
		before := c.Steps[i].Cached.TotalMs
		if now := s.Cached.TotalMs; now.N != 2 ||
			!near(now.Min+now.Max-before.Min-before.Max, s.Cached.Ms.Min+s.Cached.Ms.Max, 1e-9) {
			t.Errorf(
				"step %d: sum %+v after %+v and %+v; want N = 2, now.Min+now.Max-before.Min-before.Max ≈ %v", s.Step,
				now, before, s.Cached.Ms, s.Cached.Ms.Min+s.Cached.Ms.Max,
			)
		}
	}
}

// TestAttentionShareOfRecomputation: on the bundled model's shape, attention is 14% of
// recomputation after 512 tokens and 57% after 4,096.
func TestAttentionShareOfRecomputation(t *testing.T) {
	shape := cost.Shape{Layers: 6, Width: 192, Heads: 6, KVHeads: 2, HeadDim: 32, FFN: 512, Vocab: 4096}
	for n, want := range map[int]float64{512: 0.14, 4096: 0.57} {
		if got := attentionShare(shape, 1, n); !near(got.Share, want, 0.005) || got.Tokens != n {
			t.Errorf("got %+v, want %v", got, want)
		}
	}
}

// TestCacheWritesTheLoopsText: the cache lab generates the same text as the loop.
func TestCacheWritesTheLoopsText(t *testing.T) {
	c, _ := result[*Cache](
		t, "cache", terms.Values{"prompt": story, "tokens": "10", "repeats": "1", "temperature": "0.7", "top_p": "0.9"},
	)
	s, _ := result[*Strategies](t, "strategies", terms.Values{
		"lanes": "common", "tokens": "10", "runs": "1", "horizon": "0",
	})
	for i, x := range s.Lanes[0].Steps {
		if c.Tokens[i] != x.Token {
			t.Errorf("token %d is %v, want the loop's %v", i+1, c.Tokens[i], x.Token)
		}
	}
}
