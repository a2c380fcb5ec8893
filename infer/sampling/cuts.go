package sampling

// Cut is what one rule that is on does.
type Cut struct {
	Rule  Rule
	At    float64 // its setting
	Keeps int     // tokens that it keeps
	Of    int     // of how many: all, or what the rule before it left
	Moved float64 // the share of probability that it takes from what it cuts
	Bound float64 // of top-nσ, XTC and mirostat: what a token is held to ([Reason])
	mask  mask    // by rank
	alone mask    // by place in the field
	field field   // what it was measured on
	place int     // in the chain
}

// Cuts are what the rules that are on do, in their order: each alone, or in an order
// that measures on the rest each after the others before it.
type Cuts []Cut

// Reach is how many of so many tokens a filter alone keeps: all, where it is off.
func (list Cuts) Reach(rule Rule, of int) int {
	for _, c := range list {
		if c.Rule == rule {
			return c.Keeps
		}
	}
	return of
}

// Bound is what a rule that is on holds tokens to, or 0.
func (list Cuts) Bound(rule Rule) float64 {
	for _, c := range list {
		if c.Rule == rule {
			return c.Bound
		}
	}
	return 0
}

// Reason is why a rule cut a token.
type Reason struct {
	Rule Rule
	// Value is what was measured, Bound what it is held to: of top-k the rank and
	// k, of top-p Σ p of all more probable tokens and p, of min-p the token's p and
	// the least, of typical-p how far the token's surprise lies from the average
	// and how far that of the last one kept does, of top-nσ the score and the least,
	// of XTC p and the threshold, of mirostat −log₂ p and the most, μ, in bits.
	Value, Bound float64
	// Of typical-p: the token's surprise −ln p, which is infinite where p is too small
	// to be told from 0, and the average one, both in nats.
	Surprise, Mean float64
}
