package sampling

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// penalizeRepeated is the repetition penalty θ of CTRL (Keskar et al. 2019): the score of each
// token in the text, no matter how often it occurs, is divided by θ if positive and multiplied by θ
// if negative, so that it never rises. As in other libraries, the prompt is included, with its
// start mark. (By default, llama.cpp uses only the last 64 tokens; this rule uses all tokens.)
func penalizeRepeated(s Scores, in input) Scores {
	theta := float32(in.RepetitionPenalty)
	z := slices.Clone(s.Z)
	for _, id := range in.text { // computed from the old score, so that repetitions have no further effect
		if z[id] = s.Z[id] / theta; s.Z[id] < 0 {
			z[id] = max(s.Z[id]*theta, -math.MaxFloat32)
		}
	}
	s.Z = z
	return s
}

// addBias adds the caller's biases to the scores of individual tokens, as OpenAI's logit_bias does
// (API reference, "logit_bias"): −100 practically forbids a token, and 100 practically forces it.
// Ids that are not in the vocabulary have no effect.
func addBias(s Scores, in input) Scores {
	z := slices.Clone(s.Z)
	for id, b := range in.LogitBias.All() {
		if id < len(z) {
			z[id] = finite(z[id] + float32(b))
		}
	}
	s.Z = z
	return s
}

// penalizeFrequent is OpenAI's frequency penalty α (API guide, "Frequency and presence penalties"):
// the score of a token falls by α for each time that it was generated. The prompt does not count.
// llama.cpp computes the same sum over the last 64 tokens, including prompt tokens.
func penalizeFrequent(s Scores, in input) Scores {
	counts := map[int]int{}
	for _, id := range in.wrote {
		counts[id]++
	}
	return s.lowered(counts, func(n int) float64 { return float64(n) * in.FrequencyPenalty })
}

// penalizePresent is OpenAI's presence penalty α: the score of a token that was generated
// at least once falls by α.
func penalizePresent(s Scores, in input) Scores {
	counts := map[int]int{}
	for _, id := range in.wrote {
		counts[id] = 1
	}
	return s.lowered(counts, func(int) float64 { return in.PresencePenalty })
}

// lowered subtracts by(n) from the score of each token with a count of n. It returns a new slice of
// scores.
func (s Scores) lowered(counts map[int]int, by func(n int) float64) Scores {
	if len(counts) == 0 {
		return s
	}
	z := slices.Clone(s.Z)
	for id, n := range counts {
		z[id] = finite(z[id] - float32(by(n)))
	}
	s.Z = z
	return s
}

// finite clamps a score to the range of a float32.
func finite(z float32) float32 { return min(max(z, -math.MaxFloat32), math.MaxFloat32) }

// divide applies the temperature: the softmax uses z/T.
func divide(s Scores, in input) Scores {
	s.T = divisor(in.Temperature)
	return s
}

// mostProbable is greedy: it keeps one token.
func mostProbable(field, input) mask { return mask{n: 1} }

func noReason(field, mask, int, Settings) Reason { return Reason{} }

// topK keeps the k most probable tokens (Fan et al. 2018). Among equal tokens, those with lower ids
// are kept; in llama.cpp, this depends on the sort function of its C++ library.
func topK(f field, in input) mask { return mask{n: min(in.TopK, len(f.ids))} }

func rankAgainstK(_ field, _ mask, at int, in Settings) Reason {
	return Reason{Value: float64(at + 1), Bound: float64(in.TopK)}
}

// topP keeps the smallest leading set whose probability is at least p (Holtzman et al.
// 2019).
func topP(f field, in input) mask { return mask{n: prefixReaching(f.cum, in.TopP*f.mass)} }

func sumBefore(f field, _ mask, at int, in Settings) Reason {
	return Reason{Value: (f.cum[at] - f.p[f.ids[at]]) / f.mass, Bound: in.TopP}
}

// minP keeps the tokens that are at least min-p times as probable as the first (Nguyen et al.
// 2024).
func minP(f field, in input) mask {
	least := in.MinP * f.p[f.ids[0]]
	return mask{n: sort.Search(len(f.ids), func(r int) bool { return f.p[f.ids[r]] < least })}
}

func shareOfFirst(f field, _ mask, at int, in Settings) Reason {
	return Reason{Value: f.share(at), Bound: in.MinP * f.share(0)}
}

// typicalP keeps the tokens whose surprise −ln p is nearest to the average, the entropy in nats,
// until the total probability of the kept tokens is at least typical-p (Meister et al. 2022,
// "Locally Typical Sampling"). If two tokens are equally near, the more probable token comes first.
// The rule can cut the most probable token, whose surprise may be too small. A token with p = 0
// adds nothing to the entropy. In llama.cpp, which sums p · log p in float32, such a token makes
// the sum NaN. So if top-nσ has already cut tokens, the tokens that typical-p keeps in llama.cpp
// depend on the sort function of the C++ library.
func typicalP(f field, in input) mask {
	n := len(f.ids)
	surprise, near := make([]float64, n), make([]int32, n)
	m := mask{some: make([]bool, n)}
	for r, id := range f.ids {
		near[r] = int32(r)
		p := f.p[id] / f.mass
		if surprise[r] = -math.Log(p); p > 0 {
			m.mean += p * surprise[r]
		}
	}
	away := func(r int32) float64 { return math.Abs(surprise[r] - m.mean) }
	slices.SortFunc(near, func(a, b int32) int { return cmp.Or(cmp.Compare(away(a), away(b)), cmp.Compare(a, b)) })
	var total float64
	for _, r := range near {
		m.some[r] = true
		m.n++
		m.bound = away(r)
		if total += f.p[f.ids[r]] / f.mass; total >= in.TypicalP-roundingSlack {
			break
		}
	}
	return m.leading()
}

func distance(f field, m mask, at int, _ Settings) Reason {
	surprise := -math.Log(f.share(at))
	return Reason{Value: math.Abs(surprise - m.mean), Bound: m.bound, Surprise: surprise, Mean: m.mean}
}
