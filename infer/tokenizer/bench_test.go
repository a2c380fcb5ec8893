package tokenizer

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
)

// BenchmarkEncode encodes English prose, the 2,000 texts of the oracle file, and pieces that each
// consist of one long word, with the built-in model's tokenizer.
func BenchmarkEncode(b *testing.B) {
	tok := bundled(b)
	var varied strings.Builder
	for _, line := range oracle(b) {
		varied.WriteString(line.Text)
		varied.WriteByte('\n')
	}
	story := "Once upon a time, there was a little girl named Lily. She didn't like the rain, but she " +
		"loved 3 big puddles.\n"
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

// BenchmarkParseLarge parses a file of 17 MB, the size of the largest common files, and rejects a
// file that is damaged at its very end.
func BenchmarkParseLarge(b *testing.B) {
	data := fixture.Tokenizer(235_000)
	damaged := bytes.Clone(data[:len(data)-4]) // without the closing braces at the end
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

// gemmaLike returns a tokenizer.json with the size and structure of Gemma 3's: 33 MB, indented,
// with 262,144 tokens, 514,906 rules as pairs on four lines each, and 6,415 added tokens, one of
// them beyond the vocabulary. Its words are strings of up to four Cyrillic letters, each produced
// by two rules, and the last ones by three.
func gemmaLike() []byte {
	const tokens, rules, added = 262_144, 514_906, 6_415
	const letters = "абвгдежзийклмнопрстуфхцчшщъыьэюя"
	var vocab []string
	var merges [][2]string
	for i := range added - 1 {
		vocab = append(vocab, fmt.Sprintf("<unused%d>", i))
	}
	for b := range 256 {
		vocab = append(vocab, fmt.Sprintf("<0x%02X>", b))
	}
	vocab = append(vocab, metaspace)
	words := []string{""}
	for length := 1; len(vocab) < tokens; length++ {
		var longer []string
		for _, word := range words {
			for _, letter := range letters {
				if len(vocab) == tokens {
					break
				}
				whole := word + string(letter)
				longer, vocab = append(longer, whole), append(vocab, whole)
				if length > 1 {
					merges = append(merges, [2]string{word, string(letter)})
				}
				if length > 2 {
					merges = append(merges, [2]string{whole[:2], whole[2:]}) // a letter has two bytes
				}
			}
		}
		words = longer
	}
	for i := len(vocab) - 1; len(merges) < rules; i-- {
		merges = append(merges, [2]string{vocab[i][:4], vocab[i][4:]})
	}
	var b bytes.Buffer
	b.WriteString("{\n  \"version\": \"1.0\",\n  \"truncation\": null,\n  \"padding\": null,\n  \"added_tokens\": [\n")
	for id := range added {
		at, name := id, fmt.Sprintf("<unused%d>", id)
		if id == added-1 {
			at, name = tokens, "<image_soft_token>"
		}
		fmt.Fprintf(&b, "    {\n      \"id\": %d,\n      \"content\": %q,\n      \"single_word\": false,\n     "+
			" \"lstrip\": false,\n"+
			"      \"rstrip\": false,\n      \"normalized\": false,\n      \"special\": %v\n    },\n", at, name, id < 9)
	}
	b.Truncate(b.Len() - len(",\n"))
	b.WriteString(`
  ],
  "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
  "pre_tokenizer": {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": false},
  "post_processor": null,
  "decoder": {"type": "ByteFallback"},
  "model": {
    "type": "BPE", "unk_token": "<unk>", "fuse_unk": true, "byte_fallback": true, "ignore_merges": false,
    "vocab": {
`)
	for id, token := range vocab {
		fmt.Fprintf(&b, "      \"%s\": %d,\n", token, id)
	}
	b.Truncate(b.Len() - len(",\n"))
	b.WriteString("\n    },\n    \"merges\": [\n")
	for _, rule := range merges {
		fmt.Fprintf(&b, "      [\n        \"%s\",\n        \"%s\"\n      ],\n", rule[0], rule[1])
	}
	b.Truncate(b.Len() - len(",\n"))
	b.WriteString("\n    ]\n  }\n}")
	return b.Bytes()
}

// BenchmarkParseGemma parses a file like Gemma 3's, and rejects a file whose last rule does not
// produce a token. The target is two seconds.
func BenchmarkParseGemma(b *testing.B) {
	data := gemmaLike()
	at := bytes.LastIndexByte(data[:bytes.LastIndexByte(data, '"')], '"')
	damaged := slices.Concat(data[:at+1], []byte("ж"), data[at+1:])
	for name, file := range map[string][]byte{"whole": data, "wrong at its end": damaged} {
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

// BenchmarkParse parses the built-in model's tokenizer.json.
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
