package tokenizer

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// lacking returns a tokenizer like smallTree's, but without the given bytes and the rules that need
// them.
func lacking(tb testing.TB, normalizer any, bytes ...byte) *Tokenizer {
	tb.Helper()
	return small(tb, func(f tree) {
		f["normalizer"] = normalizer
		for _, b := range bytes {
			delete(at(f, "model", "vocab"), spell([]byte{b}))
		}
	})
}

// TestCheckNamesTheMissingByte: a text with a byte that has no token is rejected, and the error
// states the byte, its character and its position in the text. All other texts are accepted.
// Promise: A text that the model's vocabulary cannot express is refused with the character and its position.
func TestCheckNamesTheMissingByte(t *testing.T) {
	tok := lacking(t, nil, 3, '7', 0xc3, 0xff, 0xf1)
	for text, want := range map[string]string{
		"":                "",
		"hello\n world ²": "",
		"hello\x03":       `the vocabulary has no token for byte 0x03 of "\x03" (U+0003) at line 1, character 6`,
		"²²\n\n²7":        `the vocabulary has no token for byte 0x37 of "7" (U+0037) at line 3, character 2`,
		"日本é é": `the vocabulary has no token for byte 0xC3 of "\u00e9" (U+00E9) at line 1, ` +
			"character 3",
		"a\U00050000": `the vocabulary has no token for byte 0xF1 of "\U00050000" (U+50000) at line 1, character 2`,
		"a\xff": "the vocabulary has no token for byte 0xFF, which is not part of a character, at line 1, " +
			"character 2",
		"a\xe2\x80\xff": "the vocabulary has no token for byte 0xFF, which is not part of a character, at line 1, " +
			"character 4",
		"\ufffd\xff": "the vocabulary has no token for byte 0xFF, which is not part of a character, at line 1, " +
			"character 2",
	} {
		err := tok.Check(text)
		if got := ""; err != nil {
			got = err.Error()
			if got != want {
				t.Errorf("Check(%q) = %s, want %s", text, got, want)
			}
		} else if want != "" {
			t.Errorf("Check(%q) is nil, want %s", text, want)
		}
	}
	var missing *MissingByteError
	if err := tok.Check("日\nx\x03"); !errors.As(err, &missing) || missing.Offset != 5 || missing.Byte != 3 ||
		missing.Char != "\x03" {
		t.Errorf(
			"Check = %#v, want an error of type *MissingByteError, Offset = 5, Byte = 3, Char = %q", missing, "\x03",
		)
	}
}

// TestCheckReportsPositionInOriginalText: the reported position is in the original text, before
// normalization and without the space added in front. The position includes the text of added
// tokens.
func TestCheckReportsPositionInOriginalText(t *testing.T) {
	nfc := lacking(t, tree{"type": "NFC"}, 0xc3, 3)
	added := small(t, func(f tree) {
		f["pre_tokenizer"].(tree)["add_prefix_space"] = true
		f["added_tokens"] = append(f["added_tokens"].([]any), tree{"id": 266, "content": "<tool>", "rstrip": true})
		delete(at(f, "model", "vocab"), "z")
	})
	pieces := func(prepend bool) *Tokenizer {
		tokens, marks := pieceTokens("▁", "a", "<x>")
		tokens[3+3], tokens[3+0xa9], marks[len(marks)-1] = "?", "!", Added
		tok, err := NewSentencePiece(List{tokens, marks}, make([]float32, len(tokens)), prepend)
		if err != nil {
			t.Fatal(err)
		}
		return tok
	}
	metaspaced := pieces(false)
	metaspaced.prefix, metaspaced.metaspace = prefixMissing, true // spaces are replaced after normalizing
	noSpace := lacking(t, nil)
	noSpace.byteIDs[' '], noSpace.lacks, noSpace.addPrefixSpace = -1, 1, true // no published file has this combination
	for _, test := range []struct {
		name   string
		tok    *Tokenizer
		text   string
		offset int
		char   string
	}{
		{"composed", nfc, "abe\u0301", 2, "é"},                          // e and its accent become é: C3 A9
		{"after characters that shrink", nfc, "ế\u0323\x03", 5, "\x03"}, // 3 and 2 bytes become 3 and 2
		{"after a run of ASCII", nfc, strings.Repeat("x", 40) + "\x03", 40, "\x03"},
		{"with a space in front", added, "az", 1, "z"},
		{"after an added token", added, "a<tool>  z", 9, "z"},
		{"in a later piece", added, "a b c zz", 6, "z"},
		{"SentencePiece", pieces(false), "▁▁ a\x03", 8, "\x03"}, // ▁ has 3 bytes
		{"with ▁ in front", pieces(true), "▁▁ a\x03", 8, "\x03"},
		{"half a character", pieces(true), "aé", 1, "é"}, // C3 A9
		{"no character", pieces(true), "\xff\xa9", 1, "\xa9"},
		{"after an added token", pieces(true), "a<x>▁\x03", 7, "\x03"},
		{"Metaspace", metaspaced, "▁▁ a\x03", 8, "\x03"},
		{"Metaspace with ▁ in front", metaspaced, "▁a<x>▁\x03", 10, "\x03"},
		{"the space in front itself", noSpace, "ab", 0, " "},
	} {
		var missing *MissingByteError
		if err := test.tok.Check(test.text); !errors.As(err, &missing) {
			t.Errorf("%s: Check(%q) = %v, want an error of type *MissingByteError", test.name, test.text, err)
		} else if missing.Offset != test.offset || missing.Char != test.char {
			t.Errorf(
				"%s: Check(%q) finds %q at %d, want %q at %d", test.name, test.text, missing.Char, missing.Offset,
				test.char, test.offset,
			)
		}
	}
}

