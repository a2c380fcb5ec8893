package sampling

import (
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
)

// Order says in which order the temperature and the rules that cut work, and what each
// of them is measured on. It is a text so that settings can be compared: "" is this
// program's own; any other has the names of all of these rules, joined by semicolons as
// llama.cpp's --samplers takes them, after "uncut:" where each rule is measured before
// any cut ([OnUncut]), else [OnRest]. [ParseOrder] makes one.
//
// The rules that change scores come before all of these, and so does a grammar, so they
// have no place in it.
// Where the temperature is not the first, what stands before it is measured at T = 1,
// and what is left is reshaped when its turn comes.
type Order string

// The orders that have names.
const (
	// OrderOwn is this program's: the temperature, then every rule on the same
	// probabilities, so that only the temperature's place matters.
	OrderOwn Order = ""
	// OrderLlama is llama.cpp's default (common/common.h, the list samplers of
	// common_params_sampling): penalties, DRY, top-nσ, top-k, typical-p, top-p, min-p,
	// XTC, temperature. A logit bias comes first (common_sampler_init). Rules and order are
	// compared with its own samplers (testdata/samplers). Mirostat does not
	// mix with these there: turned on, it works after a bias and the temperature alone.
	OrderLlama Order = "top_n_sigma;top_k;typical_p;top_p;min_p;xtc;temperature;mirostat"
	// OrderHugging is that of Hugging Face's generate (transformers,
	// GenerationMixin._get_logits_processor): bias, repetition penalty, temperature, top-k,
	// top-p, min-p, typical-p. The rules that it does not have stand at the end.
	OrderHugging Order = "temperature;top_k;top_p;min_p;typical_p;top_n_sigma;xtc;mirostat"
	// OrderOpenAI is that of the program that OpenAI published for GPT-2 (src/sample.py,
	// sample_sequence): temperature, top-k, top-p. In which order its service works is not
	// published: the API reference has a temperature and top-p, and no more. The rules that
	// the program does not have stand at the end.
	OrderOpenAI Order = "temperature;top_k;top_p;min_p;top_n_sigma;typical_p;xtc;mirostat"
)

// orderNames are the names of orders, as people type them.
var orderNames = []struct {
	name  string
	order Order
}{
	{"own", OrderOwn}, {"llama.cpp", OrderLlama}, {"hugging_face", OrderHugging}, {"openai", OrderOpenAI},
}

// own is [OrderOwn] spelled out.
const own Order = uncutPrefix +
	"temperature;top_k;top_p;min_p;typical_p;top_n_sigma;xtc;mirostat"

const (
	uncutPrefix = "uncut:"
	wantOrder   = "own, llama.cpp, hugging_face, openai, or names of rules joined by semicolons, " +
		"such as top_k;top_p;temperature"
	maxOrder = 400 // bytes
)

// otherRuleNames are those that llama.cpp has for rules.
var otherRuleNames = map[string]Rule{
	"typ_p": RuleTypicalP, "typical": RuleTypicalP, "temp": RuleTemperature, "top_nsigma": RuleTopNSigma,
	"nucleus": RuleTopP,
}

// ParseOrder reads an order as people write it: a name, or rules joined by semicolons,
// commas or spaces, after "uncut:" where each is to be measured before any cut. Rules
// that it does not name stand at the end; those are returned too. Rules that change
// scores ("penalties", "dry") may stand first, where they always are. The error is a
// *[RangeError].
func ParseOrder(text string) (o Order, unnamed []Rule, err error) {
	refuse := func(got string) (Order, []Rule, error) {
		return "", nil, terms.NewRangeError("samplers", got, wantOrder)
	}
	if len(text) > maxOrder {
		return refuse("longer than 400 bytes")
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
			return refuse(terms.Quoted(word) + ", which is no rule")
		case !movable(rule) && len(list) > 0:
			return refuse(word + " after " + string(list[len(list)-1]) +
				", though rules that change scores come before all others")
		case slices.Contains(list, rule):
			return refuse(string(rule) + " twice")
		case movable(rule):
			list = append(list, rule)
		}
	}
	if len(words) == 0 {
		return refuse("empty")
	}
	for _, rule := range own.Rules() {
		if !slices.Contains(list, rule) {
			list, unnamed = append(list, rule), append(unnamed, rule)
		}
	}
	return orderOf(list, uncut), unnamed, nil
}

// orderOf is the order of a whole list.
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

// penalties is llama.cpp's name for the three of them.
const penalties = "penalties"

