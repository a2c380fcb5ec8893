package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/tokenbytoken/viz/infer/terms"
)

// hostile is a name that clears the screen, sets the window's title, reverses the text
// direction and begins a new line.
const hostile = "\x1b[2J\x1b]0;owned\a\u202e\u009b31m\nviz: all is well\r"

// checkPrinted fails the test if the printed text would control a terminal.
func checkPrinted(t *testing.T, what, text string) {
	t.Helper()
	command := func(r rune) bool {
		return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
	}
	if i := strings.IndexFunc(strings.ReplaceAll(text, "\r\n", "\n"), command); i >= 0 {
		t.Errorf("%s prints a control character: %q", what, text)
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "viz: all is well") && what != "a prompt" { // a prompt may have several lines
			t.Errorf("%s prints an injected line: %q", what, text)
		}
	}
}

// TestOutputIsEscapedForTheTerminal: control characters in file names, files, flags, environment
// variables and addresses are escaped when they are printed.
// Promise: Text from files, flags and addresses cannot control your terminal.
func TestOutputIsEscapedForTheTerminal(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a"+strings.ReplaceAll(hostile, "/", ""))
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	read := func(path string) []byte {
		data, err := os.ReadFile(filepath.Join("../../testdata/models", path))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	sound := read("llama-q8_0.gguf")
	swap := func(old, new string) []byte { return bytes.ReplaceAll(sound, []byte(old), []byte(new)) }
	index, err := json.Marshal(map[string]any{"weight_map": map[string]string{
		"model.embed_tokens.weight": "model-" + hostile + ".safetensors",
	}})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"config.json": read("tinyllama/config.json"), "tokenizer.json": read("tinyllama/tokenizer.json"),
		"model.safetensors.index.json": index,
	} {
		write("shards/"+name, data)
	}
	model := write("sound.gguf", sound)
	const length = "\x05\x00\x00\x00\x00\x00\x00\x00" // the length of the text that follows
	for name, args := range map[string][]string{
		"a path":               {"inspect", model},
		"a path, as JSON":      {"inspect", "-json", "-tensors", model},
		"a missing path":       {"trace", "-model", dir + "/none"},
		"a model and a draft":  {"serve", "-model", model, "-draft", dir + "/none"},
		"a damaged file":       {"trace", "-model", write("cut.gguf", sound[:200])},
		"a name in an index":   {"inspect", filepath.Join(dir, "shards")},
		"the same, to run it":  {"trace", "-model", filepath.Join(dir, "shards")},
		"names of tensors":     {"inspect", "-tensors", write("tensors.gguf", swap("blk.0.", "\x1b[2J\r."))},
		"the architecture":     {"trace", "-model", write("arch.gguf", swap(length+"llama", length+"\x1b[2J\r"))},
		"the tokens":           {"trace", "-prompt", "a", "-model", write("tokens.gguf", swap("▁a", "\x1b[2J"))},
		"a data folder":        {"serve", "-data", model},
		"a certificate":        {"serve", "-tls-cert", model, "-tls-key", dir},
		"a tokenizer":          {"trace", "-model", model, "-tokenizer", hostile},
		"an address":           {"serve", "-addr", hostile},
		"a host":               {"serve", "-allow-host", hostile},
		"a public address":     {"serve", "-public-url", "http://" + hostile},
		"a flag":               {"trace", "-" + hostile},
		"a number":             {"trace", "-n", hostile},
		"an argument":          {"trace", hostile},
		"a command":            {hostile},
		"a lab":                {"lab", hostile},
		"a table":              {"lab", "cache", "-csv", hostile},
		"a server to load":     {"load", "-url", hostile},
		"a prompt":             {"trace", "-n", "2", "-prompt", hostile},
		"a prompt, as JSON":    {"trace", "-json", "-n", "2", "-prompt", hostile},
		"a stop string":        {"trace", "-n", "2", "-prompt", "a", "-stop", hostile},
		"a model for the labs": {"lab", "cache", "-model", dir + "/none"},
	} {
		t.Run(name, func(t *testing.T) {
			got := try(t, nil, "", args...)
			checkPrinted(t, name, got.out)
			checkPrinted(t, name, got.errors)
			if got.out+got.errors == "" {
				t.Error("nothing is printed")
			}
		})
	}
	got := try(t, map[string]string{"VIZ_N": hostile, "VIZ_KERNEL": hostile}, "", "trace")
	checkPrinted(t, "VIZ_KERNEL", got.errors)
	got = try(t, map[string]string{"VIZ_N": hostile}, "", "trace")
	checkPrinted(t, "VIZ_N", got.errors)
}

// TestProgressIsNotEscaped: the carriage returns that overwrite the progress line reach the
// terminal unescaped, but control characters in its text are escaped.
func TestProgressIsNotEscaped(t *testing.T) {
	var b strings.Builder
	p := newProgressLine(terms.NewTerminal(&b))
	p.shown = true
	p.say("a\x1b[2J")
	if p.say(""); b.String() != "\ra\\u001b[2J\r"+strings.Repeat(" ", len(`a\u001b[2J`))+"\r" {
		t.Errorf("b.String() = %q, want %q", b.String(), "\ra\\u001b[2J\r"+strings.Repeat(" ", len(`a\u001b[2J`))+"\r")
	}
}
