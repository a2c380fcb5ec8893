package sampling

import "math"

// Divergence returns the Kullback–Leibler divergence Σ p·ln(p/q) of the softmaxes of two
// rows of logits at T = 1, in nats, computed in float64.
func Divergence(p, q []float32) float64 {
	zp, zq := logSum(p), logSum(q)
	var d float64
	for i := range p {
		lp, lq := float64(p[i])-zp, float64(q[i])-zq
		d += math.Exp(lp) * (lp - lq)
	}
	return max(d, 0) // rounding can make it slightly negative
}

// logSum returns ln Σ e^z.
func logSum(z []float32) float64 {
	most := math.Inf(-1)
	for _, v := range z {
		most = max(most, float64(v))
	}
	var sum float64
	for _, v := range z {
		sum += math.Exp(float64(v) - most)
	}
	return most + math.Log(sum)
}
