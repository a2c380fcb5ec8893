package sampling

import (
	"math"
	"slices"
)

// A Link is the effect of one rule in the chain on a step's tokens. A page shows each link as a
// column in a table that follows individual tokens from rule to rule.
type Link struct {
	Rule Rule
	At   float64 // its setting
	// Keeps is the number of tokens that the rule leaves, out of the Of tokens on which it was
	// measured: all tokens, or those that the previous rule left.
	Keeps, Of int
	// Moved is the share of probability that the rule moves between tokens: half of Σ |share after
	// − share before|. For a rule that cuts, this is the total share of the tokens that it cuts.
	Moved float64
	// Place is the index of the rule in its order ([Order.Rules]), or −1 if the rule is not part of
	// an order.
	Place int

	keeps mask  // by rank among all tokens
	left  field // the tokens it leaves or, with [OnUncut], the tokens on which it was measured
}

// Share returns the probability of the token with rank r after the rule, as a share of the total
// probability at this link. kept is false if this rule or an earlier rule has cut the token.
func (l Link) Share(r int) (share float64, kept bool) {
	if !l.keeps.has(r) {
		return 0, false
	}
	at, kept := l.left.indexOf(r)
	if !kept {
		return 0, false
	}
	return l.left.share(at), true
}

// Others returns how many ranks other than those in `but` are left, and the sum of [Link.Share]
// over them.
func (l Link) Others(but []int) (n int, share float64) {
	n, share = l.Keeps, 1
	if len(l.left.ids) > l.Keeps {
		share -= l.Moved // the shares also cover the tokens that the rule cuts
	}
	for _, r := range but {
		if p, kept := l.Share(r); kept {
			n, share = n-1, share-p
		}
	}
	return n, max(share, 0)
}

// Links returns one link for the temperature and for each rule that cuts and is on, in the order in
// which they run. The first link has no rule: its shares are the probabilities at T = 1, from the
// scores alone. Rules that change scores have run before it.
func (d *Distribution) Links() []Link {
	s, n := d.Settings, len(d.Order)
	at := Link{Keeps: n, Of: n, Place: -1, keeps: mask{n: n}, left: d.uncut()} // the input for the next link
	list := []Link{at}
	if s.heatsFirst() && !s.Greedy() {
		if s.Temperature != 1 {
			list[0].left = field{z: d.scores.Z, ids: d.Order, p: d.P, cum: d.Cum}.heat(1)
		}
		list = append(list, list[0].heated(at.left, s))
	}
	rest := s.OrderInForce().Measure() == OnRest
	for _, index := range append([]int{indexOf(RuleGrammar)}, s.indexes()...) {
		link, name := at, chain[index].name
		if name == RuleTemperature {
			if s.heatsFirst() {
				continue
			}
			if s.HeatsLate() {
				link.left = at.left.heat(s.Temperature)
			}
			link = at.heated(link.left, s)
		} else {
			i := slices.IndexFunc(d.cuts, func(c Cut) bool { return c.Rule == name })
			if i < 0 {
				continue
			}
			link = d.linkOf(d.cuts[i])
		}
		if list = append(list, link); rest || name == RuleGrammar || name == RuleTemperature {
			at = link
		}
	}
	return list
}

// linkOf returns the link for a rule that cuts.
func (d *Distribution) linkOf(c Cut) Link {
	order := d.Settings.OrderInForce()
	l := Link{
		Rule: c.Rule, At: c.At, Keeps: c.Keeps, Of: c.Of, Moved: max(c.Moved, 0),
		Place: slices.Index(order.Rules(), c.Rule), keeps: c.mask, left: c.field,
	}
	switch {
	case c.Rule == RuleGrammar && c.Keeps < c.Of:
		l.left = c.field.of(c.alone).heat(divisor(d.Settings.ShownTemperature()))
	case c.Rule == RuleGreedy, order.Measure() == OnRest:
		l.left = c.field.of(c.alone)
	}
	return l
}

// heated returns the link of the temperature, which follows l and has new shares for l's tokens.
func (l Link) heated(left field, s Settings) Link {
	var moved float64
	for _, id := range left.ids {
		moved += math.Abs(left.p[id]/left.mass - l.left.p[id]/l.left.mass)
	}
	return Link{
		Rule: RuleTemperature, At: s.Temperature, Keeps: l.Keeps, Of: l.Keeps, Moved: moved / 2,
		Place: slices.Index(s.OrderInForce().Rules(), RuleTemperature), keeps: l.keeps, left: left,
	}
}
