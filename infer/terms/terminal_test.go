package terms

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestTerminalEscapesControls: printed text cannot control a terminal. Line ends, tabs and all
// other characters are kept.
func TestTerminalEscapesControls(t *testing.T) {
	for text, want := range map[string]string{
		"plain\n\ttext":              "plain\n\ttext",
		"over\r\nwritten":            `over\u000d` + "\nwritten",
		"one\u2028two\u2029":         `one\u2028two\u2029`,
		"Grüße 🦉 e\u0301 \ufffd":     "Grüße 🦉 e\u0301 \ufffd",
		"👩\u200d🚀":                   "👩\u200d🚀", // one emoji made of two
		"\x1b[31mred\x1b[0m":         `\u001b[31mred\u001b[0m`,
		"\x1b]0;title\a":             `\u001b]0;title\u0007`,
		"over\rwritten\b\x7f":        `over\u000dwritten\u0008\u007f`,
		"at the end\r":               `at the end\u000d`,
		"\u009b2J":                   `\u009b2J`, // the one-byte form of escape [
		"\x9b2J":                     `\x9b2J`,   // as a raw byte, which some terminals also accept
		"right \u202eto left\u2066.": `right \u202eto left\u2066.`,
		"\x00":                       `\u0000`,
		"half \xf0\x9f\xa6":          `half \xf0\x9f\xa6`,
	} {
		var b strings.Builder
		term := NewTerminal(&b)
		for i := range len(text) { // split at every position
			if n, err := term.Write([]byte(text[i : i+1])); n != 1 || err != nil {
				t.Fatalf("writing one byte: got %d, %v; want 1, <nil>", n, err)
			}
		}
		if err := term.Flush(); err != nil || b.String() != want {
			t.Errorf("%q is printed as %q, want %q (%v)", text, b.String(), want, err)
		}
		line := strings.NewReplacer("\n", `\u000a`, "\t", `\u0009`).Replace(want)
		if got := Printable(text); got != line {
			t.Errorf("%q is %q in a line, want %q", text, got, line)
		}
	}
	if term := NewTerminal(failing{}); term.Raw() != (failing{}) {
		t.Error("Raw returns another writer")
	} else if n, err := term.Write([]byte("a")); n != 0 || err == nil {
		t.Errorf("a failed write returns %d, %v; want 0, an error", n, err)
	}
}

// FuzzTerminal: for any text, split at any position, the output has no control characters other
// than line ends and tabs, and the meaning of JSON does not change.
func FuzzTerminal(f *testing.F) {
	f.Add([]byte("\x1b[2J\u202e\r\n\xf0\x9f"), 3)
	f.Add([]byte("\u009b\r"), 1)
	f.Fuzz(func(t *testing.T, text []byte, cut int) {
		if cut < 0 || cut > len(text) {
			cut = len(text)
		}
		print := func(parts ...[]byte) string {
			var b strings.Builder
			term := NewTerminal(&b)
			for _, p := range parts {
				if _, err := term.Write(p); err != nil {
					t.Fatal(err)
				}
			}
			if err := term.Flush(); err != nil {
				t.Fatal(err)
			}
			return b.String()
		}
		got := print(text)
		if parts := print(text[:cut], text[cut:]); parts != got {
			t.Errorf("%q is printed as %q, and in two parts as %q; want the same", text, got, parts)
		}
		for _, r := range got {
			if r != '\n' && r != '\t' && commands(r) {
				t.Errorf("%q is printed as %q, want no control character", text, got)
			}
		}
		if !utf8.ValidString(got) || print([]byte(got)) != got {
			t.Errorf("%q is printed as %q, want valid UTF-8 that is printed unchanged", text, got)
		}
		if got := Printable(string(text)); strings.ContainsFunc(got, commands) {
			t.Errorf("%q is %q in a line, want no control character", text, got)
		}
		object, err := json.Marshal(string(text))
		if err != nil {
			t.Fatal(err)
		}
		var before, after string
		if json.Unmarshal(object, &before) != nil || json.Unmarshal([]byte(print(object)), &after) != nil ||
			before != after {
			t.Errorf("%s is printed as %s, want the same JSON", object, print(object))
		}
	})
}
