package tokenizer

import (
	"slices"
	"testing"
)

// TestEncodeSizedCountsBytesOfText checks by hand how many bytes each token represents: the sizes
// do not include the space that the tokenizer adds in front, and characters are counted as they
// were before normalization.
func TestEncodeSizedCountsBytesOfText(t *testing.T) {
	prefixed := small(t, func(f tree) { f["pre_tokenizer"].(tree)["add_prefix_space"] = true })
	composing := small(t, func(f tree) { f["normalizer"] = tree{"type": "NFC"} })
	added := withAdded(t, tree{"content": "<tool>", "rstrip": true})
	pieces := func(prefixed bool) *Tokenizer {
		tokens, marks := pieceTokens("▁", "a", "b", "▁a", "<x>")
		marks[len(marks)-1] = Added
		scores := make([]float32, len(tokens))
		tok, err := NewSentencePiece(List{tokens, marks}, scores, prefixed)
		if err != nil {
			t.Fatal(err)
		}
		return tok
	}
	for _, test := range []struct {
		name string
		tok  *Tokenizer
		text string
		want []int
	}{
		{"byte by byte", small(t, nil), "hello wé", []int{5, 2, 1, 1}}, // hello, Ġw, C3, A9
		{"a space in front", prefixed, "wa", []int{1, 1}},              // Ġw, a
		{"a space that was there", prefixed, " wa", []int{2, 1}},
		{"composed", composing, "ae\u0301b", []int{1, 0, 3, 1}}, // a, C3, A9, b: é had 3 bytes
		{"composed already", composing, "a\u00e9b", []int{1, 1, 1, 1}},
		{"white space swallowed", added, "a<tool>  b", []int{1, 8, 1}},
		{"SentencePiece", pieces(true), "ab", []int{1, 1}}, // ▁a, b
		{"SentencePiece, a space", pieces(true), " ab", []int{0, 2, 1}},
		{"SentencePiece, a ▁", pieces(true), "▁ab", []int{0, 4, 1}},
		{"SentencePiece, added", pieces(true), "a<x>a", []int{1, 3, 1}},
		{"SentencePiece, bytes", pieces(true), "é", []int{0, 0, 2}},
		{"SentencePiece without a space", pieces(false), "ab a", []int{1, 1, 2}},
		{"nothing", pieces(true), "", nil},
	} {
		ids, sizes := test.tok.EncodeSized(test.text)
		if !slices.Equal(sizes, test.want) {
			t.Errorf("%s: %q has tokens %v of %v bytes, want %v", test.name, test.text, ids, sizes, test.want)
		}
	}
}

// TestEncodeSizedAddsUp: with every kind of tokenizer, EncodeSized returns the same tokens as
// Encode, and their sizes add up to the length of the text.
func TestEncodeSizedAddsUp(t *testing.T) {
	_, texts := readKinds(t)
	for name := range wantKinds {
		tok, _ := parseModel(t, name)
		for _, text := range texts {
			ids, sizes := tok.EncodeSized(text)
			total := 0
			for _, n := range sizes {
				total += n
			}
			if tok.Check(text) == nil && total != len(text) || !slices.Equal(ids, tok.Encode(text)) {
				t.Fatalf(
					"%s: %q has %d tokens with %d bytes, want %d tokens with %d", name, text, len(ids), total,
					len(tok.Encode(text)), len(text),
				)
			}
		}
	}
}
