package stage

import (
	"fmt"
	"math"

	"github.com/tokenbytoken/viz/web/session"
)

// HeatColumns is the maximum number of columns in a heatmap. The heatmap of a longer text consists
// of the first column, a column with the sum of the omitted columns, and the newest columns. A step
// therefore has the same number of bytes no matter how long the text is.
const HeatColumns = 48

// Heat is the data that the canvases of stage 1 draw. Rows are bytes, which JSON encodes in base64.
type Heat struct {
	Columns []string   `json:"columns"`
	Rows    [][][]byte `json:"rows"` // [blocks][heads][columns], 255 for a weight of 1
}

// NewHeat returns the numbers of the attention heatmaps, or nil if the state does not look inside
// the forward pass.
func (w Words) NewHeat(s *session.State) *Heat {
	if s.Look == nil {
		return nil
	}
	cols := heatColumns(s.Look.Position + 1)
	h := &Heat{Columns: w.heatLabels(s, cols)}
	for _, b := range s.Look.Blocks {
		var heads [][]byte
		for _, w := range b.Attention {
			heads = append(heads, quantised(w, cols))
		}
		h.Rows = append(h.Rows, heads)
	}
	return h
}

// span is a column of a heatmap: positions [from, to).
type span struct{ from, to int }

// heatColumns returns the columns for n positions.
func heatColumns(n int) []span {
	var cols []span
	if n <= HeatColumns {
		for i := range n {
			cols = append(cols, span{i, i + 1})
		}
		return cols
	}
	newest := n - (HeatColumns - 2)
	cols = append(cols, span{0, 1}, span{1, newest})
	for i := newest; i < n; i++ {
		cols = append(cols, span{i, i + 1})
	}
	return cols
}

func (w Words) heatLabels(s *session.State, cols []span) []string {
	tokens := w.textTokens(s, s.Look.Position+1)
	var labels []string
	for _, c := range cols {
		if n := c.to - c.from; n > 1 {
			labels = append(labels, fmt.Sprintf("…%d", n))
			continue
		}
		labels = append(labels, tokens[c.from].Text.String())
	}
	return labels
}

func quantised(w []float32, cols []span) []byte {
	row := make([]byte, len(cols))
	for i, c := range cols {
		var sum float64
		for _, x := range w[c.from:c.to] {
			sum += float64(x)
		}
		row[i] = byte(math.Round(255 * min(max(sum, 0), 1)))
	}
	return row
}
