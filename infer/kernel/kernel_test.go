package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestMulByHand(t *testing.T) {
	// [[1 2 3] [4 5 6]] times (1, 0, −1) and (2, 2, 2).
	w := Matrix{Rows: 2, Cols: 3, Data: []float32{1, 2, 3, 4, 5, 6}}
	dst := make([]float32, 4)
	if n := w.Mul(dst, []float32{1, 0, -1, 2, 2, 2}, 2); n != 12 {
		t.Errorf("%d multiply-adds, want 12", n)
	}
	for i, want := range []float32{-2, -2, 12, 30} {
		if dst[i] != want {
			t.Errorf("dst[%d] = %v, want %v", i, dst[i], want)
		}
	}
}

// TestBatchSizesAgree holds the promise that the number of vectors does not
// change one bit of any of them, odd lengths included.
func TestBatchSizesAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, shape := range [][2]int{{1, 1}, {3, 5}, {7, 31}, {64, 192}, {33, 97}} {
		w := Matrix{Rows: shape[0], Cols: shape[1], Data: random(r, shape[0]*shape[1])}
		const most = 16
		x := random(r, most*w.Cols)
		alone := make([]float32, most*w.Rows)
		for i := range most {
			w.Mul(alone[i*w.Rows:(i+1)*w.Rows], x[i*w.Cols:(i+1)*w.Cols], 1)
		}
		for _, n := range []int{2, 4, 8, most} {
			together := make([]float32, n*w.Rows)
			w.Mul(together, x[:n*w.Cols], n)
			for i := range together {
				if math.Float32bits(together[i]) != math.Float32bits(alone[i]) {
					t.Fatalf("%v: value %d differs between 1 and %d vectors", shape, i, n)
				}
			}
		}
	}
}

func TestMulAgainstFloat64(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	w := Matrix{Rows: 50, Cols: 333, Data: random(r, 50*333)}
	x := random(r, 333)
	dst := make([]float32, 50)
	w.Mul(dst, x, 1)
	for i := range dst {
		var want float64
		for j := range x {
			want += float64(w.Data[i*333+j]) * float64(x[j])
		}
		if math.Abs(float64(dst[i])-want) > 1e-4 {
			t.Errorf("row %d: %v, want %v", i, dst[i], want)
		}
	}
}

func TestMulRefusesSizesThatDoNotFit(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("Mul took a vector that is too short")
		}
	}()
	Matrix{Rows: 1, Cols: 2, Data: []float32{1, 2}}.Mul(make([]float32, 1), []float32{1}, 1)
}

func random(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

func BenchmarkMul(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 6))
	w := Matrix{Rows: 512, Cols: 192, Data: random(r, 512*192)}
	for _, n := range []int{1, 8} {
		x, dst := random(r, n*192), make([]float32, n*512)
		b.Run(map[int]string{1: "vector", 8: "8 columns"}[n], func(b *testing.B) {
			var ops int64
			for b.Loop() {
				ops += w.Mul(dst, x, n)
			}
			b.ReportMetric(2*float64(ops)/1e9/b.Elapsed().Seconds(), "GFLOP/s")
		})
	}
}
