// Package sampling chooses a token, given a vector of logits.
//
// It contains the arithmetic of the loop's stages 3 to 5 and nothing else: no model, no clock, no
// random source. The pages, the terminal trace and the exercises all call these functions, so
// exercises are graded with the same code that the program runs.
//
// A chain of rules (rules.go) shapes and cuts the distribution. A rule uses the scores, the text so
// far, its own state and its own u, and changes scores or cuts tokens. The order is this program's
// own (libraries differ):
//
//  1. The rules that change scores: the logit bias, the repetition, frequency and presence
//     penalties, DRY, and finally the temperature, which divides the scores:
//     [Context.Score]. Then the softmax over the whole vocabulary: [Softmax].
//  2. A grammar, if there is one, cuts every token that cannot come next. Then the filters
//     top-k, top-p, min-p, typical-p, top-nσ, XTC and mirostat, each measured on those
//     same probabilities (rescaled after a grammar), before any other filter has cut
//     anything: [Context.Filter].
//  3. One renormalization over the tokens that all filters keep or, if there are none,
//     over the most probable token.
//  4. One draw: u, uniform in [0, 1), selects one of the kept tokens, placed end to end:
//     [Distribution.Draw], with u from [U].
//
// Another order ([Settings].Order) can run the temperature later, and can measure each rule on the
// rescaled probabilities of the tokens that the previous rule left, as llama.cpp and Hugging Face
// do.
//
// T = 0 is greedy: the probabilities shown are those at T = 1, one token is kept, and no u
// is drawn. Ties break toward the lower token id everywhere.
//
// [Decide] does steps 1 to 3 for the whole vocabulary and ranks it. Use a [Sampler] if you only
// need a token and its probability: it computes the same results faster, bit for bit. Tests compare
// the two.
package sampling

import (
	"cmp"
	"math"
	"slices"

	"github.com/tokenbytoken/viz/infer/kernel"
	"github.com/tokenbytoken/viz/infer/terms"
)

// Uncut reports whether no filter is on.
func (s Settings) Uncut() bool {
	for _, r := range chain {
		if _, on := r.on(s); on && r.keep != nil && r.name != RuleGreedy {
			return false
		}
	}
	return true
}

// Scoring returns the settings of the rules that change scores, with all other settings as in
// [Pure]. Although the temperature divides scores, it is not one of these rules here.
func (s Settings) Scoring() Settings {
	only := Pure
	only.LogitBias = s.LogitBias
	for _, r := range chain {
		if _, on := r.on(s); !on || r.score == nil || r.name == RuleTemperature {
			continue
		}
		for _, key := range append([]string{r.key()}, r.also...) {
			if x, ok := s.Value(key); ok {
				only.Set(key, x)
			}
		}
	}
	return only
}

// Greedy reports whether the most probable token is chosen without a draw.
func (s Settings) Greedy() bool { return s.Temperature == 0 }

// Value returns the setting of a knob ([terms.Knob]), or false if the knob does not belong
// to sampling.
func (s Settings) Value(key string) (float64, bool) {
	if key == "top_k" {
		return float64(s.TopK), true
	}
	at, usual := s.field(key)
	if at == nil {
		return 0, false
	}
	return cmp.Or(*at, usual), true
}

// Set sets a knob to a valid value ([terms.Knob.Check]), and reports whether the knob belongs to
// sampling. A negative zero is stored without its sign, because the sign would be shown.
func (s *Settings) Set(key string, x float64) bool {
	if key == "top_k" {
		s.TopK = int(min(x, math.MaxInt32)) // more than the size of any vocabulary
		return true
	}
	at, usual := s.field(key)
	if at == nil {
		return false
	}
	if *at = x; x == usual {
		*at = 0
	}
	return true
}

// Check returns a *[RangeError] for the first field outside its range, or nil.
func (s Settings) Check() error {
	for _, k := range terms.Knobs() {
		if x, ok := s.Value(k.Key); ok {
			if err := k.Check(x); err != nil {
				return err
			}
		}
	}
	if err := s.Order.Check(); err != nil {
		return err
	}
	return s.LogitBias.Check()
}

