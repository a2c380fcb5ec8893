package kernel

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// onEveryPath runs a test once on each path that the machine supports.
func onEveryPath(t *testing.T, test func(t *testing.T)) {
	for _, p := range Paths() {
		t.Run(p.String(), func(t *testing.T) {
			on(t, p, func() { test(t) })
		})
	}
}

// on runs f on path p.
func on(tb testing.TB, p Path, f func()) {
	tb.Helper()
	before, err := Use(p)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() {
		if _, err := Use(before); err != nil {
			tb.Error(err)
		}
	}()
	f()
}

func random(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

func sameBits(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
}

// kinds holds the functions that pack a matrix, by kind of weights. The one for bfloat16 first
// truncates the weights to bfloat16.
var kinds = map[string]func(rows, cols int, data []float32) Matrix{
	"float32":  Pack,
	"bfloat16": func(rows, cols int, data []float32) Matrix { return Pack(rows, cols, bfloat16(data)) },
	"int8":     Quantize,
}

// bfloat16 truncates values to their upper 16 bits.
func bfloat16(data []float32) []float32 {
	cut := make([]float32, len(data))
	for i, v := range data {
		cut[i] = math.Float32frombits(math.Float32bits(v) &^ 0xffff)
	}
	return cut
}

func TestMulByHand(t *testing.T) {
	onEveryPath(t, func(t *testing.T) {
		// [[1 2 3] [4 5 6]] times (1, 0, −1) and (2, 2, 2).
		w := Pack(2, 3, []float32{1, 2, 3, 4, 5, 6})
		dst := make([]float32, 4)
		if n := w.Mul(dst, []float32{1, 0, -1, 2, 2, 2}, 2); n != 12 {
			t.Errorf("%d multiply-adds, want 12", n)
		}
		if want := []float32{-2, -2, 12, 30}; !slices.Equal(dst, want) {
			t.Errorf("got %v, want %v", dst, want)
		}
	})
}

// TestBatchSizesAgree: on every path, with all kinds of weights and every size of the last panel,
// the number of vectors does not affect a single bit of any result.
func TestBatchSizesAgree(t *testing.T) {
	shapes := [][2]int{
		{1, 1}, {3, 5}, {7, 31}, {31, 64}, {32, 65}, {33, 97}, {64, 192}, {65, 130}, {70, 129}, {96, 63}, {192, 512},
	}
	onEveryPath(t, func(t *testing.T) {
		for kind, pack := range kinds {
			for _, shape := range shapes {
				r := rand.New(rand.NewPCG(1, 2))
				rows, cols := shape[0], shape[1]
				w := pack(rows, cols, random(r, rows*cols))
				const most = 33
				x := random(r, most*cols)
				alone := make([]float32, most*rows)
				for i := range most {
					w.Mul(alone[i*rows:(i+1)*rows], x[i*cols:(i+1)*cols], 1)
				}
				for _, n := range []int{2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 32, most} {
					together := make([]float32, n*rows)
					w.Mul(together, x[:n*cols], n)
					if !sameBits(together, alone[:n*rows]) {
						t.Fatalf("%s %v: 1 and %d vectors give different bits", kind, shape, n)
					}
				}
			}
		}
	})
}

// TestMulWritesOnlyItsResults: a product writes its results and does not change the values around
// them.
func TestMulWritesOnlyItsResults(t *testing.T) {
	onEveryPath(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(7, 7))
		for kind, pack := range kinds {
			for rows := 1; rows <= 70; rows++ {
				w := pack(rows, 9, random(r, rows*9))
				for _, n := range []int{1, 3, 8} {
					room := make([]float32, n*rows+64)
					for i := range room {
						room[i] = 1234
					}
					w.Mul(room[32:32+n*rows:32+n*rows], random(r, n*9), n)
					for i, v := range room {
						if outside := i < 32 || i >= 32+n*rows; outside != (v == 1234) {
							t.Fatalf("%s, %d rows, %d vectors: value %d outside them is %v", kind, rows, n, i-32, v)
						}
					}
				}
			}
		}
	})
}

// TestMulAgainstFloat64: products match float64 within a bound that follows from the
// rounding of each step: k·2⁻²⁴·Σ|w·x| for k columns.
func TestMulAgainstFloat64(t *testing.T) {
	onEveryPath(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		const rows, cols = 50, 333
		data, x := random(r, rows*cols), random(r, cols)
		dst := make([]float32, rows)
		Pack(rows, cols, data).Mul(dst, x, 1)
		for i := range dst {
			var want, size float64
			for j := range x {
				p := float64(data[i*cols+j]) * float64(x[j])
				want, size = want+p, size+math.Abs(p)
			}
			if bound := cols * size / (1 << 24); !(math.Abs(float64(dst[i])-want) <= bound) {
				t.Errorf("row %d: %v, want %v within %.2g", i, dst[i], want, bound)
			}
		}
	})
}

