package tab

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
)

// Packed is the extension of weights files that [PackWeights] wrote.
const Packed = ".packed"

// packMark is the mark at the beginning of a packed weights file. The mark is followed by the
// length and the header of the safetensors file that the packed file replaces, and by its tensors
// in the order of their data. Each tensor begins with a byte for its encoding: the values' low
// bytes and then their high bytes (asPlanes), the steps of its blocks (asSteps), or unchanged
// (asBytes).
const packMark = "vizpack1"

const (
	asBytes = iota
	asPlanes
	asSteps
)

// packBlock is the number of weights in a row that share a scale, and packMost is the largest step.
// Both are the same as in the engine's int8 (infer/kernel).
const (
	packBlock = 64
	packMost  = 127
)

// PackWeights rewrites a safetensors file so that gzip makes it smaller, without losing
// information. The bundled models' matrices are on the grid of the engine's int8, so one byte
// describes each weight. A value that is not on the grid is stored in full, and a matrix with many
// such values is not converted to steps. PackWeights returns an error for a file that it cannot
// parse.
func PackWeights(file []byte) ([]byte, error) {
	data, list, err := takeApart(file)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.WriteString(packMark)
	out.Write(file[:len(file)-len(data)])
	for _, t := range list {
		values := data[t.from:t.to]
		steps := []byte(nil)
		if t.grid {
			steps = packSteps(values, t.cols)
		}
		switch {
		case steps != nil:
			out.WriteByte(asSteps)
			out.Write(steps)
		case t.size == 2:
			out.WriteByte(asPlanes)
			out.Write(planes(values))
		default:
			out.WriteByte(asBytes)
			out.Write(values)
		}
	}
	return out.Bytes(), nil
}

// A Matrix is a matrix of a safetensors file whose values are on the grid of the engine's int8.
type Matrix struct {
	Rows, Cols int
	Values     []byte // bfloat16, row by row
	// Packed contains the same values in a form that gzip compresses well. First come the values
	// that are not on the grid: their number (four bytes) and, for each of them, its position (four
	// bytes) and value (two bytes). Then come the scales of the rows' blocks as bfloat16, with all
	// low bytes before all high bytes, and a byte for the step of each weight.
	Packed []byte
}

// Matrices returns the matrices of a safetensors file that can be packed as steps.
func Matrices(file []byte) (all []Matrix, err error) {
	data, list, err := takeApart(file)
	if err != nil {
		return nil, err
	}
	for _, t := range list {
		values := data[t.from:t.to]
		if !t.grid || len(values) == 0 {
			continue
		}
		if packed := packSteps(values, t.cols); packed != nil {
			all = append(all, Matrix{len(values) / 2 / t.cols, t.cols, values, packed})
		}
	}
	return all, nil
}

// UnpackWeights returns the safetensors file that [PackWeights] packed.
func UnpackWeights(packed []byte) ([]byte, error) {
	rest, ok := bytes.CutPrefix(packed, []byte(packMark))
	if !ok {
		return nil, errors.New("not a packed weights file")
	}
	head, list, size, err := layout(rest)
	if err == nil && size > 2*len(rest) { // every encoding of a value needs at least half as many bytes as the value
		err = fmt.Errorf("the file is too short for its %d bytes of tensors", size)
	}
	if err != nil {
		return nil, err
	}
	out := make([]byte, len(head)+size)
	copy(out, head)
	r := reader{rest[len(head):]}
	for _, t := range list {
		values := out[len(head)+t.from : len(head)+t.to]
		switch how := r.take(1); {
		case how == nil:
		case how[0] == asBytes:
			copy(values, r.take(len(values)))
		case how[0] == asPlanes && t.size == 2:
			together(values, r.take(len(values)))
		case how[0] == asSteps && t.grid:
			r.steps(values, t.cols)
		default:
			return nil, fmt.Errorf("tensor %s has unknown encoding %d", t.name, how[0])
		}
		if r.rest == nil {
			return nil, fmt.Errorf("unexpected end of file in tensor %s", t.name)
		}
	}
	if len(r.rest) > 0 {
		return nil, fmt.Errorf("%d unexpected bytes after the last tensor", len(r.rest))
	}
	return out, nil
}

// A packing describes a tensor in a file: where its values are, and how many bytes each value has.
type packing struct {
	name           string
	from, to, size int
	cols           int
	grid           bool // a matrix of bfloat16
}

// takeApart returns the values of a safetensors file, and its tensors.
func takeApart(file []byte) (data []byte, list []packing, err error) {
	head, list, size, err := layout(file)
	if err != nil {
		return nil, nil, err
	}
	if data = file[len(head):]; len(data) != size {
		return nil, nil, fmt.Errorf("the tensors take up %d bytes, but the file has %d bytes of data", size, len(data))
	}
	return data, list, nil
}

// layout parses a safetensors header. It returns the header including its length field, the tensors
// in the order of their data, and the total size of the data in bytes. The data must not have gaps.
func layout(file []byte) (head []byte, list []packing, size int, err error) {
	if len(file) < 8 || binary.LittleEndian.Uint64(file) > uint64(len(file)-8) {
		return nil, nil, 0, errors.New("the header extends beyond the end of the file")
	}
	head = file[:8+binary.LittleEndian.Uint64(file)]
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(head[8:], &raw); err != nil {
		return nil, nil, 0, fmt.Errorf("invalid header: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		if name == "__metadata__" {
			continue
		}
		var t struct {
			Type  string `json:"dtype"`
			Shape []int  `json:"shape"`
			At    [2]int `json:"data_offsets"`
		}
		if err := json.Unmarshal(raw[name], &t); err != nil {
			return nil, nil, 0, fmt.Errorf("tensor %s: %w", name, err)
		}
		p := packing{name: name, from: t.At[0], to: t.At[1], size: 1}
		if t.Type == "BF16" || t.Type == "F16" {
			p.size = 2
		}
		p.grid = t.Type == "BF16" && len(t.Shape) == 2
		if p.grid {
			p.cols = t.Shape[1]
		}
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b packing) int { return cmp.Compare(a.from, b.from) })
	for _, p := range list {
		n := p.to - p.from
		if p.from != size || n < 0 || n > maxWeights || n%p.size != 0 || p.grid && (p.cols <= 0 || n/2%p.cols != 0) {
			return nil, nil, 0, fmt.Errorf("tensor %s has an offset that does not match its shape", p.name)
		}
		size = p.to
	}
	return head, list, size, nil
}

