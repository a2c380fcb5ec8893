package infer_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/bundled"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/speculation"
)

func bundledDraft(b *testing.B) *infer.Model {
	b.Helper()
	c, err := bundled.Draft()
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	m, err := infer.Load(c)
	if err != nil {
		b.Fatal(err)
	}
	return m
}

// BenchmarkPass reads and scores n tokens in one pass after 64 positions. It measures a step of the
// draft model, a step of the target, and verifications of n − 1 drafted tokens.
func BenchmarkPass(b *testing.B) {
	passes(b, "draft", bundledDraft(b), 1)
	passes(b, "target", bundledModel(b), 1, 2, 3, 4, 5, 7, 9)
}

func passes(b *testing.B, name string, m *infer.Model, sizes ...int) {
	const behind = 64
	d, v := m.Config().Width, m.Config().Vocab
	for _, n := range sizes {
		b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
			ids := make([]int, behind+n)
			for i := range ids {
				ids[i] = i * 7 % v
			}
			cache, out, z := m.NewCache(), make([]float32, n*d), make([]float32, n*v)
			if _, err := m.ForwardTo(b.Context(), cache, ids[:behind], out[:d]); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := m.ForwardTo(b.Context(), cache, ids[behind:], out); err != nil {
					b.Fatal(err)
				}
				if _, err := m.LogitsTo(b.Context(), out, z); err != nil {
					b.Fatal(err)
				}
				cache.Truncate(behind)
			}
		})
	}
}

// BenchmarkWrite generates 96 tokens with the bundled pair: with the target alone (γ = 0), and with
// up to γ drafted tokens per round. No stage is displayed.
func BenchmarkWrite(b *testing.B) {
	target, draft := bundledModel(b), bundledDraft(b)
	for _, at := range []struct {
		name     string
		settings sampling.Settings
	}{
		{"greedy", sampling.Settings{TopP: 1}},
		{"common", sampling.Settings{Temperature: 0.7, TopP: 0.9}},
		{"pure", sampling.Pure},
	} {
		s := infer.Settings{Settings: at.settings, Seed: 42, Stop: infer.Stop{MaxTokens: 96}}
		for _, gamma := range []int{0, 1, 2, 3, 4, 6, 8} {
			b.Run(fmt.Sprintf("%s/%d", at.name, gamma), func(b *testing.B) {
				tokens := 0
				for b.Loop() {
					if gamma == 0 {
						tokens += alone(b, target, s)
					} else {
						tokens += drafted(b, target, draft, s, gamma)
					}
				}
				b.ReportMetric(float64(tokens)/b.Elapsed().Seconds(), "tokens/s")
			})
		}
	}
}

const opening = "Once upon a time there was a"

// alone generates tokens with as little overhead as possible and returns how many it generated.
func alone(b *testing.B, m *infer.Model, s infer.Settings) int {
	ids, cache := m.Encode(opening), m.NewCache()
	last, z := make([]float32, m.Config().Width), make([]float32, m.Config().Vocab)
	var sampler sampling.Sampler
	for n := 1; ; n++ {
		if _, err := m.ForwardTo(b.Context(), cache, ids, last); err != nil {
			b.Fatal(err)
		}
		if _, err := m.LogitsTo(b.Context(), last, z); err != nil {
			b.Fatal(err)
		}
		sampler.Decide(z, s.Settings)
		id := sampler.Token(sampler.Draw(sampling.U(s.Seed, n)))
		if n == s.Stop.MaxTokens || m.EOS(id) {
			return n
		}
		ids = append(ids[:0], id)
	}
}

func drafted(b *testing.B, target, draft *infer.Model, s infer.Settings, gamma int) int {
	sp, err := speculation.New(target, draft, opening, s, gamma)
	if err != nil {
		b.Fatal(err)
	}
	sp.Rows = -1
	for err == nil {
		_, err = sp.Round(b.Context())
	}
	if !errors.Is(err, io.EOF) {
		b.Fatalf("got error %v, want %v", err, io.EOF)
	}
	return sp.Totals().Generated
}
