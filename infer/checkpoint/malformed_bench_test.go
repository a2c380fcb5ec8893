package checkpoint

import (
	"bytes"
	"testing"
	"time"
)

// BenchmarkMalformed opens every malformed file of the tests and reports the number of files and
// the time taken by the slowest one. The target is one second.
func BenchmarkMalformed(b *testing.B) {
	openings := malformedOpenings()
	slowest := time.Duration(0)
	for b.Loop() {
		for _, open := range openings {
			start := time.Now()
			if err := open(); err == nil {
				b.Fatal("a malformed file was accepted")
			}
			slowest = max(slowest, time.Since(start))
		}
	}
	b.ReportMetric(float64(len(openings)), "files")
	b.ReportMetric(float64(slowest.Microseconds())/1e3, "ms/slowest")
}

// malformedOpenings returns functions that open the malformed files in the tables of the tests.
func malformedOpenings() (openings []func() error) {
	one := func(name string, data []byte) {
		files := map[string][]byte{name: data}
		openings = append(openings, func() error { return openMemory(name, files) })
	}
	for _, test := range malformedGGUF {
		m := smallGGUF()
		test.change(m)
		one("m.gguf", m.bytes())
	}
	for _, test := range malformedVocabularies {
		m := smallGGUF()
		test.change(m)
		one("m.gguf", m.bytes())
	}
	for _, test := range malformedArchitecturesGGUF {
		m := smallGGUFOf(test.arch)
		test.change(m)
		one("m.gguf", m.bytes())
	}
	for _, test := range foreignFiles {
		one(test.file, []byte(test.text))
	}
	vocabulary, model := smallTokenizerBin(nil), llama2cFile(smallLlama2c...)
	for _, test := range malformedLlama2c {
		files := map[string][]byte{"m.bin": test.file, llama2cTokens: vocabulary}
		openings = append(openings, func() error { return openMemory("m.bin", files) })
	}
	for _, test := range malformedTokenizerBin {
		files := map[string][]byte{"m.bin": model, llama2cTokens: test.file}
		openings = append(openings, func() error { return openMemory("m.bin", files) })
	}
	for _, test := range malformedSplits {
		files := changedSplit(test.change)
		openings = append(openings, func() error {
			_, err := Files{}.describeFile(asFS(files), partName("m", 3, 3))
			return err
		})
	}
	for _, test := range malformed {
		openings = append(openings, func() error {
			_, err := parseSafetensors(bytes.NewReader(test.file), int64(len(test.file)))
			return err
		})
	}
	for _, test := range malformedArchitectures {
		text := test.config.json()
		openings = append(openings, func() error {
			_, _, err := parseConfig(text, nil, nil)
			return err
		})
	}
	return openings
}
