package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/bundled"
	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/terms"
)

var modelsFolder = filepath.Join("..", "..", "testdata", "models")

// TestReadmeInspect: infer/README.md shows the actual output of the example command.
func TestReadmeInspect(t *testing.T) {
	const command = "$ go run ./cmd/viz inspect testdata/models/llama-q8_0.gguf"
	_, shown, found := strings.Cut(readme(t), "```console\n"+command+"\n")
	shown, _, closed := strings.Cut(shown, "```\n")
	if !found || !closed {
		t.Fatalf("README.md lacks the example %s", command)
	}
	if got := ok(t, "inspect", filepath.Join(modelsFolder, "llama-q8_0.gguf")); got != shown {
		t.Errorf("README.md shows\n%s\nwant the command's output:\n%s", shown, got)
	}
}

// TestInspectDescribesEveryFormat: viz inspect reports that models in every format run, and
// describes the special features of each.
// Promise: `viz inspect` describes a model in any supported format before you run it.
func TestInspectDescribesEveryFormat(t *testing.T) {
	for name, want := range map[string][]string{
		"": {
			`"tiny-5M"`, "4,917,696 parameters", "3,072 B per position, 1.5 MiB when full", "GPT-2 split",
		},
		"llama3": {
			"Hugging Face folder", "llama:", "stretched by a factor of 8 for contexts beyond 32", "Llama-3 split",
			"BF16", `"<|begin_of_text|>" starts a text`,
		},
		"smollm":         {"stretched by a factor of 4", "digits alone", "tied to the embedding", "no start token"},
		"mistral":        {"mistral:", "64 positions; each token attends to the last 48", "SentencePiece BPE"},
		"qwen3-f32.gguf": {"qwen3: 3 layers, width 32", "4 query and 2 key/value heads of width 16"},
		"gemma3": {
			"gemma3: 7 layers", "in 6 layers, each token attends to the last 16; in the others, to all",
			"rotary, base 10000 in 6 layers; base 1000000 in 1 layer\n",
		},
		"smollm3":            {"smollm3: 5 layers", "rotary, base 5000000; none in 1 layer\n"},
		"olmo2-f32.gguf":     {"olmo2: 3 layers", "separate output matrix"},
		"mistral-window":     {"mistral:", "64 positions; each token attends to the last 16\n"},
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
		if out := ok(
			t, append([]string{"trace", "-prompt", "the cat", "-n", "3", "-rows", "1"}, model...)...,
		); !strings.Contains(out, "── step ") {
			t.Errorf("viz trace -model %s: got %s, want it to contain %q", name, out, "── step ")
		}
	}
}

