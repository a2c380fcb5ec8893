package tokenizer

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// checkShape checks properties of any text with any tokenizer: nothing panics, every id is the id
// of an ordinary token, and if the vocabulary can spell a text, its tokens decode to the text,
// except for normalization.
func checkShape(tb interface{ Fatalf(string, ...any) }, s shape, text string) {
	ids := s.tok.Encode(text)
	for _, id := range ids {
		if s.tok.Bytes(id) == nil {
			tb.Fatalf("%s: Encode(%q) = %v: %d is not an ordinary token", s.name, text, ids, id)
		}
	}
	got, want := s.tok.Decode(ids), cameBack(s.tok, text)
	if err := s.tok.Check(text); err != nil {
		if len(got) >= len(want) {
			tb.Fatalf("%s: %q has only bytes with tokens, but got error %v", s.name, text, err)
		}
		return
	}
	if s.name != "flags" && got != want { // flags swallows blanks
		tb.Fatalf("%s: Decode(Encode(%q)) = %q, want %q", s.name, text, got, want)
	}
}

// TestShapesProperty runs checkShape on generated texts that include the added tokens of
// all shapes.
func TestShapesProperty(t *testing.T) {
	all := shapes(t)
	var names []string
	for _, s := range all {
		for _, a := range s.file(t).Added {
			names = append(names, a.Content)
		}
	}
	slices.Sort(names)
	part := rapid.OneOf(rapid.SampledFrom(slices.Compact(names)), texts())
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(part, 0, 6).Draw(t, "parts"), "")
		for _, s := range all {
			checkShape(t, s, text)
		}
	})
}

// FuzzShapes runs checkShape on any bytes.
func FuzzShapes(f *testing.F) {
	for _, text := range []string{
		"", "hello\x03", "    a\t\t\tb\n\n\nc", "<think>1²½</think>", "|||IP_ADDRESS|||", "<tool> x </tool>  e\u0301zq",
		"▁▁ ▁<table>\n",
		"\U00050000\xf1\xff\xc0", "<|im_start|>user <unused1>", strings.Repeat(" ", 70) + "x", "日本\u0085\u00a0\u3000 é",
	} {
		f.Add(text)
	}
	all := shapes(f)
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range all {
			checkShape(t, s, text)
		}
	})
}
