package infer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/bundled"
)

func bundledModel(b *testing.B) *infer.Model {
	b.Helper()
	c, err := bundled.Target()
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

// BenchmarkLoad builds a runnable model from the embedded bytes.
func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		bundledModel(b)
	}
}

// BenchmarkPrefill reads a prompt of n tokens in one pass and scores the last.
func BenchmarkPrefill(b *testing.B) {
	m := bundledModel(b)
	ids := m.Encode(strings.Repeat("Once upon a time there was a little girl named Lucy. ", 64))
	for _, n := range []int{32, 128, 512} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				last, _, err := m.Forward(b.Context(), m.NewCache(), ids[:n])
				if err != nil {
					b.Fatal(err)
				}
				if _, _, err := m.Logits(last); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "tokens/s")
		})
	}
}

// BenchmarkDecode reads one token on top of a cache of n positions and scores
// the next.
func BenchmarkDecode(b *testing.B) {
	m := bundledModel(b)
	ids := m.Encode(strings.Repeat("Once upon a time there was a little girl named Lucy. ", 64))
	for _, n := range []int{1, 128, 511} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			cache := m.NewCache()
			if _, _, err := m.Forward(b.Context(), cache, ids[:n]); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				last, _, err := m.Forward(b.Context(), cache, ids[n:n+1])
				if err != nil {
					b.Fatal(err)
				}
				if _, _, err := m.Logits(last); err != nil {
					b.Fatal(err)
				}
				cache.Truncate(n)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tokens/s")
		})
	}
}

// BenchmarkLoop generates 200 tokens with all seven stages, as a playing run does.
func BenchmarkLoop(b *testing.B) {
	m := bundledModel(b)
	s := infer.DefaultSettings()
	s.Temperature, s.TopP, s.Stop.MaxTokens = 1, 1, 200
	tokens := 0
	for b.Loop() {
		loop, err := infer.NewLoop(m, "Once upon a time there was a", s)
		if err != nil {
			b.Fatal(err)
		}
		for !loop.BetweenTurns() || loop.Stopped() == infer.StopNone {
			if _, err := loop.Next(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		tokens += len(loop.Steps())
	}
	b.ReportMetric(float64(tokens)/b.Elapsed().Seconds(), "tokens/s")
}
