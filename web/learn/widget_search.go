package learn

import (
	"container/heap"
	"context"
	"slices"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

// mostTried is the number of beginnings that a search extends before it gives up.
const mostTried = 3000

// A path is a sequence of tokens after the prompt.
type path struct {
	tokens []int
	ps     []float64 // each token's probability given the tokens before it, at T = 1
	p      float64   // their product
}

// found holds greedy's path and the most probable one.
type found struct {
	greedy, best path
	length       int
	tried        int // the number of beginnings, including the empty one, that were extended
}

// agreeAt reports whether both paths have the same token at an index.
func (f found) agreeAt(i int) bool {
	return i < len(f.greedy.tokens) && i < len(f.best.tokens) && f.greedy.tokens[i] == f.best.tokens[i]
}

func (f found) same() bool { return slices.Equal(f.greedy.tokens, f.best.tokens) }

// findBest finds the most probable sequence that can follow a prompt. The sequence has the given
// length, or is shorter if the model ends its text. The result is exact: beginnings are extended in
// order of probability, so when the first sequence is complete, no other beginning is more
// probable. Beginnings less probable than greedy's path are never considered. Each beginning is
// extended with its most likely next tokens; width is the number of these tokens.
func findBest(ctx context.Context, m *infer.Model, prompt string, length, width int) (found, error) {
	s := &search{model: m, cache: m.NewCache(), prompt: m.Encode(prompt), length: length}
	f := found{length: length}
	if n := len(s.prompt) + length; n > m.Config().Context {
		long := terms.Refuse(terms.CodeRange, "learn.best.long", "more", length, "n", n, "most", m.Config().Context)
		long.Field = "prompt"
		return f, long
	}
	f.greedy = path{p: 1}
	for !s.whole(f.greedy) {
		d, err := s.after(ctx, f.greedy)
		if err != nil {
			return f, err
		}
		f.greedy = s.longer(f.greedy, d, int(d.Order[0]))
	}
	s.tried = 0
	open := &beginnings{{p: 1}}
	for {
		p := heap.Pop(open).(path)
		if s.whole(p) {
			f.best, f.tried = p, s.tried
			return f, nil
		}
		if s.tried == mostTried {
			return f, terms.Refuse(terms.CodeModel, "learn.best.unsure", "n", mostTried)
		}
		d, err := s.after(ctx, p)
		if err != nil {
			return f, err
		}
		for _, id := range d.Order[:min(width, len(d.Order))] {
			// The comparison must not be <=, or greedy's own path would be skipped. Its product
			// here equals greedy.p exactly, because both come from the same multiplications.
			if p.p*d.P[id] < f.greedy.p {
				break
			}
			heap.Push(open, s.longer(p, d, int(id)))
		}
	}
}

// A search is a model and the tokens that it has read.
type search struct {
	model  *infer.Model
	cache  *infer.Cache
	prompt []int
	read   []int // tokens in the cache
	length int
	tried  int
}

// whole reports whether a path is complete.
func (s *search) whole(p path) bool {
	n := len(p.tokens)
	return n == s.length || n > 0 && s.model.EOS(p.tokens[n-1])
}

func (s *search) longer(p path, d *sampling.Distribution, id int) path {
	return path{append(slices.Clip(p.tokens), id), append(slices.Clip(p.ps), d.P[id]), p.p * d.P[id]}
}

// after returns the distribution after a path, at T = 1. It reuses the tokens that are already in
// the cache.
func (s *search) after(ctx context.Context, p path) (*sampling.Distribution, error) {
	s.tried++
	text := append(slices.Clip(s.prompt), p.tokens...)
	same := 0
	for same < min(len(s.read), len(text)-1) && s.read[same] == text[same] {
		same++
	}
	s.cache.Truncate(same)
	s.read = s.read[:same]
	last, _, err := s.model.Forward(ctx, s.cache, text[same:])
	if err != nil {
		return nil, err
	}
	s.read = text
	z, _, err := s.model.Logits(last)
	if err != nil {
		return nil, err
	}
	return sampling.Decide(z, sampling.Pure), nil
}

// beginnings is a heap of paths with the most probable one on top. Equally probable paths are
// ordered by their token IDs.
type beginnings []path

func (b beginnings) Len() int      { return len(b) }
func (b beginnings) Swap(i, j int) { b[i], b[j] = b[j], b[i] }
func (b *beginnings) Push(x any)   { *b = append(*b, x.(path)) }
func (b *beginnings) Pop() any {
	old := *b
	p := old[len(old)-1]
	*b = old[:len(old)-1]
	return p
}

func (b beginnings) Less(i, j int) bool {
	if b[i].p != b[j].p {
		return b[i].p > b[j].p
	}
	return slices.Compare(b[i].tokens, b[j].tokens) < 0
}
