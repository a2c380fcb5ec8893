package infer_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
)

// TestCompareByHand recomputes the surprise and the divergence at every step by running a pass over
// the text up to that step.
func TestCompareByHand(t *testing.T) {
	t.Parallel()
	m := testmodel.Target(t)
	sides := []infer.Side{{Text: "The dog ran to the", Settings: at(1)}, {Text: "The cat ran", Settings: at(0.5)}}
	c, err := m.Compare(t.Context(), sides...)
	if err != nil {
		t.Fatal(err)
	}
	shares := func(side infer.Side, n int) (ids []int, p []float64) {
		ids = m.Encode(side.Text)
		skip := len(ids) - len(c.Sides[0].Tokens) // 1 if there is a start token
		if side == sides[1] {
			skip = len(ids) - len(c.Sides[1].Tokens)
		}
		if n+skip == 0 {
			return ids[skip:], nil
		}
		last, _, err := m.Forward(t.Context(), m.NewCache(), ids[:n+skip])
		if err != nil {
			t.Fatal(err)
		}
		z, _, err := m.Logits(last)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, x := range z {
			p = append(p, math.Exp(float64(x)/side.Settings.Temperature))
			sum += p[len(p)-1]
		}
		for i := range p {
			p[i] /= sum
		}
		return ids[skip:], p
	}
	for i, side := range sides {
		nats, bytes, tokens := 0.0, 0, 0
		for n, got := range c.Sides[i].Tokens {
			ids, p := shares(side, n)
			if got.Token.ID != ids[n] || got.First != (p == nil) {
				t.Fatalf("side %d, token %d is %+v, want %d", i, n, got, ids[n])
			}
			if p == nil {
				continue
			}
			if math.Abs(got.LogProb-math.Log(p[ids[n]])) > 1e-4 {
				t.Errorf("side %d, token %d: ln p is %v, want %v", i, n, got.LogProb, math.Log(p[ids[n]]))
			}
			nats, bytes, tokens = nats-math.Log(p[ids[n]]), bytes+len(got.Token.Text), tokens+1
		}
		if s := c.Sides[i].Sum; s.Tokens != tokens || s.Bytes != bytes || math.Abs(s.Nats-nats) > 1e-3 {
			t.Errorf("side %d: %+v, want %d tokens, %d bytes, %v nats", i, s, tokens, bytes, nats)
		}
	}
	if len(c.Apart) != len(c.Sides[1].Tokens) {
		t.Fatalf("got %d compared steps, want %d", len(c.Apart), len(c.Sides[1].Tokens))
	}
	for n, got := range c.Apart {
		_, p := shares(sides[0], n)
		_, q := shares(sides[1], n)
		want := 0.0
		for i := range p {
			want += p[i] * math.Log(p[i]/q[i])
		}
		if got.Lost != 0 || got.Gained != 0 || math.Abs(got.Nats-want) > 1e-4 {
			t.Errorf("step %d: divergence %v, want %v", n, got, want)
		}
	}
}

