package kernel

import (
	"sync"
	"unsafe"
)

// Weights share slabs of memory, for which the program asks the system to use huge pages. A
// processor looks up the addresses of pages in a small table, and a model is read from end to end
// for every token. With 2 MiB pages, a 4 MiB slab needs two entries in the table; with 4 KiB pages,
// it needs a thousand.

const line = 64 // size of a cache line in bytes; no vector load of weights crosses a line boundary

// slab holds the memory from which the next weights are allocated. A slab is freed once no matrix
// uses it.
var slab struct {
	sync.Mutex
	rest []byte
}

// weightBytes returns n zeroed bytes aligned to a cache line.
func weightBytes(n int) []byte {
	size := (n + line - 1) &^ (line - 1)
	slab.Lock()
	defer slab.Unlock()
	if size > len(slab.rest) {
		slab.rest = newSlab(max(size, 2*hugePage))
	}
	b := slab.rest[:n:n]
	slab.rest = slab.rest[size:]
	return b
}

// newSlab returns at least size zeroed bytes, in whole huge pages.
func newSlab(size int) []byte {
	size = (size + hugePage - 1) &^ (hugePage - 1)
	s := make([]byte, size+hugePage)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(s))) & (hugePage - 1))
	s = s[skip : skip+size : skip+size]
	preferHugePages(s)
	return s
}

// weightWords returns n words, each for one float32 or two bfloat16 values.
func weightWords[T float32 | uint32](n int) []T {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&weightBytes(4 * n)[0])), n)
}

// weightInts returns n signed bytes.
func weightInts(n int) []int8 {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*int8)(unsafe.Pointer(&weightBytes(n)[0])), n)
}
