package infer

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/cost"
	"github.com/tokenbytoken/viz/infer/fixture"
)

// modelsFolder holds a small random model of every architecture and format; make.py in that folder
// generates them and their expected logits.
const modelsFolder = "../testdata/models"

// expected is the output of an independent PyTorch implementation for one of the models in
// modelsFolder.
type expected struct {
	IDs       []int     `json:"ids"`
	Argmax    []int     `json:"argmax"`    // by position
	LogSumExp []float64 `json:"logsumexp"` // by position
	Last      []float64 `json:"last"`      // logits of the last position, [vocab]
}

func readExpected(t *testing.T) map[string]expected {
	t.Helper()
	all := map[string]expected{}
	for _, name := range []string{"logits.json.gz", "architectures.json.gz"} { // from make.py and architectures.py
		fixture.ReadZipped(t, filepath.Join(modelsFolder, name), &all) // adds the file's entries to all
	}
	return all
}

func openModel(t testing.TB, name string) *Model {
	t.Helper()
	c, err := checkpoint.OpenPath(filepath.Join(modelsFolder, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Verify(); err != nil {
		t.Fatal(err)
	}
	m, err := Load(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestFormatsAgreeWithPyTorch: every architecture and every format agrees with PyTorch: the logits
// differ by at most 2e-3, and the largest logit belongs to the same token at every position.
// Promise: Every supported architecture and file format agrees with PyTorch within 2e-3.
func TestFormatsAgreeWithPyTorch(t *testing.T) {
	const tolerance = 2e-3
	all := readExpected(t)
	if len(all) != 27 {
		t.Fatalf("%d models, want 27", len(all))
	}
	for name, want := range all {
		t.Run(name, func(t *testing.T) {
			m := openModel(t, name)
			c := m.NewCache()
			var worst float64
			for i, id := range want.IDs {
				z := logitsAfter(t, m, c, id)
				if got := argmax(z); got != want.Argmax[i] {
					t.Errorf(
						"position %d: got largest logit at token %d, want %d as in PyTorch", i, got, want.Argmax[i],
					)
				}
				worst = max(worst, math.Abs(logSumExp(z)-want.LogSumExp[i]))
				if i < len(want.IDs)-1 {
					continue
				}
				if len(z) != len(want.Last) {
					t.Fatalf("got %d logits, want %d as in PyTorch", len(z), len(want.Last))
				}
				for id, v := range z {
					worst = max(worst, math.Abs(float64(v)-want.Last[id]))
				}
			}
			if !(worst <= tolerance) {
				t.Errorf("got largest difference %v, want at most %v", worst, tolerance)
			}
			t.Logf("%d positions, largest difference %.2g", len(want.IDs), worst)
		})
	}
}

// TestFormatsKeepEngineInvariants: the invariants of the bundled model hold for the other models:
// reading a text in one pass or token by token gives the same bits, the tally matches the formulas,
// and an inspection shows the same values as the pass that ran.
func TestFormatsKeepEngineInvariants(t *testing.T) {
	for name, want := range readExpected(t) {
		t.Run(name, func(t *testing.T) {
			m := openModel(t, name)
			ctx := context.Background()
			atOnce, single := m.NewCache(), m.NewCache()
			last, tally, err := m.Forward(ctx, atOnce, want.IDs)
			if err != nil {
				t.Fatal(err)
			}
			if formula := m.Shape().Blocks(0, len(want.IDs)); tally != formula {
				t.Errorf("got tally %+v, want the formula's %+v", tally, formula)
			}
			var one []float32
			var sum cost.Parts
			for _, id := range want.IDs {
				var step cost.Parts
				if one, step, err = m.Forward(ctx, single, []int{id}); err != nil {
					t.Fatal(err)
				}
				sum = sum.Plus(step)
			}
			if !slices.Equal(one, last) || sum != tally {
				t.Error("reading token by token gives different numbers or costs than one pass")
			}
			position := len(want.IDs) - 1
			in, err := m.Inspect(ctx, atOnce, want.IDs[position], position)
			if err != nil {
				t.Fatal(err)
			}
			for l, b := range in.Blocks {
				key, value := atOnce.Column(l, position)
				if !slices.Equal(b.Key, key) || !slices.Equal(b.Value, value) || len(b.Attention) != m.Config().Heads ||
					len(b.Hidden) != m.Config().FFN {
					t.Errorf("the inspection of block %d differs from the pass that ran", l)
				}
			}
			if !slices.Equal(in.Blocks[len(in.Blocks)-1].Residual, last) {
				t.Error("the last block's stream differs from the result of the pass")
			}
			if _, err := NewLoop(m, "Once upon a time", DefaultSettings()); err != nil {
				t.Errorf("NewLoop: %v", err)
			}
		})
	}
}

// TestGreedyTextMatchesLlamaCpp: the greedy text matches llama.cpp's on the same file, even far
// beyond the sliding windows. greedy.mjs, in the models' folder, shows how llama.cpp was run.
// Promise: Greedy text equals the text that llama.cpp generates from the same file.
func TestGreedyTextMatchesLlamaCpp(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(modelsFolder, "greedy.json"))
	if err != nil {
		t.Fatal(err)
	}
	var texts map[string]struct{ Prompt, Next []int }
	if err := json.Unmarshal(data, &texts); err != nil {
		t.Fatal(err)
	}
	if len(texts) != 5 {
		t.Fatalf("%d texts, want 5", len(texts))
	}
	for name, want := range texts {
		m := openModel(t, name)
		c := m.NewCache()
		var got []int
		for z := logitsAfter(t, m, c, want.Prompt...); len(got) < len(want.Next); z = logitsAfter(
			t, m, c, got[len(got)-1],
		) {
			got = append(got, argmax(z))
		}
		if !slices.Equal(got, want.Next) {
			t.Errorf("%s: generated %v, want %v as from llama.cpp", name, got, want.Next)
		}
	}
}

// TestFolderAndGGUFAgree: a folder and a GGUF file of the same model give the same results, bit for
// bit. Among the models are some whose norm weights are stored minus one in a folder but not in
// GGUF, some whose rows GGUF orders differently, and some with values that only one of the formats
// stores.
func TestFolderAndGGUFAgree(t *testing.T) {
	expected := readExpected(t)
	for _, name := range []string{"qwen3", "gemma3", "smollm3", "olmo2", "mistral-window"} {
		folder, gguf := openModel(t, name), openModel(t, name+"-f32.gguf")
		if folder.Shape() != gguf.Shape() || folder.Parameters() != gguf.Parameters() ||
			folder.Config().Architecture != gguf.Config().Architecture && name != "mistral-window" {
			t.Errorf(
				"%s: got %+v, %d parameters; want the same as in GGUF: %+v, %d", name, folder.Shape(),
				folder.Parameters(), gguf.Shape(), gguf.Parameters(),
			)
		}
		ids := expected[name].IDs
		if a, b := logitsAfter(t, folder, folder.NewCache(), ids...), logitsAfter(
			t, gguf, gguf.NewCache(), ids...,
		); !slices.Equal(a, b) {
			t.Errorf("%s: the folder and the GGUF file give different logits", name)
		}
	}
}
