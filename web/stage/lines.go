package stage

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

// The methods in this file return the text that a terminal prints about a run. The text is plain,
// and the caller lays it out.

// Further returns the lines below a stage's sentence in a terminal. Lines about a single token or a
// condition come from other functions.
func (w Words) Further(st infer.Stage) []string {
	switch st := st.(type) {
	case infer.Forward:
		return []string{w.T(
			"lines.forward", "projections", w.MultAdds(st.Parts.Projections),
			"ffn", w.MultAdds(st.Parts.FeedForward), "attention", w.MultAdds(st.Parts.Attention),
		)}
	case infer.Logits:
		list := []string{w.T("lines.logits", "multadds", w.MultAdds(st.MultAdds))}
		if st.Penalty != nil {
			list = append(list, w.penaltyLines(*st.Penalty)...)
		}
		return list
	case infer.Softmax:
		return []string{w.T(
			"lines.softmax", "entropy", terms.Decimals(st.Entropy, 2),
			"most", terms.Decimals(math.Log2(float64(st.Vocab)), 2),
		)}
	case infer.Filter:
		list := []string{w.filterLine(st)}
		if st.Fallback {
			list = append(list, w.T("lines.filter.nothing"))
		}
		return list
	case infer.Sample:
		if st.Greedy {
			return nil
		}
		return []string{w.T(
			"lines.sample", "from", terms.Prob(st.From), "to", terms.Prob(st.To), "p", terms.Prob(st.Chosen.P),
			"rank", terms.Count(st.Chosen.Rank),
		)}
	case infer.Append:
		var list []string
		for _, c := range st.Conditions {
			list = append(list, w.conditionLine(c))
		}
		return list
	case infer.CacheGrowth:
		return []string{
			w.workLine("lines.cache", st.Cached.Total(), st.Recomputed.Total()),
			w.workLine("lines.cache.all", st.TotalCached, st.TotalRecomputed),
		}
	}
	return nil
}

// penaltyLines lists the scores that the penalties and the logit bias have changed, two per line.
func (w Words) penaltyLines(p infer.Penalty) []string {
	const shown = 6
	key := "lines.scored"
	switch {
	case p.N == 0:
		return []string{w.T("lines.scored.none", "rules", w.scorers(p.By))}
	case onlyRepetition(p):
		key = "lines.penalty"
	}
	lines := []string{w.T(
		key, "theta", terms.Plain(p.By.RepetitionPenalty), "rules", w.scorers(p.By), "tokens", w.Counted(p.N, "token"),
	)}
	var list []string
	for _, t := range p.Tokens[:min(len(p.Tokens), shown)] {
		was, is := terms.Logit(float64(t.Raw)), terms.Logit(float64(t.Z))
		list = append(list, TokenText(t.Token).String()+" "+was+" → "+is)
	}
	for two := range slices.Chunk(list, 2) {
		lines = append(lines, strings.Join(two, ", "))
	}
	if n := p.N - len(list); n > 0 {
		lines[len(lines)-1] += w.T("lines.penalty.more", "n", terms.Count(n))
	}
	return lines
}

func (w Words) filterLine(st infer.Filter) string {
	var rules []string
	key := "lines.filter"
	if st.Settings.OrderInForce().Measure() == sampling.OnRest {
		key = "lines.filter.of"
	}
	for _, c := range st.Cuts {
		rules = append(rules, w.T(
			key, "rule", w.Rule(c.Rule), "n", terms.Count(c.Keeps), "all", terms.Count(c.Of),
		))
	}
	if st.Settings.HeatsLate() {
		rules = append(rules, w.T("lines.filter.late", "t", terms.Setting(st.Settings.Temperature)))
	}
	switch {
	case st.Settings.Greedy():
		return w.T("lines.filter.greedy")
	case len(rules) == 0:
		return w.T("lines.filter.off")
	}
	return strings.Join(rules, ", ")
}

