package api

import "github.com/tokenbytoken/viz/infer/sampling"

// leavesOut returns an error if a rule that is on is missing from the list. llama.cpp would skip
// such a rule, but this program applies every rule that is on.
func leavesOut(s sampling.Settings, unnamed []sampling.Rule) error {
	for _, rule := range unnamed {
		if s.On(rule) {
			return wrong(
				"samplers", "invalid_value", "samplers omits %s, which is on. Add it, or turn it off.",
				rule.Name(),
			)
		}
	}
	return nil
}
