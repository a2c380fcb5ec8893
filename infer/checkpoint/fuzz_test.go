package checkpoint

import (
	"bytes"
	"testing"
)

// FuzzSafetensors: the parser terminates for any bytes. Accepted tensors are inside the file and
// have the size of their shape, and widening them either succeeds or rejects their values.
func FuzzSafetensors(f *testing.F) {
	for _, seed := range malformed {
		f.Add(seed.file)
	}
	f.Add(writeSafetensors(
		stored{"a", "F16", []int{2, 2}, words16(1, 2, 3, 0x7c00)},
		stored{"b", "BF16", []int{}, words16(0x3f80)},
		stored{"c", "F32", []int{0, 3}, nil},
	))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := bytes.NewReader(data)
		tensors, err := parseSafetensors(r, r.Size())
		if err != nil {
			return
		}
		c := &Checkpoint{tensors: tensors, weights: inMemory(r)}
		if c.Bytes() > r.Size() {
			t.Fatalf("got tensors of %d bytes in a file of %d, want at most as many", c.Bytes(), r.Size())
		}
		for name, x := range tensors {
			values := int64(1)
			for _, n := range x.shape {
				values *= int64(n)
			}
			if x.offset < 8 || x.offset+x.bytes > r.Size() || x.values() != values {
				t.Fatalf(
					"%q: got %+v in a file of %d bytes; want offset at least 8, x.offset+x.bytes at most "+
						"%d, values() = %d",
					name, x, r.Size(), r.Size(), values,
				)
			}
			if got, err := c.Float32(name, x.shape...); err == nil && int64(len(got)) != values {
				t.Fatalf("%q: %d values, want %d", name, len(got), values)
			}
		}
	})
}

// FuzzConfig: for any files, an accepted configuration is consistent: every size is positive and
// every count fits.
func FuzzConfig(f *testing.F) {
	for _, seed := range refusals {
		f.Add(seed.config, []byte(`{}`), []byte(`{}`))
	}
	for _, seed := range malformedArchitectures {
		f.Add(seed.config.json(), []byte(`{}`), []byte(`{}`))
	}
	for _, seed := range []object{qwen3, gemma3, smollm3, olmo2, mistral, gpt2} {
		f.Add(seed.json(), []byte(`{}`), []byte(`{}`))
	}
	f.Add(tiny.json(), []byte(`{"add_bos_token":true}`), []byte(`{"eos_token_id":[3,2]}`))
	f.Add(
		tiny.with("rope_parameters", object{"rope_type": "default", "rope_theta": 1e6}).json(), []byte(`{}`),
		[]byte(`{}`),
	)
	f.Fuzz(func(t *testing.T, configJSON, tokenizerConfig, generation []byte) {
		c, _, err := parseConfig(configJSON, tokenizerConfig, generation)
		if err != nil {
			return
		}
		for _, n := range []int{c.Vocab, c.Width, c.Layers, c.Heads, c.KVHeads, c.HeadDim, c.FFN, c.Context} {
			if n < 1 || n > 1<<20 {
				t.Fatalf("got %+v, want all sizes from 1 to 1<<20", c)
			}
		}
		ropes := c.Ropes()
		if c.Heads%c.KVHeads != 0 || !(c.NormEps > 0) || len(c.Attention) != c.Layers || len(ropes) > 0 &&
			c.HeadDim%2 != 0 {
			t.Fatalf("cannot compute a model with this configuration: %+v", c)
		}
		for _, r := range ropes {
			if !(r.Theta >= 1) || r.Scaling.Kind == "linear" && !(r.Scaling.Factor >= 1) {
				t.Fatalf("cannot rotate queries and keys with %+v", r)
			}
		}
		for _, id := range append(c.EOS, c.BOS) {
			if id < -1 || id >= c.Vocab {
				t.Fatalf("got %+v, want token ids below the size of the vocabulary", c)
			}
		}
		if parameters := (&Checkpoint{Config: c}).Parameters(); parameters < 1 {
			t.Fatalf("got %d parameters, want at least 1: %+v", parameters, c)
		}
	})
}
