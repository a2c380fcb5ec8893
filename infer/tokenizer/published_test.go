package tokenizer

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"github.com/tokenbytoken/viz/infer/fixture"
)

// shapesFolder holds small tokenizers with the structure of published ones. kinds.mjs in that
// folder describes how the tokenizers and the expected ids are generated.
const shapesFolder = "../../testdata/tokenizer"

// A vector is a text with the ids that the reference assigns to it.
type vector struct {
	Text string `json:"text"`
	IDs  []int  `json:"ids"`
}

// A shape is one of the tokenizers in shapesFolder.
type shape struct {
	name    string
	data    []byte // its tokenizer.json
	tok     *Tokenizer
	vectors []vector
}

// shapes reads all shapes.
func shapes(tb testing.TB) []shape {
	tb.Helper()
	var kinds map[string]struct {
		SHA256  string   `json:"sha256"`
		Vectors []vector `json:"vectors"`
	}
	fixture.ReadZipped(tb, filepath.Join(shapesFolder, "kinds.json.gz"), &kinds)
	var list []shape
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		data, err := os.ReadFile(filepath.Join(shapesFolder, "kinds", name+".json"))
		if err != nil {
			tb.Fatal(err)
		}
		if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != kinds[name].SHA256 {
			tb.Fatalf("the ids are for another %s.json: rerun kinds.mjs as described in its header", name)
		}
		tok, err := Parse(data)
		if err != nil {
			tb.Fatalf("%s: %v", name, err)
		}
		list = append(list, shape{name, data, tok, kinds[name].Vectors})
	}
	return list
}

// A shapeFile holds the fields of a tokenizer.json that the tests read directly, without Parse.
type shapeFile struct {
	Added []struct {
		ID      int    `json:"id"`
		Content string `json:"content"`
		Special bool   `json:"special"`
	} `json:"added_tokens"`
	Model struct {
		Vocab  map[string]int `json:"vocab"`
		Merges []any          `json:"merges"`
	} `json:"model"`
}

func (s shape) file(tb testing.TB) (f shapeFile) {
	tb.Helper()
	if err := json.Unmarshal(s.data, &f); err != nil {
		tb.Fatal(err)
	}
	return f
}

// wantLacks maps each shape to the number of bytes without a token.
var wantLacks = map[string]int{
	"codegen": 0, "flags": 0, "gemma3": 0, "gptneox": 13, "olmo2": 0, "qwen3": 0, "smollm2": 21, "smollm3": 0,
	"starcoder2": 14,
}

// TestShapesOfPublishedFiles: every tokenizer in shapesFolder gives the same ids as the reference
// implementation, on llama.cpp's published texts and on hundreds of texts that mix words, sequences
// of blanks and the tokenizer's added tokens. Check rejects exactly the texts with a byte that the
// vocabulary lacks.
func TestShapesOfPublishedFiles(t *testing.T) {
	all := shapes(t)
	if len(all) != len(wantLacks) {
		t.Fatalf("%d shapes, want %d", len(all), len(wantLacks))
	}
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			if len(s.vectors) < 500 || s.tok.lacks != wantLacks[s.name] {
				t.Fatalf("got %d texts, %d bytes without a token", len(s.vectors), s.tok.lacks)
			}
			missing := s.missing(t)
			refused := 0
			for _, v := range s.vectors {
				if got := s.tok.Encode(v.Text); !slices.Equal(got, v.IDs) {
					t.Errorf(
						"Encode(%.60q) = %v, want %v", v.Text, got[:min(len(got), 40)], v.IDs[:min(len(v.IDs), 40)],
					)
				}
				want := false
				for _, b := range []byte(norm.NFC.String(v.Text)) {
					want = want || missing[b]
				}
				if err := s.tok.Check(v.Text); (err != nil) != want {
					t.Errorf("Check(%.60q) = %v; want an error: %t", v.Text, err, want)
				}
				if want {
					refused++
				}
			}
			if (refused > 0) != (s.name == "smollm2" || s.name == "starcoder2") { // others have every byte of UTF-8
				t.Errorf(
					"got %d of %d texts rejected, want some only for smollm2 and starcoder2", refused, len(s.vectors),
				)
			}
		})
	}
}

// missing lists the bytes whose spelling is not in a byte-level vocabulary.
func (s shape) missing(tb testing.TB) map[byte]bool {
	list := map[byte]bool{}
	if s.tok.characters {
		return list
	}
	vocab := s.file(tb).Model.Vocab
	for b, r := range byteToRune {
		if _, ok := vocab[string(r)]; !ok {
			list[byte(b)] = true
		}
	}
	return list
}

