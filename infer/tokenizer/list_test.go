package tokenizer

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// byteTokens returns the smallest byte-level vocabulary, followed by the tokens in more.
func byteTokens(more ...string) []string {
	var tokens []string
	for b := range 256 {
		tokens = append(tokens, spell([]byte{byte(b)}))
	}
	return append(tokens, more...)
}

// pieceTokens returns a SentencePiece vocabulary: special tokens, bytes, and the tokens in more.
func pieceTokens(more ...string) ([]string, []Mark) {
	tokens, marks := []string{"<unk>", "<s>", "</s>"}, []Mark{Special, Special, Special}
	for b := range 256 {
		tokens = append(tokens, fmt.Sprintf("<0x%02X>", b))
	}
	tokens = append(tokens, more...)
	return tokens, append(marks, make([]Mark, len(tokens)-3)...)
}

// TestPieceScoresByHand: merging by scores gives the ids computed by hand. 259 is a space, followed
// by a, b, ab, ba and aba.
func TestPieceScoresByHand(t *testing.T) {
	tokens, marks := pieceTokens("▁", "a", "b", "ab", "ba", "aba", "▁a")
	for _, test := range []struct {
		name   string
		ab, ba float32 // the scores
		text   string
		want   []int
	}{
		// a·ba first, and then aba, although its score is lower (see below)
		{"the higher score goes first", 1, 2, "xaba", []int{259, 3 + 'x', 260, 263}},
		{"of equal scores the leftmost", 1, 1, "abab", []int{259, 262, 262}},
		{"a character beyond the vocabulary", 1, 2, "é", []int{259, 3 + 0xc3, 3 + 0xa9}},
		{"a line break is its byte", 1, 2, "\n", []int{259, 3 + '\n'}},
		{"nothing", 1, 2, "", []int{}},
	} {
		scores := make([]float32, len(tokens))
		scores[262], scores[263], scores[264], scores[265] = test.ab, test.ba, float32(math.Inf(-1)), -9
		tok, err := NewSentencePiece(List{tokens, marks}, scores, true)
		if err != nil {
			t.Fatal(err)
		}
		got := tok.Encode(test.text)
		if test.name == "the higher score goes first" {
			// A pair is joined even if the result has the lowest score: a and ba become aba.
			test.want = []int{259, 3 + 'x', 264}
		}
		if !slices.Equal(got, test.want) || tok.Decode(got) != test.text {
			t.Errorf("%s: Encode(%q) = %v, want %v; back %q", test.name, test.text, got, test.want, tok.Decode(got))
		}
	}
}

// TestMalformedListsAreRefused checks that malformed lists are rejected with the exact messages.
func TestMalformedListsAreRefused(t *testing.T) {
	bytes, pieces := byteTokens("ab"), func(change func([]string, []Mark)) List {
		tokens, marks := pieceTokens()
		change(tokens, marks)
		return List{tokens, marks}
	}
	level := func(l List, merges []string, pre string) func() error {
		return func() error { _, err := NewByteLevel(l, merges, pre); return err }
	}
	piece := func(l List, scores []float32) func() error {
		return func() error { _, err := NewSentencePiece(l, scores, true); return err }
	}
	zeros := make([]float32, 259)
	const patterns = "; want one of dbrx, gpt-2, gpt-neox, " +
		"llama-bpe, llama-v3, llama3, mpt, olmo, phi-2, qwen2, refact, smollm, starcoder"
	for _, test := range []struct {
		make func() error
		want string
	}{
		{level(List{bytes, nil}, nil, "tekken"), `unknown split pattern "tekken"` + patterns},
		{level(List{}, nil, "gpt-2"), "got 0 tokens, want 1 to 524288"},
		{level(List{bytes, make([]Mark, 3)}, nil, "gpt-2"), "got 257 tokens, but 3 token kinds"},
		{level(List{bytes[1:], nil}, nil, ""), `unknown split pattern ""` + patterns},
		{level(List{[]string{"<x>"}, []Mark{Special}}, nil, "mpt"), `the vocabulary: no token represents text`},
		{
			level(
				List{append(byteTokens(), strings.Repeat("x", 1025)), append(make([]Mark, 256), Added)}, nil, "phi-2",
			),
			`token 256: content has 1025 bytes, more than the limit of 1024`,
		},
		{
			level(List{append(byteTokens(), "a b", "a b"), append(make([]Mark, 256), Added, Added)}, nil, "olmo"),
			`token 257: already listed with id 256`,
		},
		{
			level(List{append(byteTokens(), "日"), nil}, nil, "gpt-2"),
			`token 256: "日" (id 256): character '日' (U+65E5) does not represent a byte`,
		},
		{
			level(List{append(byteTokens(), "a"), nil}, nil, "gpt-2"),
			`the vocabulary: "a" is listed twice, with ids 97 and 256`,
		},
		{level(List{bytes, nil}, []string{"a b", "a b"}, "gpt-2"), "merge 1: repeats merge 0"},
		{level(List{bytes, nil}, []string{"ab"}, "gpt-2"), `merge 0: got "ab", want two parts separated by a space`},
		{
			level(List{bytes, nil}, []string{"a b c"}, "gpt-2"),
			`merge 0: got "a b c", want two parts separated by a space`,
		},
		{
			level(List{bytes, nil}, []string{"b a"}, "gpt-2"),
			`merge 0: merging "b" and "a" produces "ba", which is not in the vocabulary`,
		},
		{
			level(List{bytes, nil}, []string{"a x y"}, "qwen2"),
			`merge 0: got "a x y", want two parts separated by a space`,
		},
		{
			level(List{byteTokens("<x>", "<x>"), append(make([]Mark, 256), Special, Special)}, nil, "gpt-2"),
			"token 257: already listed with id 256",
		},
		{
			piece(List{[]string{"<s>"}, []Mark{Special}}, make([]float32, 1)),
			"the vocabulary: no token represents text",
		},
		{
			piece(pieces(func(tokens []string, _ []Mark) { tokens[4] = "<0x00>" }), zeros),
			"the vocabulary: duplicate token <0x00>",
		},
		{piece(pieces(func([]string, []Mark) {}), zeros[1:]), "got 259 tokens, but 258 scores"},
		{
			piece(pieces(func(tokens []string, _ []Mark) { tokens[0] = "" }), zeros),
			"token 0: content is missing or empty",
		},
	} {
		if err := test.make(); err == nil || err.Error() != "tokenizer: "+test.want {
			t.Errorf("got  %v\nwant tokenizer: %s", err, test.want)
		}
	}
}

