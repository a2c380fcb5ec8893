package image

import (
	"bytes"
	"fmt"
	"path"

	"github.com/tokenbytoken/viz/web/tab"
)

// takeWeights moves the matrices of the model's files from Memory to Weights. It packs them, which
// makes them a third smaller when compressed. A matrix that is not found in the form that the
// engine uses remains in Memory, which affects only the download size.
func (i *Image) takeWeights(files []File) error {
	for _, f := range files {
		if path.Ext(f.Name) != ".safetensors" {
			continue
		}
		list, err := tab.Matrices(f.Data)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		for _, m := range list {
			kept := panels(m)
			at := bytes.Index(i.Memory, kept)
			if at < 0 || at%2 != 0 {
				continue
			}
			clear(i.Memory[at : at+len(kept)])
			i.Weights = append(i.Weights, m.Packed...)
			i.Matrices = append(i.Matrices, Matrix{at, m.Rows, m.Cols})
		}
	}
	return nil
}

// panelRows is the number of rows that the engine interleaves (infer/kernel). For each column, the
// engine stores the values of the first half of these rows in the lower halves of words, and the
// values of the other rows in the upper halves.
const panelRows = 32

// panels returns a matrix's bytes in the form that infer/kernel uses, with panels padded with
// zeros.
func panels(m tab.Matrix) []byte {
	out := make([]byte, (m.Rows+panelRows-1)/panelRows*panelRows*m.Cols*2)
	for r := range m.Rows {
		for c := range m.Cols {
			at := panelRows*(r/panelRows*m.Cols+c) + r%panelRows%(panelRows/2)*2 + r%panelRows/(panelRows/2)
			copy(out[2*at:2*at+2], m.Values[2*(r*m.Cols+c):])
		}
	}
	return out
}
