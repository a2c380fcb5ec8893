package tab

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/bundled"
)

// TestPackedModelsAreSmaller: the bundled weights are restored bit for bit, and packing makes the
// gzipped files an eighth smaller. The target's file becomes a quarter smaller, since most of its
// values are on the grid.
// Promise: A static site's model has exactly the same weights as the server's.
func TestPackedModelsAreSmaller(t *testing.T) {
	t.Parallel()
	models := map[string]func() (fs.FS, error){"target": bundled.TargetFiles, "draft": bundled.DraftFiles}
	for name, open := range models {
		files, err := open()
		if err != nil {
			t.Fatal(err)
		}
		file, err := fs.ReadFile(files, "model.safetensors")
		if err != nil {
			t.Fatal(err)
		}
		packed := there(t, file)
		less := map[string]float64{"target": 0.75, "draft": 0.875}[name]
		if before, after := zipped(t, file), zipped(t, packed); float64(after) > less*float64(before) {
			t.Errorf("the %s has %d bytes packed and zipped, and %d without packing", name, after, before)
		}
	}
}

// there packs a file, checks that unpacking restores the file, and returns the packed file.
func there(t testing.TB, file []byte) []byte {
	t.Helper()
	packed, err := PackWeights(file)
	if err != nil {
		t.Fatal(err)
	}
	back, err := UnpackWeights(packed)
	if err != nil || !bytes.Equal(back, file) {
		t.Fatalf("%v; the unpacked file differs", err)
	}
	return packed
}

func zipped(t testing.TB, data []byte) int {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	z.Write(data)
	z.Close()
	return b.Len()
}

// safetensors returns a safetensors file that consists of the length of the given header, the
// header, and the given values.
func safetensors(header string, values ...byte) []byte {
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...), values...)
}

// TestPackRoundTrip: weights of every kind are restored, including NaN and infinities.
func TestPackRoundTrip(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	var noise []byte
	for range 2 * 3 * 70 {
		noise = append(noise, byte(r.Uint32()))
	}
	there(t, safetensors(`{"m":{"dtype":"BF16","shape":[3,70],"data_offsets":[0,420]}}`, noise...))
	there(t, safetensors(`{"v":{"dtype":"F32","shape":[105],"data_offsets":[0,420]},"__metadata__":{}}`, noise...))
	// Each of the steps from 1 to 127 takes one byte. The second to fourth files also have values
	// that are not on the grid: first NaN, then also −∞, then also −0.
	var grid []byte
	for i := range 3 * 70 {
		grid = binary.LittleEndian.AppendUint16(grid, uint16(math.Float32bits(float32(i%127+1))>>16))
	}
	head := `{"m":{"dtype":"BF16","shape":[3,70],"data_offsets":[0,420]}}`
	for i, bits := range []uint32{0x3f80, 0x7fc0, 0xff80, 0x8000} {
		binary.LittleEndian.PutUint16(grid[2*i*67:], uint16(bits))
		if packed := there(t, safetensors(head, grid...)); len(packed) > len(grid)+len(head)+8+len(packMark)+1 {
			t.Errorf(
				"a matrix of %d bytes takes %d, want at most %d", len(grid), len(packed),
				len(grid)+len(head)+8+len(packMark)+1,
			)
		}
	}
}

// TestUnpackRefusesDamagedFiles: invalid packed files are refused with the reason.
func TestUnpackRefusesDamagedFiles(t *testing.T) {
	t.Parallel()
	good, err := PackWeights(safetensors(`{"m":{"dtype":"BF16","shape":[1,2],"data_offsets":[0,4]}}`, 1, 2, 3, 4))
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(good) {
		if _, err := UnpackWeights(good[:n]); err == nil {
			t.Errorf("the first %d bytes of %d are unpacked, want an error", n, len(good))
		}
	}
	if _, err := UnpackWeights(append(good, 0)); err == nil || !strings.Contains(err.Error(), "after the last tensor") {
		t.Errorf("with an extra byte: got error %v, want an error containing %q", err, "after the last tensor")
	}
	for _, header := range []string{
		`{"m":{"dtype":"BF16","shape":[1,0],"data_offsets":[0,4]}}`, `{"m":{"dtype":"BF16","data_offsets":[2,4]}}`,
		`{"m":{"dtype":"F32","data_offsets":[0,-4]}}`, `{"m":7}`, `[]`,
		fmt.Sprintf(`{"m":{"data_offsets":[0,%d]}}`, 1<<40),
	} {
		if _, err := PackWeights(safetensors(header, 1, 2, 3, 4)); err == nil {
			t.Errorf("%s is packed, want an error", header)
		}
		if _, err := UnpackWeights(append([]byte(packMark), safetensors(header, 1, 2, 3, 4)...)); err == nil {
			t.Errorf("%s is unpacked, want an error", header)
		}
	}
}

func FuzzUnpackWeights(f *testing.F) {
	good, _ := PackWeights(safetensors(`{"m":{"dtype":"BF16","shape":[1,2],"data_offsets":[0,4]}}`, 1, 2, 3, 4))
	f.Add(good)
	f.Fuzz(func(t *testing.T, data []byte) {
		if file, err := UnpackWeights(data); err == nil {
			there(t, file)
		}
	})
}
