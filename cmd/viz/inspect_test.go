package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var modelsFolder = filepath.Join("..", "..", "testdata", "models")

// The README shows what the command beside it really prints.
func TestReadmeInspect(t *testing.T) {
	const command = "$ go run ./cmd/viz inspect testdata/models/llama-q8_0.gguf"
	_, shown, found := strings.Cut(readme(t), "```console\n"+command+"\n")
	shown, _, closed := strings.Cut(shown, "```\n")
	if !found || !closed {
		t.Fatalf("README.md lacks the example %s", command)
	}
	if got := ok(t, "inspect", filepath.Join(modelsFolder, "llama-q8_0.gguf")); got != shown {
		t.Errorf("README.md shows\n%s\nthe command prints\n%s", shown, got)
	}
}

// Models of every format are told of, each with what sets it apart, and run.
func TestInspect(t *testing.T) {
	for name, want := range map[string][]string{
		"":                   {`"tiny-5M"`, "4,917,696 parameters", "3,072 B a position, 1.5 MiB when full", "GPT-2 split"},
		"llama3":             {"Hugging Face folder", "llama:", "stretched 8 times beyond 32", "Llama-3 split", "BF16", `"<|begin_of_text|>" in front`},
		"smollm":             {"stretched 4 times", "digits alone", "tied to the embedding", "no token in front"},
		"mistral":            {"mistral:", "64 positions; a token sees the last 48", "SentencePiece BPE"},
		"qwen3-f32.gguf":     {"qwen3: 3 layers, width 32", "4 query and 2 key/value heads of 16"},
		"gemma3":             {"gemma3: 7 layers", "in 6 layers a token sees the last 16, in the others all", "rotary, base 10000 in 6 layers; base 1000000 in 1 layer\n"},
		"smollm3":            {"smollm3: 5 layers", "rotary, base 5000000; none in 1 layer\n"},
		"olmo2-f32.gguf":     {"olmo2: 3 layers", "output matrix of its own"},
		"mistral-window":     {"mistral:", "64 positions; a token sees the last 16\n"},
		"gpt2-gelu":          {"gpt2:", "stored as BF16\n"},
		"qwen2":              {"qwen2:", "Qwen2 split", "base 1000000"},
		"gpt2":               {"gpt2:", "learned vectors", "GPT-2 split", "48 positions"},
		"qwen2-bf16.gguf":    {`"qwen2-bf16", GGUF version 3`, "qwen2:", "BF16"},
		"llama-q4_0.gguf":    {"Q4_0, F32", "Llama-3 split"},
		"llama2c/legacy.bin": {`"legacy", llama2.c`, "SentencePiece BPE: 611 tokens", `"</s>" or "<s>" ends`},
	} {
		args, model := []string{"inspect"}, []string{}
		if name != "" {
			path := filepath.Join(modelsFolder, filepath.FromSlash(name))
			args, model = append(args, path), []string{"-model", path}
		}
		got := ok(t, args...)
		for _, want := range append(want, "SHA-256 ", "runs       yes\n") {
			if !strings.Contains(got, want) {
				t.Errorf("viz inspect %s lacks %q:\n%s", name, want, got)
			}
		}
		if out := ok(t, append([]string{"trace", "-prompt", "the cat", "-n", "3", "-rows", "1"}, model...)...); !strings.Contains(out, "── step ") {
			t.Errorf("viz trace -model %s: %s", name, out)
		}
	}
}

// A damaged file is refused with its name and the place, before anything is
// printed.
func TestInspectDamaged(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(modelsFolder, "llama-f16.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	nan := bytes.Clone(data)
	copy(nan[len(nan)-2:], []byte{0xff, 0x7f}) // the last value of the last tensor, in F16
	for name, damaged := range map[string]struct {
		data []byte
		want []string
	}{
		"short.gguf": {data[:len(data)-100], []string{"short.gguf", "ends at byte"}},
		"head.gguf":  {data[:1000], []string{"head.gguf", "byte ", "tokenizer.ggml.tokens"}},
		"nan.gguf":   {nan, []string{"nan.gguf", "lm_head.weight[610 31] is NaN"}},
		"text.gguf":  {[]byte("hello, world"), []string{"text.gguf", "no model that can be read"}},
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, damaged.data, 0o644); err != nil {
			t.Fatal(err)
		}
		f := try(t, nil, "", "inspect", path)
		if f.code != exitUsage || f.out != "" {
			t.Errorf("%s: exit %d, printed %q", name, f.code, f.out)
		}
		for _, want := range damaged.want {
			if !strings.Contains(f.errors, want) {
				t.Errorf("%s: message %q lacks %q", name, f.errors, want)
			}
		}
	}
}
