package kernel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestEachEqualsSingleQueries: processing several queries together gives the same results as
// processing each alone, bit for bit. The same is true of several rows of weights and of several
// matrices, for any number of queries, keys and values.
func TestEachEqualsSingleQueries(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 4))
	onEveryPath(t, func(t *testing.T) {
		for _, size := range []int{1, 8, 24, 31, 32, 64, 96} {
			for queries := 1; queries <= 8; queries++ {
				for _, n := range []int{1, 3, 4, 5, 7, 8, 19} {
					compareEach(t, r, size, queries, n)
				}
			}
		}
	})
}

func compareEach(t *testing.T, r *rand.Rand, size, queries, n int) {
	t.Helper()
	const behind = 1234
	stride := size + r.IntN(9)
	q, keys, weights := random(r, queries*size), random(r, n*stride), random(r, queries*n)
	what := fmt.Sprintf("%d queries of %d values, %d keys, %v", queries, size, n, Current())

	got, want := slices.Repeat([]float32{behind}, queries*n+16), make([]float32, queries*n)
	ScoresEach(got[:queries*n:queries*n], q, keys, queries, stride, 0.3)
	for i := range queries {
		Scores(want[i*n:(i+1)*n], q[i*size:(i+1)*size], keys, stride, 0.3)
	}
	if !sameBits(got[:queries*n], want) || got[queries*n] != behind {
		t.Fatalf("%s: the scores differ from single queries' scores", what)
	}

	got, want = slices.Repeat([]float32{behind}, queries*size+16), make([]float32, queries*size)
	MixEach(got[:queries*size:queries*size], weights, keys, queries, stride)
	for i := range queries {
		Mix(want[i*size:(i+1)*size], weights[i*n:(i+1)*n], keys, stride)
	}
	if !sameBits(got[:queries*size], want) || got[queries*size] != behind {
		t.Fatalf("%s: the mixes differ from single rows' mixes", what)
	}
}

func TestMulEachEqualsSingleProducts(t *testing.T) {
	r := rand.New(rand.NewPCG(22, 4))
	onEveryPath(t, func(t *testing.T) {
		for _, cols := range []int{1, 64, 100} {
			const n = 5
			x, y := random(r, n*cols), random(r, 40*cols)
			all := []Product{
				{Quantize(40, cols, y), make([]float32, n*40)},
				{Pack(40, cols, y), make([]float32, n*40)},
				{Quantize(3, cols, y[:3*cols]), make([]float32, n*3)},
				{},
			}
			all[3].Matrix = Matrix{Cols: cols}
			if ops := MulEach(x, n, all...); ops != int64(n*cols*(40+40+3)) {
				t.Errorf("%d multiply-adds, want %d", ops, n*cols*83)
			}
			for i, p := range all {
				alone := make([]float32, len(p.Dst))
				if p.Matrix.Mul(alone, x, n); !sameBits(alone, p.Dst) {
					t.Errorf("matrix %d of several, with %d columns, gives different bits than alone", i, cols)
				}
			}
		}
	})
}

// TestScaleByHand: ScaleBy computes (2 · 3) · 5 = 30 and (−1 · 3) · 0.5 = −1.5.
func TestScaleByHand(t *testing.T) {
	onEveryPath(t, func(t *testing.T) {
		dst := make([]float32, 2)
		if ScaleBy(dst, []float32{2, -1}, []float32{5, 0.5}, 3); !slices.Equal(dst, []float32{30, -1.5}) {
			t.Errorf("ScaleBy gives %v, want 30 -1.5", dst)
		}
	})
}

// FuzzVectors runs the operations of attention and activations on every path: the vector paths
// agree bit for bit, the portable path agrees with them within the rounding error, and processing
// several queries together gives the same results as processing each alone.
func FuzzVectors(f *testing.F) {
	for _, seed := range [][4]uint64{{1, 1, 1, 0}, {32, 3, 8, 1}, {33, 6, 9, 2}, {64, 4, 130, 3}, {96, 7, 31, 4}} {
		f.Add(seed[0], seed[1], seed[2], seed[3])
	}
	f.Fuzz(func(t *testing.T, size, queries, n, seed uint64) {
		compareVectors(t, 1+int(size%130), 1+int(queries%9), 1+int(n%200), seed)
	})
}

func compareVectors(t *testing.T, size, queries, n int, seed uint64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 23))
	q, keys, up := random(r, queries*size), random(r, n*size), random(r, queries*size)
	what := fmt.Sprintf("%d queries of %d values, %d keys, seed %d", queries, size, n, seed)
	weights := make([]float32, queries*n)
	comparePaths(t, what+": scores", 1e-5*float64(size), func() []float32 {
		ScoresEach(weights, q, keys, queries, size, 0.1)
		return slices.Clone(weights)
	})
	comparePaths(t, what+": weights", 1e-5*float64(size), func() []float32 {
		w := slices.Clone(weights)
		for i := range queries {
			Softmax(w[i*n : (i+1)*n])
		}
		return w
	})
	comparePaths(t, what+": mixes", 1e-5*float64(n), func() []float32 {
		out := make([]float32, queries*size)
		MixEach(out, weights, keys, queries, size)
		return out
	})
	comparePaths(t, what+": activations and norms", 1e-4, func() []float32 {
		gate := slices.Clone(q)
		SwiGLU(gate, up)
		ScaleBy(gate, gate, up, 0.7)
		return gate
	})
	for _, p := range Paths() {
		on(t, p, func() { compareEach(t, r, size, queries, n) })
	}
}
