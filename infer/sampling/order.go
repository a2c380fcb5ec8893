package sampling

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
)

// An Order is the order of the temperature and the rules that cut, together with the distribution
// on which each rule is measured. It is a string so that settings can be compared: "" is this
// program's own order; any other value lists the names of all these rules, separated by semicolons
// as in llama.cpp's --samplers. The prefix "uncut:" means that each rule is measured before any cut
// ([OnUncut]) instead of on the rest ([OnRest]). Use [ParseOrder] to make one.
//
// The rules that change scores and the grammar always run before these rules, so they are not part
// of an order. If the temperature is not first, the rules before it are measured at T = 1, and it
// reshapes only the distribution of the remaining tokens.
type Order string

// OrderOwn is this program's order: the temperature, then every rule, measured on the same
// probabilities, so only the position of the temperature matters.
const OrderOwn Order = ""

// The orders of other programs. The chain lists the position of each rule in them ([positions]).
var (
	// OrderLlama is llama.cpp's default (common/common.h, the list samplers of
	// common_params_sampling): penalties, DRY, top-nσ, top-k, typical-p, top-p, min-p, XTC,
	// temperature. A logit bias comes first (common_sampler_init). Tests compare the rules and the
	// order with llama.cpp's own samplers (testdata/samplers). In llama.cpp, mirostat cannot be
	// combined with these rules: if it is on, only a bias and the temperature run before it.
	OrderLlama = orderBy(func(p positions) int { return p.llama })
	// OrderHugging is the order of Hugging Face's generate (transformers,
	// GenerationMixin._get_logits_processor): bias, repetition penalty, temperature, top-k,
	// top-p, min-p, typical-p.
	OrderHugging = orderBy(func(p positions) int { return p.hugging })
	// OrderOpenAI is the order of the program that OpenAI published for GPT-2
	// (src/sample.py, sample_sequence): temperature, top-k, top-p. OpenAI does not document
	// the order of its service: the API reference has only a temperature and top-p.
	OrderOpenAI = orderBy(func(p positions) int { return p.openai })
)

// own spells out [OrderOwn]: the order of the chain, with every rule measured before any cut.
var own = uncutPrefix + orderBy(func(positions) int { return 0 })

// orderBy returns the order that sorts the rules by the absolute values of their positions. Rules
// with equal values stay in the order of the chain.
func orderBy(position func(positions) int) Order {
	var list []rule
	for _, r := range chain {
		if movable(r) {
			list = append(list, r)
		}
	}
	size := func(r rule) int { return max(position(r.in), -position(r.in)) }
	slices.SortStableFunc(list, func(a, b rule) int { return cmp.Compare(size(a), size(b)) })
	words := make([]string, len(list))
	for i, r := range list {
		words[i] = string(r.name)
	}
	return Order(strings.Join(words, ";"))
}

// orderNames holds the names of orders, as users type them, and a function for each that returns a
// rule's position in that order.
var orderNames = []struct {
	name  string
	order Order
	in    func(positions) int
}{
	{"own", OrderOwn, nil},
	{"llama.cpp", OrderLlama, func(p positions) int { return p.llama }},
	{"hugging_face", OrderHugging, func(p positions) int { return p.hugging }},
	{"openai", OrderOpenAI, func(p positions) int { return p.openai }},
}

// NamedOrders returns the orders that have a name, this program's own first.
func NamedOrders() (list []Order) {
	for _, known := range orderNames {
		list = append(list, known.order)
	}
	return list
}

// Has reports whether the program that a named order comes from has the given rule. For this
// program's order and for orders without a name, it always returns true.
func (o Order) Has(rule Rule) bool {
	for _, known := range orderNames {
		if known.order == o && known.in != nil {
			return known.in(rule.link().in) > 0
		}
	}
	return true
}

const (
	uncutPrefix = "uncut:"
	maxOrder    = 400 // bytes
)

// wantOrder describes the accepted orders.
var wantOrder = terms.PhraseOf("want.order")

// ParseOrder parses an order as users write it: a name, or rules separated by semicolons, commas or
// spaces. The prefix "uncut:" means that each rule is measured before any cut. Rules that are
// missing from the text are added at the end and also returned in unnamed. Rules that change scores
// ("penalties", "dry") are accepted only at the beginning of the list, because they always run
// first. The error is a *[RangeError].
func ParseOrder(text string) (o Order, unnamed []Rule, err error) {
	refuse := func(got any) (Order, []Rule, error) {
		return "", nil, terms.NewRangeError("samplers", got, wantOrder)
	}
	if len(text) > maxOrder {
		return refuse(terms.PhraseOf("got.longer", "most", fmt.Sprint(maxOrder)))
	}
	text = strings.ToLower(strings.TrimSpace(text))
	for _, known := range orderNames {
		if text == known.name {
			return known.order, nil, nil
		}
	}
	text, uncut := strings.CutPrefix(text, uncutPrefix)
	var list []Rule
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ';' || r == ',' || r == ' ' })
	for _, word := range words {
		switch rule := ruleNamed(word); {
		case rule == RuleNone:
			return refuse(terms.PhraseOf("got.order.unknown", "rule", terms.Quoted(word)))
		case !movable(rule.link()) && len(list) > 0:
			return refuse(terms.PhraseOf("got.order.late", "rule", word, "before", string(list[len(list)-1])))
		case slices.Contains(list, rule):
			return refuse(terms.PhraseOf("got.order.twice", "rule", string(rule)))
		case movable(rule.link()):
			list = append(list, rule)
		}
	}
	if len(words) == 0 {
		return refuse(terms.PhraseOf("got.empty"))
	}
	for _, rule := range own.Rules() {
		if !slices.Contains(list, rule) {
			list, unnamed = append(list, rule), append(unnamed, rule)
		}
	}
	return orderOf(list, uncut), unnamed, nil
}