// ruleNamed is the rule that a word means, or [RuleNone]. Of the rules that change
// scores it is enough to know that the word means one.
func ruleNamed(word string) Rule {
	word = strings.ReplaceAll(word, "-", "_")
	if rule, ok := otherRuleNames[word]; ok {
		return rule
	}
	if word == penalties {
		return RuleRepetitionPenalty
	}
	for _, r := range chain {
		if string(r.name) == word && r.name != RuleGreedy {
			return r.name
		}
	}
	return RuleNone
}

// movable reports whether a rule has a place in an order.
func movable(rule Rule) bool { return rule == RuleTemperature || rule.Cuts() && rule != RuleGrammar }

// Rules are the rules of an order: the temperature and all that cut.
func (o Order) Rules() (list []Rule) {
	if o == OrderOwn {
		o = own
	}
	for name := range strings.SplitSeq(strings.TrimPrefix(string(o), uncutPrefix), ";") {
		list = append(list, Rule(name))
	}
	return list
}

// Measure is what each rule of the order is measured on.
func (o Order) Measure() Measure {
	if o == OrderOwn || strings.HasPrefix(string(o), uncutPrefix) {
		return OnUncut
	}
	return OnRest
}

// On is the order with another measure.
func (o Order) On(m Measure) Order { return orderOf(o.Rules(), m == OnUncut) }

// Move is the order with a rule at another place, from 0; places beyond the ends are the
// ends. This program's own becomes one in which each rule is measured on the rest, since
// places hardly matter in it. A rule that has no place in an order gives a *[RangeError].
func (o Order) Move(rule Rule, to int) (Order, error) {
	list := o.Rules()
	at := slices.Index(list, rule)
	if at < 0 {
		return o, terms.NewRangeError("move", terms.Quoted(string(rule)), "the temperature or a rule that cuts")
	}
	list = slices.Delete(list, at, at+1)
	list = slices.Insert(list, min(max(to, 0), len(list)), rule)
	return orderOf(list, o != OrderOwn && o.Measure() == OnUncut), nil
}

// Name is the order's name, or "" if it has none.
func (o Order) Name() string {
	for _, known := range orderNames {
		if o == known.order {
			return known.name
		}
	}
	return ""
}

// Text is the order as people type it: its name where it has one.
func (o Order) Text() string {
	if name := o.Name(); name != "" {
		return name
	}
	return string(o)
}

// Check returns a *[RangeError] unless [ParseOrder] gives this order.
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

// UnmarshalText reads what [ParseOrder] reads.
func (o *Order) UnmarshalText(text []byte) (err error) {
	if len(text) == 0 {
		*o = OrderOwn
		return nil
	}
	*o, _, err = ParseOrder(string(text))
	return err
}

// OrderInForce is the order that these settings work in. Greedy works in this program's
// own: it keeps the most probable token, whatever the order. (With XTC before it
// llama.cpp's temperature 0 keeps the most probable one that is left; generate, when it
// does not sample, runs none of these rules.)
func (s Settings) OrderInForce() Order {
	if s.Greedy() {
		return OrderOwn
	}
	return s.Order
}

// places are the rules that follow the scores, as places of the chain, in the order of
// the settings.
func (s Settings) places() (list []int) {
	if s.OrderInForce() == OrderOwn {
		for place, r := range chain {
			if r.keep != nil && r.name != RuleGrammar || r.name == RuleTemperature {
				list = append(list, place)
			}
		}
		return list
	}
	for _, rule := range s.Order.Rules() {
		list = append(list, placeOf(rule))
	}
	return list
}

func placeOf(name Rule) int {
	return slices.IndexFunc(chain, func(r rule) bool { return r.name == name })
}

// heatsFirst reports whether the temperature comes before all that cut.
func (s Settings) heatsFirst() bool {
	first := strings.TrimPrefix(string(s.OrderInForce()), uncutPrefix)
	return first == "" || strings.HasPrefix(first, string(RuleTemperature))
}

// HeatsLate reports whether the temperature has a later place, and reshapes what is left
// then. (At 1 it changes nothing.)
func (s Settings) HeatsLate() bool { return !s.heatsFirst() && s.Temperature != 1 }

// ShownTemperature is the temperature of the distribution before any cut: 1 where the
// order has the temperature later, 0 under greedy.
func (s Settings) ShownTemperature() float64 {
	if s.heatsFirst() {
		return s.Temperature
	}
	return 1
}
