package tokenizer

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
)

// BenchmarkEncode encodes with the built-in model's tokenizer: running English,
// the 2,000 texts of the oracle file, and pieces that are one long word.
func BenchmarkEncode(b *testing.B) {
	tok := bundled(b)
	var varied strings.Builder
	for _, line := range oracle(b) {
		varied.WriteString(line.Text)
		varied.WriteByte('\n')
	}
	story := "Once upon a time, there was a little girl named Lily. She didn't like the rain, but she loved 3 big puddles.\n"
	for _, bench := range []struct{ name, text string }{
		{"prompt", strings.Repeat(story, 4)},
		{"english", strings.Repeat(story, 1000)},
		{"varied", varied.String()},
		{"letter20k", strings.Repeat("a", 20_000)},
		{"word100k", strings.Repeat("unbelievable", 100_000/12)},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(int64(len(bench.text)))
			b.ReportAllocs()
			for b.Loop() {
				tok.Encode(bench.text)
			}
		})
	}
}

// BenchmarkParseLarge reads a file of 17 MB, as the largest published ones are,
// and refuses one that is wrong at its very end.
func BenchmarkParseLarge(b *testing.B) {
	data := fixture.Tokenizer(235_000)
	damaged := bytes.Clone(data[:len(data)-4]) // the last braces are missing
	for name, file := range map[string][]byte{"whole": data, "cut short": damaged} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(file)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(file); (err == nil) != (name == "whole") {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkParse reads the built-in model's tokenizer.json.
func BenchmarkParse(b *testing.B) {
	data, err := os.ReadFile(bundledPath)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(data); err != nil {
			b.Fatal(err)
		}
	}
}