// TestMalformedKindsAreRefused checks that malformed SentencePiece and Llama-3 files, which are
// changed copies of a valid tokenizer.json, are rejected.
func TestMalformedKindsAreRefused(t *testing.T) {
	for _, test := range []struct{ folder, old, with, want string }{
		{"llama3", `\\p{N}{1,3}`, `\\p{N}{1,4}`, "pre_tokenizer: Sequence[0]: unknown pattern "},
		{
			"llama3", `"Isolated"`, `"Removed"`,
			`pre_tokenizer: Sequence[0]: behavior "Removed" with invert false is not supported; want Isolated`,
		},
		{
			"llama3", `"invert":false`, `"invert":true`,
			`pre_tokenizer: Sequence[0]: behavior "Isolated" with invert true is not supported`,
		},
		{
			"llama3", `"use_regex":false`, `"use_regex":true`,
			"the options of Split and of the ByteLevel after it are not supported together",
		},
		{
			"llama3", `"ids":[516]`, `"ids":[516,517]`,
			`post_processor: Sequence[1]: special_tokens has 2 ids for "<|begin_of_text|>"; want 1`,
		},
		{
			"llama3", `"ids":[516]`, `"ids":[9999]`,
			"post_processor: the leading token has id 9999, but the vocabulary ends at 517",
		},
		{
			"llama3", `"type":"TemplateProcessing"`, `"type":"RobertaProcessing"`,
			`type "RobertaProcessing" is not supported; want ByteLevel or TemplateProcessing`,
		},
		{"smollm", `"individual_digits":true`, `"individual_digits":false`, "the options of Digits"},
		{"smollm", `"type":"Digits"`, `"type":"Punctuation"`, `type "Punctuation" is not supported`},
		{"qwen2", `"type":"NFC"`, `"type":"NFKD"`, `normalizer: type "NFKD" is not supported; want none or NFC`},
		{"tinyllama", `"prepend":"▁"`, `"prepend":"_"`, "normalizer: Sequence[0]: want an optional Prepend of ▁"},
		{"tinyllama", `"type":"Prepend"`, `"type":"Strip"`, `normalizer: Sequence[0]: type "Strip" is not supported`},
		{
			"tinyllama", `"byte_fallback":true`, `"byte_fallback":false`,
			"normalizer: Sequence[0]: type \"Prepend\" is not supported; want none or NFC",
		},
		{"tinyllama", `{"type":"ByteFallback"},`, ``, "decoder: ByteFallback is missing"},
		{
			"tinyllama", `"start":1`, `"start":2`,
			"decoder: Sequence[3]: must strip at most one space, and only from the start",
		},
		{"tinyllama", `"<0x41>":`, `"<0x40>":`, "model.vocab: duplicate token <0x40>"},
		{"mistral", `"split":false`, `"split":true`, "pre_tokenizer: replacement must be ▁ and split must be false"},
		{
			"mistral", `"prepend_scheme":"first"`, `"prepend_scheme":"last"`,
			`prepend_scheme "last" is not supported; want always, first or never`,
		},
		{
			"mistral", `"type":"Metaspace"`, `"type":"Whitespace"`,
			`pre_tokenizer: type "Whitespace" is not supported; want Metaspace, or none`,
		},
	} {
		data, err := os.ReadFile(filepath.Join(modelsFolder, test.folder, "tokenizer.json"))
		if err != nil {
			t.Fatal(err)
		}
		changed := strings.Replace(string(data), test.old, test.with, 1)
		if changed == string(data) || !json.Valid([]byte(changed)) {
			t.Errorf("%s: %s is not in the file, or replacing it leaves invalid JSON", test.folder, test.old)
			continue
		}
		if _, err := Parse([]byte(changed)); err == nil || !strings.HasPrefix(err.Error(), "tokenizer: ") ||
			!strings.Contains(err.Error(), test.want) {
			t.Errorf("%s with %s: got %v, want %s", test.folder, test.with, err, test.want)
		}
	}
}
