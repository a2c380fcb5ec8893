package kernel

import (
	"sync"
	"testing"
	"unsafe"
)

// TestWeightMemoryIsAligned: each allocation of weights returns separate memory, zeroed and aligned
// to a cache line, even if many goroutines allocate at the same time, and whether or not it fits in
// the rest of a slab.
func TestWeightMemoryIsAligned(t *testing.T) {
	sizes := []int{1, 63, 64, 65, 1000, hugePage - 1, hugePage, 5 * hugePage, 3, 2*hugePage + 1, 7}
	all := make([][]byte, len(sizes))
	var wg sync.WaitGroup
	for i, n := range sizes {
		wg.Go(func() { all[i] = weightBytes(n) })
	}
	wg.Wait()
	for i, b := range all {
		if len(b) != sizes[i] || cap(b) != sizes[i] {
			t.Fatalf("%d bytes with room for %d, want %d", len(b), cap(b), sizes[i])
		}
		if uintptr(unsafe.Pointer(&b[0]))%line != 0 {
			t.Errorf("the memory of %d bytes begins inside a cache line", len(b))
		}
		for j := range b {
			if b[j] != 0 {
				t.Fatalf("byte %d of %d is %d, so it is shared or not zeroed", j, len(b), b[j])
			}
			b[j] = byte(1 + i)
		}
	}
	if weightWords[float32](0) != nil || weightInts(0) != nil {
		t.Error("an empty matrix allocates memory")
	}
}
