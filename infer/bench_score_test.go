package infer

import (
	"strings"
	"testing"
)

// BenchmarkScoreAll scores a text that is longer than the context, and reports tokens per
// second.
func BenchmarkScoreAll(b *testing.B) {
	m := bundledModel(b)
	text := strings.Repeat("Once upon a time there was a little girl named Lily. ", 300)
	tokens := 0
	for b.Loop() {
		sum, err := m.ScoreAll(b.Context(), text, nil)
		if err != nil {
			b.Fatal(err)
		}
		tokens += sum.Tokens
	}
	b.ReportMetric(float64(tokens)/b.Elapsed().Seconds(), "tokens/s")
}
