package tokenizer

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
)

// TestLlamaCppsPublishedVectors compares ids with the ids that llama.cpp publishes for its test
// texts. It uses the parts of the published vocabularies that the texts need. vectors.mjs documents
// the source of these parts, and how the complete vocabularies were compared.
func TestLlamaCppsPublishedVectors(t *testing.T) {
	var published struct {
		Kinds map[string]publishedKind `json:"kinds"`
	}
	fixture.ReadZipped(t, filepath.Join(shapesFolder, "vectors.json.gz"), &published)
	want := map[string]string{
		"gpt-2": "byte-level BPE, GPT-2 split", "mpt": "byte-level BPE, GPT-2 split",
		"phi-3": "SentencePiece BPE", "qwen2": "byte-level BPE, Qwen2 split",
	}
	if len(published.Kinds) != len(want) {
		t.Fatalf("%d kinds, want %d", len(published.Kinds), len(want))
	}
	for name, kind := range published.Kinds {
		tok, numbers := kind.tokenizer(t)
		if tok.Kind() != want[name] || len(kind.Texts) < 40 || len(kind.IDs) != len(kind.Texts) {
			t.Fatalf(
				"%s: got %s, %d texts, ids of %d; want %s, at least 40, %d", name, tok.Kind(), len(kind.Texts),
				len(kind.IDs), want[name], len(kind.Texts),
			)
		}
		for i, text := range kind.Texts {
			var got []int
			for _, id := range tok.Encode(text) {
				got = append(got, numbers[id])
			}
			if !slices.Equal(got, kind.IDs[i]) {
				t.Errorf("%s: Encode(%q) = %v, want %v as published by llama.cpp", name, text, got, kind.IDs[i])
			}
			if err := tok.Check(text); err != nil {
				t.Errorf("%s: Check(%q) = %v", name, text, err)
			}
		}
	}
}

// publishedKind is part of a vocabulary, with texts and their ids.
type publishedKind struct {
	Pre    string              `json:"pre"`
	Tokens [][]json.RawMessage `json:"tokens"` // id, text, GGUF's type (1 if absent), score
	Merges []string            `json:"merges"`
	Texts  []string            `json:"texts"`
	IDs    [][]int             `json:"ids"`
}

// tokenizer returns the tokenizer, and the ids of its tokens in the whole vocabulary.
func (k publishedKind) tokenizer(t *testing.T) (*Tokenizer, []int) {
	t.Helper()
	var l List
	var numbers []int
	var scores []float32
	for _, entry := range k.Tokens {
		number, text, kind, score := 0, "", 1, float32(0)
		for i, to := range []any{&number, &text, &kind, &score}[:len(entry)] {
			if err := json.Unmarshal(entry[i], to); err != nil {
				t.Fatal(err)
			}
		}
		mark := Ordinary
		switch kind {
		case 2, 3, 5:
			mark = Special
		case 4:
			mark = Added
		}
		l.Tokens, l.Marks = append(l.Tokens, text), append(l.Marks, mark)
		numbers, scores = append(numbers, number), append(scores, score)
	}
	var tok *Tokenizer
	var err error
	if k.Pre == "" {
		tok, err = NewSentencePiece(l, scores, true)
	} else {
		tok, err = NewByteLevel(l, k.Merges, k.Pre)
	}
	if err != nil {
		t.Fatal(err)
	}
	return tok, numbers
}