// Softmax returns p [vocab] with p_i = e^{(z_i−max)/t} / Σ_j e^{(z_j−max)/t}, computed in float64
// over the whole of z [vocab]; at t = 0, the result is the distribution at t = 1, which greedy
// shows. Subtracting the largest score first changes nothing (only differences of logits matter)
// and keeps the exponentials finite. z must be finite and not empty.
func Softmax(z []float32, t float64) (p []float64, max, sum float64) {
	max = float64(kernel.Max(z))
	p = make([]float64, len(z))
	sum = kernel.ExpSum(p, z, max, divisor(t))
	kernel.DivideBy(p, sum)
	return p, max, sum
}

// divisor returns the number by which the logits are divided at a temperature.
func divisor(t float64) float64 {
	if t == 0 {
		return 1
	}
	return t
}

// Rank returns the token ids [vocab] from the highest score to the lowest, equal scores by
// ascending id. The temperature never changes this order. A large vocabulary is sorted digit by
// digit, in linear time (rank.go).
func Rank(z []float32) []int32 {
	if len(z) < radixFrom {
		return rankByComparing(z)
	}
	return rankByDigits(z)
}

// RankIn returns a token's position in the result of [Rank], from 1, without sorting.
func RankIn(z []float32, id int) int {
	rank := 1
	for i, zi := range z {
		if zi > z[id] || zi == z[id] && i < id {
			rank++
		}
	}
	return rank
}

// Top returns the first n ids in the result of [Rank] without sorting the rest.
func Top(z []float32, n int) []int32 {
	if n <= 0 {
		return nil
	}
	top := make([]int32, 0, n+1)
	for i, zi := range z {
		if len(top) == n && zi <= z[top[n-1]] {
			continue
		}
		// Insert the token after all tokens with the same score, since they have lower ids.
		at := len(top)
		for at > 0 && z[top[at-1]] < zi {
			at--
		}
		top = slices.Insert(top, at, int32(i))[:min(n, len(top)+1)]
	}
	return top
}

// Entropy returns −Σ p·log2 p in bits: 0 if the model is certain, and log2(vocab) if all tokens are
// equally likely.
func Entropy(p []float64) float64 {
	var h float64
	for _, x := range p {
		if x > 0 {
			h -= x * math.Log2(x)
		}
	}
	return h
}

// SoftmaxEntropy returns the [Entropy] of p, where p, max and sum are the results of [Softmax] for
// z [vocab] at t. It does not need a logarithm for each token, since −ln p is ln sum + (max − z)/t,
// and the p sum to 1. No term is negative, so no precision is lost to cancellation.
func SoftmaxEntropy(z []float32, t float64, p []float64, max, sum float64) float64 {
	var below float64 // the average distance from the highest score of a token drawn from p
	for i, x := range p {
		below += x * (max - float64(z[i]))
	}
	return (math.Log(sum) + below/divisor(t)) / math.Ln2
}

// U returns the number drawn at a step (1 for the first generated token): the upper 53 bits of the
// step-th output of the SplitMix64 generator (Steele, Lea and Flood 2014), started at seed, as a
// fraction in [0, 1). It depends only on seed and step, so u is the same at a given step even after
// going back or branching to another text.
func U(seed uint64, step int) float64 {
	x := seed + uint64(step)*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	x ^= x >> 31
	return float64(x>>11) / (1 << 53)
}

// roundingSlack is the amount by which a sum of probabilities can fall short of p because of
// rounding alone: eight times 0.1 adds up to 0.7999999999999999, which counts as 0.8.
const roundingSlack = 1e-12

// prefixReaching returns the length of the shortest prefix of cum whose last value is at
// least p: the nucleus, including the token that crosses p.
func prefixReaching(cum []float64, p float64) int {
	i, _ := slices.BinarySearchFunc(cum, p-roundingSlack, cmp.Compare[float64])
	return min(i+1, len(cum))
}
