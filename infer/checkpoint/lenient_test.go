package checkpoint

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestTooManyTensors(t *testing.T) {
	var header strings.Builder
	for i := range maxTensors + 1 {
		fmt.Fprintf(&header, `%c"%d":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}`, ",{"[b2i(i == 0)], i)
	}
	data := file(header.String() + "}")
	_, err := parseSafetensors(bytes.NewReader(data), int64(len(data)))
	if err == nil || !strings.Contains(err.Error(), "more than 65536 tensors") {
		t.Errorf("got %v, want an error containing %q", err, "more than 65536 tensors")
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestSafetensorsAllowedVariations: safetensors files may have white space, escapes, entries in any
// order, and padding after the header.
func TestSafetensorsAllowedVariations(t *testing.T) {
	c := fromBytes(t, file(` {"b": {"data_offsets":[4 ,8],"shape":[ 1 ] ,"dtype":"F32"},
		"\u0061" : {"dtype":"BF16","shape":[2,1],"data_offsets":[0,4]}, "__metadata__":{"k":"v\"","l":""} }   `,
		slices.Concat(words16(0x3f80, 0x4000), words32(0x40400000))...))
	for name, want := range map[string][]float32{"a": {1, 2}, "b": {3}} {
		shape := map[string][]int{"a": {2, 1}, "b": {1}}[name]
		if got, err := c.Float32(name, shape...); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s is %v, %v, want %v", name, got, err, want)
		}
	}
	if c.Bytes() != 8 {
		t.Errorf("Bytes() = %d, want 8", c.Bytes())
	}
}

// allocated returns the number of bytes that run allocates, including freed ones.
func allocated(run func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	run()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestClaimedHeaderIsNotAllocated: the program does not allocate the memory for a header just
// because the file states a large header length.
// Promise: A model file cannot make the program allocate memory for data that it does not contain.
func TestClaimedHeaderIsNotAllocated(t *testing.T) {
	for _, claim := range []uint64{maxHeaderBytes, maxHeaderBytes + 1, 1 << 40, math.MaxInt64, math.MaxUint64} {
		data := append(binary.LittleEndian.AppendUint64(nil, claim), "{}"...)
		var err error
		got := allocated(func() { _, err = parseSafetensors(bytes.NewReader(data), int64(len(data))) })
		if err == nil || !strings.Contains(err.Error(), "header length") {
			t.Errorf("claim %d: got error %v, want an error containing %q", claim, err, "header length")
		}
		if got > 64<<10 {
			t.Errorf("claim %d: got %d bytes allocated, want at most 64<<10", claim, got)
		}
	}
}

// TestLargeHeaderMemory: reading the largest accepted header takes at most the header's size plus
// 64 MiB of memory, whether the header is one long string or lists the maximum number of tensors.
func TestLargeHeaderMemory(t *testing.T) {
	folder := t.TempDir()
	long := `{"__metadata__":{"a":"` + strings.Repeat("x", 40<<20) + `"}]`
	var many strings.Builder
	for i := range maxTensors {
		fmt.Fprintf(
			&many, `%c"%0200d":{"dtype":"F32","shape":[1,1,1,1,1,1,1,0],"data_offsets":[0,0]}`, ",{"[b2i(i == 0)], i,
		)
	}
	many.WriteString("]")
	for name, header := range map[string]string{"long": long, "many": many.String()} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, file(header), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		size := int64(8 + len(header))
		got := allocated(func() { _, err = parseSafetensors(f, size) })
		if err == nil || !strings.Contains(err.Error(), "found ']'") {
			t.Errorf("%s: got error %v, want an error containing %q", name, err, "found ']'")
		}
		if limit := uint64(size) + 64<<20; got > limit {
			t.Errorf("%s: %d bytes allocated, the limit is %d", name, got, limit)
		}
		t.Logf("%s: header %d bytes, allocated %d", name, size, got)
		f.Close()
	}
}