// TestCompareAtTemperatureOneEqualsScore: at T = 1, the sums equal the sums that viz score prints, and a text
// does not diverge from itself.
func TestCompareAtTemperatureOneEqualsScore(t *testing.T) {
	t.Parallel()
	m := testmodel.Target(t)
	const text = "Once upon a time there was a fox, who lived in Größe 🦊."
	want, err := m.ScoreAll(t.Context(), text, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := m.Compare(t.Context(), infer.Side{Text: text, Settings: at(1)}, infer.Side{Text: text, Settings: at(1)})
	if err != nil {
		t.Fatal(err)
	}
	for i, side := range c.Sides {
		if side.Sum != want {
			t.Errorf("side %d: %+v, want %+v", i, side.Sum, want)
		}
	}
	for n, d := range c.Apart {
		if d.Nats != 0 {
			t.Errorf("step %d diverges from itself by %v, want Nats = 0", n, d)
		}
	}
}

func TestCompareRefusesUnusableTexts(t *testing.T) {
	t.Parallel()
	m := testmodel.Target(t)
	long := strings.Repeat("a b ", m.Config().Context)
	for _, side := range []infer.Side{
		{Text: long, Settings: at(1)},
		{Text: "a", Settings: at(0)},
		{Text: "a", Settings: at(math.NaN())},
		{Text: "a", Settings: at(math.Inf(1))},
		{Text: "a", Settings: at(-1)},
		{Text: "a", Settings: at(11)},
	} {
		var wrong *terms.RangeError
		if _, err := m.Compare(t.Context(), side); !errors.As(err, &wrong) {
			t.Errorf(
				"%.20q at %v: got error %v, want an error of type *terms.RangeError", side.Text,
				side.Settings.Temperature, err,
			)
		}
	}
}

// at returns settings with only a temperature.
func at(temperature float64) sampling.Settings {
	s := sampling.Pure
	s.Temperature = temperature
	return s
}

// TestCompareUnderCuts: the divergence from a side that keeps only the likeliest token is infinite,
// and Lost is the total probability of all other tokens. In the other direction, the divergence is
// the surprise of the likeliest token. If that side cuts a token of the text, it gives the token
// probability 0.
func TestCompareUnderCuts(t *testing.T) {
	t.Parallel()
	m := testmodel.Target(t)
	const text = "The capital of France is a"
	one := at(1)
	one.TopK = 1
	c, err := m.Compare(t.Context(), infer.Side{Text: text, Settings: at(1)}, infer.Side{Text: text, Settings: one})
	if err != nil {
		t.Fatal(err)
	}
	cut := 0
	for n, d := range c.Apart {
		ids := m.Encode(text)
		last, _, err := m.Forward(t.Context(), m.NewCache(), ids[:n+1])
		if err != nil {
			t.Fatal(err)
		}
		z, _, err := m.Logits(last)
		if err != nil {
			t.Fatal(err)
		}
		sum, most, best := 0.0, math.Inf(-1), 0
		for id, x := range z {
			if sum += math.Exp(float64(x)); float64(x) > most {
				most, best = float64(x), id
			}
		}
		p := math.Exp(most) / sum // the likeliest token's probability
		if !math.IsInf(d.Nats, 1) || math.Abs(d.Back+math.Log(p)) > 1e-4 || math.Abs(d.Lost-(1-p)) > 1e-4 ||
			d.Gained != 0 {
			t.Errorf("step %d: %+v, want only the likeliest token's probability %v kept", n+1, d, p)
		}
		want := math.Inf(-1)
		if best == ids[n+1] {
			want = 0
		} else {
			cut++
		}
		if got := c.Sides[1].Tokens[n].LogProb; math.Abs(got-want) > 1e-9 && got != want {
			t.Errorf("step %d: ln p is %v, want %v", n+1, got, want)
		}
	}
	if s := c.Sides[1]; s.Cut != cut || cut == 0 || s.Sum.Tokens != len(s.Tokens)-cut || s.Sum.Nats > 1e-9 {
		t.Errorf("got %d tokens cut and the sum %+v, want %d cut", s.Cut, s.Sum, cut)
	}
}

// TestComparePenalties: penalties count the text before each token, and nothing after it.
func TestComparePenalties(t *testing.T) {
	t.Parallel()
	m := testmodel.Target(t)
	less := at(1)
	less.PresencePenalty = 1
	c, err := m.Compare(
		t.Context(), infer.Side{Text: " and and", Settings: at(1)}, infer.Side{Text: " and and", Settings: less},
	)
	if err != nil {
		t.Fatal(err)
	}
	// Lowering the score of an earlier token by 1 changes its share p to p/e / (p/e + 1 − p).
	n := len(c.Apart) - 1
	p := math.Exp(c.Sides[0].Tokens[n].LogProb)
	want := p / math.E / (p/math.E + 1 - p)
	ids := m.Encode(" and and")
	if ids[len(ids)-1] == ids[len(ids)-2] { // the same token twice
		if got := math.Exp(c.Sides[1].Tokens[n].LogProb); math.Abs(got-want) > 1e-6 {
			t.Errorf("the second “and” has probability %v with the penalty, want %v", got, want)
		}
	} else {
		t.Fatalf("the text has the tokens %v, want the same token twice at its end", ids)
	}
	if d := c.Apart[0]; d.Nats != 0 {
		t.Errorf("before the first token, the sides are %v nats apart, want 0", d.Nats)
	}
}
