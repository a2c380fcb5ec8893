package sampling

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// penalizeRepeated is the repetition penalty θ of CTRL (Keskar et al. 2019): the
// score of each token that is in the text, however often, is divided by θ where it
// is positive and multiplied by θ where it is negative, so that it never rises. As
// in other libraries the prompt counts, and its start mark. (llama.cpp looks at the last
// 64 tokens unless told otherwise, here all are looked at.)
func penalizeRepeated(s Scores, in input) Scores {
	theta := float32(in.RepetitionPenalty)
	z := slices.Clone(s.Z)
	for _, id := range in.text { // of the old scores, so that a second time changes nothing
		if z[id] = s.Z[id] / theta; s.Z[id] < 0 {
			z[id] = max(s.Z[id]*theta, -math.MaxFloat32)
		}
	}
	s.Z = z
	return s
}

// addBias adds to the scores of single tokens what the caller asks for, as OpenAI's
// logit_bias does (API reference, "logit_bias"): −100 all but forbids a token, 100
// all but forces it. Ids that the vocabulary lacks change nothing.
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

// penalizeFrequent is OpenAI's frequency penalty α (API guide, "Frequency and presence
// penalties"): the score of a token falls by α for each time that it was generated.
// The prompt does not count. llama.cpp does the same sum over its last 64 tokens, the
// prompt's among them.
func penalizeFrequent(s Scores, in input) Scores {
	counts := map[int]int{}
	for _, id := range in.wrote {
		counts[id]++
	}
	return s.lowered(counts, func(n int) float64 { return float64(n) * in.FrequencyPenalty })
}

// penalizePresent is OpenAI's presence penalty α: the score of a token that was
// generated, however often, falls by α.
func penalizePresent(s Scores, in input) Scores {
	counts := map[int]int{}
	for _, id := range in.wrote {
		counts[id] = 1
	}
	return s.lowered(counts, func(int) float64 { return in.PresencePenalty })
}

// lowered takes something away from the scores of the tokens that are counted. The
// scores are whole new ones.
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

// finite keeps a score within what a float32 holds.
func finite(z float32) float32 { return min(max(z, -math.MaxFloat32), math.MaxFloat32) }

// divide is the temperature: the softmax is that of z/T.
func divide(s Scores, in input) Scores {
	s.T = divisor(in.Temperature)
	return s
}

// mostProbable is greedy: it keeps one token.
func mostProbable(field, input) mask { return mask{n: 1} }

func noReason(field, mask, int, Settings) Reason { return Reason{} }

// topK keeps the k most probable tokens (Fan et al. 2018). Of equal ones the lower ids
// are kept; which ones llama.cpp keeps is up to the sort of its C++ library.
func topK(f field, in input) mask { return mask{n: min(in.TopK, len(f.ids))} }

func rankAgainstK(_ field, _ mask, at int, in Settings) Reason {
	return Reason{Value: float64(at + 1), Bound: float64(in.TopK)}
}

// topP keeps the smallest leading set whose probability is p at least (Holtzman et
// al. 2019).
func topP(f field, in input) mask { return mask{n: prefixReaching(f.cum, in.TopP*f.mass)} }

func sumBefore(f field, _ mask, at int, in Settings) Reason {
	return Reason{Value: (f.cum[at] - f.p[f.ids[at]]) / f.mass, Bound: in.TopP}
}

// minP keeps tokens at least min-p times as probable as the first (Nguyen et al. 2024).
func minP(f field, in input) mask {
	least := in.MinP * f.p[f.ids[0]]
	return mask{n: sort.Search(len(f.ids), func(r int) bool { return f.p[f.ids[r]] < least })}
}

func shareOfFirst(f field, _ mask, at int, in Settings) Reason {
	return Reason{Value: f.share(at), Bound: in.MinP * f.share(0)}
}

// typicalP keeps the tokens whose surprise −ln p lies nearest to its average, the
// entropy in nats, until their probability is typical-p at least (Meister et al. 2022,
// "Locally Typical Sampling"). Of two that lie equally near the more probable one
// comes first. It may cut the most probable token, which surprises too little. A token
// with p = 0 adds nothing to the entropy; in llama.cpp, which sums p · log p in float32,
// it makes it no number, so that what typical-p keeps after a top-nσ that has cut
// something follows from the sort of the C++ library.
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
