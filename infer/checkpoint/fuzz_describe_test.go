package checkpoint

import (
	"strings"
	"testing"
	"testing/fstest"
)

// FuzzDescribeFile: any file with any name is described or rejected, with 1 to 64 reasons. If it is
// accepted, it can be read.
func FuzzDescribeFile(f *testing.F) {
	f.Add("m.gguf", smallGGUF().bytes())
	f.Add("m.bin", llama2cFile(smallLlama2c...))
	for _, seed := range foreignFiles {
		f.Add(seed.file, []byte(seed.text))
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		folder := fstest.MapFS{
			llama2cTokens: &fstest.MapFile{Data: smallTokenizerBin(nil)}, "m.gguf": &fstest.MapFile{Data: data},
			"m.bin": &fstest.MapFile{Data: data},
		}
		if !strings.HasSuffix(name, ".bin") {
			name = "m.gguf"
		} else if name != llama2cTokens {
			name = "m.bin"
		}
		checkDescribed(t, folder, name, int64(len(data)))
	})
}

// FuzzSplitGGUF checks the same for a model in three parts, one of which consists of arbitrary
// bytes.
func FuzzSplitGGUF(f *testing.F) {
	sound := map[string][]byte{}
	for name, part := range splitGGUF() {
		sound[name] = part.bytes()
	}
	for part := range uint8(3) {
		f.Add(part, sound[partName("m", 1+int(part), 3)])
	}
	f.Add(uint8(2), []byte(lfsPointer))
	f.Add(uint8(3), smallGGUF().bytes())
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		folder, size := fstest.MapFS{}, int64(0)
		for name, part := range sound {
			folder[name] = &fstest.MapFile{Data: part}
		}
		folder[partName("m", 1+int(which)%3, 3)] = &fstest.MapFile{Data: data}
		for _, file := range folder {
			size += int64(len(file.Data))
		}
		checkDescribed(t, folder, partName("m", 2, 3), size)
	})
}

func checkDescribed(t *testing.T, folder fstest.MapFS, name string, size int64) {
	t.Helper()
	d, err := Files{}.describeFile(folder, name)
	reasons := Reasons(err)
	if d == nil || (d.Checkpoint == nil) != (err != nil) || len(reasons) > maxProblems ||
		(len(reasons) == 0) != (err == nil) {
		t.Fatalf(
			"got %+v, %v; want d not nil, d.Checkpoint == nil = %t, len(reasons) at most %d, len(reasons) == 0 = %t", d,
			err, err != nil, maxProblems, err == nil,
		)
	}
	if err != nil {
		return
	}
	defer d.Checkpoint.Close()
	readAll(t, d.Checkpoint, size)
}

// FuzzWiden: for every format, any sequence of whole blocks is converted to the right number of
// values without a panic.
func FuzzWiden(f *testing.F) {
	for d := range formats {
		if formats[d].widen != nil {
			f.Add(string(d), []byte(strings.Repeat("\x00\x3c\x81\x7f", 60)))
		}
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		format, known := formats[dtype(name)]
		if !known || format.widen == nil {
			return
		}
		blocks := len(data) / format.bytes
		wide := make([]float32, blocks*format.values+1)
		wide[len(wide)-1] = 7
		format.widen(wide[:len(wide)-1], data[:blocks*format.bytes])
		if wide[len(wide)-1] != 7 {
			t.Fatalf("%s wrote beyond its values", name)
		}
	})
}

// FuzzRoundQ4 checks that rounding to Q4_0 changes each value by at most an eighth of the largest
// absolute value in the block. This bound follows from the format's formula.
func FuzzRoundQ4(f *testing.F) {
	f.Add(uint64(1), float32(1))
	f.Add(uint64(7), float32(1e-3))
	f.Fuzz(func(t *testing.T, seed uint64, scale float32) {
		if !(scale > 1e-3 && scale < 1e3) {
			return // the scale of a block must be a normal binary16 number
		}
		values := inputs(seed, 2, q4Values)[q4Values:]
		most := float32(0)
		for i := range values {
			values[i] *= scale
			most = max(most, abs(values[i]))
		}
		rounded := append([]float32{}, values...)
		if err := RoundQ4(rounded); err != nil {
			t.Fatal(err)
		}
		for i, v := range values {
			if abs(v-rounded[i]) > most/8*1.001 {
				t.Fatalf("%v was rounded to %v; the largest value of the block is %v", v, rounded[i], most)
			}
		}
	})
}
