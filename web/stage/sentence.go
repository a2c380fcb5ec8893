package stage

import (
	"math"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// Voice is a voice in which sentences are written for a particular audience. It determines the
// level of detail. The keys of a voice's texts begin with the voice's name.
type Voice string

const (
	// Numbers is for people who study a stage on the Loop or in a class. It describes what
	// happened, with numbers.
	Numbers Voice = "numbers"
	// Brief is one short sentence, for the home page and lessons' experiments.
	Brief Voice = "brief"
	// Line is for the terminal. It is short enough to fit next to the name of a stage.
	Line Voice = "line"
	// Tale is for people who have not seen a model write before. It uses plain words and whole
	// percents, in [Story].
	Tale Voice = "story"
)

// About is the data that a sentence needs in addition to its stage.
type About struct {
	Layers, Width int                    // the model's layers and width
	Prompt        int                    // tokens of the prompt, including the start token
	Dist          *sampling.Distribution // the distribution of the stage's step, if known
}

func aboutOf(s *session.State) About {
	c := s.Model.Config()
	return About{Layers: c.Layers, Width: c.Width, Prompt: len(s.PromptTokens), Dist: s.Dist}
}

// values are the named values that a text can contain.
type values = []any

// sentence returns the text for the first case that a voice has a text for, or the text without a
// case if there is none.
func (w Words) sentence(v Voice, st infer.Stage, cases []string, with values) Rich {
	key := string(v) + "." + st.Kind().String()
	for _, c := range cases {
		if w.Has(key + "." + c) {
			return w.Rich(key+"."+c, with...)
		}
	}
	return w.Rich(key, with...)
}

// SentenceOf describes what the given stage did at the step shown.
func (w Words) SentenceOf(v Voice, s *session.State, k infer.Kind) Rich {
	return w.Sentence(v, s.StageOf(k, 1), aboutOf(s))
}

// Sentence describes what a stage did.
func (w Words) Sentence(v Voice, st infer.Stage, in About) Rich {
	switch st := st.(type) {
	case infer.Forward:
		return w.forwardText(v, st, in)
	case infer.Logits:
		return w.sentence(v, st, nil, values{
			"vocab", terms.Count(st.Vocab), "top", TokenText(st.Rows.Rows[0].Token),
			"min", terms.Logit(float64(st.Min)), "max", terms.Logit(float64(st.Max)),
		})
	case infer.Softmax:
		top := st.Rows.Rows[0]
		return w.sentence(v, st, onlyIf(st.Temperature == 0, "greedy"), values{
			"t", terms.Setting(st.Temperature), "typed", terms.Plain(st.Temperature), "vocab", terms.Count(st.Vocab),
			"top", TokenText(top.Token), "p", terms.Prob(top.P), "sum", terms.Decimals(st.SumExp, 4),
		})
	case infer.Filter:
		return w.filterText(v, st)
	case infer.Sample:
		return w.sampleText(v, st, in)
	case infer.Append:
		return w.appendText(v, st, in)
	case infer.CacheGrowth:
		first := "first"
		if st.Grew < st.Positions {
			first = "grown"
		}
		return w.sentence(v, st, onlyIf(st.Step == 1, first), values{
			"positions", w.Counted(st.Positions, "position"), "n", terms.Count(st.Positions),
			"context", terms.Count(st.Context), "layers", w.Counted(st.Layers, "layer"),
			"reused", terms.Count(st.Positions - st.Grew), "columns", w.Counted(st.Grew, "column"),
			"bytes", w.Bytes(st.Bytes), "grew", w.Bytes(st.GrewBytes),
		})
	}
	return nil
}

// onlyIf returns a list with the named case if holds is true, and an empty list otherwise.
func onlyIf(holds bool, name string) []string {
	if holds {
		return []string{name}
	}
	return nil
}

func (w Words) forwardText(v Voice, st infer.Forward, in About) Rich {
	which, old := "decode", st.Positions-len(st.Tokens)
	switch {
	case st.Prefill && old > 0:
		which = "grown"
	case st.Prefill:
		which = "prefill"
	}
	return w.sentence(v, st, []string{which}, values{
		"tokens", w.Counted(len(st.Tokens), "token"), "n", terms.Count(st.Positions), "old", terms.Count(old),
		"newest", gen(TokenText(st.Tokens[len(st.Tokens)-1])), "blocks", w.Counted(in.Layers, "block"),
		"width", terms.Count(in.Width), "before", w.Counted(st.Positions-1, "token"),
		"multadds", w.MultAdds(st.MultAdds),
	})
}

// filterText describes the effect of the filters with these settings.
func (w Words) filterText(v Voice, st infer.Filter) Rich {
	set := st.Settings
	var grammar sampling.Cut
	if len(st.Cuts) > 0 && st.Cuts[0].Rule == sampling.RuleGrammar {
		grammar = st.Cuts[0]
	}
	bound := "" // bound of the last rule, which is the only rule if a text describes just one
	if n := len(st.Cuts); n > 0 {
		bound = four(st.Cuts[n-1].Bound)
	}
	with := values{
		"kept", terms.Count(st.Kept), "cut", terms.Count(st.Cut), "all", terms.Count(st.Kept + st.Cut),
		"tokens", w.Counted(st.Kept, "token"), "mass", terms.Prob(st.Mass),
		"share", terms.Percent(st.Mass), "rules", w.List(w.leaves(st)), "chain", w.List(w.chain(st)),
		"t", terms.Setting(set.Temperature),
		"k", w.Counted(set.TopK, "most probable token"), "stay", w.stay(st.Kept),
		"forbidden", w.Counted(grammar.Of-grammar.Keeps, "token"), "forbade", terms.Prob(grammar.Moved),
		"bound", bound,
	}
	for _, k := range terms.Knobs() { // a text can name any setting by its key
		if x, ok := set.Value(k.Key); ok {
			with = append(with, k.Key, terms.Setting(x))
		}
	}
	return w.sentence(v, st, filterCases(st), with)
}

// filterCases returns the cases for the filters that are on, followed by the case "one" if only a
// single token is kept.
func filterCases(st infer.Filter) (cases []string) {
	if len(st.Cuts) > 0 && st.Cuts[0].Rule == sampling.RuleGrammar {
		cases = append(onlyIf(st.Settings.Greedy(), "grammar.greedy"), onlyIf(st.Kept == 1, "grammar.one")...)
		cases = append(cases, "grammar.any") // for voices whose text does not depend on the other rules
	}
	return append(cases, rulesOn(st)...)
}

// rulesOn returns the cases of filterCases that do not depend on the grammar.
func rulesOn(st infer.Filter) (cases []string) {
	set := st.Settings
	switch {
	case set.Greedy():
		return []string{"greedy"}
	case st.Fallback:
		return []string{"nothing"}
	case set.HeatsLate() && st.Cut == 0:
		return []string{"reshaped"}
	case set.HeatsLate():
		cases = append(onlyIf(st.Kept == 1, "one"), "heated")
		return append(onlyIf(set.Order.Measure() == sampling.OnUncut, "chain.uncut"), append(cases, "chain")...)
	case set.Order.Measure() == sampling.OnRest && len(st.Cuts) > 0:
		return append([]string{"chain"}, onlyIf(st.Kept == 1, "one")...)
	case len(st.Cuts) == 0:
		return []string{"off"}
	case len(st.Cuts) > 1:
		cases = []string{"several"}
	default:
		rule := string(st.Cuts[0].Rule)
		cases = append(onlyIf(st.Cut == 0, rule+".idle"), rule)
	}
	return append(cases, onlyIf(st.Kept == 1, "one")...)
}

// leaves lists each filter with the number of tokens that it leaves: "top-k leaves 40", "top-p 27".
func (w Words) leaves(st infer.Filter) (list []string) {
	for i, c := range st.Cuts {
		key := "filter.leaves"
		if i > 0 {
			key = "filter.leaves.next"
		}
		list = append(list, w.T(key, "rule", w.Rule(c.Rule), "n", terms.Count(c.Keeps)))
	}
	return list
}

// chain is like leaves, but also lists the temperature, at its position in the order, if the
// temperature comes after a rule that cuts.
func (w Words) chain(st infer.Filter) (list []string) {
	leaves := map[sampling.Rule]string{}
	for _, c := range st.Cuts {
		leaves[c.Rule] = w.T("filter.leaves", "rule", w.Rule(c.Rule), "n", terms.Count(c.Keeps))
	}
	if text, on := leaves[sampling.RuleGrammar]; on {
		list = append(list, text)
	}
	for _, rule := range st.Settings.Order.Rules() {
		if text, on := leaves[rule]; on {
			list = append(list, text)
		}
		if rule == sampling.RuleTemperature && st.Settings.HeatsLate() {
			list = append(list, w.T("filter.heats", "t", terms.Setting(st.Settings.Temperature)))
		}
	}
	return list
}

// Rule returns a rule's name within a sentence.
func (w Words) Rule(r sampling.Rule) string {
	if k, ok := w.Knob(string(r)); ok {
		return k.Name
	}
	return w.T("rule." + string(r))
}

func (w Words) stay(n int) string {
	if n == 1 {
		return w.T("stay.one")
	}
	return w.T("stay", "n", terms.Count(n))
}

func (w Words) sampleText(v Voice, st infer.Sample, in About) Rich {
	cases := append(onlyIf(st.Forced, "forced"), onlyIf(st.Greedy, "greedy")...)
	hundredths := math.Round(100 * st.Chosen.Q)
	cases = append(append(cases, onlyIf(hundredths < 1, "rare")...), onlyIf(hundredths == 1, "once")...)
	return w.sentence(v, st, cases, values{
		"token", pick(TokenText(st.Chosen.Token)), "u", terms.Decimals(st.U, 4), "from", terms.Prob(st.From),
		"to", terms.Prob(st.To), "kept", w.theKept(in.kept()),
		"hundred", w.OfHundred(st.Chosen.Q),
	})
}

// kept returns the number of tokens that can be drawn.
func (a About) kept() int {
	if a.Dist == nil {
		return 0
	}
	return a.Dist.Keep
}

func (w Words) theKept(n int) string {
	if n == 1 {
		return w.T("kept.one")
	}
	return w.T("kept", "n", terms.Count(n))
}

func (w Words) appendText(v Voice, st infer.Append, in About) Rich {
	var cases []string
	matched := 0 // bytes of a stop string at the end of the text
	for _, c := range st.Conditions {
		if c.Kind == infer.StopString {
			matched = max(matched, c.Matched)
		}
	}
	switch {
	case st.Stop != infer.StopNone:
		cases = []string{string(st.Stop)}
	case len(st.Held) > 0:
		cases = append(onlyIf(matched > 0, "matched"), "held")
	}
	text := TokenText(st.Token)
	return w.sentence(v, st, cases, values{
		"pick", pick(text), "token", gen(text), "n", terms.Count(in.Prompt + st.Step), "stop", Marked(st.StopString),
		"held", Marked(string(st.Held)), "bytes", w.held(len(st.Held)), "matched", w.Counted(matched, "byte"),
	})
}

// held returns the words that precede "held back", which contain the number of bytes.
func (w Words) held(n int) string {
	if n == 1 {
		return w.T("bytes.are.one")
	}
	return w.T("bytes.are", "n", terms.Count(n))
}

// factsOf lists, for each voice and stage, the names of the facts that are shown. The main fact is
// marked with an asterisk.
var factsOf = map[Voice]map[infer.Kind]string{
	Numbers: {
		infer.KindForward: "multadds* took", infer.KindLogits: "max* multadds took",
		infer.KindSoftmax: "t top* entropy", infer.KindFilter: "kept* cut mass", infer.KindSample: "seed draw u*",
		infer.KindAppend: "generated* held", infer.KindCache: "columns new* bytes",
	},
	Brief: {
		infer.KindForward: "read positions multadds took", infer.KindLogits: "max min multadds",
		infer.KindSoftmax: "t entropy", infer.KindFilter: "topp kept cut", infer.KindSample: "u rank p q",
		infer.KindAppend: "generated", infer.KindCache: "columns bytes grew",
	},
}

// greedyFacts are the facts under greedy decoding, which draws nothing.
var greedyFacts = map[Voice]string{Numbers: "one draw p*", Brief: "rank p"}

// FactsOf returns a stage's main figures at the step shown.
func (w Words) FactsOf(v Voice, s *session.State, k infer.Kind) []Fact {
	return w.Facts(v, s.StageOf(k, 1))
}

// Facts returns a stage's main figures.
func (w Words) Facts(v Voice, st infer.Stage) (list []Fact) {
	names := factsOf[v][st.Kind()]
	if draw, ok := st.(infer.Sample); ok && draw.Greedy {
		names = greedyFacts[v]
	}
	values := w.figures(st)
	for _, name := range strings.Fields(names) {
		name, main := strings.CutSuffix(name, "*")
		key := string(v) + ".fact." + name
		if own := key + "." + st.Kind().String(); w.Has(own) {
			key = own
		}
		list = append(list, Fact{w.T(key), values[name], main})
	}
	return list
}

// figures maps the names in [factsOf] to the figures of a stage.
func (w Words) figures(st infer.Stage) map[string]string {
	switch st := st.(type) {
	case infer.Forward:
		return map[string]string{
			"multadds": w.MultAdds(st.MultAdds), "took": w.Took(st.Took), "read": terms.Count(len(st.Tokens)),
			"positions": terms.Count(st.Positions),
		}
	case infer.Logits:
		return map[string]string{
			"max": terms.Logit(float64(st.Max)), "min": terms.Logit(float64(st.Min)),
			"multadds": w.MultAdds(st.MultAdds), "took": w.Took(st.Took),
		}
	case infer.Softmax:
		return map[string]string{
			"t": temperature(st.Temperature), "top": terms.Prob(st.Rows.Rows[0].P),
			"entropy": terms.Decimals(st.Entropy, 2),
		}
	case infer.Filter:
		return map[string]string{
			"kept": terms.Count(st.Kept), "cut": terms.Count(st.Cut), "mass": terms.Prob(st.Mass),
			"topp": terms.Setting(st.Settings.TopP),
		}
	case infer.Sample:
		draw := w.Ordinal(st.Step)
		if st.Greedy {
			draw = w.T("none")
		}
		return map[string]string{
			"seed": seed(st.Seed), "draw": draw, "u": terms.Prob(st.U), "one": "1", "rank": terms.Count(st.Chosen.Rank),
			"p": terms.Prob(st.Chosen.P), "q": terms.Prob(st.Chosen.Q),
		}
	case infer.Append:
		return map[string]string{
			"generated": terms.Count(st.Generated), "held": w.Counted(len(st.Held), "byte"),
		}
	case infer.CacheGrowth:
		return map[string]string{
			"columns": terms.Count(st.Positions), "new": "+" + terms.Count(st.Grew), "bytes": w.Bytes(st.Bytes),
			"grew": w.Bytes(st.GrewBytes),
		}
	}
	return nil
}
