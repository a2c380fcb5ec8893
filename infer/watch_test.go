package infer

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
)

// whyCase is one text with the results that testdata/why/make.py computed with PyTorch.
type whyCase struct {
	IDs           []int `json:"ids"`
	Other         []int `json:"other"`
	Contributions []struct {
		Token int                `json:"token"`
		Over  int                `json:"over"`
		Z     float64            `json:"z"`
		Parts map[string]float64 `json:"parts"`
	} `json:"contributions"`
	Changes []struct {
		Off       []string           `json:"off"`
		Mean      bool               `json:"mean"`
		Positions []int              `json:"positions"`
		Logits    [][2]float64       `json:"logits"`
		Parts     map[string]float64 `json:"parts"`
	} `json:"changes"`
	Patches []struct {
		Height   int          `json:"height"`
		Position int          `json:"position"`
		Logits   [][2]float64 `json:"logits"`
	} `json:"patches"`
}

// eachWhy runs a test on every text of the fixture with its model.
func eachWhy(t *testing.T, run func(t *testing.T, m *Model, c whyCase)) {
	t.Helper()
	cases := map[string]whyCase{}
	fixture.ReadZipped(t, "../testdata/why/why.json.gz", &cases)
	if len(cases) != 12 {
		t.Fatalf("%d texts, want 12", len(cases))
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if strings.HasPrefix(name, "bundled") {
				run(t, bundledModel(t), c)
			} else {
				run(t, openModel(t, name), c)
			}
		})
	}
}

