package checkpoint

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// FuzzGGUF: opening a GGUF file terminates for any bytes. Accepted tensors are inside the file, and
// reading them either succeeds or rejects their values.
func FuzzGGUF(f *testing.F) {
	f.Add(smallGGUF().bytes())
	for _, seed := range malformedGGUF {
		m := smallGGUF()
		seed.change(m)
		f.Add(m.bytes())
	}
	for _, seed := range malformedArchitecturesGGUF {
		m := smallGGUFOf(seed.arch)
		f.Add(m.bytes())
		seed.change(m)
		f.Add(m.bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := openGGUF(fileWeights(data), "m")
		if err == nil {
			readAll(t, c, int64(len(data)))
			// The file ends with its last tensor, or with a few zeros of padding.
			g, err := readGGUF(bytes.NewReader(data), int64(len(data)))
			if err != nil {
				t.Fatal(err)
			}
			end := int64(0)
			for _, x := range g.tensors {
				end = max(end, x.offset+x.bytes)
			}
			if int64(len(data))-end >= maxAlignment || strings.Trim(string(data[end:]), "\x00") != "" {
				t.Errorf("of %d bytes the tensors reach %d, want only zeros of padding after them", len(data), end)
			}
		}
	})
}

// FuzzLlama2c checks the same for llama2.c models and vocabularies.
func FuzzLlama2c(f *testing.F) {
	vocabulary := smallTokenizerBin(nil)
	f.Add(llama2cFile(smallLlama2c...), vocabulary)
	f.Add(smallVersion1(), vocabulary)
	for _, seed := range malformedLlama2c {
		f.Add(seed.file, vocabulary)
	}
	for _, seed := range malformedTokenizerBin {
		f.Add(llama2cFile(smallLlama2c...), seed.file)
	}
	f.Fuzz(func(t *testing.T, model, vocabulary []byte) {
		c, err := openLlama2c(fileWeights(model), bytes.NewReader(vocabulary), int64(len(vocabulary)), "m")
		if err == nil {
			readAll(t, c, int64(len(model)))
		}
	})
}

// FuzzTokenizerBin checks that every accepted vocabulary decodes the text that it encoded.
func FuzzTokenizerBin(f *testing.F) {
	f.Add(smallTokenizerBin(nil), "a b")
	for _, seed := range malformedTokenizerBin {
		f.Add(seed.file, "\xff▁é")
	}
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		tok, err := readTokenizerBin(bytes.NewReader(data), int64(len(data)), 259)
		if err != nil {
			return
		}
		for _, id := range tok.Encode(text) {
			if id < 0 || id >= tok.Size() {
				t.Fatalf(
					"Encode(%q) gives id %d of %d; want at least 0 and less than %d", text, id, tok.Size(), tok.Size(),
				)
			}
		}
	})
}

// FuzzIndex: an index cannot name a file outside the folder.
func FuzzIndex(f *testing.F) {
	for _, seed := range malformedIndexes {
		f.Add([]byte(seed.text))
	}
	f.Add([]byte(`{"weight_map":{"a":"one.safetensors","b":"two.safetensors"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		index, err := parseIndex(text)
		if err != nil {
			return
		}
		for tensor, file := range index {
			if bytes.ContainsAny([]byte(file), `/\`) || len(file) < len(".safetensors") {
				t.Fatalf("%q is in %q, want the name of a file in the folder", tensor, file)
			}
		}
	})
}

// readAll reads every tensor of an accepted checkpoint.
func readAll(t *testing.T, c *Checkpoint, size int64) {
	t.Helper()
	for _, s := range c.Config.layout() {
		x, ok := c.tensors[s.name]
		if !ok || x.offset < 0 || x.offset+x.bytes > size {
			t.Fatalf(
				"%s: got %+v in a file of %d bytes; want ok = true, offset at least 0, x.offset+x.bytes at most %d",
				s.name, x, size, size,
			)
		}
		values := int64(1)
		for _, n := range s.shape {
			values *= int64(n)
		}
		if got, err := c.Float32(s.name, s.shape...); err == nil && int64(len(got)) != values {
			t.Fatalf("%s: %d values, want %d", s.name, len(got), values)
		}
	}
	if ids := c.Tokenizer.Encode("a ▁\xff"); len(ids) == 0 {
		t.Fatal("got no tokens for a text, want at least one")
	}
}

// openGGUF opens a GGUF file as a checkpoint.
func openGGUF(w *weights, name string) (*Checkpoint, error) {
	g, err := readGGUF(w, w.size)
	if err != nil {
		return nil, err
	}
	d, err := g.describe(w, name)
	return d.Checkpoint, err
}

// openLlama2c opens a llama2.c model and its tokenizer.bin as a checkpoint.
func openLlama2c(w *weights, vocabulary io.Reader, vocabularySize int64, name string) (*Checkpoint, error) {
	d, err := describeLlama2c(w, vocabulary, vocabularySize, name, llama2cTokens)
	return d.Checkpoint, err
}