// TestBfloat16ProductsAreExact: if all weights are bfloat16, they take half the memory, and their
// products equal the products of float32 panels, bit for bit. If any row contains a value with more
// bits, Pack uses float32.
func TestBfloat16ProductsAreExact(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 2))
	onEveryPath(t, func(t *testing.T) {
		for _, shape := range [][2]int{{1, 1}, {15, 3}, {17, 64}, {33, 65}, {64, 192}, {96, 130}, {129, 31}} {
			rows, cols := shape[0], shape[1]
			data := bfloat16(random(r, rows*cols))
			narrow, wide := Pack(rows, cols, data), Pack(
				rows+1, cols, append(data, slices.Repeat([]float32{1.1}, cols)...),
			)
			if narrow.halves == nil || wide.floats == nil {
				t.Fatalf(
					"%v: bfloat16 stored as words: %v, float32 unchanged: %v; want both", shape, narrow.halves != nil,
					wide.floats != nil,
				)
			}
			for _, n := range []int{1, 2, 3, 4, 7, 8, 13} {
				x, a, b := random(r, n*cols), make([]float32, n*rows), make([]float32, n*(rows+1))
				narrow.Mul(a, x, n)
				wide.Mul(b, x, n)
				for i := range n {
					if !sameBits(a[i*rows:(i+1)*rows], b[i*(rows+1):(i+1)*(rows+1)-1]) {
						t.Fatalf("%v with %d vectors: vector %d differs", shape, n, i)
					}
				}
			}
		}
	})
}

// comparePaths runs f on every path. Results must be within tolerance of the portable path's
// results, and the two vector paths must agree bit for bit.
func comparePaths(tb testing.TB, what string, tolerance float64, f func() []float32) {
	tb.Helper()
	var results [][]float32
	for _, p := range Paths() {
		on(tb, p, func() { results = append(results, f()) })
		got, want := results[p], results[0]
		for i := range got {
			if !(math.Abs(float64(got[i])-float64(want[i])) <= tolerance) {
				tb.Fatalf(
					"%s: %v has %v at %d, portable %v; want about %v", what, p, got[i], i, want[i], float64(want[i]),
				)
			}
		}
		if p > AVX2 && !sameBits(got, results[AVX2]) {
			tb.Fatalf("%s: %v and %v differ", what, p, AVX2)
		}
	}
}

// TestMulPreservesNonFiniteValues: if a value of a vector is not finite, the product must not be
// finite either.
func TestMulPreservesNonFiniteValues(t *testing.T) {
	onEveryPath(t, func(t *testing.T) {
		for kind, pack := range kinds {
			for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))} {
				for at := range 64 {
					x := slices.Repeat([]float32{1}, 64)
					x[at] = bad
					dst := make([]float32, 1)
					pack(1, 64, slices.Repeat([]float32{1}, 64)).Mul(dst, x, 1)
					if v := float64(dst[0]); !math.IsNaN(v) && !math.IsInf(v, 0) {
						t.Fatalf("%s: %v at %d of the vector gives %v, want NaN or an infinity", kind, bad, at, v)
					}
				}
			}
		}
	})
}

// TestRowReadsPackedMatrix: Row returns the rows of a packed matrix: exactly for float32, and
// within half a step for int8.
func TestRowReadsPackedMatrix(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 1))
	const rows, cols = 70, 67
	data := random(r, rows*cols)
	for kind, pack := range kinds {
		w, row := pack(rows, cols, data), make([]float32, cols)
		for i := range rows {
			w.Row(row, i)
			for c, v := range row {
				in := data[i*cols+c]
				if kind == "bfloat16" {
					in = bfloat16([]float32{in})[0]
				}
				if diff := math.Abs(float64(v - in)); !(diff <= 5.1/254) || kind != "int8" && diff != 0 {
					t.Fatalf(
						"%s: value %d of row %d is %v, want %v, exactly except for rounding in int8", kind, c, i, v, in,
					)
				}
			}
		}
	}
}

func TestMulEmptyMatrices(t *testing.T) {
	for _, pack := range kinds {
		dst := []float32{1, 1}
		if n := pack(2, 0, nil).Mul(dst, nil, 1); n != 0 || dst[0] != 0 || dst[1] != 0 {
			t.Errorf("a product with no columns gives %v, %d multiply-adds", dst, n)
		}
		if n := pack(0, 2, nil).Mul(nil, []float32{1, 2}, 1); n != 0 {
			t.Errorf("a product with no rows took %d multiply-adds", n)
		}
		if n := pack(2, 2, make([]float32, 4)).Mul(nil, nil, 0); n != 0 {
			t.Errorf("a product with no vectors took %d multiply-adds", n)
		}
	}
}

