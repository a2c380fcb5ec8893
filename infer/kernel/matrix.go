package kernel

import (
	"fmt"
	"math"
	"sync"
)

// panelRows is the number of rows that a panel interleaves. One value from each row fills two
// AVX-512 registers, so eight vectors need 16 of the 32 registers for their sums.
const panelRows = 32

// Matrix is a packed weight matrix. A product maps vectors of length Cols to vectors of length
// Rows. Use [Pack], [PackLevels] or
// [Quantize] to create a Matrix. A Matrix never changes and is safe for
// concurrent use. The zero value is an empty matrix.
type Matrix struct {
	Rows, Cols int

	// One of these fields holds the weights.
	floats []float32 // [panels, Cols, panelRows]
	halves []uint32  // [panels, Cols, halfPanel], if all weights are bfloat16
	bytes  []int8    // [panels, blocks, layout.blockBytes], if a weight is a byte times a scale
	layout layout    // of bytes
}

// Pack copies a row-major matrix, data [rows, cols], into panels. If all weights are bfloat16, as
// in most models, they use two bytes each, and the products are bit-identical. Pack panics if the
// length of data is not rows·cols.
func Pack(rows, cols int, data []float32) Matrix {
	check(rows, cols, data)
	w := Matrix{Rows: rows, Cols: cols}
	if fitsBfloat16(data) {
		w.halves = weightWords[uint32](panels(rows) * cols * halfPanel)
	} else {
		w.floats = weightWords[float32](panels(rows) * cols * panelRows)
	}
	if cols == 0 {
		return w
	}
	for r := range rows {
		row, first, lane := data[r*cols:(r+1)*cols], r/panelRows*cols, r%panelRows
		switch {
		case w.floats != nil:
			packFloats(w.floats[first*panelRows+lane:], row)
		case lane < halfPanel:
			packHalves(w.halves[first*halfPanel+lane:], row, 16)
		default:
			packHalves(w.halves[first*halfPanel+lane-halfPanel:], row, 0)
		}
	}
	return w
}

// packFloats copies a row to its lane in a panel. It and packHalves are separate functions because
// browsers optimize a function only after many calls.
func packFloats(lane, row []float32) {
	for c, v := range row {
		lane[c*panelRows] = v
	}
}

// packHalves copies a row of bfloat16 to the lower half (with shift 16) or the upper half (with
// shift 0) of the words in its lane. That half must be 0.
func packHalves(lane []uint32, row []float32, shift int) {
	for c, v := range row {
		lane[c*halfPanel] |= math.Float32bits(v) >> shift
	}
}

// halfPanel is the number of words that a column takes in a bfloat16 panel.
const halfPanel = panelRows / 2

// fitsBfloat16 reports whether all values can be stored as bfloat16, the upper half of float32,
// because their lower 16 bits are 0.
func fitsBfloat16(data []float32) bool {
	for _, v := range data {
		if math.Float32bits(v)&0xffff != 0 {
			return false
		}
	}
	return true
}

// low and high return the two weights in a word: low returns the weight of a row in the first half
// of a panel, and high returns the weight 16 rows below it.
func low(w uint32) float32  { return math.Float32frombits(w << 16) }
func high(w uint32) float32 { return math.Float32frombits(w &^ 0xffff) }

func check(rows, cols int, data []float32) {
	if rows < 0 || cols < 0 || len(data) != rows*cols {
		panic(fmt.Sprintf("kernel: a matrix of [%d, %d] made of %d values", rows, cols, len(data)))
	}
}

func panels(rows int) int { return (rows + panelRows - 1) / panelRows }

// Row copies row r to dst [Cols]. A model needs this if its output matrix is also the embedding
// table. If the matrix was made by [Quantize], the row is rounded.
func (w Matrix) Row(dst []float32, r int) {
	if len(dst) != w.Cols || r < 0 || r >= w.Rows {
		panic(fmt.Sprintf("kernel: row %d of [%d, %d] into %d values", r, w.Rows, w.Cols, len(dst)))
	}
	if w.bytes != nil {
		w.byteRow(dst, r)
		return
	}
	lane := r % panelRows
	for c := range dst {
		step := r/panelRows*w.Cols + c
		switch {
		case w.floats != nil:
			dst[c] = w.floats[step*panelRows+lane]
		case lane < halfPanel:
			dst[c] = low(w.halves[step*halfPanel+lane])
		default:
			dst[c] = high(w.halves[step*halfPanel+lane-halfPanel])
		}
	}
}

