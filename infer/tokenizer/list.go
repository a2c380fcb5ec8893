package tokenizer

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// A List is a vocabulary as GGUF and llama2.c keep it: tokens by id. It counts
// as untrusted.
type List struct {
	Tokens []string // by id, spelled as the kind of tokenizer spells them
	Marks  []Mark   // [len(Tokens)], or nil where all are ordinary
}

// A Mark says what an entry of a [List] is.
type Mark uint8

// The marks.
const (
	Ordinary Mark = iota // made by merging
	Special              // stands for no text, such as the end of text
	Added                // stands for its text, but no text is read as it
)

// maxScoredBytes is the longest token that scores can make; published ones stay
// below 50.
const maxScoredBytes = 256

// NewByteLevel makes a byte-level BPE of a list. merges are its rules in order
// of rank, each "left right"; pre is GGUF's name for the split pattern, such as
// "llama-bpe". Errors say which token, merge or name is at fault.
func NewByteLevel(l List, merges []string, pre string) (*Tokenizer, error) {
	t := &Tokenizer{start: -1}
	switch pre {
	case "gpt-2":
		t.split = splitGPT2
	case "smollm":
		t.split = splitGPT2Digits
	case "llama-bpe", "llama3", "llama-v3":
		t.split, t.wholePieces = splitLlama3, true
	case "qwen2":
		t.split, t.nfc = splitQwen2, true
	default:
		return nil, fmt.Errorf("tokenizer: the split pattern called %s is not one of those supported: gpt-2, smollm, llama-bpe, qwen2", quote(pre))
	}
	if err := t.readList(l); err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	if len(merges) > maxMerges {
		return nil, fmt.Errorf("tokenizer: %d merges, more than the limit of %d", len(merges), maxMerges)
	}
	t.merges = make(map[pair]merge, len(merges))
	var scratch []byte
	for rank, line := range merges {
		left, right, err := cutRule(line)
		if err == nil {
			scratch, err = t.addMerge(int32(rank), left, right, scratch[:0])
		}
		if err != nil {
			return nil, fmt.Errorf("tokenizer: merge %d: %w", rank, err)
		}
	}
	return t, nil
}

// NewSentencePiece makes a SentencePiece BPE of a list: of two neighbours that
// together make a token, those join first whose token has the highest score,
// [len(Tokens)]. addSpace puts a space in front of every text.
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
		return fmt.Errorf("%d tokens, want 1 to %d", len(l.Tokens), maxTokens)
	}
	if l.Marks != nil && len(l.Marks) != len(l.Tokens) {
		return fmt.Errorf("%d tokens, but %d say what they are", len(l.Tokens), len(l.Marks))
	}
	t.clear()
	r := vocabReader{t: t, fallback: map[int32]bool{}}
	for id, text := range l.Tokens {
		id := int64(id)
		if l.Marks == nil || l.Marks[id] == Ordinary {
			continue
		}
		if err := t.addSpecial(addedToken{ID: &id, Content: text, Special: l.Marks[id] == Special}); err != nil {
			return fmt.Errorf("token %d: %w", id, err)
		}
	}
	for id, text := range l.Tokens {
		if l.Marks != nil && l.Marks[id] != Ordinary {
			continue
		}
		if err := r.addEntry(text, int64(id)); err != nil {
			return fmt.Errorf("token %d: %w", id, err)
		}
	}
	return r.build()
}

// readScores ranks the tokens by score. Equal scores give equal ranks: between
// those, the leftmost pair goes first.
func (t *Tokenizer) readScores(scores []float32) error {
	if len(scores) != t.Size() {
		return fmt.Errorf("%d tokens, but %d scores", t.Size(), len(scores))
	}
	order := make([]int32, len(scores))
	for id, s := range scores {
		if math.IsNaN(float64(s)) {
			return fmt.Errorf("token %d: the score is NaN", id)
		}
		if len(t.Bytes(id)) > maxScoredBytes {
			return fmt.Errorf("token %d: %d bytes, more than the limit of %d", id, len(t.Bytes(id)), maxScoredBytes)
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