func TestMismatchedSizesPanic(t *testing.T) {
	w := Pack(1, 2, []float32{1, 2})
	for name, f := range map[string]func(){
		"Mul, vector too short":  func() { w.Mul(make([]float32, 1), []float32{1}, 1) },
		"Mul, no room":           func() { w.Mul(nil, []float32{1, 2}, 1) },
		"Mul, negative":          func() { w.Mul(nil, nil, -1) },
		"Pack, too few":          func() { Pack(2, 2, []float32{1, 2, 3}) },
		"Quantize, too many":     func() { Quantize(1, 2, []float32{1, 2, 3}) },
		"Row, past the end":      func() { w.Row(make([]float32, 2), 1) },
		"Row, too short":         func() { w.Row(make([]float32, 1), 0) },
		"Dot":                    func() { Dot([]float32{1}, []float32{1, 2}) },
		"AddScaled":              func() { AddScaled([]float32{1}, 1, []float32{1, 2}) },
		"SwiGLU":                 func() { SwiGLU([]float32{1}, []float32{1, 2}) },
		"Scores, keys too short": func() { Scores(make([]float32, 2), make([]float32, 3), make([]float32, 6), 4, 1) },
		"Scores, overlapping":    func() { Scores(make([]float32, 2), make([]float32, 3), make([]float32, 9), 2, 1) },
		"Mix, values too short":  func() { Mix(make([]float32, 3), make([]float32, 2), make([]float32, 6), 4) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("taken")
				}
			}()
			f()
		})
	}
}

func TestMulDoesNotAllocate(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	onEveryPath(t, func(t *testing.T) {
		for kind, pack := range kinds {
			w, x, dst := pack(70, 130, random(r, 70*130)), random(r, 9*130), make([]float32, 9*70)
			w.Mul(dst, x, 9)
			for _, n := range []int{1, 9} {
				if got := testing.AllocsPerRun(50, func() { w.Mul(dst[:n*70], x[:n*130], n) }); got != 0 {
					t.Errorf("%s, %d vectors: got %v allocations, want 0", kind, n, got)
				}
			}
		}
		if got := testing.AllocsPerRun(50, func() {
			a := [9]float32{1, 2, 3}
			Softmax(a[:])
			SwiGLU(a[:], a[:])
		}); got != 0 {
			t.Errorf("short vectors: got %v allocations, want 0", got)
		}
	})
}

func TestPackedBytes(t *testing.T) {
	// 33 rows take 2 panels, and 65 columns take 2 blocks of 64.
	data := slices.Repeat([]float32{1.1}, 33*65)
	for kind, want := range map[string]int64{
		"float32": 2 * 32 * 65 * 4, "bfloat16": 2 * 32 * 65 * 2, "int8": 2 * 2 * (32*64 + 32*4),
	} {
		if got := kinds[kind](33, 65, data).Bytes(); got != want {
			t.Errorf("%s takes %d bytes, want %d", kind, got, want)
		}
	}
}

func TestPathNamesParse(t *testing.T) {
	for p := Portable; p <= AVX512; p++ {
		if got, err := ParsePath(p.String()); err != nil || got != p {
			t.Errorf("ParsePath(%q) = %v, %v; want %v, <nil>", p.String(), got, err, p)
		}
	}
	if _, err := ParsePath("sse"); err == nil {
		t.Error("ParsePath accepted sse")
	}
	if _, err := Use(best + 1); err == nil {
		t.Error("Use accepted a path that the machine does not support")
	}
}

// TestDetectionAgreesWithTheSystem: the detected path agrees with the operating system's list of
// the processor's features.
func TestDetectionAgreesWithTheSystem(t *testing.T) {
	info, err := os.ReadFile("/proc/cpuinfo")
	_, after, found := bytes.Cut(info, []byte("\nflags"))
	if err != nil || !found {
		t.Skip("no /proc/cpuinfo with flags here")
	}
	line, _, _ := bytes.Cut(after, []byte("\n"))
	has := func(names ...string) bool {
		for _, n := range names {
			if !bytes.Contains(append(line, ' '), []byte(" "+n+" ")) {
				return false
			}
		}
		return true
	}
	want := Portable
	if has("avx2", "fma") {
		want = AVX2
		if has("avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_vnni") {
			want = AVX512
		}
	}
	if best != want {
		t.Errorf("detected %v, want %v according to the system's flags", best, want)
	}
}
