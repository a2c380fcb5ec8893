package sampling

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// A Rule is the name of a rule in the chain. If a rule has a knob, its name is the knob's key. A
// token that is cut is marked with the first rule in the chain that cut it.
type Rule string

// The rules.
const (
	RuleNone              Rule = "" // kept
	RuleLogitBias         Rule = "logit_bias"
	RuleRepetitionPenalty Rule = "repetition_penalty"
	RuleFrequencyPenalty  Rule = "frequency_penalty"
	RulePresencePenalty   Rule = "presence_penalty"
	RuleTemperature       Rule = "temperature"
	RuleGreedy            Rule = "greedy" // temperature 0 keeps one token
	RuleTopK              Rule = "top_k"
	RuleTopP              Rule = "top_p"
	RuleMinP              Rule = "min_p"
	RuleTypicalP          Rule = "typical_p"
	RuleTopNSigma         Rule = "top_n_sigma"
	RuleXTC               Rule = "xtc"
	RuleDRY               Rule = "dry"
	RuleMirostat          Rule = "mirostat"
	RuleGrammar           Rule = "grammar" // before all other rules that cut, in every order
)

// Settings are the knobs that shape and cut the distribution. The zero value is not valid, because
// TopP must be set. Start from [Pure] or a preset.
type Settings struct {
	Temperature float64 `json:"temperature"` // divides the logits; 0 is greedy
	TopK        int     `json:"top_k"`       // keep the k most probable tokens; 0 is off
	TopP        float64 `json:"top_p"`       // keep the smallest leading set with at least this mass; 1 is off
	MinP        float64 `json:"min_p"`       // keep tokens with p ≥ MinP × the largest p; 0 is off
	// TypicalP keeps the tokens whose surprise is nearest to the average, with at least this mass;
	// 0 is off. Its knob is off at 1.
	TypicalP float64 `json:"typical_p,omitempty"`
	// RepetitionPenalty lowers the scores of tokens that are already in the text: positive scores
	// are divided by it, and negative scores are multiplied by it. 0 is off. Its knob is off at 1.
	RepetitionPenalty float64 `json:"repetition_penalty,omitempty"`
	// FrequencyPenalty is subtracted from a token's score for each time that it was generated.
	// PresencePenalty is subtracted once if it was generated at all. 0 is off.
	FrequencyPenalty float64 `json:"frequency_penalty,omitempty"`
	PresencePenalty  float64 `json:"presence_penalty,omitempty"`
	// LogitBias is added to the scores of individual tokens; "" is off.
	LogitBias Bias `json:"logit_bias,omitempty"`
	// TopNSigma keeps tokens whose score is within TopNSigma standard deviations of the
	// highest; 0 is off.
	TopNSigma float64 `json:"top_n_sigma,omitempty"`
	// XTCProbability is the probability that XTC strikes at a step; 0 is off. When it strikes, it
	// excludes all tokens with a probability of at least XTCThreshold, except the least probable of
	// them. A threshold of 0 means the usual value, 0.1.
	XTCProbability float64 `json:"xtc_probability,omitempty"`
	XTCThreshold   float64 `json:"xtc_threshold,omitempty"`
	// DRYMultiplier is how much DRY lowers the score of a token that would continue a repeated
	// passage of DRYAllowed tokens; 0 is off. Each further token of the passage multiplies that
	// amount by DRYBase. If DRYBase or DRYAllowed is 0, its usual value applies: a base of 1.75, or
	// 2 tokens.
	DRYMultiplier float64 `json:"dry_multiplier,omitempty"`
	DRYBase       float64 `json:"dry_base,omitempty"`
	DRYAllowed    float64 `json:"dry_allowed_length,omitempty"`
	// MirostatTau is the surprise in bits that mirostat aims at; 0 is off. MirostatEta is its
	// learning rate; 0 means the usual value, 0.1.
	MirostatTau float64 `json:"mirostat_tau,omitempty"`
	MirostatEta float64 `json:"mirostat_eta,omitempty"`
	// Grammar is the grammar that the text must follow, in a form that package grammar compiles; ""
	// is off. [Context.Allowed] reports which tokens it allows.
	Grammar string `json:"grammar,omitempty"`
	// Order is the order of the temperature and the rules that cut, and the distribution on which
	// they are measured; "" is this program's own order.
	Order Order `json:"samplers,omitempty"`
}

// field returns a pointer to a knob's setting, and the knob's usual value. The usual value is
// stored as 0, so equal settings have only one form. at is nil if the knob does not belong to
// sampling or is top-k, which is an integer.
func (s *Settings) field(key string) (at *float64, usual float64) {
	switch key {
	case "temperature":
		return &s.Temperature, 0
	case "top_p":
		return &s.TopP, 0
	case "min_p":
		return &s.MinP, 0
	case "typical_p":
		return &s.TypicalP, 1
	case "repetition_penalty":
		return &s.RepetitionPenalty, 1
	case "frequency_penalty":
		return &s.FrequencyPenalty, 0
	case "presence_penalty":
		return &s.PresencePenalty, 0
	case "top_n_sigma":
		return &s.TopNSigma, 0
	case "xtc_probability":
		return &s.XTCProbability, 0
	case "xtc_threshold":
		return &s.XTCThreshold, 0.1
	case "dry_multiplier":
		return &s.DRYMultiplier, 0
	case "dry_base":
		return &s.DRYBase, 1.75
	case "dry_allowed_length":
		return &s.DRYAllowed, 2
	case "mirostat_tau":
		return &s.MirostatTau, 0
	case "mirostat_eta":
		return &s.MirostatEta, 0.1
	}
	return nil, 0
}

