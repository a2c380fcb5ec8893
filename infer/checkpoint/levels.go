package checkpoint

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
)

// Levels holds the weights of a matrix as a file in Q8_0, Q5_0, Q4_0 or IQ4_NL stores them: weight i, in
// row-major order, is Values[i] times Scales[i/32]. Rows are whole blocks of 32. No value is −128, and all
// scales are finite.
type Levels struct {
	Values []int8
	Scales []float32
}

// Levels is like [Checkpoint.Weight], but returns a matrix's values without widening them. The result is
// nil if the matrix is in another format, or has a value of −128.
func (c *Checkpoint) Levels(p Role, layer int, shape ...int) (*Levels, error) {
	name := c.named(p, layer, false)
	if name == "" {
		return nil, nil
	}
	t, err := c.tensor(name, shape)
	if err != nil || !t.inLevels() {
		return nil, err
	}
	l, err := t.readLevels(c.weights)
	return l, t.placed(err)
}

// LevelParameters returns how many values of the given parts, or of the whole model if no part is given,
// [Checkpoint.Levels] returns. It assumes that no value is −128, and leaves out [QueryKeyValue], which is
// widened in order to be divided.
func (c *Checkpoint) LevelParameters(parts ...Role) (total int64) {
	for _, s := range c.Config.layout() {
		t, asked := c.tensors[s.name], len(parts) == 0 || slices.Contains(parts, s.part)
		if t.inLevels() && s.part != QueryKeyValue && asked {
			total += t.values()
		}
	}
	return total
}

// inLevels reports whether t is a matrix in levels. Its rows are whole blocks, since a GGUF file with other
// rows is refused.
func (t tensor) inLevels() bool { return formats[t.dtype].levels != nil && len(t.shape) == 2 }

// readLevels reads t's values, in the order of the layout. It returns errors like [tensor.each].
func (t tensor) readLevels(r io.ReaderAt) (*Levels, error) {
	f, rows, cols := formats[t.dtype], t.shape[0], t.shape[1]
	l := Levels{make([]int8, 0, rows*cols), make([]float32, 0, rows*cols/levelValues)}
	err := t.chunks(r, func(chunk []byte) error {
		for ; len(chunk) > 0; chunk = chunk[f.bytes:] {
			d := half(chunk)
			if d-d != 0 { // NaN or ±Inf
				first := [1]float32{}
				widenLevels(f, first[:], chunk)
				return fmt.Errorf("%v is %v", unravel(len(l.Values), t.shape), first[0])
			}
			var q [levelValues]int8
			f.levels(&q, chunk[scaleBytes:f.bytes])
			l.Values, l.Scales = append(l.Values, q[:]...), append(l.Scales, d)
		}
		return nil
	})
	if err != nil || slices.Contains(l.Values, math.MinInt8) {
		return nil, err
	}
	l.Values = restore(t.order, l.Values, t.shape)
	l.Scales = restore(t.order, l.Scales, []int{rows, cols / levelValues})
	return &l, nil
}

// levelValues is the number of values in a block of a format in levels, and scaleBytes the length of the
// scale at the beginning of a block.
const (
	levelValues = 32
	scaleBytes  = 2
)

// inLevels returns a format whose blocks consist of an F16 scale and integers that levels unpacks.
func inLevels(bytes int, levels func(q *[levelValues]int8, src []byte)) format {
	f := format{values: levelValues, bytes: bytes, levels: levels}
	f.widen = func(dst []float32, src []byte) { widenLevels(f, dst, src) }
	return f
}

// widenLevels converts blocks to float32. dst may end within a block.
func widenLevels(f format, dst []float32, src []byte) {
	var q [levelValues]int8
	for ; len(dst) > 0; dst, src = dst[min(len(dst), levelValues):], src[f.bytes:] {
		d := half(src)
		f.levels(&q, src[scaleBytes:f.bytes])
		for i := range min(len(dst), levelValues) {
			dst[i] = float32(q[i]) * d
		}
	}
}

func levelsQ8(q *[levelValues]int8, src []byte) {
	for i, b := range src {
		q[i] = int8(b)
	}
}

func levelsQ4(q *[levelValues]int8, src []byte) {
	for i, b := range src {
		q[i], q[16+i] = int8(b&15)-8, int8(b>>4)-8
	}
}

func levelsQ5(q *[levelValues]int8, src []byte) {
	fifth := binary.LittleEndian.Uint32(src)
	for i, b := range src[4:] {
		low, high := uint32(b&15)|fifth>>i&1<<4, uint32(b>>4)|fifth>>(16+i)&1<<4
		q[i], q[16+i] = int8(low)-16, int8(high)-16
	}
}

// unevenLevels lists the 16 levels of IQ4_NL, which are closer together near zero, where most
// weights are.
var unevenLevels = [16]int8{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}

func levelsIQ4NL(q *[levelValues]int8, src []byte) {
	for i, b := range src {
		q[i], q[16+i] = unevenLevels[b&15], unevenLevels[b>>4]
	}
}
