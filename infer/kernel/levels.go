package kernel

import (
	"fmt"
	"math"
)

// A layout is the arrangement of a panel that stores a byte per weight. A panel consists of blocks of 64
// columns, and a block consists of parts, each with scales of its own.
type layout int

const (
	// oneScale is the layout of [Quantize]: one part. The upper half of a head is the scale as
	// bfloat16, and the lower half is −Σ w.
	oneScale layout = iota
	// twoScales is the layout of [PackLevels]: two parts. Their heads are 32 scales as float32,
	// followed by 32 sums −Σ w of 16 bits.
	twoScales
)

// parts returns the number of parts of a block.
func (l layout) parts() int { return int(l) + 1 }

// headBytes returns the length of the heads of a part.
func (l layout) headBytes() int {
	if l == oneScale {
		return 4 * panelRows
	}
	return 6 * panelRows
}

// partBytes returns the length of a part.
func (l layout) partBytes() int { return l.headBytes() + block/l.parts()*panelRows }

// blockBytes returns the length of a block.
func (l layout) blockBytes() int { return l.parts() * l.partBytes() }

// scale returns the scale of a part's row.
func (l layout) scale(part []int8, lane int) float32 {
	if l == oneScale {
		return math.Float32frombits(head(part[4*lane:]) &^ 0xffff)
	}
	return math.Float32frombits(head(part[4*lane:]))
}

// putHead writes the scale of a part's row, and −sum.
func (l layout) putHead(part []int8, lane int, scale float32, sum int32) {
	if l == oneScale {
		putWord(part[4*lane:], math.Float32bits(scale)|uint32(-sum)&0xffff)
		return
	}
	putWord(part[4*lane:], math.Float32bits(scale))
	putHalf(part[4*panelRows+2*lane:], uint16(-sum))
}

// weightAt returns the index of a row's weight in column c of a part.
func (l layout) weightAt(lane, c int) int { return l.headBytes() + c/4*4*panelRows + lane*4 + c%4 }

// LevelColumns is the number of neighboring weights of a row that share a scale in [PackLevels].
const LevelColumns = 32

// PackLevels packs a row-major matrix whose weights are small integers times a scale, as in ggml's
// formats Q8_0, Q5_0, Q4_0 and IQ4_NL: weight [r, c] is levels[r·cols + c] times scales[r·cols/32 + c/32].
// The weights are exact. In products, vectors are rounded to 16 bits, as for [Quantize].
//
// PackLevels panics if cols is not a multiple of 32, if the lengths do not match, or if a level is −128,
// which the AVX2 path cannot multiply.
func PackLevels(rows, cols int, levels []int8, scales []float32) Matrix {
	if rows < 0 || cols < 0 || cols%LevelColumns != 0 || len(levels) != rows*cols ||
		len(scales) != rows*cols/LevelColumns {
		panic(fmt.Sprintf("kernel: a matrix of [%d, %d] made of %d levels and %d scales", rows, cols, len(levels),
			len(scales)))
	}
	w := Matrix{Rows: rows, Cols: cols, layout: twoScales}
	w.bytes = weightInts(panels(rows) * blocks(cols) * w.layout.blockBytes())
	for r := range rows {
		for at := 0; at < cols; at += LevelColumns {
			i := r*cols + at
			w.putPart(r, at, levels[i:i+LevelColumns], scales[i/LevelColumns])
		}
	}
	return w
}

// putPart stores the part of row r that begins at column c: levels times scale.
func (w Matrix) putPart(r, c int, levels []int8, scale float32) {
	to, lane, sum := w.part(r, c), r%panelRows, int32(0)
	for i, q := range levels {
		if q == math.MinInt8 {
			panic("kernel: a level is −128")
		}
		to[w.layout.weightAt(lane, i)] = q
		sum += int32(q)
	}
	w.layout.putHead(to, lane, scale, sum)
}

// part returns the part of the panel of row r that contains column c.
func (w Matrix) part(r, c int) []int8 {
	l := w.layout
	size := l.partBytes()
	at := r/panelRows*blocks(w.Cols)*l.blockBytes() + c/(block/l.parts())*size
	return w.bytes[at : at+size]
}

// byteRow copies row r of a matrix with a byte per weight to dst [Cols].
func (w Matrix) byteRow(dst []float32, r int) {
	size, lane := block/w.layout.parts(), r%panelRows
	for c := range dst {
		from := w.part(r, c)
		dst[c] = float32(from[w.layout.weightAt(lane, c%size)]) * w.layout.scale(from, lane)
	}
}

// RoundsVectors reports whether products with w round the vectors, as they do if a weight is stored in a
// byte.
func (w Matrix) RoundsVectors() bool { return w.bytes != nil }
