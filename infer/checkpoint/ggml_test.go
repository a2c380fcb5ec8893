package checkpoint

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// ggmlFolder holds ggml's results for random blocks. The program ask.c in that folder generated the
// files and describes them.
const ggmlFolder = "../../testdata/ggml"

// ggmlAnswers holds blocks of one format and the values to which ggml converts them.
type ggmlAnswers struct {
	rounded int      // number of blocks that ggml rounded; the others are random bytes
	blocks  []byte   // one after another
	hashes  []uint64 // FNV-1a of each block's widened values
	sample  []byte   // the float32 values of the first blocks
}

func readGGML(tb testing.TB, d dtype) ggmlAnswers {
	tb.Helper()
	zipped, err := os.ReadFile(filepath.Join(ggmlFolder, string(d)+".gz"))
	if err != nil {
		tb.Fatal(err)
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		tb.Fatal(err)
	}
	data, err := io.ReadAll(unzipped)
	if err != nil {
		tb.Fatal(err)
	}
	a := ggmlAnswers{rounded: int(binary.LittleEndian.Uint32(data))}
	n := a.rounded + int(binary.LittleEndian.Uint32(data[4:]))
	a.blocks, data = data[8:][:n*formats[d].bytes], data[8+n*formats[d].bytes:]
	for i := range n {
		a.hashes = append(a.hashes, binary.LittleEndian.Uint64(data[8*i:]))
	}
	a.sample = data[8*n:]
	return a
}

// fnv1a hashes the bits of values in little-endian order.
func fnv1a(values []float32) uint64 {
	h := uint64(0xcbf29ce484222325)
	for _, v := range values {
		for shift := 0; shift < 32; shift += 8 {
			h = (h ^ uint64(math.Float32bits(v)>>shift&255)) * 0x100000001b3
		}
	}
	return h
}

// TestWideningMatchesGGML: for every format that can be read, blocks that ggml rounded and blocks
// of random bytes are converted exactly as in ggml.
func TestWideningMatchesGGML(t *testing.T) {
	tried := 0
	for d, f := range formats {
		if f.widen == nil || f.values == 1 {
			continue
		}
		tried++
		a := readGGML(t, d)
		if len(a.hashes) != 1100 || a.rounded != 1000 {
			t.Fatalf("%s: got %d blocks, %d of them rounded; want 1100, 1000", d, len(a.hashes), a.rounded)
		}
		wide := make([]float32, len(a.hashes)*f.values)
		f.widen(wide, a.blocks)
		for i := range len(a.sample) / 4 {
			if want := binary.LittleEndian.Uint32(a.sample[4*i:]); math.Float32bits(wide[i]) != want {
				t.Fatalf(
					"%s: value %d is %v, in ggml %v, want math.Float32bits(wide[i]) = %d", d, i, wide[i],
					math.Float32frombits(want), want,
				)
			}
		}
		for i, want := range a.hashes {
			if block := wide[i*f.values:][:f.values]; fnv1a(block) != want {
				t.Fatalf("%s: block %d differs from ggml's: %v, want fnv1a(block) = %d", d, i, block, want)
			}
		}
	}
	if tried != 9 {
		t.Errorf("got %d formats with blocks, want 9", tried)
	}
}

// BenchmarkWiden reads a tensor of every format, in parts as large as the
// buffer allows.
func BenchmarkWiden(b *testing.B) {
	for _, d := range []dtype{dtypeF16, dtypeQ8, dtypeQ4, dtypeQ4K, dtypeQ5K, dtypeQ6K, dtypeIQ4NL} {
		b.Run(string(d), func(b *testing.B) {
			f := formats[d]
			const values = 1 << 20
			data := make([]byte, values/f.values*f.bytes)
			x := tensor{dtype: d, shape: []int{1 << 10, 1 << 10}, bytes: int64(len(data))}
			for b.Loop() {
				if _, err := x.widen(bytes.NewReader(data)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/values, "ns/value")
		})
	}
}
