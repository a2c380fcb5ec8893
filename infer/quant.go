package infer

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/tokenbytoken/viz/infer/kernel"
)

// Quant is a format for keeping a model's weight matrices in memory.
type Quant string

// The formats of weights in memory.
const (
	// QuantNone keeps the exact values of the weights: as float32 or, if the model was stored that way, as
	// bfloat16 or as bytes with a scale for every 32 of them.
	QuantNone Quant = "none"
	// QuantInt8 stores one byte per weight, and one scale for every 64 neighboring weights in a
	// row. The embedding table and the output matrix keep their exact values.
	QuantInt8 Quant = "int8"
)

// ParseQuant parses "none" or "int8".
func ParseQuant(text string) (Quant, error) {
	switch q := Quant(text); q {
	case QuantNone, QuantInt8:
		return q, nil
	}
	return "", fmt.Errorf("unknown quantization %q; want none or int8", text)
}

// Quant returns the format of the model's weights in memory.
func (m *Model) Quant() Quant { return m.quant }

// BlockMatrices returns the weight matrices of all blocks, in order of use.
func (m *Model) BlockMatrices() []kernel.Matrix {
	var all []kernel.Matrix
	for _, b := range m.blocks {
		for _, w := range []kernel.Matrix{b.q, b.k, b.v, b.o, b.gate, b.up, b.down} {
			if w.Rows > 0 { // a model may have no gate
				all = append(all, w)
			}
		}
	}
	return all
}

// roundsVectors reports whether a product in the model rounds its vectors, so that the parts of a result
// do not add up exactly.
func (m *Model) roundsVectors() bool {
	return slices.ContainsFunc(append(m.BlockMatrices(), m.output), kernel.Matrix.RoundsVectors)
}

// WeightBytes returns the memory used by the model's matrices in bytes, including padding.
func (m *Model) WeightBytes() int64 {
	n := m.embed.Bytes()
	if !m.config.TieEmbeddings {
		n += m.output.Bytes()
	}
	for _, w := range m.BlockMatrices() {
		n += w.Bytes()
	}
	return n
}

// pack returns a matrix with the given row-major weights.
func (q Quant) pack(rows, cols int, data []float32) kernel.Matrix {
	if q == QuantInt8 {
		return kernel.Quantize(rows, cols, data)
	}
	return kernel.Pack(rows, cols, data)
}

// hash returns a hash of a model's files and the format of its weights. Rounded weights generate a
// different text, so a log made with one format must not replay on another.
func (q Quant) hash(files string) string {
	if q == QuantNone {
		return files
	}
	sum := sha256.Sum256([]byte(files + " " + string(q)))
	return hex.EncodeToString(sum[:])
}

// embeddingNorm returns the Euclidean norm of a token's row in the embedding table.
func (m *Model) embeddingNorm(token int) float64 {
	row := make([]float32, m.config.Width)
	m.embed.Row(row, token)
	return norm(row)
}
