package sampling

import "math"

// topNSigma keeps the tokens whose score is within n standard deviations σ of the highest (Tang et
// al. 2024, "Top-nσ: Not All Logits Are You Need"). It uses scores, not probabilities: a
// temperature scales the scores and σ by the same factor, so it does not change which tokens are
// kept. The mean and σ are computed over the tokens on which the rule is measured.
func topNSigma(f field, in input) mask {
	var mean, squares float64
	for _, id := range f.ids {
		mean += float64(f.z[id])
	}
	mean /= float64(len(f.ids))
	for _, id := range f.ids {
		d := float64(f.z[id]) - mean
		squares += d * d
	}
	m := mask{bound: float64(f.z[f.ids[0]]) - in.TopNSigma*math.Sqrt(squares/float64(len(f.ids)))}
	for m.n < len(f.ids) && float64(f.z[f.ids[m.n]]) >= m.bound {
		m.n++
	}
	m.n = max(m.n, 1)
	return m
}

func scoreAgainst(f field, m mask, at int, _ Settings) Reason {
	return Reason{Value: float64(f.z[f.ids[at]]), Bound: m.bound}
}
