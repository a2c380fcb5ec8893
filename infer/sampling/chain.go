package sampling

import (
	"cmp"
	"slices"

	"github.com/tokenbytoken/viz/infer/terms"
)

// In returns the rule's common name in a language, such as "top-k". It is the rule's own name or,
// if it has none, its knob's name.
func (r Rule) In(l *terms.Language) string {
	for _, key := range []string{"rule." + string(r) + ".name", "rule." + string(r), "knob." + string(r) + ".name"} {
		if l.Has(key) {
			return l.T(key)
		}
	}
	return string(r)
}

// Name returns the rule's common name in English.
func (r Rule) Name() string { return r.In(terms.English) }

// link returns the rule's link in the chain, or a link that does nothing.
func (r Rule) link() rule {
	for _, c := range chain {
		if c.name == r {
			return c
		}
	}
	return rule{}
}

// on returns the rule's setting and whether the rule has any effect at these settings.
func (r rule) on(s Settings) (x float64, on bool) {
	switch r.name {
	case RuleGreedy:
		return s.Temperature, s.Greedy()
	case RuleLogitBias:
		return float64(s.LogitBias.Len()), s.LogitBias != ""
	case RuleGrammar:
		return 0, s.Grammar != ""
	}
	x, _ = s.Value(r.key())
	return x, x != r.off
}

// key returns the key of the rule's knob.
func (r rule) key() string { return cmp.Or(r.knob, string(r.name)) }

// RuleOf returns the rule that a knob switches on, or [RuleNone].
func RuleOf(key string) Rule {
	for _, c := range chain {
		if c.key() == key && c.optional() {
			return c.name
		}
	}
	return RuleNone
}

// Rules returns the rules that are on, in order, except the temperature and greedy decoding.
func (s Settings) Rules() (list []Rule) {
	for _, r := range chain {
		if r.name == RuleTemperature && s.Grammar != "" {
			list = append(list, RuleGrammar)
		}
		if r.name == RuleGrammar {
			continue
		}
		if _, on := r.on(s); on && r.optional() {
			list = append(list, r.name)
		}
	}
	return list
}

// Knob returns the key of the knob that switches the rule on, or "" if there is none.
func (r Rule) Knob() string {
	for _, c := range chain {
		if c.name == r && c.optional() && r != RuleLogitBias && r != RuleGrammar {
			return c.key()
		}
	}
	return ""
}

// Cuts reports whether a rule cuts tokens. Other rules change scores.
func (r Rule) Cuts() bool { return r.link().keep != nil }

// Early reports whether a rule cuts all tokens after some rank, regardless of its position in an
// order.
func (r Rule) Early() bool { return r.link().early }

// Unread returns the first enabled rule that assigns a probability only to texts drawn with it. If
// there is no such rule, it returns [RuleNone].
func (s Settings) Unread() Rule {
	for _, c := range chain {
		if _, on := c.on(s); on && c.unread {
			return c.name
		}
	}
	return RuleNone
}

// Reads reports whether a knob can be set when the model reads a text that was not drawn with that
// knob. It returns false for the knobs of XTC and mirostat, since these rules assign no probability
// to such a text.
func Reads(key string) bool {
	return !slices.ContainsFunc(chain, func(c rule) bool {
		return c.unread && (c.key() == key || slices.Contains(c.also, key))
	})
}

// StageOf returns the stage of the loop at which a rule with the given knob acts, counted from 1 as
// in [terms.StageAt]: 2 for rules that change scores, 3 for the temperature, 4 for rules that cut.
// It is 0 if no rule has the knob.
func StageOf(key string) int {
	for _, c := range chain {
		switch {
		case c.name == RuleGreedy || c.name == RuleGrammar, c.key() != key && !slices.Contains(c.also, key):
		case c.name == RuleTemperature:
			return 3
		case c.keep != nil:
			return 4
		default:
			return 2
		}
	}
	return 0
}

// optional reports whether the rule has its own knob and can be off. The temperature is
// always on.
func (r rule) optional() bool { return r.name != RuleTemperature && r.name != RuleGreedy }

// ReadsText reports whether any rule that is on reads the text so far.
func (s Settings) ReadsText() bool {
	for _, r := range chain {
		if _, on := r.on(s); on && r.text {
			return true
		}
	}
	return false
}

// Stateful returns the first rule that is on and carries state from step to step, or [RuleNone].
// The state of a grammar is the text, which the caller keeps.
func (s Settings) Stateful() Rule {
	for _, r := range chain {
		if _, on := r.on(s); on && (r.next != nil || r.name == RuleGrammar) {
			return r.name
		}
	}
	return RuleNone
}

// Measure specifies the distribution on which each rule that cuts is measured. It determines
// whether the chain's order matters.
type Measure int

// The two measures.
const (
	// OnUncut, this program's default, measures each rule on the probabilities before any cut. The
	// order then only determines which rule is named for a token that several rules cut.
	OnUncut Measure = iota
	// OnRest measures each rule, as in llama.cpp and Hugging Face, on the rescaled probabilities of
	// the tokens that the previous rule kept. Rescaling raises every probability, so top-p is
	// reached sooner.
	OnRest
)

// late reports whether a rule that has to see all tokens is on, or the order is not this program's
// own.
func (s Settings) late() bool {
	if s.OrderInForce() != OrderOwn {
		return true
	}
	for _, r := range chain {
		if _, on := r.on(s); on && r.keep != nil && !r.early {
			return true
		}
	}
	return false
}

// OffAt returns the value at which a knob turns its rule off. ok is false for a knob that does not
// belong to such a rule, such as the temperature or the seed.
func OffAt(key string) (x float64, ok bool) {
	for _, r := range chain {
		if r.key() == key && r.optional() {
			return r.off, true
		}
	}
	return 0, false
}

// Part returns the rule that the given knob adjusts but does not switch on, and the knob's usual
// value. ok is false for any other knob.
func Part(key string) (of Rule, usual float64, ok bool) {
	for _, r := range chain {
		if slices.Contains(r.also, key) {
			_, usual = new(Settings).field(key)
			return r.name, usual, true
		}
	}
	return RuleNone, 0, false
}

// On reports whether a rule has any effect at these settings.
func (s Settings) On(name Rule) bool {
	_, on := name.link().on(s)
	return on && name != RuleNone
}
