package sampling

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
)

// asked is what llama.cpp's samplers were asked (testdata/samplers/ask.c), and what they
// answered.
type asked struct {
	Kind  string
	Set   map[string]json.RawMessage
	Z     []int // in units of 1/4096
	Text  []int
	Steps []struct {
		Kept  []int
		P     []float64
		Drawn int
	}
}

// settings are those of a case, and where its passages break.
func (a asked) settings(t *testing.T) (s Settings, breaks func(int) bool) {
	t.Helper()
	s = Settings{Temperature: 1, TopP: 1}
	for name, raw := range a.Set {
		var x float64
		if name == "logit_bias" {
			if err := json.Unmarshal(raw, &s.LogitBias); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := json.Unmarshal(raw, &x); err != nil {
			t.Fatal(err)
		}
		if name == "breaker" {
			breaks = func(id int) bool { return id == int(x) }
		} else if !s.Set(name, x) {
			t.Fatalf("there is no knob %s", name)
		}
	}
	if a.Kind == "whole" {
		s.Order = OrderLlama
	}
	return s, breaks
}

// check compares the steps of a case. Our u is not theirs, so the token that they drew is
// drawn here too; XTC strikes at any u.
func (a asked) check(t *testing.T, i int) {
	t.Helper()
	s, breaks := a.settings(t)
	z := make([]float32, len(a.Z))
	for id, units := range a.Z {
		z[id] = float32(units) / 4096
	}
	// All of the text counts as generated, since theirs does not tell a prompt from it.
	c := Context{Text: a.Text, Step: len(a.Text) + 1, Breaks: breaks}
	for n, want := range a.Steps {
		d := c.Decide(z, s)
		var ids []int
		p := make([]float64, len(z))
		for at := range d.Keep {
			id := int(d.Order[d.KeptRank(at)])
			ids, p[id] = append(ids, id), d.KeptQ(at)
		}
		if slices.Sort(ids); !slices.Equal(ids, want.Kept) {
			t.Errorf("case %d, %s, step %d keeps %v, llama.cpp %v: %s", i, a.Kind, n+1, ids, want.Kept, a.Set)
			return
		}
		for at, id := range want.Kept {
			if math.Abs(p[id]-want.P[at]) > 1e-5 {
				t.Errorf("case %d, %s, step %d: p of token %d is %.7f, llama.cpp's %.7f: %s",
					i, a.Kind, n+1, id, p[id], want.P[at], a.Set)
				return
			}
		}
		if want.Drawn >= 0 {
			c.State = d.Next(d.RankOf(int32(want.Drawn)))
		}
	}
}

// Every rule keeps the tokens that llama.cpp's own sampler keeps, with the same
// probabilities, alone and in llama.cpp's whole chain in its order. VIZ_SAMPLERS names
// another file of answers: testdata/samplers/ask.c says how ten thousand are made.
func TestLlamaSamplers(t *testing.T) {
	name := "../../testdata/samplers/answers.json.gz"
	if other := os.Getenv("VIZ_SAMPLERS"); other != "" {
		name = other
	}
	var list []asked
	fixture.ReadZipped(t, name, &list)
	kinds, cut := map[string]int{}, map[string]int{}
	for i, a := range list {
		a.check(t, i)
		kinds[a.Kind]++
		if len(a.Steps[0].Kept) < len(a.Z) {
			cut[a.Kind]++
		}
	}
	if len(kinds) != 12 || len(list) < 360 {
		t.Errorf("%d vectors of the kinds %v; want 360 of 12 kinds", len(list), kinds)
	}
	for _, kind := range []string{
		"top_k", "top_p", "min_p", "typical_p", "top_n_sigma", "xtc", "mirostat", "whole",
	} {
		if cut[kind] < kinds[kind]/4 { // a rule that cuts nothing is not compared
			t.Errorf("of %d vectors %s cuts only %d", kinds[kind], kind, cut[kind])
		}
	}
	t.Logf("%d vectors: %v; something is cut of %v", len(list), kinds, cut)
}
