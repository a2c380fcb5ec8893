package infer

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/tokenbytoken/viz/infer/kernel"
)

// Quant is how a model's weight matrices are kept in memory.
type Quant string

// The ways to keep weights.
const (
	// QuantNone keeps their values: float32, or bfloat16 if the model was
	// stored that way.
	QuantNone Quant = "none"
	// QuantInt8 stores a byte a weight, and a scale for 64 neighbors in a row.
	// The embedding table and the output matrix keep their values.
	QuantInt8 Quant = "int8"
)

// ParseQuant reads "none" or "int8".
func ParseQuant(text string) (Quant, error) {
	switch q := Quant(text); q {
	case QuantNone, QuantInt8:
		return q, nil
	}
	return "", fmt.Errorf("unknown quantization %q; it must be none or int8", text)
}

// Quant returns how the model's weights are kept.
func (m *Model) Quant() Quant { return m.quant }

// BlockMatrices returns the weight matrices of all blocks, in order of use.
func (m *Model) BlockMatrices() []kernel.Matrix {
	var all []kernel.Matrix
	for _, b := range m.blocks {
		for _, w := range []kernel.Matrix{b.q, b.k, b.v, b.o, b.gate, b.up, b.down} {
			if w.Rows > 0 { // there may be no gate
				all = append(all, w)
			}
		}
	}
	return all
}

// WeightBytes is the memory used by the model's matrices, padding included.
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

// pack makes a matrix from row-major weights.
func (q Quant) pack(rows, cols int, data []float32) kernel.Matrix {
	if q == QuantInt8 {
		return kernel.Quantize(rows, cols, data)
	}
	return kernel.Pack(rows, cols, data)
}

// hash identifies a model's files together with how its weights are kept:
// rounded weights write a different text, so a log of one does not replay on
// the other.
func (q Quant) hash(files string) string {
	if q == QuantNone {
		return files
	}
	sum := sha256.Sum256([]byte(files + " " + string(q)))
	return hex.EncodeToString(sum[:])
}

// embeddingNorm is the Euclidean norm of a token's row of the table.
func (m *Model) embeddingNorm(token int) float64 {
	row := make([]float32, m.config.Width)
	m.embed.Row(row, token)
	return norm(row)
}
