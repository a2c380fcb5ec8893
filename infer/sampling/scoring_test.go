package sampling

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestPenaltiesAndBiasByHand: after the prompt [3 3], the tokens 0, 1, 0 were generated. With a
// frequency penalty of 0.5, token 0 loses 2 × 0.5 and token 1 loses 0.5. With a presence penalty of
// 0.25, both lose another 0.25. The score of token 3, which only the prompt contains, does not
// change. Biases of −1 on token 2 and of 2 on token 3 are added.
func TestPenaltiesAndBiasByHand(t *testing.T) {
	bias, err := NewBias(map[int]float64{2: -1, 3: 2, 1: 0, 99: 5})
	if err != nil || bias != "2:-1,3:2,99:5" {
		t.Fatalf("the bias is %q (%v); want %q, <nil>", bias, err, "2:-1,3:2,99:5")
	}
	z := []float32{2, -1, 0, 0.5}
	s := with(func(s *Settings) { s.FrequencyPenalty, s.PresencePenalty, s.LogitBias = 0.5, 0.25, bias })
	c := Context{Text: []int{3, 3, 0, 1, 0}, Step: 4}
	d := c.Decide(z, s)
	for id, want := range []float32{0.75, -1.75, -1, 2.5} {
		if got := d.Score(id); got != want {
			t.Errorf("the score of token %d is %v, want %v", id, got, want)
		}
	}
	if !slices.Equal(z, []float32{2, -1, 0, 0.5}) {
		t.Errorf("the logits are %v now, want %v", z, []float32{2, -1, 0, 0.5})
	}
	if name := s.Name().String(); name != "T 1, logit bias of 3 tokens, frequency penalty 0.5, presence penalty 0.25" {
		t.Errorf("the settings are named %q, want the temperature, the bias and both penalties", name)
	}
}

// TestScoringProperties: penalties of 0 and a bias without tokens change nothing. With any others,
// a sampler and Decide agree bit for bit, and scores remain finite.
func TestScoringProperties(t *testing.T) {
	var sampler Sampler
	rapid.Check(t, func(t *rapid.T) {
		z, s := scores().Draw(t, "z"), knobs().Draw(t, "settings")
		c := Context{Text: text(t, len(z))}
		c.Step = 1 + rapid.IntRange(0, len(c.Text)).Draw(t, "written")
		plain := s
		plain.FrequencyPenalty, plain.PresencePenalty, plain.LogitBias = 0, 0, ""
		off := plain
		off.Set("frequency_penalty", 0)
		off.Set("presence_penalty", 0)
		if off.LogitBias, _ = NewBias(map[int]float64{0: 0}); off != plain {
			t.Fatalf("%+v is not off", off)
		}
		by := map[int]float64{}
		for _, id := range rapid.SliceOfN(rapid.IntRange(0, len(z)+2), 0, 5).Draw(t, "biased") {
			by[id] = rapid.Float64Range(-100, 100).Draw(t, "bias")
		}
		var err error
		if s.LogitBias, err = NewBias(by); err != nil || s.LogitBias.Check() != nil {
			t.Fatalf("NewBias(%v): got %v, and from Check %v; want nil for both", by, err, s.LogitBias.Check())
		}
		s.FrequencyPenalty = rapid.Float64Range(-2, 2).Draw(t, "frequency")
		s.PresencePenalty = rapid.Float64Range(-2, 2).Draw(t, "presence")
		d := c.Decide(z, s)
		sampler.DecideIn(c, z, s)
		u := rapid.Float64Range(0, math.Nextafter(1, 0)).Draw(t, "u")
		r := d.Draw(u)
		if got := sampler.Token(sampler.Draw(u)); got != int(d.Order[r]) || sampler.Q(got) != d.Q(r) {
			t.Fatalf("drew token %d, want token %d with the same q as in Decide", got, d.Order[r])
		}
		for id := range z {
			if x := float64(d.Score(id)); math.IsInf(x, 0) || math.IsNaN(x) {
				t.Fatalf("the score of token %d is %v, want a finite one", id, x)
			}
		}
		text, err := json.Marshal(s)
		var back Settings
		if err == nil {
			err = json.Unmarshal(text, &back)
		}
		if err != nil || back != s {
			t.Fatalf("%s is parsed as %+v (%v); want %+v, <nil>", text, back, err, s)
		}
	})
}

func TestBiasIsRefused(t *testing.T) {
	var r *RangeError
	for _, text := range []string{
		`{"a":1}`, `{"1":101}`, `{"1":null,"2":"x"}`, `[1]`, `{"-1":1}`, `{"01":1}`, `"1:2"`, `7`,
	} {
		var b Bias
		if err := json.Unmarshal([]byte(text), &b); !errors.As(err, &r) || r.Field != "logit_bias" {
			t.Errorf(
				"%s is parsed as %q (%v); want an error of type *RangeError, r.Field = %q", text, b, err, "logit_bias",
			)
		}
	}
	for _, b := range []Bias{"1:2,1:3", "2:1,1:1", "1:0", "1:NaN", "x:1", "1", "1:1e999", ","} {
		if err := b.Check(); !errors.As(err, &r) {
			t.Errorf("%q: got error %v, want a *RangeError", b, err)
		}
	}
	many := map[int]float64{}
	for id := range MaxBiased + 1 {
		many[id] = 1
	}
	if _, err := NewBias(many); !errors.As(err, &r) {
		t.Errorf("%d tokens: got error %v, want a *RangeError", len(many), err)
	}
}
