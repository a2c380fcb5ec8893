package tokenizer

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/tokenbytoken/viz/infer/fixture"
)

// modelsFolder holds small models with tokenizers of all kinds; oracle.mjs in that folder describes
// how the expected ids are generated.
const modelsFolder = "../../testdata/models"

// kindsOracle holds texts, and the ids that @huggingface/tokenizers assigns to them for each
// tokenizer.
type kindsOracle struct {
	Extra []string `json:"extra"`
	Kinds map[string]struct {
		SHA256 string  `json:"sha256"`
		IDs    [][]int `json:"ids"` // for the texts in ../tokenizer/strings.jsonl, then in Extra
	} `json:"kinds"`
}

func readKinds(t *testing.T) (kindsOracle, []string) {
	t.Helper()
	var o kindsOracle
	fixture.ReadZipped(t, filepath.Join(modelsFolder, "tokens.json.gz"), &o)
	var texts []string
	for _, line := range oracle(t) {
		texts = append(texts, line.Text)
	}
	return o, append(texts, o.Extra...)
}

// parseModel parses the tokenizer.json of a folder in modelsFolder.
func parseModel(tb testing.TB, name string) (*Tokenizer, []byte) {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join(modelsFolder, name, "tokenizer.json"))
	if err != nil {
		tb.Fatal(err)
	}
	tok, err := Parse(data)
	if err != nil {
		tb.Fatal(err)
	}
	return tok, data
}

// wantKinds maps the folders to the kinds of their tokenizers.
var wantKinds = map[string]string{
	"gpt2":      "byte-level BPE, GPT-2 split",
	"olmo2":     "byte-level BPE, GPT-2 split",
	"smollm":    "byte-level BPE, GPT-2 split, digits alone",
	"llama3":    "byte-level BPE, Llama-3 split",
	"smollm3":   "byte-level BPE, Llama-3 split",
	"qwen2":     "byte-level BPE, Qwen2 split",
	"qwen3":     "byte-level BPE, Qwen2 split",
	"tinyllama": "SentencePiece BPE",
	"mistral":   "SentencePiece BPE",
}

// TestKindsMatchHuggingFace compares the ids of every kind of tokenizer with the ids of
// @huggingface/tokenizers on thousands of texts. These are in all scripts and include emoji, one
// letter repeated 20,000 times, and blanks and line breaks at all positions.
func TestKindsMatchHuggingFace(t *testing.T) {
	o, texts := readKinds(t)
	if len(o.Kinds) != len(wantKinds) || len(texts) < 3000 {
		t.Fatalf("got %d kinds, %d texts; want %d, at least 3000", len(o.Kinds), len(texts), len(wantKinds))
	}
	for name, want := range o.Kinds {
		t.Run(name, func(t *testing.T) {
			tok, data := parseModel(t, name)
			if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != want.SHA256 {
				t.Fatal("the ids are for another tokenizer.json: rerun oracle.mjs as described in its header")
			}
			if tok.Kind() != wantKinds[name] {
				t.Errorf("kind %q, want %q", tok.Kind(), wantKinds[name])
			}
			wrong := 0
			for i, text := range texts {
				if tok.split != nil && tok.split.digits && strings.ContainsFunc(text, otherNumber) {
					continue
				}
				if got := tok.Encode(text); !slices.Equal(got, want.IDs[i]) {
					if wrong++; wrong < 8 {
						t.Errorf(
							"Encode(%.60q) = %v, want %v", text, got[:min(len(got), 40)],
							want.IDs[i][:min(len(want.IDs[i]), 40)],
						)
					}
				}
			}
			if wrong > 0 {
				t.Errorf("%d of %d texts differ", wrong, len(texts))
			}
		})
	}
}

// otherNumber reports whether r is a number that the npm package's Digits, which matches
// JavaScript's \d, ignores. The Rust reference and this program do not ignore it.
func otherNumber(r rune) bool { return r > unicode.MaxASCII && unicode.IsNumber(r) }

// TestSingleDigits checks by hand that every number character is a separate piece, and that the
// text before it is cut as if the text ended there.
func TestSingleDigits(t *testing.T) {
	tok, _ := parseModel(t, "smollm")
	ids := tok.Encode
	for _, parts := range [][]string{
		{"a", "1", "2", " b"}, {" ", "٣", "٤", "x", "²"}, {"a  ", "½", "  b"}, {"Ⅳ", "  "},
	} {
		var want []int
		for _, part := range parts {
			if part == "a  " { // the two spaces at the end of a segment form one piece
				want = append(append(want, ids("a")...), ids("  ")...)
				continue
			}
			want = append(want, ids(part)...)
		}
		if got := ids(strings.Join(parts, "")); !slices.Equal(got, want) {
			t.Errorf("Encode(%q) = %v, want %v", strings.Join(parts, ""), got, want)
		}
	}
}