// maxWeights is the maximum size, in bytes, of a tensor in a site.
const maxWeights = 1 << 28

// planes returns the low bytes of 16-bit values, followed by their high bytes.
func planes(values []byte) []byte {
	out, n := make([]byte, len(values)), len(values)/2
	for i := range n {
		out[i], out[n+i] = values[2*i], values[2*i+1]
	}
	return out
}

// together is the inverse of [planes]. It does nothing if there are no bytes left.
func together(values, p []byte) {
	for i, n := 0, len(p)/2; i < n; i++ {
		values[2*i], values[2*i+1] = p[i], p[n+i]
	}
}

// packSteps encodes a matrix of bfloat16. First come the values that are not on the grid: their
// number and, for each, its position (four bytes) and value (two bytes). Then come the scales of
// the blocks, in planes, and a step for each weight. packSteps returns nil if more than one value
// in a hundred is not on the grid.
func packSteps(values []byte, cols int) []byte {
	n := len(values) / 2
	var scales, steps, off []byte
	for row := 0; row < n; row += cols {
		for at := row; at < row+cols; at += packBlock {
			block := values[2*at : 2*min(at+packBlock, row+cols)]
			s := scale(block)
			scales = binary.LittleEndian.AppendUint16(scales, uint16(math.Float32bits(s)>>16))
			for i := 0; i < len(block); i += 2 {
				bits := binary.LittleEndian.Uint16(block[i:])
				q := step(bfloat(bits), s)
				if onGrid(q, s) != bits {
					off = binary.LittleEndian.AppendUint32(off, uint32(at+i/2))
					off = binary.LittleEndian.AppendUint16(off, bits)
				}
				steps = append(steps, byte(q))
			}
		}
	}
	if len(off)/6 > n/100 {
		return nil
	}
	out := binary.LittleEndian.AppendUint32(nil, uint32(len(off)/6))
	return slices.Concat(out, off, planes(scales), steps)
}

// A reader holds the bytes that have not been read yet. After an attempt to read more bytes than
// there are, rest is nil.
type reader struct{ rest []byte }

// take returns the next n bytes, or nil if there are fewer.
func (r *reader) take(n int) []byte {
	if n > len(r.rest) || r.rest == nil {
		r.rest = nil
		return nil
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

// steps is the inverse of [packSteps].
func (r *reader) steps(values []byte, cols int) {
	n, count := len(values)/2, r.take(4)
	if count == nil {
		return
	}
	off := r.take(6 * int(binary.LittleEndian.Uint32(count)))
	perRow := (cols + packBlock - 1) / packBlock
	scales := make([]byte, 2*perRow*(n/cols))
	together(scales, r.take(len(scales)))
	steps := r.take(n)
	if r.rest == nil {
		return
	}
	for row, block := 0, 0; row < n; row += cols {
		for at := row; at < row+cols; at, block = at+packBlock, block+1 {
			end := min(at+packBlock, row+cols)
			gridBlock(values[2*at:2*end], steps[at:end], bfloat(binary.LittleEndian.Uint16(scales[2*block:])))
		}
	}
	for ; len(off) > 0; off = off[6:] {
		if at := int(binary.LittleEndian.Uint32(off)); at < n {
			copy(values[2*at:], off[4:6])
		}
	}
}

// gridBlock converts a block's steps to weights. It is a separate function because a browser
// optimizes a function only after many calls: a single loop over a whole matrix would never get
// faster.
func gridBlock(values, steps []byte, s float32) {
	for i, q := range steps {
		binary.LittleEndian.PutUint16(values[2*i:], onGrid(int8(q), s))
	}
}

// scale returns the smallest bfloat16 that is not below max |w| / 127, as the engine's int8 uses
// it (infer/bundled/train/export.py).
func scale(block []byte) float32 {
	most := float32(0)
	for i := 0; i < len(block); i += 2 {
		most = max(most, float32(math.Abs(float64(bfloat(binary.LittleEndian.Uint16(block[i:]))))))
	}
	return math.Float32frombits((math.Float32bits(most/packMost) + 0xffff) &^ 0xffff)
}

// step returns the step nearest to a weight.
func step(w, s float32) int8 {
	q := math.RoundToEven(float64(w) / float64(s))
	if !(math.Abs(q) <= packMost) { // this condition is also true for NaN
		return 0
	}
	return int8(q)
}

// onGrid returns a step's weight as stored in the bundled models: rounded to the nearest bfloat16,
// or toward zero if the nearest one would be larger than the largest step.
func onGrid(q int8, s float32) uint16 {
	bits := math.Float32bits(float32(q) * s)
	near := uint16((bits + 0x7fff + bits>>16&1) >> 16)
	if float32(math.Abs(float64(bfloat(near)))) > packMost*s {
		return uint16(bits >> 16)
	}
	return near
}

func bfloat(bits uint16) float32 { return math.Float32frombits(uint32(bits) << 16) }
