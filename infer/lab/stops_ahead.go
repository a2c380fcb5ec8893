package lab

import (
	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
)

// AheadOfStops returns what is known about a run of the stops lab in advance: its stop conditions,
// the steps at which limits fire, and how many tokens the run would generate. v must come from
// [terms.Inputs.Read]. It returns a *[terms.RangeError] if a run with these values is not possible.
func AheadOfStops(m *infer.Model, v terms.Values) (racers []Racer, tokens int, err error) {
	prompt, tokens, err := Env{Target: m}.room(v, "tokens")
	if err != nil {
		return nil, 0, err
	}
	return stopRacers(m, v, prompt), tokens, nil
}

// stopRacers returns the stop conditions as they are before the run, with the steps at which limits
// will fire.
func stopRacers(m *infer.Model, v terms.Values, prompt int) []Racer {
	list := []Racer{{Kind: infer.StopEOS}}
	for _, s := range v.Lines("stop") {
		list = append(list, Racer{Kind: infer.StopString, String: s})
	}
	limit, context := v.Int("max_tokens"), m.Config().Context
	return append(list,
		Racer{Kind: infer.StopMaxTokens, Limit: limit, Step: limit, Sure: true},
		Racer{Kind: infer.StopContext, Limit: context, Step: context - prompt + 1, Sure: true})
}
