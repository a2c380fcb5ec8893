package main

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/tokenbytoken/viz/infer/terms"
)

// hostile is a name that clears the screen, sets the window's title, turns the text
// around and begins a line of its own.
const hostile = "\x1b[2J\x1b]0;owned\a\u202e\u009b31m\nviz: all is well\r"

// checkPrinted fails if a terminal would act on what was printed.
func checkPrinted(t *testing.T, what, text string) {
	t.Helper()
	command := func(r rune) bool {
		return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
	}
	if i := strings.IndexFunc(strings.ReplaceAll(text, "\r\n", "\n"), command); i >= 0 {
		t.Errorf("%s prints a control character: %q", what, text)
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "viz: all is well") && what != "a prompt" { // a text has lines
			t.Errorf("%s prints a line that is not its own: %q", what, text)
		}
	}
}

// TestOutputIsEscapedForTheTerminal: names of files, strings in them, flags, variables and
// addresses are shown with escapes.
func TestOutputIsEscapedForTheTerminal(t *testing.T) {
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
	const length = "\x05\x00\x00\x00\x00\x00\x00\x00" // of the text after it
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

// TestOnlyMainUsesStandardStreams: only main knows the standard streams, so that all that is
// printed goes through a terms.Terminal, and tables are written by terms.Sheet alone.
func TestOnlyMainUsesStandardStreams(t *testing.T) {
	seen, top := 0, filepath.Join("..", "..")
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(top, path)
		switch name = filepath.ToSlash(name); {
		case d.IsDir() && (name == "testdata" || notOurs(path)):
			return filepath.SkipDir
		case filepath.Ext(name) != ".go", strings.HasSuffix(name, "_test.go"), strings.HasPrefix(name, "infer/terms/"):
			return nil
		case strings.HasSuffix(name, "gen/main.go"), strings.HasPrefix(name, "infer/fixture/"),
			strings.HasPrefix(name, "cmd/viz/dist/"), strings.HasPrefix(name, "cmd/viz/tab/build/"): // not for users
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		seen++
		for _, use := range ownOutput(file) {
			if name == "cmd/viz/main.go" && strings.HasPrefix(use, "os.Std") {
				continue // main passes them to run
			}
			if (name == "cmd/viz/tab/main.go" || name == "web/tab/program_js.go") && use == "os.Stderr" {
				continue // a sentence of our own, and a browser's console
			}
			t.Errorf("%s has its own way to print or to write tables: %s", name, use)
		}
		return nil
	})
	if err != nil || seen < 300 {
		t.Fatalf("%d files, %v", seen, err)
	}
	// The search finds what it is for.
	for code, want := range map[string]bool{
		`import "encoding/csv"`:                            true,
		`import "os"; var w = os.Stderr`:                   true,
		`import "fmt"; func f() { fmt.Printf("") }`:        true,
		`func f() { println("") }`:                         true,
		`import "log"; func f() { log.Print("") }`:         true,
		`import "unicode"; var c = unicode.Bidi_Control`:   true,
		`var s = "\u202e"`:                                 true,
		`import "fmt"; func f() { _ = fmt.Sprintln("a") }`: false,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "", "package a; "+code, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if found := ownOutput(file); (len(found) > 0) != want {
			t.Errorf("%s: %q is found", code, found)
		}
	}
}

// ownOutput lists what a file uses that belongs to infer/terms.
func ownOutput(file *ast.File) (list []string) {
	for _, i := range file.Imports {
		if i.Path.Value == `"encoding/csv"` {
			list = append(list, "encoding/csv")
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			of, _ := n.X.(*ast.Ident)
			if of == nil {
				break
			}
			use := of.Name + "." + n.Sel.Name
			if slices.Contains([]string{"os.Stdout", "os.Stderr", "unicode.Bidi_Control"}, use) ||
				of.Name == "fmt" && strings.HasPrefix(n.Sel.Name, "Print") ||
				of.Name == "log" && (strings.HasPrefix(n.Sel.Name, "Print") || strings.HasPrefix(n.Sel.Name, "Fatal")) {
				list = append(list, use)
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok && (f.Name == "print" || f.Name == "println") {
				list = append(list, f.Name)
			}
		case *ast.BasicLit:
			if s, err := strconv.Unquote(n.Value); err == nil && strings.ContainsAny(s, "\u202e\u2066") {
				list = append(list, n.Value)
			}
		}
		return true
	})
	return list
}

// TestProgressIsNotEscaped: the program's own line that is overwritten reaches the
// terminal as it is, without what others wrote in it.
func TestProgressIsNotEscaped(t *testing.T) {
	var b strings.Builder
	p := newProgressLine(terms.NewTerminal(&b))
	p.shown = true
	p.say("a\x1b[2J")
	if p.say(""); b.String() != "\ra\\u001b[2J\r"+strings.Repeat(" ", len(`a\u001b[2J`))+"\r" {
		t.Errorf("%q", b.String())
	}
}
