package kernel

import (
	"encoding/binary"
	"math"
	"unsafe"
)

// block is the number of neighboring values of a vector that share a scale. In matrices made by
// [Quantize], so do as many neighboring weights of a row.
const block = 64

// valueBytes is the length of a block of a quantized vector: upper bytes, then lower bytes.
const valueBytes = 2 * block

// The largest quantized weight, and the largest quantized value of a vector.
const (
	mostWeight = 127
	mostValue  = 127 << 8
)

// least is the largest magnitude that is treated as 0, because dividing by such a small number
// would overflow float32.
const least = 1e-30

// Quantize rounds a row-major matrix, data [rows, cols], to int8 and packs it. Every 64 neighboring
// weights of a row are divided by a scale, the smallest bfloat16 not below max |w| / 127, and
// rounded to the nearest integer, ties to even; −128 does not occur. If a weight is not finite, the
// products with its row are not finite either. Quantize panics if the length of data is not
// rows·cols.
func Quantize(rows, cols int, data []float32) Matrix {
	check(rows, cols, data)
	w := Matrix{Rows: rows, Cols: cols, bytes: weightInts(panels(rows) * blocks(cols) * oneScale.blockBytes())}
	for r := range rows {
		row := data[r*cols : (r+1)*cols]
		for b := range blocks(cols) {
			values := row[b*block : min(cols, (b+1)*block)]
			to, lane := w.part(r, b*block), r%panelRows
			scale := weightScale(values)
			sum := int32(0)
			for c, v := range values {
				q := int32(0)
				if scale != 0 && scale <= math.MaxFloat32 {
					q = min(max(int32(math.RoundToEven(float64(v)/float64(scale))), -mostWeight), mostWeight)
				}
				to[oneScale.weightAt(lane, c)] = int8(q)
				sum += q
			}
			oneScale.putHead(to, lane, scale, sum)
		}
	}
	return w
}

// weightScale returns the smallest bfloat16 that is not below max |w| / 127. It returns 0 if all
// weights are close to 0, and NaN if a weight is not finite.
func weightScale(weights []float32) float32 {
	most := magnitude(weights)
	if most <= least {
		return 0
	}
	if !(most <= math.MaxFloat32) {
		return float32(math.NaN())
	}
	return math.Float32frombits((math.Float32bits(most/mostWeight) + 0xffff) &^ 0xffff)
}

// magnitude returns max |x|, or Inf or NaN if x contains one. It compares the bits of magnitudes as
// integers, which have the same order as the magnitudes, with Inf and NaN last.
func magnitude(x []float32) float32 { return math.Float32frombits(mostBitsPortable(x)) }

func blocks(cols int) int { return (cols + block - 1) / block }

// roundVectors quantizes n vectors x [n, cols]. The caller must return the result to the pool after
// use.
func roundVectors(p Path, x []float32, n, cols int) *quantized {
	q := quantizedPool.Get().(*quantized)
	nb := blocks(cols)
	q.reserve(n * nb)
	for i := range n {
		quantizeVector(p, q.values[i*nb*valueBytes:(i+1)*nb*valueBytes], q.scales[i*nb:(i+1)*nb], x[i*cols:(i+1)*cols])
	}
	return q
}

// mulBytes multiplies w by n quantized vectors, panel by panel.
func (w Matrix) mulBytes(p Path, dst []float32, q *quantized, n int) {
	nb := blocks(w.Cols)
	full, size := w.Rows/panelRows, nb*w.layout.blockBytes()
	at := 0
	if n == 1 {
		for ; at+1 < full; at += 2 {
			bytePair(p, w.layout, dst[at*panelRows:(at+2)*panelRows], w.bytes[at*size:(at+2)*size], q)
		}
	}
	for ; at < full; at++ {
		bytePanel(p, w.layout, dst[at*panelRows:], w.Rows, w.bytes[at*size:(at+1)*size], q.values, q.scales, n)
	}
	if rest := w.Rows - full*panelRows; rest > 0 {
		var whole [mostColumns * panelRows]float32
		for i := 0; i < n; i += mostColumns {
			k := min(n-i, mostColumns)
			bytePanel(
				p, w.layout, whole[:], panelRows, w.bytes[full*size:],
				q.values[i*nb*valueBytes:(i+k)*nb*valueBytes], q.scales[i*nb:(i+k)*nb], k,
			)
			for j := range k {
				copy(dst[(i+j)*w.Rows+full*panelRows:(i+j+1)*w.Rows], whole[j*panelRows:])
			}
		}
	}
}

// reserve makes room for n blocks.
func (q *quantized) reserve(n int) {
	if cap(q.scales) < n {
		q.values, q.scales = make([]int8, n*valueBytes), make([]float32, n)
	}
	q.values, q.scales = q.values[:n*valueBytes], q.scales[:n]
}

// quantizeVector rounds x to values [blocks, 2, block] and scales [blocks], in
// the byte layout of the path.
func quantizeVector(p Path, values []int8, scales, x []float32) {
	full := len(x) / block
	quantizeBlocks(p, values, scales, x[:full*block])
	if full < len(scales) {
		var rest [block]float32
		copy(rest[:], x[full*block:])
		quantizeBlocks(p, values[full*valueBytes:], scales[full:], rest[:])
	}
}

// quantizeBlock rounds a block of a vector to 16-bit numbers with a common
// scale, which it returns, and splits each into two signed bytes: number = 256
// · upper + lower.
func quantizeBlock(dst []int8, x []float32) float32 {
	most := magnitude(x)
	var scale, factor float32
	if !(most <= least) {
		scale, factor = most/mostValue, mostValue/most
	}
	for i, v := range x {
		rounded := math.RoundToEven(float64(float32(v * factor)))
		if rounded != rounded {
			rounded = 0 // the scale is not finite, so the results will not be either
		}
		number := int32(rounded)
		upper := (number + 128) >> 8
		dst[i], dst[block+i] = int8(upper), int8(number-upper<<8)
	}
	return scale
}

// Heads are written in the machine's byte order, as the assembly reads them.

func putWord(to []int8, v uint32) { binary.NativeEndian.PutUint32(unsigned(to), v) }

func putHalf(to []int8, v uint16) { binary.NativeEndian.PutUint16(unsigned(to), v) }

func head(from []int8) uint32 { return binary.NativeEndian.Uint32(unsigned(from)) }

func unsigned(s []int8) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)) }
