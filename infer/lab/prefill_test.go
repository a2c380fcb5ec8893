package lab

import (
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
)

func TestPrefillPoints(t *testing.T) {
	p, r := result[*Prefill](t, "prefill", terms.Values{"lengths": "64,1,600,16", "tokens": "10", "repeats": "3"})
	shape := models(t).Target.Shape()
	if len(p.Points) != 3 || len(p.LeftOut) != 1 || p.LeftOut[0] != 600 || p.Repeats != 3 {
		t.Fatalf(
			"got %d points, left out %v, %d repeats; want len(p.Points) = 3, 1 element, p.LeftOut[0] = "+
				"600, p.Repeats = 3",
			len(p.Points), p.LeftOut, p.Repeats,
		)
	}
	for i, n := range []int{1, 16, 64} {
		x := p.Points[i]
		if x.Tokens != n || x.MultAdds != shape.Pass(n).Total() || x.Formula != x.MultAdds || x.Ms.N != 3 ||
			x.Ms.Median <= 0 || !near(
			x.PerToken*float64(n), x.Ms.Median, 1e-9,
		) {
			t.Errorf(
				"got %+v, want %d tokens, %d multiply-adds by tally and formula, 3 times that give PerToken", x, n,
				shape.Pass(n).Total(),
			)
		}
	}
	at := 0.0
	for i, a := range p.Arrivals {
		if at += a.Gap; a.Step != i+1 || !near(a.At, at, 1e-9) || a.Gap <= 0 {
			t.Errorf("got %+v, the gaps add up to %v; want Step = %d, At ≈ %v, Gap more than 0", a, at, i+1, at)
		}
	}
	last := p.Arrivals[len(p.Arrivals)-1].At
	if p.First != p.Arrivals[0].At || p.Streamed.First > p.Streamed.Last || p.Streamed.Last != last || p.Whole != (Wait{
		last, last,
	}) {
		t.Errorf(
			"first %v, streamed %+v, whole %+v; want p.First = %v, First at most %v, Last = %v, p.Whole = %+v", p.First,
			p.Streamed, p.Whole, p.Arrivals[0].At, p.Streamed.Last, last, Wait{last, last},
		)
	}
	// Each token read adds (Pass(64) − Pass(1)) / 63. After the first token, nine were generated,
	// starting at position len(prompt)+1.
	if want := float64(shape.Pass(64).Total()-shape.Pass(1).Total()) / 63; !near(p.Input.MultAdds, want, 1e-6) {
		t.Errorf("reading a token takes %v multiply-adds, want %v", p.Input.MultAdds, want)
	}
	want := 0.0
	for i := range len(p.Arrivals) - 1 {
		want += float64(shape.Step(p.Prompt+1+i).Total()) / float64(len(p.Arrivals)-1)
	}
	if !near(p.Output.MultAdds, want, 1e-3) || p.Gaps.N != 3*(len(p.Arrivals)-1) {
		t.Errorf("generating a token takes %v multiply-adds, want %v (%d gaps)", p.Output.MultAdds, want, p.Gaps.N)
	}
	if p.Ratio != p.Output.Ms/p.Input.Ms || p.WorkRatio != p.Output.MultAdds/p.Input.MultAdds ||
		p.Output.Ms != p.Gaps.Median || p.Input.Ms != p.PerToken {
		t.Errorf(
			"ratio %v, work ratio %v, for %+v generated and %+v read; want p.Ratio = %v, p.WorkRatio = %v, "+
				"p.Output.Ms = %v, p.Input.Ms = %v",
			p.Ratio, p.WorkRatio, p.Output, p.Input, p.Output.Ms/p.Input.Ms, p.Output.MultAdds/p.Input.MultAdds,
			p.Gaps.Median, p.PerToken,
		)
	}
	if r.Noise.IsZero() || p.WeightBytes != models(t).Target.WeightBytes() {
		t.Errorf(
			"got noise %q, weights of %d bytes; want some noise, %d bytes", r.Noise, p.WeightBytes,
			models(t).Target.WeightBytes(),
		)
	}
}

func TestPrefillLineFit(t *testing.T) {
	// The points lie exactly on 2 + 3·n.
	p := Prefill{
		Points: []PrefillPoint{
			{Tokens: 1, Ms: Spread{Median: 5}},
			{Tokens: 4, Ms: Spread{Median: 14}},
			{Tokens: 10, Ms: Spread{Median: 32}},
		},
	}
	p.line()
	if !near(p.Constant, 2, 1e-9) || !near(p.PerToken, 3, 1e-9) || !near(p.R2, 1, 1e-9) {
		t.Errorf("got %v + %v·n, R² %v; want about 2, about 3, about 1", p.Constant, p.PerToken, p.R2)
	}
	// If there is only one point, the time per token is taken from it.
	p = Prefill{Points: []PrefillPoint{{Tokens: 4, Ms: Spread{Median: 8}, PerToken: 2}}}
	if p.line(); p.PerToken != 2 {
		t.Errorf("got %v ms per token, want 2", p.PerToken)
	}
}

// TestStreamedTextWaitsForWhatIsHeld: a reader does not see text that is still held back.
func TestStreamedTextWaitsForWhatIsHeld(t *testing.T) {
	p, _ := result[*Prefill](t, "prefill", terms.Values{"lengths": "1", "tokens": "6", "repeats": "1"})
	for _, a := range p.Arrivals {
		if a.Text != "" {
			if p.Streamed.First != a.At {
				t.Errorf("got the first words at %v, want them with the first text, at %v", p.Streamed.First, a.At)
			}
			return
		}
	}
	t.Error("no text was shown")
}