// A rule is a link in the chain. Its input is the scores or the distribution, the text so far, its
// own state and its own u. It returns either new scores, or the tokens that it keeps and the
// reasons why it cuts the others. Either score or keep is set; the other functions may be nil. All
// functions are pure: they do not modify their arguments.
type rule struct {
	name  Rule
	knob  string    // the key of its knob, if it differs from name
	also  []string  // knobs that adjust it and have no effect while it is off
	off   float64   // the value of its knob that turns it off
	alias []string  // other names of the rule in llama.cpp's --samplers
	in    positions // its position in other programs' orders, if it is part of an order
	// score returns new scores, given the scores that the previous rules returned.
	score func(s Scores, in input) Scores
	// keep returns the tokens of a field that the rule keeps, at least one.
	keep func(f field, in input) mask
	// reason returns why the rule cuts the token at an index of the field: the measured value and
	// the bound that it is compared with, both in the rule's unit.
	reason func(f field, m mask, at int, in Settings) Reason
	unit   Unit
	// next returns the rule's state for the next step, after a rank has been drawn. (The speculator
	// does not keep state, so it rejects rules that set next.)
	next func(d *Distribution, r int, in input) any
	// early is set if the rule cuts all tokens from some rank on, and [Sampler] can find that rank
	// without examining later tokens.
	early bool
	// text is set if the rule uses the text so far, which the [Context] must then contain.
	text bool
	// unread is set if a text that was not drawn with the rule has no probability under it. The
	// text want.unread.NAME explains why.
	unread bool
}

// positions holds a rule's position, from 1, in each program's default order. The position is
// negative if the program lacks the rule, which then runs after all of the program's own rules.
type positions struct{ llama, hugging, openai int }

// chain lists the rules in order. Rules that change scores come first, so all rules that cut see
// the same distribution. (XTC's draws depend on its index here: inserting a rule before it changes
// them.)
var chain = []rule{
	{name: RuleLogitBias, score: addBias},
	{name: RuleRepetitionPenalty, off: 1, score: penalizeRepeated, text: true},
	{name: RuleFrequencyPenalty, off: 0, score: penalizeFrequent, text: true},
	{name: RulePresencePenalty, off: 0, score: penalizePresent, text: true},
	{
		name: RuleDRY, knob: "dry_multiplier", also: []string{"dry_base", "dry_allowed_length"},
		score: penalizeRepeats, text: true,
	},
	{name: RuleTemperature, off: 1, alias: []string{"temp"}, in: positions{7, 1, 1}, score: divide},
	{name: RuleGreedy, keep: mostProbable, reason: noReason, early: true},
	{name: RuleTopK, in: positions{2, 2, 2}, keep: topK, reason: rankAgainstK, unit: UnitRank, early: true},
	{
		name: RuleTopP, off: 1, alias: []string{"nucleus"}, in: positions{4, 3, 3},
		keep: topP, reason: sumBefore, unit: UnitProbability, early: true,
	},
	{name: RuleMinP, in: positions{5, 4, -4}, keep: minP, reason: shareOfFirst, unit: UnitProbability, early: true},
	{
		name: RuleTypicalP, off: 1, alias: []string{"typ_p", "typical"}, in: positions{3, 5, -6},
		keep: typicalP, reason: distance, unit: UnitNats,
	},
	{
		name: RuleTopNSigma, alias: []string{"top_nsigma"}, in: positions{1, -6, -5},
		keep: topNSigma, reason: scoreAgainst, unit: UnitScore,
	},
	{
		name: RuleXTC, knob: "xtc_probability", also: []string{"xtc_threshold"},
		in: positions{6, -7, -7}, keep: excludeTop, reason: topChoice, unit: UnitProbability,
		unread: true, // a new draw at each step
	},
	{
		name: RuleMirostat, knob: "mirostat_tau", also: []string{"mirostat_eta"},
		in: positions{8, -8, -8}, keep: mirostat, reason: surpriseAgainst, unit: UnitBits, next: learnSurprise,
		unread: true, // it adapts to its own draws
	},
	{name: RuleGrammar, keep: fits, reason: noReason},
}

// penalizeRepeated is the repetition penalty θ of CTRL (Keskar et al. 2019): the score of each
// token in the text, no matter how often the token occurs, is divided by θ if positive and
// multiplied by θ if negative, so it never rises. As in other libraries, the prompt is included,
// with its start mark. (By default, llama.cpp uses only the last 64 tokens; this rule uses all
// tokens.)
func penalizeRepeated(s Scores, in input) Scores {
	theta := float32(in.RepetitionPenalty)
	z := slices.Clone(s.Z)
	for _, id := range in.text { // computed from the old score, so further occurrences have no effect
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

// topK keeps the k most probable tokens (Fan et al. 2018). Among equally probable tokens, those
// with lower ids are kept; in llama.cpp, this depends on its C++ library's sort function.
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
// "Locally Typical Sampling"). If two tokens are equally near, the more probable one comes first.
// The rule can cut the most probable token, since its surprise may be too small. A token with p = 0
// adds nothing to the entropy. In llama.cpp, which sums p · log p in float32, such a token makes
// the sum NaN. So if top-nσ has already cut tokens, the tokens that typical-p keeps in llama.cpp
// depend on the C++ library's sort function.
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
