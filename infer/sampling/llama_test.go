package sampling

import (
	"encoding/json"
	"math"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
)

// asked holds one input of llama.cpp's samplers and their output (testdata/samplers/ask.c).
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

// settings returns the settings of a case, and a function that reports whether a token breaks
// passages.
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

// check compares the steps of a case. This program's u differs from llama.cpp's, so check uses the
// token that llama.cpp drew. In these cases, XTC strikes at any u.
func (a asked) check(t *testing.T, i int) {
	t.Helper()
	s, breaks := a.settings(t)
	z := make([]float32, len(a.Z))
	for id, units := range a.Z {
		z[id] = float32(units) / 4096
	}
	// All of the text counts as generated, since llama.cpp does not distinguish the prompt.
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
			t.Errorf("case %d, %s, step %d keeps %v, want llama.cpp's %v: %s", i, a.Kind, n+1, ids, want.Kept, a.Set)
			return
		}
		for at, id := range want.Kept {
			if math.Abs(p[id]-want.P[at]) > 1e-5 {
				t.Errorf(
					"case %d, %s, step %d: p of token %d is %.7f, want llama.cpp's %.7f: %s", i, a.Kind, n+1, id,
					p[id], want.P[at], a.Set,
				)
				return
			}
		}
		if want.Drawn >= 0 {
			c.State = d.Next(d.RankOf(int32(want.Drawn)))
		}
	}
}

// TestRulesMatchLlamaCpp: every rule, both alone and in llama.cpp's complete chain in its order,
// keeps the tokens that llama.cpp's own sampler keeps, with the same probabilities.
// Promise: Every sampling rule keeps the tokens that llama.cpp keeps, with the same probabilities.
func TestRulesMatchLlamaCpp(t *testing.T) {
	var list []asked
	fixture.ReadZipped(t, "../../testdata/samplers/answers.json.gz", &list)
	compare(t, list, 360)
}

// compare checks a list of cases. The list must have at least `least` cases.
func compare(t *testing.T, list []asked, least int) {
	t.Helper()
	kinds, cut := map[string]int{}, map[string]int{}
	for i, a := range list {
		a.check(t, i)
		kinds[a.Kind]++
		if len(a.Steps[0].Kept) < len(a.Z) {
			cut[a.Kind]++
		}
	}
	if len(kinds) != 12 || len(list) < least {
		t.Errorf("%d vectors of the kinds %v; want %d of 12 kinds", len(list), kinds, least)
	}
	for _, kind := range []string{
		"top_k", "top_p", "min_p", "typical_p", "top_n_sigma", "xtc", "mirostat", "whole",
	} {
		if cut[kind] < kinds[kind]/4 { // a rule that cuts nothing tests nothing
			t.Errorf("of the %d vectors, %s cuts something in only %d", kinds[kind], kind, cut[kind])
		}
	}
	t.Logf("%d vectors: %v; with something cut: %v", len(list), kinds, cut)
}

// TestRulesMatchLlamaCppFromNPM runs llama.cpp's library again: its results equal the results in
// testdata, and every rule agrees with it on ten thousand vectors.
func TestRulesMatchLlamaCppFromNPM(t *testing.T) {
	switch {
	case !fixture.LongTier():
		t.Skip("this test installs llama.cpp's library with npm: set VIZ_LONG=1")
	case runtime.GOOS != "linux" || runtime.GOARCH != "amd64":
		t.Skip("the library is for Linux on x86-64")
	}
	const folder = "../../testdata/samplers"
	installed := fixture.Npm(t, folder+"/npm")
	library, err := filepath.Glob(installed + "/node_modules/@node-llama-cpp/linux-x64/bins/linux-x64/libllama.v*.so")
	if err != nil || len(library) != 1 {
		t.Fatalf("the package has the libraries %v, %v; want 1 element, <nil>", library, err)
	}
	ask := filepath.Join(installed, "ask")
	fixture.Output(t, folder, "cc", "-O1", "-o", ask, "ask.c", "-ldl", "-lm")
	answers := func(to any, what string) {
		if err := json.Unmarshal([]byte(fixture.Output(t, installed, ask, library[0], what)), to); err != nil {
			t.Fatal(err)
		}
	}
	var kept, now []asked
	fixture.ReadZipped(t, folder+"/answers.json.gz", &kept)
	answers(&now, "360")
	var keptDraws, draws []xtcAsked
	fixture.ReadZipped(t, folder+"/draws.json.gz", &keptDraws)
	answers(&draws, "draws")
	if !reflect.DeepEqual(kept, now) || !reflect.DeepEqual(keptDraws, draws) {
		t.Error("llama.cpp's results differ from those in testdata/samplers")
	}
	var many []asked
	answers(&many, "10000")
	compare(t, many, 10_000)
}