// TestAdapterBesideModelIsReported: an adapter next to full weights is not applied, and the
// commands that describe or load the model say so.
func TestAdapterBesideModelIsReported(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "model")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(modelsFolder, "qwen3"))); err != nil {
		t.Fatal(err)
	}
	const want = "The folder contains an adapter (adapter_config.json), which is ignored"
	trace := []string{"trace", "-prompt", "a", "-n", "1", "-rows", "1", "-model", dir}
	if f := try(t, nil, "", trace...); f.code != exitDone || f.errors != "" {
		t.Errorf("trace without an adapter: got %d, %q; want %d, no output", f.code, f.errors, exitDone)
	}
	adapter := filepath.Join(dir, "adapter_config.json")
	if err := os.WriteFile(adapter, []byte(`{"peft_type":"LORA"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if f := try(t, nil, "", trace...); f.code != exitDone || !strings.Contains(f.errors, "-model "+dir+": "+want) {
		t.Errorf("trace: got %d, %q; want %d with %q", f.code, f.errors, exitDone, want)
	}
	got := strings.Join(strings.Fields(ok(t, "inspect", dir)), " ")
	if !strings.Contains(got, "warning "+want) || !strings.Contains(got, "runs yes") {
		t.Errorf("inspect: got %q, want it to contain %q and %q", got, "warning "+want, "runs yes")
	}
	var described inspected
	if err := json.Unmarshal([]byte(ok(t, "inspect", "-json", dir)), &described); err != nil ||
		len(described.Warnings) != 1 || !strings.HasPrefix(described.Warnings[0], want) || !described.Runs {
		t.Errorf("inspect -json: got %q, runs %v, %v; want one beginning with %q", described.Warnings, described.Runs,
			err, want)
	}
}

// TestInspectDescribesDamagedModels: for a model that is damaged or cannot run, the command
// describes as much as it can, reports the position of each problem, and exits with code 2.
func TestInspectDescribesDamagedModels(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(modelsFolder, "llama-f16.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	nan := bytes.Clone(data)
	copy(nan[len(nan)-2:], []byte{0xff, 0x7f}) // the last value of the last tensor, in F16
	other := bytes.Replace(data, []byte("general.architecture\x08\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00llama"),
		[]byte("general.architecture\x08\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00ma\x1bba"), 1)
	for name, damaged := range map[string]struct {
		data []byte
		want []string
	}{
		"short.gguf": {
			data[:len(data)-100], []string{"llama: 2 layers", `"<unk>"`, `tensor "output.weight" ends at byte`},
		},
		"head.gguf":  {data[:1000], []string{`"head", GGUF`, "byte ", "tokenizer.ggml.tokens"}},
		"nan.gguf":   {nan, []string{"SHA-256", "output.weight[610 31] is NaN"}},
		"other.gguf": {other, []string{`"ma\x1bba"`, "the supported architectures are gemma3, gpt2, llama"}},
		"pointer.gguf": {
			[]byte("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n"),
			[]string{`"pointer", git-LFS pointer`, "of 12345 bytes"},
		},
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, damaged.data, 0o644); err != nil {
			t.Fatal(err)
		}
		f := try(t, nil, "", "inspect", path)
		reason := "viz cannot run " + path + "; see the reason listed above"
		if f.code != exitUsage || !strings.Contains(f.errors, reason) {
			t.Errorf("%s: exit %d, %q; want %d with %q", name, f.code, f.errors, exitUsage, reason)
		}
		for _, want := range append(damaged.want, "\nruns       no, for 1 reason:\n") {
			if !strings.Contains(f.out, want) {
				t.Errorf("%s: printed %q, which lacks %q", name, f.out, want)
			}
		}
		if strings.Contains(f.out+f.errors, "\x1b") {
			t.Errorf("%s: a control character reaches the terminal: %q", name, f.out)
		}
	}
}

// TestInspectWithoutAModelPrintsTheReason: if there is nothing to describe, only the
// reason is printed.
func TestInspectWithoutAModelPrintsTheReason(t *testing.T) {
	path := filepath.Join(t.TempDir(), "text.gguf")
	if err := os.WriteFile(path, []byte("hello, world"), 0o644); err != nil {
		t.Fatal(err)
	}
	if f := try(t, nil, "", "inspect", path); f.code != exitUsage || f.out != "" ||
		!strings.Contains(f.errors, "not a supported model") {
		t.Errorf(
			`exit %d, %q, %q; want %d, "", a message with %q`, f.code, f.out, f.errors, exitUsage,
			"not a supported model",
		)
	}
}

// TestInspectListsAllProblems: all problems in a folder are listed, one per line.
// Problems of the same kind are counted.
func TestInspectListsAllProblems(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"config.json": `{"model_type": "llama", "_name_or_path": "me/broken", "hidden_size": 0, ` +
			`"num_hidden_layers": 2, "num_attention_heads": 3, "vocab_size": 10, "hidden_act": "relu", ` +
			`"quantization_config": {}, "attention_bias": true}`,
		"tokenizer.json": `{"model": {"type": "Unigram"}, "added_tokens": [{"id": 7, "content": "<pad>", ` +
			`"special": true}]}`,
		"tokenizer_config.json": `{"chat_template": "{% for m in messages %}\u001b[2J{{ m }}{% endfor %}"}`,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	header := `{"lm_head.weight":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}`
	weights := append([]byte{byte(len(header)), 0, 0, 0, 0, 0, 0, 0}, header+"\x00\x00\x00\x00"...)
	if err := os.WriteFile(filepath.Join(folder, "model.safetensors"), weights, 0o644); err != nil {
		t.Fatal(err)
	}
	f := try(t, nil, "", "inspect", folder, "-tensors", "-template")
	for _, want := range []string{
		`titled "me/broken"`, `shape      "llama"`, "1 tensor in 4 B", `special    1 token: 7 "<pad>"`,
		"runs       no, for 7 reasons:\n", "config.json: quantization_config is set",
		"config.json: hidden_size is 0, want 1 to 65536",
		"config.json: intermediate_size is missing", `config.json: hidden_act is "relu"`,
		"config.json: attention_bias is true",
		`model.safetensors: tensor "lm_head.weight" has type U8`, "tokenizer.json: ",
		"\n  lm_head.weight  U8  [4]\n", "{% for m in messages %}\\u001b[2J{{ m }}",
	} {
		if !strings.Contains(f.out, want) {
			t.Errorf("the output lacks %q:\n%s", want, f.out)
		}
	}
	if f.code != exitUsage {
		t.Errorf("exit %d, want %d", f.code, exitUsage)
	}
	f = try(t, nil, "", "trace", "-prompt", "x", "-model", folder)
	if !strings.Contains(
		f.errors,
		"quantization_config is set; quantized weights are not supported (and 6 more; run viz inspect to list them)",
	) {
		t.Errorf(
			"stderr is %q, want it to say that quantization_config is set, and that there are 6 more reasons", f.errors,
		)
	}
}

// TestInspectJSON: the JSON form has the same data as the text, and also lists the tensors.
func TestInspectJSON(t *testing.T) {
	var got inspected
	if err := json.Unmarshal(
		[]byte(ok(t, "inspect", "-json", filepath.Join(modelsFolder, "llama-q8_0.gguf"))), &got,
	); err != nil {
		t.Fatal(err)
	}
	// 9 tensors in each of 2 blocks, the embedding, the last norm and the output
	// matrix.
	if !got.Runs || got.Parameters != 63_840 || len(got.Tensors) != 2*9+3 || got.Shape.Layers != 2 ||
		got.Tokens != 611 ||
		*got.BOS != 1 || len(got.Special) != 3 || got.Facts["general.architecture"] != "llama" || got.Reasons != nil {
		t.Errorf(
			"got %+v, want a llama model that runs, with 63,840 parameters, 21 tensors, 2 layers, 611 "+
				"tokens, BOS 1, 3 special tokens",
			got,
		)
	}
	for _, x := range got.Tensors {
		// token_embd: 611 rows, each one block of 32 values in 34 bytes.
		if x.Name == "token_embd.weight" &&
			(x.Type != "Q8_0" || !slices.Equal(x.Shape, []int{611, 32}) || x.Bytes != 611*34) {
			t.Errorf("got tensor %+v, want type Q8_0, shape [611 32], %d bytes", x, 611*34)
		}
	}
	f := try(t, nil, "", "inspect", t.TempDir(), "-json")
	if err := json.Unmarshal([]byte(f.out), &got); err != nil || got.Runs || len(got.Reasons) != 3 ||
		f.code != exitUsage {
		t.Errorf(
			"exit %d, %v, %+v; want no error, Runs = false, len(Reasons) = 3, f.code = %d", f.code, err, got, exitUsage,
		)
	}
}

// TestWeightMemory: the reported memory is the memory that the loaded model uses, except for
// padding.
func TestWeightMemory(t *testing.T) {
	c, err := bundled.Target()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, quant := range []infer.Quant{infer.QuantNone, infer.QuantInt8} {
		m, err := infer.LoadQuantized(c, quant)
		if err != nil {
			t.Fatal(err)
		}
		rotary := int64(4 * c.Config.Context * c.Config.HeadDim)
		if said, is := infer.WeightMemory(c, quant), m.WeightBytes()+rotary; said > is+is/50 || said < is-is/50 {
			t.Errorf(
				"%s: reported %d bytes, used %d; want at most %d and at least %d", quant, said, is, is+is/50, is-is/50,
			)
		}
	}
	var note bytes.Buffer
	announce(terms.English, &note, c, infer.QuantNone, announced)
	if note.Len() > 0 {
		t.Errorf("loading a small model printed %q, want nothing", note.String())
	}
	announce(terms.English, &note, c, infer.QuantNone, 0)
	for _, want := range []string{
		"Loading ", terms.Count(c.Parameters()) + " weights", terms.Bytes(c.Bytes()) + " on disk",
		"about " + terms.Bytes(infer.WeightMemory(c, infer.QuantNone)) + " in memory",
		"(about " + terms.Bytes(infer.WeightMemory(c, infer.QuantInt8)) + " with -quant int8)",
	} {
		if !strings.Contains(note.String(), want) {
			t.Errorf("no %q in: %s", want, note.String())
		}
	}
}

// TestWeightMemoryOfLevels: matrices in Q8_0 take 38 bytes for every 32 weights. llama-q8_0 has 63,680
// weights in matrices, of which 39,104 are in its two tables, and 160 in norms. Its rotary tables take 4,096
// bytes.
func TestWeightMemoryOfLevels(t *testing.T) {
	for name, kept := range map[string][]string{
		"llama-q8_0.gguf": {"8-bit"}, "llama-mixed.gguf": {"float32", "8-bit"}, "llama-q4_k_m.gguf": {"float32"},
	} {
		c, err := checkpoint.OpenPath(filepath.Join(modelsFolder, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := infer.KeptAs(c); !slices.Equal(got, kept) {
			t.Errorf("%s: weights are kept as %v, want %v", name, got, kept)
		}
		if name == "llama-q8_0.gguf" {
			for quant, want := range map[infer.Quant]int64{
				infer.QuantNone: 63_680*38/32 + 160*4 + 4096,
				infer.QuantInt8: 39_104*38/32 + (63_840-39_104)*68/64 + 4096,
			} {
				if got := infer.WeightMemory(c, quant); got != want {
					t.Errorf("%s, %s: got %d bytes, want %d", name, quant, got, want)
				}
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}