// Bytes returns the memory used by the weights, including padding.
func (w Matrix) Bytes() int64 {
	return 4*int64(len(w.floats)) + 4*int64(len(w.halves)) + int64(len(w.bytes))
}

// Mul computes w·x for n vectors x [n, Cols] and stores the results in dst [n, Rows]. It returns
// the number of multiply-adds, n·Rows·Cols. Results are bit-identical for every n. Mul does not
// allocate. It panics if the sizes do not match.
func (w Matrix) Mul(dst, x []float32, n int) int64 { return MulEach(x, n, Product{w, dst}) }

// A Product is a matrix and the destination of its results: Dst [n, Rows].
type Product struct {
	Matrix Matrix
	Dst    []float32
}

// MulEach is like [Matrix.Mul], for several matrices with the same n vectors. The results are the
// same, but if weights are bytes, the vectors are rounded only once for all matrices.
func MulEach(x []float32, n int, products ...Product) (ops int64) {
	p := Current()
	var q *quantized
	for i := range products {
		w, dst := &products[i].Matrix, products[i].Dst
		if n < 0 || len(x) != n*w.Cols || len(dst) != n*w.Rows {
			panic(
				fmt.Sprintf(
					"kernel: Mul of [%d, %d] with %d vectors: x has %d values, dst %d", w.Rows, w.Cols, n, len(x),
					len(dst),
				),
			)
		}
		switch {
		case len(dst) == 0:
		case w.Cols == 0:
			clear(dst)
		case w.bytes != nil:
			if q == nil {
				q = roundVectors(p, x, n, w.Cols)
			}
			w.mulBytes(p, dst, q, n)
		default:
			w.mulFloat(p, dst, x, n)
		}
		ops += int64(n) * int64(w.Rows) * int64(w.Cols)
	}
	if q != nil {
		quantizedPool.Put(q)
	}
	return ops
}

// mulFloat multiplies w by n vectors, panel by panel: it fetches each panel from memory once and
// uses it for all vectors while it is cached.
func (w Matrix) mulFloat(p Path, dst, x []float32, n int) {
	full := w.Rows / panelRows
	at := 0
	if n <= pairColumns(p) {
		// With few vectors, there are too few sums to keep the multipliers busy, so multiply two
		// panels together.
		for ; at+1 < full; at += 2 {
			w.pair(p, dst[at*panelRows:], w.Rows, at, x, n)
		}
	}
	for ; at < full; at++ {
		w.panel(p, dst[at*panelRows:], w.Rows, at, x, n)
	}
	if rest := w.Rows - full*panelRows; rest > 0 {
		var whole [mostColumns * panelRows]float32 // a panel's results, including padding
		for i := 0; i < n; i += mostColumns {
			k := min(n-i, mostColumns)
			w.panel(p, whole[:], panelRows, full, x[i*w.Cols:(i+k)*w.Cols], k)
			for j := range k {
				copy(dst[(i+j)*w.Rows+full*panelRows:(i+j+1)*w.Rows], whole[j*panelRows:])
			}
		}
	}
}

// panel multiplies panel i by n vectors. Each vector has 32 results in dst. The results of the next
// vector begin stride values later.
func (w Matrix) panel(p Path, dst []float32, stride, i int, x []float32, n int) {
	if w.halves != nil {
		size := w.Cols * halfPanel
		bfloatPanel(p, dst, stride, w.halves[i*size:(i+1)*size], x, w.Cols, n)
		return
	}
	size := w.Cols * panelRows
	floatPanel(p, dst, stride, w.floats[i*size:(i+1)*size], x, w.Cols, n)
}

// pair multiplies panels i and i+1 by n ≤ [pairColumns] vectors.
func (w Matrix) pair(p Path, dst []float32, stride, i int, x []float32, n int) {
	if w.halves != nil {
		size := w.Cols * halfPanel
		bfloatPair(p, dst, stride, w.halves[i*size:(i+2)*size], x, w.Cols, n)
		return
	}
	size := w.Cols * panelRows
	floatPair(p, dst, stride, w.floats[i*size:(i+2)*size], x, w.Cols, n)
}

// mostColumns is the maximum number of vectors that one assembly function multiplies.
const mostColumns = 8

// quantized is the working memory of a product with a quantized matrix.
type quantized struct {
	values []int8    // [n, blocks, 2, block]
	scales []float32 // [n, blocks]
}

var quantizedPool = sync.Pool{New: func() any { return new(quantized) }}
