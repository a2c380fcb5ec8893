package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/testmodel"
)

// TestScore: the command prints what the model says of a text, the sums of its tokens;
// a file and a pipe give the same, and what cannot be read is refused.
func TestScore(t *testing.T) {
	const text = "Once upon a time there was a fox. “Où?” it asked."
	file := filepath.Join(t.TempDir(), "text.txt")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	want, err := testmodel.Target(t).ScoreAll(t.Context(), text, nil)
	if err != nil || want.Bytes != len(text) {
		t.Fatalf("%+v, %v", want, err)
	}
	var bits float64
	var spelled string
	var last scoredText
	lines := strings.Split(strings.TrimSpace(ok(t, "score", "-json", "-tokens", file)), "\n")
	for _, line := range lines[:len(lines)-1] {
		var token struct {
			Token struct{ Text string }
			Bits  *float64
		}
		if err := json.Unmarshal([]byte(line), &token); err != nil || token.Bits == nil {
			t.Fatalf("%s: %v", line, err)
		}
		bits, spelled = bits+*token.Bits, spelled+token.Token.Text
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
		t.Fatal(err)
	}
	n := float64(last.Tokens)
	if last.Tokens != len(lines)-1 || last.Tokens != want.Tokens || last.Bits != want.Bits() ||
		math.Abs(last.Bits-bits) > 1e-9 || last.BitsPerToken != last.Bits/n ||
		math.Abs(last.Perplexity-math.Exp2(last.BitsPerToken)) > 1e-9 ||
		math.Abs(last.BitsPerByte-last.Bits/float64(len(text))) > 1e-12 {
		t.Errorf("%+v; the tokens sum to %v bits", last, bits)
	}
	plain := ok(t, "score", file)
	if f := try(t, nil, text, "score", "-"); f.code != exitDone || f.out != plain ||
		!strings.Contains(plain, "perplexity") || !strings.Contains(plain, "bits per byte") {
		t.Errorf("piped in: %q; from a file: %q", f.out, plain)
	}
	if !strings.Contains(ok(t, "score", "-tokens", file), `" upon"`) {
		t.Error("no token is listed")
	}
	for text, says := range map[string]string{"": "too short", "a\xffb": "not valid UTF-8"} {
		if f := try(t, nil, text, "score", "-"); f.code != exitUsage || !strings.Contains(f.errors, says) {
			t.Errorf("%q: %d, %s", text, f.code, f.errors)
		}
	}
}
