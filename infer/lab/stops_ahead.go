package lab

import "github.com/tokenbytoken/viz/infer"

// AheadOfStops is what can be said of a run of the stops lab before it: its conditions, of
// which only the steps of limits are known, and how many tokens it would write. v is what
// [Info.Parse] returned. A *[RangeError] means that there cannot be a run.
func AheadOfStops(m *infer.Model, v Values) (racers []Racer, tokens int, err error) {
	prompt, tokens, err := room(m, v, "tokens")
	if err != nil {
		return nil, 0, err
	}
	return stopRacers(m, v, prompt), tokens, nil
}

// stopRacers are the conditions at the start. The steps of limits are known before.
func stopRacers(m *infer.Model, v Values, prompt int) []Racer {
	list := []Racer{{Kind: infer.StopEOS}}
	for _, s := range v.strings("stop") {
		list = append(list, Racer{Kind: infer.StopString, String: s})
	}
	limit, context := v.int("max_tokens"), m.Config().Context
	return append(list,
		Racer{Kind: infer.StopMaxTokens, Limit: limit, Step: limit, Sure: true},
		Racer{Kind: infer.StopContext, Limit: context, Step: context - prompt + 1, Sure: true})
}
