package sampling

// Cut is the effect of one rule that is on.
type Cut struct {
	Rule  Rule
	At    float64 // its setting
	Keeps int     // number of tokens that it keeps
	Of    int     // number of tokens on which the rule was measured: all, or those that the previous rule left
	Moved float64 // the share of probability that its cuts move to other tokens
	Bound float64 // for top-nσ, XTC and mirostat: the bound that tokens must meet ([Reason])
	mask  mask    // by rank
	alone mask    // by index in the field
	field field   // the field on which it was measured
	index int     // in the chain
}

// Cuts holds the effects of the rules that are on, in order. Each rule is measured before any other
// filter has cut tokens or, if the order's measure is [OnRest], on the tokens that the previous
// rule left.
type Cuts []Cut

// Reach returns the number of tokens that a filter keeps, out of those on which it is measured. A
// filter that is off keeps all tokens: Reach returns `of`.
func (list Cuts) Reach(rule Rule, of int) int {
	for _, c := range list {
		if c.Rule == rule {
			return c.Keeps
		}
	}
	return of
}

// Bound returns the bound of a rule that is on, or 0.
func (list Cuts) Bound(rule Rule) float64 {
	for _, c := range list {
		if c.Rule == rule {
			return c.Bound
		}
	}
	return 0
}

// Unit is the unit of the value and the bound of a [Reason].
type Unit int

// The units.
const (
	UnitNone        Unit = iota
	UnitRank             // from 1
	UnitProbability      // 0 to 1
	UnitScore            // a logit, possibly changed by rules
	UnitNats             // −ln p, or the difference of two such values
	UnitBits             // −log₂ p
)

// Reason explains why a rule cut a token.
type Reason struct {
	Rule Rule
	Unit Unit
	// Value is the measured value, and Bound is the value that it was compared with:
	//
	//	top-k      the rank; k
	//	top-p      Σ p of all more probable tokens; p
	//	min-p      the token's p; the minimum
	//	typical-p  the distance of the token's surprise from the average; the last kept token's distance
	//	top-nσ     the score; the minimum
	//	XTC        p; the threshold
	//	mirostat   −log₂ p; the maximum, μ, in bits
	Value, Bound float64
	// For typical-p: the token's surprise −ln p, which is infinite if p is
	// indistinguishable from 0, and the average surprise, both in nats.
	Surprise, Mean float64
}