func watch(t testing.TB, m *Model, ids []int) *Watch {
	t.Helper()
	w, err := m.Watch(context.Background(), ids, true)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func again(t testing.TB, w *Watch, change Intervention) *Watch {
	t.Helper()
	changed, err := w.Again(context.Background(), change)
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

func partsNamed(t *testing.T, m *Model, names []string) (parts []Part) {
	t.Helper()
	for _, p := range m.Parts() {
		if slices.Contains(names, p.String()) {
			parts = append(parts, p)
		}
	}
	if len(parts) != len(names) {
		t.Fatalf("%v are not all parts of the model", names)
	}
	return parts
}

// compareContributions checks that contributions agree with PyTorch's and that their sum agrees
// with the score. The tolerance is 1e-4; for contributions larger than 1, it is relative.
func compareContributions(t *testing.T, w *Watch, token, over int, want map[string]float64) {
	t.Helper()
	last := len(w.tokens) - 1
	got, err := w.Contributions(last, token, over)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) {
		t.Fatalf("got %d contributions, want %d as in PyTorch", len(got), len(want))
	}
	var sum float64
	for _, c := range got {
		sum += c.Z
		w, ok := want[c.Part.String()]
		if !ok || math.Abs(c.Z-w) > 1e-4*max(1, math.Abs(w)) {
			t.Errorf("%s adds %v, want %v as in PyTorch", c.Part, c.Z, w)
		}
	}
	z, err := w.Logits(w.model.config.Layers, last)
	if err != nil {
		t.Fatal(err)
	}
	score := float64(z[token])
	if over >= 0 {
		score -= float64(z[over])
	}
	if math.Abs(sum-score) > 1e-4 {
		t.Errorf("the contributions add up to %v, want the score, %v", sum, score)
	}
}

// TestContributionsAgreeWithPyTorch: contributions to a score and to a lead equal
// PyTorch's for every architecture.
// Promise: The contribution of each part of the model to a score agrees with PyTorch.
func TestContributionsAgreeWithPyTorch(t *testing.T) {
	eachWhy(t, func(t *testing.T, m *Model, c whyCase) {
		w := watch(t, m, c.IDs)
		for _, want := range c.Contributions {
			compareContributions(t, w, want.Token, want.Over, want.Parts)
		}
	})
}

// compareLogits checks that the last position's logits are within 1e-3 of want.
func compareLogits(t *testing.T, w *Watch, want [][2]float64) {
	t.Helper()
	z, err := w.Logits(w.model.config.Layers, len(w.tokens)-1)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range want {
		if diff := math.Abs(float64(z[int(row[0])]) - row[1]); !(diff <= 1e-3) {
			t.Errorf("token %v has the logit %v, want %v as in PyTorch", row[0], z[int(row[0])], row[1])
		}
	}
}

// TestDisabledPartsAgreeWithPyTorch: with parts switched off or positions hidden, the
// logits and the contributions of the other parts equal PyTorch's.
func TestDisabledPartsAgreeWithPyTorch(t *testing.T) {
	eachWhy(t, func(t *testing.T, m *Model, c whyCase) {
		w := watch(t, m, c.IDs)
		for _, want := range c.Changes {
			changed := again(t, w, Intervention{
				Off: partsNamed(t, m, want.Off), Mean: want.Mean, Positions: want.Positions,
			})
			compareLogits(t, changed, want.Logits)
			compareContributions(t, changed, c.Contributions[0].Token, -1, want.Parts)
		}
	})
}

// TestPatchAgreesWithPyTorch: after a stream is copied from another text, the logits agree with
// PyTorch's.
func TestPatchAgreesWithPyTorch(t *testing.T) {
	eachWhy(t, func(t *testing.T, m *Model, c whyCase) {
		w, from := watch(t, m, c.IDs), watch(t, m, c.Other)
		for _, p := range c.Patches {
			changed := again(t, w, Intervention{Patch: &Patch{From: from, Height: p.Height, Position: p.Position}})
			compareLogits(t, changed, p.Logits)
		}
	})
}

// TestWatchedPassEqualsOrdinaryPass: with nothing switched off, a watched pass has the same
// streams, keys, values and attention weights as an ordinary one, bit for bit, over more than one
// chunk. The same is true of a pass that hides no positions, and of one that patches a text with
// its own stream.
func TestWatchedPassEqualsOrdinaryPass(t *testing.T) {
	eachWhy(t, func(t *testing.T, m *Model, c whyCase) {
		ids := c.IDs
		for len(ids) < chunk+9 {
			ids = append(ids, c.Other...)
		}
		ids = ids[:chunk+9]
		cache := m.NewCache()
		last, _, err := m.Forward(context.Background(), cache, ids)
		if err != nil {
			t.Fatal(err)
		}
		w, d, n := watch(t, m, ids), m.config.Width, len(ids)
		itself := again(t, w, Intervention{Patch: &Patch{From: w, Height: 1, Position: 3}})
		for what, w := range map[string]*Watch{"watched": w, "carried into itself": itself} {
			if !slices.Equal(w.stream[len(m.blocks)][(n-1)*d:], last) {
				t.Errorf("%s: the stream differs from the result of the pass", what)
			}
			for l := range m.blocks {
				if !slices.Equal(w.cache.keys[l], cache.keys[l]) || !slices.Equal(w.cache.values[l], cache.values[l]) {
					t.Errorf("%s: block %d has different keys or values", what, l)
				}
			}
		}
		for _, at := range []int{0, 5, n - 1} {
			in, err := m.Inspect(context.Background(), cache, ids[at], at)
			if err != nil {
				t.Fatal(err)
			}
			for l, b := range in.Blocks {
				if !slices.Equal(b.Residual, w.stream[l+1][at*d:(at+1)*d]) {
					t.Errorf("position %d: different stream after block %d", at, l)
				}
				for h, weights := range b.Attention {
					if !slices.Equal(weights, w.Attention(l+1, h+1, at)[:at+1]) ||
						!slices.Equal(weights, w.Looks(l+1, at)[h][:at+1]) {
						t.Errorf("position %d: block %d, head %d has different attention weights", at, l, h)
					}
				}
			}
		}
	})
}

// TestLensEndsWithTheModelsOutput: after the last block, the lens equals the model's output at
// every position, and its surprise is the surprise of the token that came next.
func TestLensEndsWithTheModelsOutput(t *testing.T) {
	m := bundledModel(t)
	ids := m.Encode("The capital of France is Paris.")
	w := watch(t, m, ids)
	cells, err := w.Lens(context.Background(), m.config.Layers, 0, 3)
	if err != nil {
		t.Fatal(err)
	}
	cache := m.NewCache()
	for i, id := range ids {
		z := logitsAfter(t, m, cache, id)
		if cells[i].Says[0].Token.ID != argmax(z) || len(cells[i].Says) != 3 {
			t.Errorf("position %d: the lens gives %v, want 3 tokens, the model's %d first", i, cells[i].Says, argmax(z))
		}
		var came float64
		if i+1 < len(ids) {
			came = math.Exp(float64(z[ids[i+1]]) - logSumExp(z))
		}
		if math.Abs(cells[i].Came-came) > 1e-6 {
			t.Errorf("position %d: got %[3]v in the lens, want the next token's %[2]v", i, came, cells[i].Came)
		}
	}
	if cells[5].Rank != 1 || cells[5].Says[0].Token.Text != " Paris" {
		t.Errorf(
			"after %q the lens has %+v; want Rank = 1, Says[0].Token.Text = %q", "The capital of France is", cells[5],
			" Paris",
		)
	}
}

// TestInterventionsAreChecked: parts and positions that a model or a text does not
// have are rejected, and the error lists the valid ones.
func TestInterventionsAreChecked(t *testing.T) {
	m := smallModel(t)
	w := watch(t, m, []int{endID, 72, 105})
	short := watch(t, m, []int{endID, 72})
	for want, change := range map[string]Intervention{
		"L3.H1 is not a part":                       {Off: []Part{{PartHead, 3, 1}}},
		"L1.H5 is not a part":                       {Off: []Part{{PartHead, 1, 5}}},
		"L1.bias is not a part":                     {Off: []Part{{Kind: PartBias, Block: 1}}},
		"embedding is not a part":                   {Off: []Part{{Kind: PartEmbedding}}},
		"pos:2 is not an earlier position":          {Positions: []int{2}},
		"the other text has 2 tokens and":           {Patch: &Patch{From: short}},
		"position 3 after block 1 is out of range":  {Patch: &Patch{From: w, Height: 1, Position: 3}},
		"position 0 after block 3 is out of range":  {Patch: &Patch{From: w, Height: 3}},
		"position 0 after block -1 is out of range": {Patch: &Patch{From: w, Height: -1}},
	} {
		if _, err := w.Again(context.Background(), change); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", change, err, want)
		}
	}
	patched := again(t, w, Intervention{Patch: &Patch{From: w, Height: 1, Position: 1}})
	for _, c := range []struct {
		position, token, over int
		want                  string
	}{
		{1, 0, -1, "position 1 was patched"},
		{3, 0, -1, "no position 3"},
		{2, 999, -1, "token 999 is outside the vocabulary"},
		{2, 0, 999, "token 999 is outside the vocabulary"},
	} {
		_, err := patched.Contributions(c.position, c.token, c.over)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("contributions of %+v: got error %v, want one that contains %q", c, err, c.want)
		}
	}
	ended, stop := context.WithCancel(context.Background())
	stop()
	if _, err := w.Again(ended, Intervention{Off: []Part{{PartHead, 1, 1}}}); err == nil {
		t.Error("a pass continued after its context had ended")
	}
	if _, err := m.Watch(context.Background(), nil, false); err == nil {
		t.Error("got no error for a pass over no tokens")
	}
}

