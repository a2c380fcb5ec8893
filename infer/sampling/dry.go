package sampling

import (
	"math"
	"slices"
)

// penalizeRepeats is DRY, "don't repeat yourself" (p-e-w 2024, text-generation-webui pull request
// 5677), as implemented in llama.cpp. If the last n tokens of the text also occur earlier in it,
// generating the token that followed them there would make the repetition longer. If n is at least
// the allowed length, the token's score is lowered by
//
//	multiplier · base^(n − allowed length)
//
// where n is the length of the longest such passage. A passage extends back at most to the last
// token that ends passages ([Context].Breaks). The scores of such tokens are never lowered, so that
// the structure of a dialogue can recur. The prompt is part of the text. (In llama.cpp, a passage
// can also end in the middle of a token, or where several tokens together form a string that ends
// passages.)
func penalizeRepeats(s Scores, in input) Scores {
	base, _ := in.Value("dry_base")
	least, _ := in.Value("dry_allowed_length")
	z := slices.Clone(s.Z)
	for id, n := range in.continued(int(least)) {
		z[id] = finite(z[id] - float32(min(in.DRYMultiplier*math.Pow(base, float64(n)-least), math.MaxFloat32)))
	}
	s.Z = z
	return s
}

// continued maps each token that would continue a repetition of at least `least` tokens to
// the length of that repetition.
func (in input) continued(least int) map[int]int {
	text, limit := in.text, len(in.text)
	for i := range text {
		if in.breaks != nil && in.breaks(text[len(text)-1-i]) {
			limit = i
			break
		}
	}
	longest := map[int]int{}
	if limit < least {
		return longest
	}
	for back, n := range repeats(text) { // back is the distance from the end; n is 0 if back is 0
		if n = min(n, limit); n < least {
			continue
		}
		id := text[len(text)-back] // the token that followed
		if in.breaks == nil || !in.breaks(id) {
			longest[id] = max(longest[id], n)
		}
	}
	return longest
}

// repeats returns, for each distance from the end of a text (from 1), the length of the run of
// tokens just before that position that equals the last tokens of the text. At distance 0, the
// length is 0. It is the Z-function of the reversed text (Gusfield 1997), computed in linear time.
func repeats(text []int) []int {
	n := len(text)
	at := func(i int) int { return text[n-1-i] } // reversed
	z := make([]int, n)
	from, to := 0, 0 // [from, to) is the passage that ends last among those that equal a prefix
	for i := 1; i < n; i++ {
		if i < to {
			z[i] = min(to-i, z[i-from])
		}
		for i+z[i] < n && at(z[i]) == at(i+z[i]) {
			z[i]++
		}
		if i+z[i] > to {
			from, to = i, i+z[i]
		}
	}
	return z
}
