package infer_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
)

// TestCompareByHand works out surprise and divergence of every step anew, from passes
// over the text so far.
func TestCompareByHand(t *testing.T) {
	t.Parallel()
	m := testmodel.Target(t)
	sides := []infer.Side{{Text: "The dog ran to the", Temperature: 1}, {Text: "The cat ran", Temperature: 0.5}}
	c, err := m.Compare(t.Context(), sides...)
	if err != nil {
		t.Fatal(err)
	}
	shares := func(side infer.Side, n int) (ids []int, p []float64) {
		ids = m.Encode(side.Text)
		skip := len(ids) - len(c.Sides[0].Tokens) // a start token
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
			p = append(p, math.Exp(float64(x)/side.Temperature))
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
	if len(c.Divergence) != len(c.Sides[1].Tokens) {
		t.Fatalf("%d steps are compared, want %d", len(c.Divergence), len(c.Sides[1].Tokens))
	}
	for n, got := range c.Divergence {
		_, p := shares(sides[0], n)
		_, q := shares(sides[1], n)
		want := 0.0
		for i := range p {
			want += p[i] * math.Log(p[i]/q[i])
		}
		if math.Abs(got-want) > 1e-4 {
			t.Errorf("step %d: divergence %v, want %v", n, got, want)
		}
	}
}

// TestCompareIsScore: at T = 1 the sums are those of viz score, and a text does not
// diverge from itself.
func TestCompareIsScore(t *testing.T) {
	t.Parallel()
	m := testmodel.Target(t)
	const text = "Once upon a time there was a fox, who lived in Größe 🦊."
	want, err := m.ScoreAll(t.Context(), text, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := m.Compare(t.Context(), infer.Side{Text: text, Temperature: 1}, infer.Side{Text: text, Temperature: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i, side := range c.Sides {
		if side.Sum != want {
			t.Errorf("side %d: %+v, want %+v", i, side.Sum, want)
		}
	}
	for n, d := range c.Divergence {
		if d != 0 {
			t.Errorf("step %d diverges from itself by %v", n, d)
		}
	}
}

func TestCompareRefuses(t *testing.T) {
	t.Parallel()
	m := testmodel.Target(t)
	long := strings.Repeat("a b ", m.Config().Context)
	for _, side := range []infer.Side{
		{Text: long, Temperature: 1},
		{Text: "a", Temperature: 0},
		{Text: "a", Temperature: math.NaN()},
		{Text: "a", Temperature: math.Inf(1)},
		{Text: "a", Temperature: -1},
		{Text: "a", Temperature: 11},
	} {
		var wrong *terms.RangeError
		if _, err := m.Compare(t.Context(), side); !errors.As(err, &wrong) {
			t.Errorf("%.20q at %v: %v", side.Text, side.Temperature, err)
		}
	}
}