// TestContributionsOfRoundedVectorsAddUp: the parts of a model that rounds vectors, including the rounding
// part, add up to its score: an int8 model, and one from a file in Q8_0.
func TestContributionsOfRoundedVectorsAddUp(t *testing.T) {
	rounded, err := bundledModel(t).Rounded(QuantInt8)
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range map[string]*Model{"int8": rounded, "Q8_0": openModel(t, "llama-q8_0.gguf")} {
		w := watch(t, m, m.Encode("The capital of France is"))
		all, err := w.Contributions(len(w.tokens)-1, m.Encode(" Paris")[1], -1)
		if err != nil {
			t.Fatal(err)
		}
		rest := all[len(all)-1]
		if rest.Part.Kind != PartRounding || rest.Z == 0 || math.Abs(rest.Z) > 0.5 {
			t.Errorf("%s: got rounding part %+v, want kind %q and a Z up to ±0.5, but not 0", name, rest, PartRounding)
		}
		if parts := m.Parts(); parts[len(parts)-1] != rest.Part {
			t.Errorf("%s: the last part is %v, want %v", name, parts[len(parts)-1], rest.Part)
		}
	}
}

// TestSurpriseIsFinite: −log₂ of ¼ is 2, and a probability too small for a float64 still gives a
// finite number, since JSON has no infinity.
func TestSurpriseIsFinite(t *testing.T) {
	t.Parallel()
	if quarter, none := (LensCell{Came: 0.25}).Surprise(), (LensCell{}).Surprise(); quarter != 2 || none != 1074 {
		t.Errorf("%v and %v bits, want 2 and 1074", quarter, none)
	}
}
