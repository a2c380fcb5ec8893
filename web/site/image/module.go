package image

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// A module is a WebAssembly module that is split into sections, as in the binary format
// (https://webassembly.github.io/spec/core/binary/modules.html#binary-module).
type module []section

type section struct {
	id   byte
	data []byte
}

// The ids of the sections that are changed.
const (
	memorySection    = 5
	globalSection    = 6
	exportSection    = 7
	dataSection      = 11
	dataCountSection = 12
)

// The kinds of exports.
const (
	functionKind = 0
	globalKind   = 3
)

const magic = "\x00asm\x01\x00\x00\x00"

// page is WebAssembly's unit of memory.
const page = 64 << 10

func parseModule(file []byte) (module, error) {
	rest, ok := bytes.CutPrefix(file, []byte(magic))
	if !ok {
		return nil, errors.New("not a WebAssembly module")
	}
	var m module
	for len(rest) > 0 {
		id := rest[0]
		size, n := binary.Uvarint(rest[1:])
		if n <= 0 || size > uint64(len(rest)-1-n) {
			return nil, fmt.Errorf("section %d of the module is truncated", len(m)+1)
		}
		start := 1 + n
		m = append(m, section{id, rest[start : start+int(size)]})
		rest = rest[start+int(size):]
	}
	return m, nil
}

// bytes returns the module in the binary format.
func (m module) bytes() []byte {
	out := []byte(magic)
	for _, s := range m {
		out = binary.AppendUvarint(append(out, s.id), uint64(len(s.data)))
		out = append(out, s.data...)
	}
	return out
}

// with returns the module with s in place of the section that has the same id.
func (m module) with(s section) module {
	out := slices.Clone(m)
	for i := range out {
		if out[i].id == s.id {
			out[i] = s
		}
	}
	return out
}

// without returns the module without the sections with the given ids.
func (m module) without(ids ...byte) module {
	return slices.DeleteFunc(slices.Clone(m), func(s section) bool { return slices.Contains(ids, s.id) })
}

// section returns the content of the section with an id.
func (m module) section(id byte) (*reader, error) {
	for _, s := range m {
		if s.id == id {
			return &reader{rest: s.data}, nil
		}
	}
	return nil, fmt.Errorf("the module has no section %d", id)
}

// A reader reads the numbers of a section. After the end of the section, it returns zeros.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) uint() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.bad, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.bad, r.rest = true, nil
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) byte() byte {
	if b := r.take(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

// An export is one entry of the export section.
type export struct {
	name  string
	kind  byte
	index uint64
}

func (m module) exports() ([]export, error) {
	r, err := m.section(exportSection)
	if err != nil {
		return nil, err
	}
	var list []export
	for range r.uint() {
		e := export{name: string(r.take(r.uint())), kind: r.byte(), index: r.uint()}
		if r.bad {
			return nil, errors.New("the export section of the module is truncated")
		}
		list = append(list, e)
	}
	return list, nil
}

func (m module) withExports(list []export) module {
	out := binary.AppendUvarint(nil, uint64(len(list)))
	for _, e := range list {
		out = append(binary.AppendUvarint(out, uint64(len(e.name))), e.name...)
		out = binary.AppendUvarint(append(out, e.kind), e.index)
	}
	return m.with(section{exportSection, out})
}

// The types of global variables, and the instructions for their initial values.
const (
	int32Type, int64Type   = 0x7f, 0x7e
	int32Const, int64Const = 0x41, 0x42
	end                    = 0x0b
)

// globals returns the types of the module's global variables, in order. All global variables that
// Go's linker creates are mutable, and serve as its registers.
func (m module) globals() ([]byte, error) {
	r, err := m.section(globalSection)
	if err != nil {
		return nil, err
	}
	var types []byte
	for range r.uint() {
		kind, _, first := r.byte(), r.byte(), r.byte()
		r.uint() // the number is signed, but its length is the same
		known := kind == int32Type && first == int32Const || kind == int64Type && first == int64Const
		if !known || r.byte() != end {
			return nil, errors.New("the module has a global variable that Go's linker did not create")
		}
		types = append(types, kind)
	}
	return types, nil
}

// withGlobals returns the module with the given types and initial values of its global variables.
func (m module) withGlobals(types []byte, values []uint64) module {
	const variable = 1
	out := binary.AppendUvarint(nil, uint64(len(types)))
	for i, kind := range types {
		if kind == int32Type {
			out = appendSigned(append(out, kind, variable, int32Const), int64(int32(values[i])))
		} else {
			out = appendSigned(append(out, kind, variable, int64Const), int64(values[i]))
		}
		out = append(out, end)
	}
	return m.with(section{globalSection, out})
}

// withMemory returns the module with the given initial memory size in bytes and without a maximum
// size.
func (m module) withMemory(size int) module {
	return m.with(section{memorySection, binary.AppendUvarint([]byte{1, 0}, uint64(size/page))})
}

// appendSigned appends a signed LEB128 number.
func appendSigned(out []byte, v int64) []byte {
	for {
		low := byte(v & 0x7f)
		v >>= 7
		if v == 0 && low&0x40 == 0 || v == -1 && low&0x40 != 0 {
			return append(out, low)
		}
		out = append(out, low|0x80)
	}
}
