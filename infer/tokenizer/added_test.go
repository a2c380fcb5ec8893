package tokenizer

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
)

// withAdded parses smallTree with added tokens, whose ids begin at 266.
func withAdded(tb testing.TB, tokens ...tree) *Tokenizer {
	tb.Helper()
	return small(tb, func(f tree) {
		for i, a := range tokens {
			a["id"] = 266 + i
			f["added_tokens"] = append(f["added_tokens"].([]any), a)
		}
	})
}

// TestAddedTokensByHand: the ids of texts with added tokens equal ids computed by hand with the
// rules of smallTree: he is 256, hello 259, Ġw 260.
func TestAddedTokensByHand(t *testing.T) {
	word := func(content string, flags ...string) tree {
		a := tree{"content": content, "special": false}
		for _, flag := range flags {
			a[flag] = true
		}
		return a
	}
	for _, test := range []struct {
		name   string
		tokens []tree
		text   string
		want   []int
	}{
		{"found before merging", []tree{word("ell")}, "hello", []int{'h', 266, 'o'}},
		{"found before cutting", []tree{word("o w")}, "hello world", []int{258, 266, 261, 'l', 'd'}},
		{
			"the longest of those that begin at the same byte",
			[]tree{word("  "), word("    "), word("   ")},
			strings.Repeat(" ", 9),
			[]int{267, 267, ' '},
		},
		{
			"the leftmost of those that overlap",
			[]tree{word("ab"), word("bcdef")},
			"abcdef",
			[]int{266, 'c', 'd', 'e', 'f'},
		},
		{"one beside the other", []tree{word("<a>"), word("<b>")}, "<a><b><a>", []int{266, 267, 266}},
		{
			"a prefix that continues differently",
			[]tree{word("<tool>")},
			"<tool<tool>",
			[]int{'<', 't', 'o', 'o', 'l', 266},
		},
		{
			"not inside the name of a special token",
			[]tree{{"content": "nd|", "normalized": false}},
			"<|end|>nd|",
			[]int{'<', '|', 'e', 'n', 'd', '|', '>', 266},
		},
		{"swallows blanks on the left", []tree{word("<!", "lstrip")}, "w \t\n<!he", []int{'w', 266, 256}},
		{"swallows blanks on the right", []tree{word("<!", "rstrip")}, "w <!\u00a0 he", []int{'w', ' ', 266, 256}},
		{"but not blanks already swallowed", []tree{word("<!", "lstrip", "rstrip")}, "<! <!", []int{266, 266}},
		{
			"stands alone",
			[]tree{word("el", "single_word")},
			"el hello tel el",
			[]int{266, ' ', 259, ' ', 't', 'e', 'l', ' ', 266},
		},
		{
			"alone between signs",
			[]tree{word("xx", "single_word")},
			"(xx) xx_ \u0301xx 1xx xx",
			[]int{'(', 266, ')', ' ', 'x', 'x', '_', ' ', 0xcc, 0x81, 'x', 'x', ' ', '1', 'x', 'x', ' ', 266},
		},
	} {
		tok := withAdded(t, test.tokens...)
		if got := tok.Encode(test.text); !slices.Equal(got, test.want) {
			t.Errorf("%s: Encode(%q) = %v, want %v", test.name, test.text, got, test.want)
		}
	}
}

// TestAddedTokensAndNormalizing: a token that is not normalized is searched for in the original
// text. A normalized token is converted to normalization form C and searched for in the normalized
// text.
func TestAddedTokensAndNormalizing(t *testing.T) {
	for _, test := range []struct {
		normalized bool
		content    string
		text       string
		want       []int
	}{
		{false, "e\u0302\u0301", "e\u0302\u0301 ế", []int{266, ' ', 0xe1, 0xba, 0xbf}},
		{true, "e\u0302\u0301", "e\u0302\u0301 ế", []int{266, ' ', 266}},
		{false, "ế", "e\u0302\u0301 ế", []int{0xe1, 0xba, 0xbf, ' ', 266}},
	} {
		tok := small(t, func(f tree) {
			f["normalizer"] = tree{"type": "NFC"}
			f["added_tokens"] = []any{tree{"id": 266, "content": test.content, "normalized": test.normalized}}
		})
		if got := tok.Encode(test.text); !slices.Equal(got, test.want) {
			t.Errorf(
				"%q, normalized %v: Encode(%q) = %v, want %v", test.content, test.normalized, test.text, got, test.want,
			)
		}
	}
}

// TestAddedTokenTables: an added token that a model generates represents its text, and it is not a
// special token. Lookup finds an added token by its bytes only if merging can also produce it.
func TestAddedTokenTables(t *testing.T) {
	tok := withAdded(t, tree{"content": "<tool>"}, tree{"content": "\t\t"})
	if string(tok.Bytes(266)) != "<tool>" || string(tok.Bytes(267)) != "\t\t" || tok.Size() != 268 {
		t.Errorf(
			"got %q, %q, %d tokens; want %q, %q, 268", tok.Bytes(266), tok.Bytes(267), tok.Size(), "<tool>", "\t\t",
		)
	}
	if _, ok := tok.Special(266); ok {
		t.Error("<tool> counts as special")
	}
	if _, ok := tok.Lookup("<tool>"); ok {
		t.Error("Lookup finds the added token, which merging cannot produce")
	}
	tok = small(t, func(f tree) {
		f["added_tokens"] = append(f["added_tokens"].([]any), tree{"id": 259, "content": "hello"})
	})
	if id, ok := tok.Lookup("hello"); id != 259 || !ok {
		t.Errorf("Lookup(hello) = %d, %v; want 259, true", id, ok)
	}
	if got := tok.Encode("hellor"); !slices.Equal(got, []int{259, 'r'}) {
		t.Errorf("Encode(hellor) = %v, want %v", got, []int{259, 'r'})
	}
}

