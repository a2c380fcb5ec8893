package sampling

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestRepetitionPenaltyByHand: with θ = 2, the first score, which is positive, is halved; the
// second, which is negative, is doubled; and the third remains 0. A token that occurs twice in the
// text is penalized once. Σ e^z is then e^1 + e^−2 + e^0 + e^0.5 = 2.7183 + 0.1353 + 1 + 1.6487 =
// 5.5023.
func TestRepetitionPenaltyByHand(t *testing.T) {
	z := []float32{2, -1, 0, 0.5}
	s := with(func(s *Settings) { s.RepetitionPenalty = 2 })
	d := Context{Text: []int{0, 1, 0, 2}}.Decide(z, s)
	for id, want := range []float32{1, -2, 0, 0.5} {
		if got := d.Score(id); got != want {
			t.Errorf("the score of token %d is %v, want %v", id, got, want)
		}
	}
	wantRow(t, "p", d.P, 0.4940, 0.0246, 0.1817, 0.2996)
	if !slices.Equal(d.Order, []int32{0, 3, 2, 1}) || !slices.Equal(z, []float32{2, -1, 0, 0.5}) {
		t.Errorf(
			"order %v; the logits are %v now; want %v, %v", d.Order, z, []int32{0, 3, 2, 1}, []float32{2, -1, 0, 0.5},
		)
	}
	// The penalty comes before the temperature and before greedy: with θ = 5, the first score falls
	// to 0.4.
	s.Temperature, s.RepetitionPenalty = 0, 5
	if d := (Context{Text: []int{0}}).Decide(z, s); d.Order[0] != 3 || d.Keep != 1 {
		t.Errorf("greedy takes token %d of %d kept, want 3", d.Order[0], d.Keep)
	}
}

// text generates a list of token ids from a vocabulary of the given size.
func text(t *rapid.T, vocab int) []int {
	return rapid.SliceOfN(rapid.IntRange(0, vocab-1), 0, 30).Draw(t, "text")
}

// TestDisabledPenaltyChangesNothing: a penalty of 1 changes nothing, and neither does a penalty if
// there is no text.
func TestDisabledPenaltyChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z, s := scores().Draw(t, "z"), knobs().Draw(t, "settings")
		off := s
		off.RepetitionPenalty, off.DRYMultiplier = 0, 0
		want := Decide(z, off)
		off.Set("repetition_penalty", 1)
		for _, got := range []*Distribution{Context{Text: text(t, len(z))}.Decide(z, off), Decide(z, s)} {
			if !slices.Equal(got.P, want.P) || !slices.Equal(got.Order, want.Order) || got.Keep != want.Keep {
				t.Fatalf("θ = %v: %v, want %v", got.Settings.RepetitionPenalty, got.P, want.P)
			}
		}
	})
}

// TestPenaltyNeverHelpsRepetition: a token that is in the text never gains on one that is not: its
// score does not rise, and the other scores stay the same.
func TestPenaltyNeverHelpsRepetition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z := scores().Draw(t, "z")
		s := with(func(s *Settings) { s.RepetitionPenalty = rapid.Float64Range(1.0001, 10).Draw(t, "θ") })
		c := Context{Text: text(t, len(z))}
		before, after := Decide(z, s), c.Decide(z, s)
		for id, score := range z {
			got := after.Score(id)
			if repeated := slices.Contains(c.Text, id); repeated && !(got <= score) || !repeated && got != score ||
				math.IsInf(float64(got), 0) {
				t.Fatalf(
					"token %d: %v became %v; want at most that if in the text (%v), else no change", id, score, got,
					repeated,
				)
			}
		}
		for a := range z {
			for b := range z {
				if slices.Contains(c.Text, a) && !slices.Contains(c.Text, b) &&
					after.P[a]*before.P[b] > before.P[a]*after.P[b]*(1+1e-9)+1e-300 {
					t.Fatalf("token %d of the text gains on %d, which is not in it", a, b)
				}
			}
		}
	})
}

// TestSamplerEqualsDecideUnderPenalty: a sampler and Decide agree bit for bit under the
// penalty.
func TestSamplerEqualsDecideUnderPenalty(t *testing.T) {
	var sampler Sampler
	rapid.Check(t, func(t *rapid.T) {
		z, s := scores().Draw(t, "z"), knobs().Draw(t, "settings")
		s.RepetitionPenalty = rapid.Float64Range(1.0001, 10).Draw(t, "θ")
		c := Context{Text: text(t, len(z))}
		d := c.Decide(z, s)
		sampler.DecideIn(c, z, s)
		u := rapid.Float64Range(0, math.Nextafter(1, 0)).Draw(t, "u")
		r := d.Draw(u)
		id := int(d.Order[r])
		if got := sampler.Token(sampler.Draw(u)); got != id || sampler.Len() != d.Keep ||
			sampler.Q(id) != d.Q(r) || sampler.P(id) != d.P[id] || sampler.Scores()[id] != d.Score(id) {
			t.Fatalf("token %d of %d with p %v and q %v, want %d of %d with %v and %v",
				got, sampler.Len(), sampler.P(got), sampler.Q(got), id, d.Keep, d.P[id], d.Q(r))
		}
	})
}
