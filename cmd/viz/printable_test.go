package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// TestPrintable: nothing that a model writes, and no name in a file, controls
// the terminal; newlines, tabs and all other characters are kept.
func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"plain\n\ttext":              "plain\n\ttext",
		"Grüße 🦉 e\u0301":            "Grüße 🦉 e\u0301",
		"\x1b[31mred\x1b[0m":         "\ufffd[31mred\ufffd[0m",
		"\x1b]0;title\a":             "\ufffd]0;title\ufffd",
		"over\rwritten\b\x7f":        "over\ufffdwritten\ufffd\ufffd",
		"\u009b2J":                   "\ufffd2J", // the one-byte form of escape [
		"right \u202eto left\u2066.": "right \ufffdto left\ufffd.",
		"\x00":                       "\ufffd",
	} {
		if got := printable(text); got != want {
			t.Errorf("%q is printed as %q, want %q", text, got, want)
		}
	}
}

// TestInspectPrintsNoCommands: a model whose file name has escape sequences is
// described without them.
func TestInspectPrintsNoCommands(t *testing.T) {
	data, err := os.ReadFile("../../testdata/models/llama-q8_0.gguf")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "\x1b[2Jmodel\x1b]0;owned\a.gguf")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	got := try(t, nil, "", "inspect", file)
	if got.code != exitDone || !strings.Contains(got.out, "model") {
		t.Fatalf("exit %d: %s", got.code, got.errors)
	}
	command := func(r rune) bool { return r != '\n' && r != '\t' && unicode.IsControl(r) }
	if i := strings.IndexFunc(got.out+got.errors, command); i >= 0 {
		t.Errorf("a control character is printed: %q", (got.out + got.errors)[max(0, i-20):])
	}
}
