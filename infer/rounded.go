package infer

import (
	"fmt"

	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/kernel"
)

// QuantQ4 rounds weights to Q4_0, which has four bits per weight and one scale for every 32
// neighboring weights in a row, and keeps the rounded values as float32. This shows how the format
// affects predictions, but does not save memory. Only [Model.Rounded] uses it.
const QuantQ4 Quant = "q4_0"

// Rounded returns a copy of m whose block matrices are rounded to quant. It shares the embedding
// table, the output matrix and all vectors with m, and runs its own passes. It returns an error if
// m's own weights are already rounded, or if quant does not support the length of a matrix's rows.
func (m *Model) Rounded(quant Quant) (*Model, error) {
	if m.quant != QuantNone {
		return nil, fmt.Errorf("the weights are already rounded to %s", m.quant)
	}
	copied := *m
	copied.quant, copied.runner, copied.hash = quant, nil, quant.hash(m.hash)
	copied.blocks = make([]block, len(m.blocks))
	for i, b := range m.blocks {
		for _, w := range []*kernel.Matrix{&b.q, &b.k, &b.v, &b.o, &b.gate, &b.up, &b.down} {
			rounded, err := quant.round(*w)
			if err != nil {
				return nil, fmt.Errorf("block %d: %w", i, err)
			}
			*w = rounded
		}
		copied.blocks[i] = b
	}
	return &copied, nil
}

// round rounds one matrix. An empty matrix is returned unchanged.
func (q Quant) round(w kernel.Matrix) (kernel.Matrix, error) {
	if w.Rows == 0 || q == QuantNone {
		return w, nil
	}
	data := make([]float32, w.Rows*w.Cols)
	for r := range w.Rows {
		row := data[r*w.Cols : (r+1)*w.Cols]
		w.Row(row, r)
		if q == QuantQ4 {
			if err := checkpoint.RoundQ4(row); err != nil {
				return w, fmt.Errorf("a row has %w", err)
			}
		}
	}
	return q.pack(w.Rows, w.Cols, data), nil
}