// lists returns the file as GGUF stores it: every token by its id, added tokens with a space in
// place of ▁, as in files from GGUF converters, and merges as strings.
func (s shape) lists(tb testing.TB) (l List, merges []string) {
	tb.Helper()
	f := s.file(tb)
	l = List{Tokens: make([]string, s.tok.Size()), Marks: make([]Mark, s.tok.Size())}
	for text, id := range f.Model.Vocab {
		l.Tokens[id] = text
	}
	for _, a := range f.Added {
		l.Tokens[a.ID], l.Marks[a.ID] = strings.ReplaceAll(a.Content, metaspace, " "), Added
		if a.Special {
			l.Marks[a.ID] = Special
		}
	}
	for _, m := range f.Model.Merges {
		if pair, ok := m.([]any); ok {
			m = pair[0].(string) + " " + pair[1].(string)
		}
		merges = append(merges, m.(string))
	}
	return l, merges
}

// TestShapesAsGGUFLists: the same vocabularies give the same ids when read from GGUF's
// lists, under each of llama.cpp's names for their split pattern.
func TestShapesAsGGUFLists(t *testing.T) {
	for _, s := range shapes(t) {
		for _, pre := range map[string][]string{
			"gptneox": {"gpt-neox", "olmo", "mpt"}, "codegen": {
				"phi-2",
			}, "starcoder2": {"starcoder", "refact"}, "smollm2": {"smollm"},
			"smollm3": {"llama-bpe", "llama3", "llama-v3"}, "olmo2": {"dbrx"}, "qwen3": {"qwen2"},
		}[s.name] {
			l, merges := s.lists(t)
			tok, err := NewByteLevel(l, merges, pre)
			if err != nil {
				t.Errorf("%s: %v", pre, err)
				continue
			}
			s.compare(t, pre, tok)
		}
		if s.name == "gemma3" {
			l, merges := s.lists(t)
			scores := make([]float32, len(l.Tokens))
			for rank, line := range slices.Backward(merges) { // in reverse, so that the first rule for a token counts
				left, right, _ := strings.Cut(line, " ")
				id, _ := s.tok.Lookup(strings.ReplaceAll(left+right, metaspace, " "))
				scores[id] = float32(-rank)
			}
			tok, err := NewSentencePiece(l, scores, false)
			if err != nil {
				t.Fatal(err)
			}
			s.compare(t, "scores", tok)
		}
	}
}

// compare compares a tokenizer's ids with the reference's. In GGUF, SentencePiece's added tokens
// contain spaces instead of ▁, so a text that itself contains ▁ gets ids that differ from the
// reference's and is skipped.
func (s shape) compare(t *testing.T, name string, tok *Tokenizer) {
	t.Helper()
	for _, v := range s.vectors {
		if tok.characters && strings.Contains(v.Text, metaspace) {
			continue
		}
		if got := tok.Encode(v.Text); !slices.Equal(got, v.IDs) {
			t.Errorf(
				"%s as %s: Encode(%.60q) = %v, want %v", s.name, name, v.Text, got[:min(len(got), 40)],
				v.IDs[:min(len(v.IDs), 40)],
			)
		}
	}
}

// TestShapesKeepSpecialNamesAsText: in every shape, names of special tokens stay plain text and
// names of other added tokens become those tokens. In both cases, the ids decode to the name.
func TestShapesKeepSpecialNamesAsText(t *testing.T) {
	for _, s := range shapes(t) {
		if s.name == "flags" { // some of its tokens are found only between blanks, or swallow blanks
			continue
		}
		for _, a := range s.file(t).Added {
			text := "x" + a.Content + "x"
			ids := s.tok.Encode(text)
			if a.Special == slices.Contains(ids, a.ID) {
				t.Errorf(
					"%s: %q, special %v, among the ids: %v; want one of the two (id %d, ids %v)", s.name, a.Content,
					a.Special, slices.Contains(ids, a.ID), a.ID, ids,
				)
			}
			if got, want := s.tok.Decode(ids), cameBack(s.tok, text); got != want {
				t.Errorf("%s: %q is decoded as %q, want %q", s.name, text, got, want)
			}
		}
	}
}

// TestShapesRoundTrip: decoding the tokens of a text that a vocabulary can spell restores the text
// byte for byte, except for normalization.
func TestShapesRoundTrip(t *testing.T) {
	for _, s := range shapes(t) {
		if s.name == "flags" { // swallows blanks
			continue
		}
		for _, v := range s.vectors {
			want := cameBack(s.tok, v.Text)
			if got := s.tok.Decode(s.tok.Encode(v.Text)); got != want && s.tok.Check(v.Text) == nil {
				t.Errorf("%s: Decode(Encode(%.60q)) = %.60q, want %.60q", s.name, v.Text, got, want)
			}
		}
	}
}
