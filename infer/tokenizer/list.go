package tokenizer

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// A List is a vocabulary in the form that GGUF and llama2.c use: tokens by id. Its contents are
// untrusted.
type List struct {
	Tokens []string // by id, in the spelling of that kind of tokenizer
	Marks  []Mark   // [len(Tokens)], or nil if all tokens are ordinary
}

// A Mark specifies the kind of one token in a [List].
type Mark uint8

// The marks.
const (
	Ordinary Mark = iota // produced by merging
	Special              // represents no text, such as the end of text
	Added                // represents its text and is found in texts before merging
)

// maxScoredBytes is the maximum length of a token with a score. Published tokens have fewer than 50
// bytes.
const maxScoredBytes = 256

// A published describes how a tokenizer that has a name in GGUF differs from GPT-2's.
type published struct {
	split       *splitter
	nfc         bool // according to its tokenizer.json; GGUF does not record it
	wholePieces bool
}

// publishedPre maps GGUF's names for split patterns to descriptions of the tokenizers. For each
// pattern, the model whose tokenizer introduced it comes first, followed by other models whose
// tokenizers split text in the same way.
var publishedPre = map[string]published{
	"gpt-2":    {split: splitGPT2},
	"phi-2":    {split: splitGPT2},            // CodeGen's
	"gpt-neox": {split: splitGPT2, nfc: true}, // Pythia's
	"olmo":     {split: splitGPT2, nfc: true}, // OLMo's first, the same as GPT-NeoX's
	"mpt":      {split: splitGPT2, nfc: true}, // likewise

	"smollm":    {split: splitGPT2Digits},
	"starcoder": {split: splitGPT2Digits},
	"refact":    {split: splitGPT2Digits},

	"llama-bpe": {split: splitLlama3, wholePieces: true}, // SmolLM3's too
	"llama3":    {split: splitLlama3, wholePieces: true},
	"llama-v3":  {split: splitLlama3, wholePieces: true},
	"dbrx":      {split: splitLlama3}, // cl100k's, with merges throughout; OLMo 2's too

	"qwen2": {split: splitQwen2, nfc: true}, // Qwen3's too
}

// NewByteLevel returns a byte-level BPE with the tokens in a list. merges holds its rules in order
// of rank, each as "left right", and pre is GGUF's name for the split pattern, such as "llama-bpe".
// Errors name the token, merge or pre that is wrong.
func NewByteLevel(l List, merges []string, pre string) (*Tokenizer, error) {
	kind, ok := publishedPre[pre]
	if !ok {
		names := strings.Join(slices.Sorted(maps.Keys(publishedPre)), ", ")
		return nil, fmt.Errorf(
			"tokenizer: unknown split pattern %s; want one of %s", quote(pre), names,
		)
	}
	t := &Tokenizer{start: -1, split: kind.split, nfc: kind.nfc, wholePieces: kind.wholePieces}
	if err := t.readList(l); err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	if len(merges) > maxMerges {
		return nil, fmt.Errorf("tokenizer: got %d merges, want at most %d", len(merges), maxMerges)
	}
	t.merges = newRules(len(merges))
	r := ruleReader{t: t, in: inList, last: -1}
	for rank, line := range merges {
		left, right, err := cutRule(line)
		if err == nil {
			err = r.add(int32(rank), left, right)
		}
		if err != nil {
			return nil, fmt.Errorf("tokenizer: "+r.in.rule+": %w", rank, err)
		}
	}
	return t, nil
}

// NewSentencePiece returns a SentencePiece BPE with the tokens in a list. Of all adjacent pairs
// that form a token, the pair whose token has the highest score is joined first. scores has one
// element for each token. With addSpace, a space is added in front of every text.
func NewSentencePiece(l List, scores []float32, addSpace bool) (*Tokenizer, error) {
	t := &Tokenizer{start: -1, characters: true}
	if addSpace {
		t.prefix = prefixAlways
	}
	err := t.readList(l)
	if err == nil {
		err = t.readScores(scores)
	}
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	return t, nil
}

// readList reads the tokens.
func (t *Tokenizer) readList(l List) error {
	if len(l.Tokens) == 0 || len(l.Tokens) > maxTokens {
		return fmt.Errorf("got %d tokens, want 1 to %d", len(l.Tokens), maxTokens)
	}
	if l.Marks != nil && len(l.Marks) != len(l.Tokens) {
		return fmt.Errorf("got %d tokens, but %d token kinds", len(l.Tokens), len(l.Marks))
	}
	t.clear()
	var added []addedToken
	for id, text := range l.Tokens {
		id := int64(id)
		if l.Marks == nil || l.Marks[id] == Ordinary {
			continue
		}
		a := addedToken{ID: &id, Content: text, Special: l.Marks[id] == Special, Normalized: new(bool)}
		if err := t.addAdded(a); err != nil {
			return fmt.Errorf("token %d: %w", id, err)
		}
		added = append(added, a)
	}
	t.readMatchers(added)
	r := newVocabReader(t, inList, len(l.Tokens))
	for id, text := range l.Tokens {
		// llama.cpp's SentencePiece can merge into tokens of any kind, but never into a token that
		// is spelled with a space, because it replaces spaces with ▁ before merging.
		made := t.characters && !strings.Contains(text, " ")
		if l.Marks != nil && (l.Marks[id] == Special || l.Marks[id] == Added && !made) {
			continue
		}
		if err := r.addEntry(text, int64(id)); err != nil {
			return fmt.Errorf("token %d: %w", id, err)
		}
	}
	return r.build()
}

// readScores ranks the tokens by score. Tokens with equal scores get equal ranks, and among pairs
// with equal ranks, the leftmost is joined first.
func (t *Tokenizer) readScores(scores []float32) error {
	if len(scores) != t.Size() {
		return fmt.Errorf("got %d tokens, but %d scores", t.Size(), len(scores))
	}
	order := make([]int32, len(scores))
	for id, s := range scores {
		if math.IsNaN(float64(s)) {
			return fmt.Errorf("token %d: the score is NaN", id)
		}
		if len(t.Bytes(id)) > maxScoredBytes {
			return fmt.Errorf("token %d has %d bytes, more than the limit of %d", id, len(t.Bytes(id)), maxScoredBytes)
		}
		order[id] = int32(id)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(scores[b], scores[a]) })
	t.ranks = make([]int32, len(scores))
	for i, id := range order {
		if i > 0 && scores[id] == scores[order[i-1]] {
			t.ranks[id] = t.ranks[order[i-1]]
		} else {
			t.ranks[id] = int32(i)
		}
	}
	return nil
}
