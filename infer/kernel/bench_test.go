package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkMul multiplies every matrix of a model with the bundled model's shape, as a pass does,
// so weights come from the same level of memory as in practice.
func BenchmarkMul(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, kind := range []string{"float32", "bfloat16", "int8", "levels"} {
		pack := kinds[kind]
		if kind == "levels" {
			pack = func(rows, cols int, _ []float32) Matrix { w, _ := randomLevels(r, rows, cols); return w }
		}
		var weights []Matrix
		most := 0
		for range 6 {
			for _, s := range [][2]int{
				{192, 192}, {64, 192}, {64, 192}, {192, 192}, {512, 192}, {512, 192}, {192, 512},
			} {
				weights = append(weights, pack(s[0], s[1], random(r, s[0]*s[1])))
			}
		}
		weights = append(weights, pack(4096, 192, random(r, 4096*192)))
		for _, w := range weights {
			most = max(most, w.Rows, w.Cols)
		}
		x, dst := random(r, 32*most), make([]float32, 32*most)
		for _, p := range Paths() {
			for _, n := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 32} {
				b.Run(fmt.Sprintf("%s/%v/%d", kind, p, n), func(b *testing.B) {
					on(b, p, func() {
						var ops int64
						for b.Loop() {
							for _, w := range weights {
								ops += w.Mul(dst[:n*w.Rows], x[:n*w.Cols], n)
							}
						}
						b.ReportMetric(2*float64(ops)/1e9/b.Elapsed().Seconds(), "Gop/s")
					})
				})
			}
		}
	}
}

// BenchmarkAttention runs one head of size 32 over 256 positions.
func BenchmarkAttention(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 7))
	q, keys, values, out, w := random(r, 32), random(r, 256*64), random(
		r, 256*64,
	), make([]float32, 32), make([]float32, 256)
	for _, p := range Paths() {
		b.Run(p.String(), func(b *testing.B) {
			on(b, p, func() {
				for b.Loop() {
					Scores(w, q, keys, 64, 0.1)
					Softmax(w)
					Mix(out, w, values, 64)
				}
			})
		})
	}
}