// orderOf returns the order for a complete list of rules.
func orderOf(list []Rule, uncut bool) Order {
	words := make([]string, len(list))
	for i, rule := range list {
		words[i] = string(rule)
	}
	o := Order(strings.Join(words, ";"))
	if uncut {
		o = uncutPrefix + o
	}
	if o == own {
		return OrderOwn
	}
	return o
}

// penalties is llama.cpp's name for the three penalties.
const penalties = "penalties"

// ruleNamed returns the rule with the given name, or [RuleNone]. For "penalties" it returns one of
// the three, which is enough to recognize a rule that changes scores.
func ruleNamed(word string) Rule {
	word = strings.ReplaceAll(word, "-", "_")
	if word == penalties {
		return RuleRepetitionPenalty
	}
	for _, r := range chain {
		if (string(r.name) == word || slices.Contains(r.alias, word)) && r.name != RuleGreedy {
			return r.name
		}
	}
	return RuleNone
}

// movable reports whether a rule can be part of an order.
func movable(r rule) bool {
	return r.name == RuleTemperature || r.keep != nil && r.name != RuleGreedy && r.name != RuleGrammar
}

// Rules returns the rules in an order: the temperature and all rules that cut.
func (o Order) Rules() (list []Rule) {
	if o == OrderOwn {
		o = own
	}
	for name := range strings.SplitSeq(strings.TrimPrefix(string(o), uncutPrefix), ";") {
		list = append(list, Rule(name))
	}
	return list
}

// Measure returns the distribution on which each rule in the order is measured.
func (o Order) Measure() Measure {
	if o == OrderOwn || strings.HasPrefix(string(o), uncutPrefix) {
		return OnUncut
	}
	return OnRest
}

// On returns the order with the given measure.
func (o Order) On(m Measure) Order { return orderOf(o.Rules(), m == OnUncut) }

// Move returns the order with a rule moved to another index, from 0; an index out of range means
// the nearest end. If o is this program's own order, the result measures each rule on the rest,
// because positions would otherwise hardly matter. For a rule that is not part of an order, Move
// returns a *[RangeError].
func (o Order) Move(rule Rule, to int) (Order, error) {
	list := o.Rules()
	at := slices.Index(list, rule)
	if at < 0 {
		return o, terms.NewRangeError("move", terms.Quoted(string(rule)), terms.PhraseOf("want.order.rule"))
	}
	list = slices.Delete(list, at, at+1)
	list = slices.Insert(list, min(max(to, 0), len(list)), rule)
	return orderOf(list, o != OrderOwn && o.Measure() == OnUncut), nil
}

// Name returns the order's name, or "" if it has none.
func (o Order) Name() string {
	for _, known := range orderNames {
		if o == known.order {
			return known.name
		}
	}
	return ""
}

// Text returns the order as users type it: by its name, if it has one.
func (o Order) Text() string {
	if name := o.Name(); name != "" {
		return name
	}
	return string(o)
}

// Check returns a *[RangeError] unless o has the form of orders that [ParseOrder] returns.
func (o Order) Check() error {
	if o == OrderOwn {
		return nil
	}
	got, _, err := ParseOrder(string(o))
	if err == nil && got != o {
		err = terms.NewRangeError("samplers", terms.Quoted(string(o)), wantOrder)
	}
	return err
}

// UnmarshalText parses text with [ParseOrder].
func (o *Order) UnmarshalText(text []byte) (err error) {
	if len(text) == 0 {
		*o = OrderOwn
		return nil
	}
	*o, _, err = ParseOrder(string(text))
	return err
}

// OrderInForce returns the order that these settings use. Greedy decoding uses this program's own
// order, since it keeps the most probable token in any order. (In llama.cpp, if XTC is on,
// temperature 0 keeps the most probable token that XTC left. Hugging Face's generate runs none of
// these rules when it does not sample.)
func (s Settings) OrderInForce() Order {
	if s.Greedy() {
		return OrderOwn
	}
	return s.Order
}

// indexes returns the rules that follow the scores, as indexes into the chain, in the order given
// by the settings.
func (s Settings) indexes() (list []int) {
	if s.OrderInForce() == OrderOwn {
		for index, r := range chain {
			if r.keep != nil && r.name != RuleGrammar || r.name == RuleTemperature {
				list = append(list, index)
			}
		}
		return list
	}
	for _, rule := range s.Order.Rules() {
		list = append(list, indexOf(rule))
	}
	return list
}

func indexOf(name Rule) int {
	return slices.IndexFunc(chain, func(r rule) bool { return r.name == name })
}

// heatsFirst reports whether the temperature comes before all rules that cut.
func (s Settings) heatsFirst() bool {
	first := strings.TrimPrefix(string(s.OrderInForce()), uncutPrefix)
	return first == "" || strings.HasPrefix(first, string(RuleTemperature))
}

// HeatsLate reports whether the temperature comes after a rule that cuts and reshapes the
// probabilities of the remaining tokens. (At 1, it changes nothing.)
func (s Settings) HeatsLate() bool { return !s.heatsFirst() && s.Temperature != 1 }

// ShownTemperature returns the temperature of the distribution before any cut: 1 if the temperature
// comes later in the order, and 0 under greedy decoding.
func (s Settings) ShownTemperature() float64 {
	if s.heatsFirst() {
		return s.Temperature
	}
	return 1
}
