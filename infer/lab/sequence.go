package lab

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
)

// This file searches for the most probable sequence. The probability of a sequence never increases
// as tokens are added. So if prefixes are expanded in descending order of probability, the first
// complete sequence found is the most probable one: every other sequence continues a prefix that is
// no more probable. The search skips prefixes that are less probable than greedy's path, because
// they cannot lead to the result.

// prefix is the beginning of a sequence.
type prefix struct {
	ids  []int
	logs []float64 // ln p of each token
	log  float64   // their sum
	ends bool      // the last token ends the text
}

func (p prefix) with(id int, log float64, ends bool) prefix {
	return prefix{append(slices.Clip(p.ids), id), append(slices.Clip(p.logs), log), p.log + log, ends}
}

// prefixes is a heap with the most probable prefix first. Equally probable prefixes are in
// lexicographic order of their ids.
type prefixes []prefix

func (h prefixes) Len() int      { return len(h) }
func (h prefixes) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h prefixes) Less(i, j int) bool {
	if h[i].log != h[j].log {
		return h[i].log > h[j].log
	}
	return slices.Compare(h[i].ids, h[j].ids) < 0
}
func (h *prefixes) Push(x any) { *h = append(*h, x.(prefix)) }
func (h *prefixes) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// keep drops all but the n most probable prefixes, and returns ln p of the least probable remaining
// prefix. A search with n passes left never reaches the dropped prefixes, because each pass pops
// one prefix. So a large vocabulary of equally likely tokens cannot exhaust memory.
func (h *prefixes) keep(n int) float64 {
	slices.SortFunc(*h, func(a, b prefix) int {
		if c := cmp.Compare(b.log, a.log); c != 0 {
			return c
		}
		return slices.Compare(a.ids, b.ids)
	})
	clear((*h)[n:])
	*h = (*h)[:n] // a sorted slice is a heap
	return (*h)[n-1].log
}

// scorer returns ln p [vocab] of the next token at T = 1, after a prompt and some tokens.
type scorer func(ctx context.Context, ids []int) ([]float64, error)

// scores returns a scorer that runs a model after a prompt. It caches the prompt's columns.
func scores(m *infer.Model, prompt []int) scorer {
	cache, read := m.NewCache(), false
	var first []float32
	return func(ctx context.Context, ids []int) ([]float64, error) {
		var err error
		if !read {
			if first, _, err = m.Forward(ctx, cache, prompt); err != nil {
				return nil, err
			}
			read = true
		}
		last := first
		if len(ids) > 0 {
			cache.Truncate(len(prompt))
			if last, _, err = m.Forward(ctx, cache, ids); err != nil {
				return nil, err
			}
		}
		z, _, err := m.Logits(last)
		if err != nil {
			return nil, err
		}
		return logSoftmax(z), nil
	}
}

// logSoftmax returns the logarithm of the softmax of z [vocab] at T = 1.
func logSoftmax(z []float32) []float64 {
	largest := float64(slices.Max(z))
	sum := 0.0
	for _, v := range z {
		sum += math.Exp(float64(v) - largest)
	}
	whole := largest + math.Log(sum)
	logs := make([]float64, len(z))
	for i, v := range z {
		logs[i] = float64(v) - whole
	}
	return logs
}

// found is the result of a search for the most probable sequence.
type found struct {
	greedy, best prefix
	exact        bool
	expanded     int // calls of the scorer
}

// searchBest compares greedy's path with the most probable sequence of horizon tokens, or
// fewer if one ends the text. It calls the scorer at most `most` times, including for
// greedy's path.
func searchBest(ctx context.Context, score scorer, ends func(id int) bool, horizon, most int) (found, error) {
	var f found
	for len(f.greedy.ids) < horizon && !f.greedy.ends {
		logs, err := score(ctx, f.greedy.ids)
		if err != nil {
			return f, err
		}
		f.expanded++
		id := 0 // ties go to the lower id, as in the loop
		for i, l := range logs {
			if l > logs[id] {
				id = i
			}
		}
		f.greedy = f.greedy.with(id, logs[id], ends(id))
	}
	f.best = f.greedy
	open := &prefixes{{}}
	floor := f.greedy.log // only more probable prefixes need to be expanded
	for open.Len() > 0 {
		p := heap.Pop(open).(prefix)
		if p.ends || len(p.ids) == horizon {
			if p.log > f.greedy.log {
				f.best = p
			}
			f.exact = true
			return f, nil
		}
		if f.expanded >= most {
			return f, nil
		}
		logs, err := score(ctx, p.ids)
		if err != nil {
			return f, err
		}
		f.expanded++
		for id, l := range logs {
			if p.log+l > floor {
				heap.Push(open, p.with(id, l, ends(id)))
			}
			if open.Len() > 2*most {
				floor = open.keep(most)
			}
		}
	}
	f.exact = true // no prefix left is more probable than greedy's path
	return f, nil
}

// sequence converts a prefix to a result.
func (p prefix) sequence(m *infer.Model) Sequence {
	s := Sequence{Tokens: tokensOf(m, p.ids), P: math.Exp(p.log)}
	for i, l := range p.logs {
		s.Each = append(s.Each, math.Exp(l))
		s.Text += s.Tokens[i].Text
	}
	return s
}

// possible returns the number of sequences: vocab^horizon, capped at the largest int64.
func possible(vocab, horizon int) int64 {
	n := int64(1)
	for range horizon {
		if n > math.MaxInt64/int64(vocab) {
			return math.MaxInt64
		}
		n *= int64(vocab)
	}
	return n
}

func (s *SequenceSearch) findings() []Phrase {
	if s == nil {
		return nil
	}
	with := []any{
		"prompt", shown(s.Prompt), "greedy", shown(s.Greedy.Text), "p", chance(s.Greedy.P),
		"tokens", fmt.Sprint(s.Horizon), "passes", terms.Count(s.Expanded),
		"best", shown(s.Best.Text), "times", fmt.Sprintf("%.2f", s.Best.P/s.Greedy.P), "best_p", chance(s.Best.P),
	}
	key := "lab.best.found"
	switch {
	case s.Differs && s.Exact:
		key = "lab.best.found.differs"
	case s.Differs:
		key = "lab.best.found.differs.cut"
	case !s.Exact:
		key = "lab.best.found.cut"
	}
	return []Phrase{Text(key, with...)}
}