// comesBack returns the expected Decode(Encode(text)) for a kind of tokenizer.
func comesBack(name, text string) string {
	switch name {
	case "qwen2", "qwen3":
		return norm.NFC.String(text)
	case "tinyllama":
		return strings.ReplaceAll(text, "▁", " ")
	case "mistral": // adds a space only if there is none, so decoding loses an existing one
		text = strings.ReplaceAll(text, "▁", " ")
		return strings.TrimPrefix(text, " ")
	}
	return text
}

// TestKindsRoundTrip checks that decoding the tokens of a text gives the same bytes, including
// invalid UTF-8 and names of special tokens, and that such names never become special tokens.
func TestKindsRoundTrip(t *testing.T) {
	_, texts := readKinds(t)
	texts = append(texts, "\xff", "a\xc3", "\xe2\x96", "\xe2\x96\x81x", "é\x80\x80é", "\xf0\x9f\x98", "日\xe6\x97 本",
		"\u0085x", "\ufeffx",
		"<s>", "</s><unk>", "<|endoftext|>", "<|begin_of_text|>hi", "<0x41>", "\x00\x01", " \xff ", strings.Repeat(
			"\x80", 20000,
		))
	for name := range wantKinds {
		tok, _ := parseModel(t, name)
		for _, text := range texts {
			ids := tok.Encode(text)
			if got, want := tok.Decode(ids), comesBack(name, text); got != want {
				t.Errorf("%s: Decode(Encode(%.60q)) = %.60q, want %.60q", name, text, got, want)
			}
			for _, id := range ids {
				if special, ok := tok.Special(id); ok {
					t.Fatalf("%s: Encode(%.60q) has the special token %s, want none", name, text, special)
				}
			}
		}
	}
}

// TestStartToken checks the token that the file's template puts in front of a text, which Encode
// does not add.
func TestStartToken(t *testing.T) {
	for name, want := range map[string]string{
		"gpt2": "", "smollm": "", "qwen2": "", "llama3": "<|begin_of_text|>", "tinyllama": "<s>", "mistral": "<s>",
	} {
		tok, _ := parseModel(t, name)
		id, ok := tok.Start()
		if got, _ := tok.Special(id); got != want || ok != (want != "") {
			t.Errorf("%s: Start() = %d, %v, which is %q, want %q", name, id, ok, got, want)
		}
	}
}

// TestModernSplits checks the patterns of Llama 3 and Qwen2 by hand,
// alternative by alternative. Where they differ, Qwen2's pieces come second.
func TestModernSplits(t *testing.T) {
	same := func(pieces ...string) [2][]string { return [2][]string{pieces, pieces} }
	for text, want := range map[string][2][]string{
		"Hello world":     same("Hello", " world"),
		"I'M HE'LL we've": same("I", "'M", " HE", "'LL", " we", "'ve"),
		"O'SHEA":          same("O", "'S", "HEA"), // the contraction comes before the letters
		"it'ſ":            same("it", "'ſ"),
		"'x":              same("'x"), // a single character of any kind can precede the letters
		"(foo)bar":        same("(foo", ")bar"),
		"((foo":           same("((", "foo"),
		"\tx\ny":          same("\tx", "\n", "y"), // but not a line break
		"12345":           {{"123", "45"}, {"1", "2", "3", "4", "5"}},
		" 12":             {{" ", "12"}, {" ", "1", "2"}},
		"a1b":             same("a", "1", "b"),
		"wow!!\n\nso":     same("wow", "!!\n\n", "so"),
		"x ?\r\n\n y":     same("x", " ?\r\n\n", " y"),
		"a \n b":          same("a", " \n", " b"),
		"a\n  \n  b":      same("a", "\n  \n", " ", " b"),
		"a   b":           same("a", "  ", " b"),
		"a  ":             same("a", "  "),
		"a \u3000b":       same("a", " ", "\u3000b"),
		"\u3000\u3000日":   same("\u3000", "\u3000日"),
		"\xff\xfea":       same("\xff\xfe", "a"), // invalid bytes count as characters other than letters and numbers
		" \xff":           same(" \xff"),
	} {
		for i, s := range []*splitter{splitLlama3, splitQwen2} {
			var got []string
			for rest := text; rest != ""; {
				n := s.length(rest)
				got = append(got, rest[:n])
				rest = rest[n:]
			}
			if !slices.Equal(got, want[i]) {
				t.Errorf("%s: %q is cut into %q, want %q", s.name, text, got, want[i])
			}
		}
	}
}
