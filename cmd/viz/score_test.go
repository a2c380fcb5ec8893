package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
)

// encodeUTF16 encodes a text in little-endian UTF-16 without a byte order mark.
func encodeUTF16(text string) (data []byte) {
	for _, unit := range utf16.Encode([]rune(text)) {
		data = binary.LittleEndian.AppendUint16(data, unit)
	}
	return data
}

// TestScoreCommand: the command prints the bits of each token and their total. A file and a pipe
// give the same output, and unreadable input is refused.
// Promise: `viz score` prints the bits per token, perplexity and bits per byte of a file or of standard input.
func TestScoreCommand(t *testing.T) {
	t.Parallel()
	const text = "Once upon a time there was a fox. “Où?” it asked."
	file := filepath.Join(t.TempDir(), "text.txt")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	want, err := testmodel.Target(t).ScoreAll(t.Context(), text, nil)
	if err != nil || want.Bytes != len(text) {
		t.Fatalf("score of the text: got %+v, %v; want %d bytes, <nil>", want, err, len(text))
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
			t.Fatalf("%s: got %v; want no error, token.Bits not nil", line, err)
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
		t.Errorf("got %+v, but the tokens sum to %v bits", last, bits)
	}
	plain := ok(t, "score", file)
	if f := try(t, nil, text, "score", "-"); f.code != exitDone || f.out != plain ||
		!strings.Contains(plain, "perplexity") || !strings.Contains(plain, "bits per byte") {
		t.Errorf(
			"piped in: got %q; from a file: %q; want f.code = %d, f.out = %q, plain with %q and %q", f.out, plain,
			exitDone, plain, "perplexity", "bits per byte",
		)
	}
	if !strings.Contains(ok(t, "score", "-tokens", file), `" upon"`) {
		t.Error("no tokens are listed")
	}
	for name, marked := range map[string]string{
		"UTF-8": "\ufeff" + text, "UTF-16": "\xff\xfe" + string(encodeUTF16(text)),
	} {
		if f := try(t, nil, marked, "score", "-"); f.code != exitDone || f.out != plain {
			t.Errorf("%s with a byte order mark: got %d, %q; want %d, %q", name, f.code, f.out, exitDone, plain)
		}
	}
	for text, says := range map[string]string{
		"": "too short", "a\xffb": "not valid UTF-8 at byte 1", "\xff\xfe\x00\x00": "UTF-32",
	} {
		if f := try(t, nil, text, "score", "-"); f.code != exitUsage || !strings.Contains(f.errors, says) {
			t.Errorf("%q: got %d, %s; want %d with %q", text, f.code, f.errors, exitUsage, says)
		}
	}
}

// TestScoreCountsCutTokens: with rules, the command also prints how many tokens of the text the
// rules cut, and how far the distribution with the rules diverges from the distribution without
// them. If only the likeliest token is left, the divergence is that token's surprise.
func TestScoreCountsCutTokens(t *testing.T) {
	const text = "The capital of France is a"
	one := sampling.Pure
	one.TopK = 1
	m := testmodel.Target(t)
	c, err := m.Compare(
		t.Context(), infer.Side{Text: text, Settings: one}, infer.Side{Text: text, Settings: sampling.Pure},
	)
	if err != nil {
		t.Fatal(err)
	}
	f := try(t, nil, text, "score", "-json", "-rules", "top_k=1", "-")
	lines := strings.Split(strings.TrimSpace(f.out), "\n")
	var got besideText
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &got); err != nil || len(lines) != 2 {
		t.Fatalf("%q: got %v; want no error, len(lines) = 2", f.out, err)
	}
	bits := 0.0
	for _, d := range c.Apart {
		bits += d.Nats / math.Ln2
	}
	if want := bits / float64(len(c.Apart)); got.Cut != c.Sides[0].Cut || got.Cut == 0 || got.Bits != 0 ||
		math.Abs(got.Apart-want) > 1e-9 || got.Back != nil || got.Lost <= 0 || got.Settings.TopK != 1 {
		t.Errorf("%+v, want %d cut and %v bits apart", got, c.Sides[0].Cut, want)
	}
	if f := try(t, nil, text, "score", "-rules", "top_k=1", "-"); !strings.Contains(f.out, "infinite") {
		t.Errorf("the divergence in the other direction: got %s, want it to contain %q", f.out, "infinite")
	}
	if f := try(t, nil, text, "score", "-temperature", "2", "-"); f.code != exitDone ||
		strings.Contains(f.out, "infinite") {
		t.Errorf(
			"a temperature cuts tokens: got %s, want f.code = %d, f.out without %q", f.out, exitDone, "infinite",
		)
	}
	for _, bad := range [][]string{
		{"-rules", "x"},
		{"-rules", "x=1"},
		{"-rules", "top_p=7"},
		{"-rules", "temperature=1"},
		{"-rules", "xtc_probability=1"},
		{"-temperature", "x"},
		{"-temperature", "0"},
		{"-temperature", "NaN"},
	} {
		args := append(append([]string{"score"}, bad...), "-")
		if f := try(t, nil, text, args...); f.code != exitUsage || f.errors == "" {
			t.Errorf("%q: got %d, %q; want %d, non-empty", bad, f.code, f.errors, exitUsage)
		}
	}
}

// TestScoreIsInterrupted: scoring a long text can be interrupted, and the command reports how far
// it got. Progress is shown only on terminals, with an estimate of the time left.
func TestScoreIsInterrupted(t *testing.T) {
	text := strings.Repeat("_ a", 600)
	ctx, cancel := context.WithCancel(t.Context())
	out := writerFunc(func(p []byte) (int, error) { cancel(); return len(p), nil })
	var errs strings.Builder
	unset := func(string) string { return "" }
	code := run(ctx, []string{"score", "-tokens", "-"}, unset, strings.NewReader(text), out, &errs)
	want := regexp.MustCompile(`^stopped after [0-9,]+ of [0-9,]+ tokens, so there are no totals\n$`)
	if code != exitInterrupted || !want.MatchString(errs.String()) {
		t.Errorf("got %d, %q; want %d, matching %q", code, errs.String(), exitInterrupted, want)
	}
	const left = "1,280 of 51,280 tokens, about 1m18s left"
	if got := scoreProgress(terms.English, 1280, 51_280, 2*time.Second); got != left {
		t.Errorf("got %q, want 50,000 tokens at 640 a second: %q", got, left)
	}
}
