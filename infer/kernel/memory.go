package kernel

import (
	"sync"
	"unsafe"
)

// Weights lie together in slabs that the system is asked to back with huge
// pages: a processor looks up the place of a page in a small table, and a model
// that is read from one end to the other for every token would go through a
// thousand entries of 4 KiB, or two of 2 MiB.

const (
	hugePage = 2 << 20
	line     = 64 // of the processor's cache: no register of weights straddles two
)

// slab is where the next weights go. A slab is freed when no matrix in it is
// used any more.
var slab struct {
	sync.Mutex
	rest []byte
}

// weightBytes returns n zeroed bytes that start at a cache line.
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

// newSlab returns at least size zeroed bytes, whole huge pages.
func newSlab(size int) []byte {
	size = (size + hugePage - 1) &^ (hugePage - 1)
	s := make([]byte, size+hugePage)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(s))) & (hugePage - 1))
	s = s[skip : skip+size : skip+size]
	preferHugePages(s)
	return s
}

// weightWords is room for n words of float32, or of two bfloat16.
func weightWords[T float32 | uint32](n int) []T {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&weightBytes(4 * n)[0])), n)
}

// weightInts is room for n bytes with a sign.
func weightInts(n int) []int8 {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*int8)(unsafe.Pointer(&weightBytes(n)[0])), n)
}
