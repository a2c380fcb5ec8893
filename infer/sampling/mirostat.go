package sampling

import "math"

// mirostat is version 2 of Basu et al. 2020, "Mirostat: A Neural Text Decoding Algorithm that
// Directly Controls Perplexity". It keeps the tokens whose surprise −log₂ p is at most μ bits, but
// at least one token. μ starts at 2τ. After each draw, it is adjusted so that the surprise of drawn
// tokens comes closer to τ (learnSurprise). So μ is the state of the rule; it depends only on the
// run's log.
func mirostat(f field, in input) mask {
	m := mask{bound: in.mu()}
	for m.n < len(f.ids) && -math.Log2(f.p[f.ids[m.n]]/f.mass) <= m.bound {
		m.n++
	}
	m.n = max(m.n, 1)
	return m
}

// mu returns the largest surprise that mirostat allows at this step, in bits.
func (in input) mu() float64 {
	if mu, ok := in.state.(float64); ok {
		return mu
	}
	return 2 * in.MirostatTau
}

// mostSurprise is the surprise of the smallest positive float64.
const mostSurprise = 1074

// learnSurprise returns μ for the next step: μ − η·(−log₂ q − τ), where q is the probability of the
// drawn token among the kept tokens. llama.cpp also uses q. The paper's program uses the
// probability before the cut, which is used here only if a user chose a token that was cut.
func learnSurprise(d *Distribution, r int, in input) any {
	q := d.Q(r)
	if q == 0 {
		q = d.P[d.Order[r]]
	}
	eta, _ := in.Value("mirostat_eta")
	return in.mu() - eta*(min(-math.Log2(q), mostSurprise)-in.MirostatTau)
}

func surpriseAgainst(f field, m mask, at int, _ Settings) Reason {
	return Reason{Value: -math.Log2(f.share(at)), Bound: m.bound}
}
