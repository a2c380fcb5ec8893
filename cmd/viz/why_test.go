package main

import (
	"encoding/json"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/why"
	"github.com/tokenbytoken/viz/web/webtest"
)

// TestReadmeWhy: cmd/viz/README.md shows the actual output of the example command.
func TestReadmeWhy(t *testing.T) {
	command := `$ go run ./cmd/viz why -prompt "The capital of France is"`
	_, shown, found := strings.Cut(readme(t), "```console\n"+command+"\n")
	shown, _, closed := strings.Cut(shown, "```\n")
	if !found || !closed {
		t.Fatalf("README.md lacks the example %s", command)
	}
	sameText(t, ok(t, "why", "-prompt", "The capital of France is"), shown)
}

// TestWhyJSON: the text and the JSON object have the same numbers, and the parts in the JSON object
// add up to the score in it.
// Promise: The parts that `viz why` lists add up to the score; the text and the JSON have the same numbers.
func TestWhyJSON(t *testing.T) {
	t.Parallel()
	var got struct {
		Token struct{ Text string }
		Over  struct{ Text string }
		Off   string
		Base  struct {
			Z     float64
			Parts []struct{ Z float64 }
		}
		Changed struct{ P float64 }
		Lens    [][]struct{ Came *struct{ Rank int } }
		Patch   struct {
			There struct{ Text string }
			Cells [][]struct{ Follows float64 }
		}
		Heads struct{ Habits []struct{ Habit why.Habit } }
	}
	out := ok(t, "why", "-prompt", "The capital of France is", "-token", " Paris", "-over", "London", "-off",
		"L6,pos:0", "-mean", "-lens", "-patch", "The capital of Italy is", "-heads", "-json")
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	var sum float64
	for _, p := range got.Base.Parts {
		sum += p.Z
	}
	if math.Abs(sum-got.Base.Z) > 1e-4 || len(got.Base.Parts) != 43 {
		t.Errorf(
			"got %d parts that add up to %v, lead %v; want 43, about %v", len(got.Base.Parts), sum, got.Base.Z,
			got.Base.Z,
		)
	}
	if got.Token.Text != " Paris" || got.Over.Text != " London" || got.Off != "L6,pos:0" || got.Changed.P <= 0 {
		t.Errorf(
			"got %+v, want Token.Text = %q, Over.Text = %q, Off = %q, Changed.P more than 0", got, " Paris", " London",
			"L6,pos:0",
		)
	}
	if len(got.Lens) != 7 || len(got.Lens[6]) != 6 || got.Lens[6][5].Came != nil || got.Lens[6][4].Came == nil {
		t.Errorf("got lens %+v, want 7 heights of 6 positions, the last without a token that came", got.Lens)
	}
	if got.Patch.There.Text != " Rome" || len(got.Patch.Cells) != 7 || len(got.Heads.Habits) != 3 {
		t.Errorf("got %+v, want Patch.There.Text = %q, len(Patch.Cells) = 7, len(Heads.Habits) = 3", got, " Rome")
	}
}

// TestWhyExplainsEveryArchitecture: viz why can explain a token of a model of every architecture.
// If a model has more heads than fit in columns, only the head with the largest contribution in
// each block is named.
func TestWhyExplainsEveryArchitecture(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"gpt2", "gemma3", "olmo2", "qwen3", "smollm3", "mistral-window", "qwen2", "tinyllama",
	} {
		out := ok(
			t, "why", "-prompt", "and the", "-model", filepath.Join(modelsFolder, name), "-off", "L1.H1", "-lens",
		)
		for _, want := range []string{
			"target", "added by", "embedding", "L2 ", "off        L1.H1;", "changed", "before L1",
		} {
			if !strings.Contains(out, want) {
				t.Errorf("%s: no %q in\n%s", name, want, out)
			}
		}
		if biased := strings.Contains(out, "from the attention bias"); biased != (name == "gpt2") {
			t.Errorf("%s: a bias: got %v, want %v", name, biased, name == "gpt2")
		}
	}
	out := ok(t, "why", "-prompt", "The capital of France is", "-quant", "int8")
	if !strings.Contains(out, "\nrounding ") {
		t.Errorf("the output for int8 weights lacks the rounding:\ngot %s\nwant it to contain %q", out, "\nrounding ")
	}
	same := ok(t, "why", "-prompt", "The capital of France is", "-patch", "The capital of France is", "-heads")
	for _, want := range []string{"both texts predict ·Paris", "no head passes", "this model has no induction heads"} {
		if !strings.Contains(same, want) {
			t.Errorf("no %q in\n%s", want, same)
		}
	}
}

// TestWhyIsDocumented: STAGES.md describes every field of the JSON object.
func TestWhyIsDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "infer", "STAGES.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "\n## Why a token\n")
	text, _, _ = strings.Cut(text, "\n## ")
	var object any
	out := ok(t, "why", "-prompt", "The capital of France is", "-over", "London", "-off", "L1", "-mean", "-lens",
		"-patch", "The capital of Italy is", "-heads", "-json")
	if err := json.Unmarshal([]byte(out), &object); err != nil {
		t.Fatal(err)
	}
	seen := 0
	var look func(any)
	look = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				look(item)
			}
		case map[string]any:
			for key, value := range v {
				if seen++; !strings.Contains(text, "`"+key+"`") && key != "id" && key != "text" && key != "special" {
					t.Errorf("STAGES.md does not describe %s", key)
				}
				look(value)
			}
		}
	}
	look(object)
	if seen < 100 {
		t.Errorf("found only %d fields", seen)
	}
}

// TestWhyJSONEqualsTheServers: the server sends the same object that the
// command prints.
func TestWhyJSONEqualsTheServers(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	site := webtest.Serve(t, webtest.Options{})
	get := func() (status int, text string) {
		resp, err := http.Get(site + "/why.json?prompt=The+capital+of+France+is&over=London&off=L6,pos:0&mean=1" +
			"&heads=1&with=The+capital+of+Italy+is")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		sent, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(sent)
	}
	status, sent := get()
	for status == http.StatusServiceUnavailable { // the heads are still being measured
		status, sent = get()
	}
	sameText(t, sent, ok(t, "why", "-prompt", "The capital of France is", "-over", "London", "-off", "L6,pos:0",
		"-mean", "-lens", "-patch", "The capital of Italy is", "-heads", "-json"))
}