// conditionLine describes how far a stop condition is from firing.
func (w Words) conditionLine(c infer.Condition) string {
	key := "lines.stop." + string(c.Kind)
	if c.Kind == infer.StopEOS && !c.Kept {
		key = "lines.stop.eos.cut"
	}
	far := w.T(
		key, "have", terms.Count(c.Have), "limit", terms.Count(c.Limit), "p", terms.Prob(c.P),
		"n", terms.Count(c.Matched), "bytes", w.Counted(len(c.String), "byte"), "text", Marked(c.String),
	)
	mark := " "
	if c.Fired {
		mark, far = "■", w.T("lines.stop.fired", "far", far)
	}
	name := w.Stop(string(c.Kind)).Name
	return mark + " " + name + strings.Repeat(" ", max(0, stopColumn-len([]rune(name)))) + " " + far
}

// stopColumn is the width of the column with the names of stop conditions.
const stopColumn = 14

func (w Words) workLine(key string, cached, recomputed int64) string {
	return w.T(
		key, "cached", w.MultAdds(cached), "recomputed", w.MultAdds(recomputed),
		"times", terms.Times(recomputed, cached),
	)
}

// Fate returns a table cell that states whether a token was kept or which rule cut it.
func (w Words) Fate(r infer.Row) string {
	if r.Kept {
		return w.T("kept.cell")
	}
	return w.T("cut.cell", "rule", w.Rule(r.CutBy))
}

// RestFate is [Words.Fate] for the tokens without a row.
func (w Words) RestFate(r infer.Rest) string {
	if r.Kept > 0 {
		return w.T("kept.n", "n", terms.Count(r.Kept))
	}
	return w.T("cut")
}

// Settings lists the settings that shape and cut the distribution.
func (w Words) Settings(s sampling.Settings) string {
	if s.Greedy() {
		return w.T("settings.greedy")
	}
	var list []string
	if n := s.LogitBias.Len(); n > 0 {
		list = append(list, w.T("bias.of", "tokens", w.Counted(n, "token")))
	}
	if s.Grammar != "" {
		list = append(list, w.T("settings.grammar"))
	}
	for _, k := range w.Knobs() {
		x, ok := s.Value(k.Key)
		off, filter := sampling.OffAt(k.Key)
		_, usual, part := sampling.Part(k.Key)
		switch {
		case !ok, filter && x == off, part && x == usual:
		case k.Whole():
			list = append(list, w.T("setting", "name", k.Name, "x", terms.Count(int64(x))))
		default:
			list = append(list, w.T("setting", "name", k.Name, "x", terms.Plain(x)))
		}
	}
	if s.Order != sampling.OrderOwn {
		list = append(list, w.order(s))
	}
	return strings.Join(list, ", ")
}

// order describes the order of the rules, either by the order's name or by a list of the rules
// that are on.
func (w Words) order(s sampling.Settings) string {
	switch s.Order {
	case sampling.OrderLlama:
		return w.T("settings.order.llama")
	case sampling.OrderHugging:
		return w.T("settings.order.hugging")
	case sampling.OrderOpenAI:
		return w.T("settings.order.openai")
	}
	var rules []string
	for _, rule := range s.Order.Rules() {
		if rule == sampling.RuleTemperature || s.On(rule) {
			rules = append(rules, w.Rule(rule))
		}
	}
	key := "settings.order"
	if s.Order.Measure() == sampling.OnUncut {
		key = "settings.order.uncut"
	}
	return w.T(key, "order", strings.Join(rules, " → "))
}

// Drawn returns [Words.Settings] with the seed, as shown with a run: "Temperature 0.7,
// top-p 0.9, seed 42".
func (w Words) Drawn(s sampling.Settings, seed uint64) string {
	return terms.Capital(w.T("settings.drawn", "settings", w.Settings(s), "seed", fmt.Sprint(seed)))
}
