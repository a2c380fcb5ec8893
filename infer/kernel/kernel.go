// Package kernel multiplies matrices with vectors.
//
// It is the only place where the engine's time goes. Every product here is a
// set of independent dot products, each summed in the same order whatever the
// number of columns, so a position computed alone (decode) and among others
// (prefill) comes out bit for bit the same.
package kernel

import (
	"fmt"

	"gonum.org/v1/gonum/blas/gonum"
)

// blas computes dot products with gonum's routines: vector instructions on
// amd64, plain Go elsewhere.
var blas gonum.Implementation

// Matrix is a weight matrix, [Rows, Cols] row-major. A product maps vectors
// of length Cols to vectors of length Rows. Data is read-only.
type Matrix struct {
	Rows, Cols int
	Data       []float32
}

// Dot returns Σ a_i·b_i over two vectors of one length.
func Dot(a, b []float32) float32 {
	return blas.Sdot(len(a), a, 1, b, 1)
}

// Mul writes w·x for n vectors: x [n, Cols], dst [n, Rows]. It returns the
// multiply-adds done, n·Rows·Cols. Sizes that do not fit are a programmer's
// error and panic.
func (w Matrix) Mul(dst, x []float32, n int) int64 {
	if len(x) != n*w.Cols || len(dst) != n*w.Rows || len(w.Data) != w.Rows*w.Cols {
		panic(fmt.Sprintf("kernel: Mul of [%d, %d] with %d vectors: x has %d values, dst %d", w.Rows, w.Cols, n, len(x), len(dst)))
	}
	// Rows outside, vectors inside: a row is read from memory once and used
	// for all vectors while it is near.
	for r := range w.Rows {
		row := w.Data[r*w.Cols : (r+1)*w.Cols]
		for i := range n {
			dst[i*w.Rows+r] = Dot(row, x[i*w.Cols:(i+1)*w.Cols])
		}
	}
	return int64(n) * int64(w.Rows) * int64(w.Cols)
}

// AddScaled adds s·x to dst, element by element.
func AddScaled(dst []float32, s float32, x []float32) {
	blas.Saxpy(len(x), s, x, 1, dst, 1)
}