// TestAddedTokensAndTheSpaceInFront: a space is added in front of a text as the file specifies,
// for every way of specifying it. smallPieces has ▁ 259, a 260, b 261, ▁a 262, ab 263, and <x> is
// added as 265. ▁ merges with a and with b.
func TestAddedTokensAndTheSpaceInFront(t *testing.T) {
	space := func(scheme string) tree {
		return tree{"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": false}
	}
	llama2 := tree{"type": "Sequence", "normalizers": []any{
		tree{"type": "Prepend", "prepend": "▁"},
		tree{"type": "Replace", "pattern": tree{"String": " "}, "content": "▁"},
	}}
	gemma := tree{"type": "Replace", "pattern": tree{"String": " "}, "content": "▁"}
	for _, test := range []struct {
		name            string
		normalizer, pre any
		text            string
		want            []int
	}{
		{"Llama 2", llama2, nil, "ab<x>ab", []int{262, 261, 265, 262, 261}},
		{"Llama 2", llama2, nil, " a<x> a", []int{259, 262, 265, 259, 262}},
		{"Gemma", gemma, nil, "ab<x>ab a", []int{263, 265, 263, 262}},
		{
			"Gemma", gemma,
			tree{"type": "Split", "pattern": tree{"String": " "}, "behavior": "MergedWithPrevious"},
			"ab ab",
			[]int{263, 262, 261},
		},
		{"always", nil, space("always"), "ab<x>ab<x> ab", []int{262, 261, 265, 262, 261, 265, 262, 261}},
		{"first", nil, space("first"), "ab<x>ab", []int{262, 261, 265, 263}},
		{"first", nil, space("first"), "<x>ab", []int{265, 263}},
		{"never", nil, space("never"), "ab<x>ab", []int{263, 265, 263}},
	} {
		f := smallPieces()
		f["normalizer"], f["pre_tokenizer"] = test.normalizer, test.pre
		f["decoder"] = tree{"type": "ByteFallback"}
		f["added_tokens"] = append(f["added_tokens"].([]any), tree{"id": 265, "content": "<x>", "normalized": false})
		tok, err := Parse(encodeTree(t, f))
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		if got := tok.Encode(test.text); !slices.Equal(got, test.want) {
			t.Errorf("%s: Encode(%q) = %v, want %v", test.name, test.text, got, test.want)
		}
	}
}

// FuzzAdded adds two tokens with any flags to a small vocabulary. Encode never panics. The tokens
// that it returns spell the text, unless a flag swallows blanks. If Check accepts a text, no part
// of it is lost.
func FuzzAdded(f *testing.F) {
	for _, seed := range []struct{ one, other, text string }{
		{"  ", "   ", "a       b"},
		{"<tool>", "</tool>", " <tool> hello </tool>\n"},
		{"e\u0301", "é", "e\u0301é\u0301"},
		{"\u0301", " ", "e \u0301"},
		{"hello", "<|en", "hello <|end|> <|en"},
		{"aa", "aaa", "aaaaaaaa"},
		{"\xff", "\x00", "\xff\x00\x03"},
		{"▁", "日", "▁日本"},
	} {
		for flags := range 16 {
			f.Add(seed.one, seed.other, uint8(flags*17), seed.text)
		}
	}
	base := smallTree()
	f.Fuzz(func(t *testing.T, one, other string, flags uint8, text string) {
		entry := func(id int, content string, flags uint8) tree {
			return tree{
				"id": id, "content": content, "single_word": flags&1 != 0, "lstrip": flags&2 != 0,
				"rstrip": flags&4 != 0, "normalized": flags&8 != 0,
			}
		}
		file := tree{
			"normalizer": tree{"type": "NFC"}, "pre_tokenizer": base["pre_tokenizer"], "decoder": base["decoder"],
			"model":        base["model"],
			"added_tokens": append(base["added_tokens"].([]any), entry(266, one, flags), entry(267, other, flags>>4)),
		}
		tok, err := Parse(encodeTree(t, file))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "tokenizer: added_tokens[") &&
				!strings.HasPrefix(err.Error(), "tokenizer: model.") {
				t.Fatalf("got error %q, want one that names an added token", err)
			}
			return
		}
		ids := tok.Encode(text)
		if err := tok.Check(text); err != nil {
			t.Fatalf("%v, but the vocabulary has all bytes", err)
		}
		for _, id := range ids {
			if tok.Bytes(id) == nil {
				t.Fatalf("%q becomes %v: %d is not an ordinary token", text, ids, id)
			}
		}
		if got := tok.Decode(ids); !swallows(tok) && norm.NFC.String(got) != norm.NFC.String(text) {
			t.Fatalf("%q becomes %v, which decodes to %q; want the text, except for normalization", text, ids, got)
		}
	})
}
