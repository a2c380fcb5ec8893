package lab

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/fixture"
)

// constantModel returns a model that makes the same prediction at every position of every text. All
// weights of its blocks are 0, and its token rows lie on one axis, so the final norm maps every row
// to the same vector. The logits are random numbers derived from the seed.
func constantModel(t *testing.T, seed uint64) *infer.Model {
	t.Helper()
	const vocab, width = 2000, 64
	dir := t.TempDir()
	if err := fixture.Write(
		dir, fixture.Shape{Layers: 1, Width: width, Heads: 2, KVHeads: 1, FFN: 64, Context: 512, Vocab: vocab},
	); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "model.safetensors")
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	size := binary.LittleEndian.Uint64(file)
	var header map[string]struct {
		Offsets [2]int `json:"data_offsets"`
	}
	if err := json.Unmarshal(file[8:8+size], &header); err != nil {
		t.Fatal(err)
	}
	data := file[8+size:]
	clear(data)
	put := func(tensor string, at int, v float64) { // stores v as bfloat16
		binary.LittleEndian.PutUint16(data[header[tensor].Offsets[0]+2*at:], uint16(math.Float32bits(float32(v))>>16))
	}
	random := rand.New(rand.NewPCG(seed, 7))
	for id := range vocab - 1 {
		put("model.embed_tokens.weight", id*width, 1+random.Float64())
	}
	put("model.embed_tokens.weight", (vocab-1)*width, 0.05) // makes the end of text very unlikely
	put("model.norm.weight", 0, 0.75)                       // makes logits √64·0.75 = 6 times the rows
	if err := os.WriteFile(path, file, 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := checkpoint.OpenPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	m, err := infer.Load(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