// TestEncodeSkipsMissingBytes: Encode skips bytes without a token and encodes the rest, like the
// reference implementation.
func TestEncodeSkipsMissingBytes(t *testing.T) {
	tok := lacking(t, nil, 'x', 3)
	for text, want := range map[string][]int{
		"x":         {},
		"hexllo":    {259}, // without the x, the letters of hello are adjacent
		"\x03 w":    {260},
		"hello\x03": {259},
	} {
		if got := tok.Encode(text); !slices.Equal(got, want) {
			t.Errorf("Encode(%q) = %v, want %v", text, got, want)
		}
	}
}

// TestWithinDropsAddedTokens: added tokens without rows in the model are dropped. If an ordinary
// token or the start token has no row, Within returns an error.
func TestWithinDropsAddedTokens(t *testing.T) {
	tok := withAdded(t, tree{"content": "<one>"}, tree{"content": "<two>", "special": true}, tree{"content": "<three>"})
	within, err := tok.Within(267)
	if err != nil || within.Size() != 267 {
		t.Fatalf("got %v, %d tokens; want <nil>, 267", err, within.Size())
	}
	if got := within.Encode("<one>"); !slices.Equal(got, []int{266}) {
		t.Errorf("Encode(<one>) = %v, want %v", got, []int{266})
	}
	for _, name := range []string{"<two>", "<three>"} {
		if _, ok := within.SpecialID(name); ok {
			t.Errorf("%s is special, want it left out", name)
		}
		if ids := within.Encode(name); slices.Max(ids) > 266 || within.Decode(ids) != name {
			t.Errorf("Encode(%s) = %v; want slices.Max(ids) at most 266, within.Decode(ids) = %q", name, ids, name)
		}
	}
	if ids := tok.Encode("<three>"); !slices.Equal(ids, []int{268}) {
		t.Errorf("the original tokenizer has changed: got %v, want %v", ids, []int{268})
	}
	if same, err := tok.Within(300); same != tok || err != nil {
		t.Errorf("Within(300) = %p, %v; want %p, <nil>", same, err, tok)
	}
	if _, err := tok.Within(264); err == nil || err.Error() != `"aaaa" has id 264, but the model has only 264 rows` {
		t.Errorf("Within(264): got error %v, want %q", err, `"aaaa" has id 264, but the model has only 264 rows`)
	}
	llama, _ := parseModel(t, "llama3") // <|begin_of_text|> is 516
	if _, err := llama.Within(516); err == nil ||
		!strings.Contains(err.Error(), `"<|begin_of_text|>", which begins every text, has id 516`) {
		t.Errorf(
			"Within(516): got error %v, want one containing %q", err,
			`"<|begin_of_text|>", which begins every text, has id 516`,
		)
	}
	tokens, marks := pieceTokens("a")
	tokens[258], tokens[259] = "a", "<0xFF>"
	pieces, err := NewSentencePiece(List{tokens, marks}, make([]float32, 260), true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pieces.Within(259); err == nil {
		t.Error("Within accepted a model without rows for all bytes")
	}
}

// TestMergeRuleTableGrows: the table finds its entries, keeps the first of two rules for a pair,
// and grows.
func TestMergeRuleTableGrows(t *testing.T) {
	r := newRules(0)
	for i := range int32(1000) {
		if _, ok := r.put(pair{i, 1000 - i}, merge{rank: i, id: 2 * i}); !ok {
			t.Fatalf("put reports that new rule %d exists", i)
		}
	}
	for i := range int32(1000) {
		if m, ok := r.get(pair{i, 1000 - i}); !ok || m != (merge{rank: i, id: 2 * i}) {
			t.Errorf("rule %d is %v, %v; want %v, true", i, m, ok, merge{rank: i, id: 2 * i})
		}
		if _, ok := r.get(pair{1000 - i, i + 1}); ok {
			t.Errorf("found a rule for %d and %d, want none", 1000-i, i+1)
		}
	}
	if first, ok := r.put(pair{7, 993}, merge{rank: 5000}); ok || first.rank != 7 {
		t.Errorf("a second rule for a pair: got %v, %v; want ok = false, rank = 7", first, ok)
	}
	if _, ok := new(rules).get(pair{}); ok {
		t.Error("an empty table has a rule")
	}
}
