package api

import (
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/web/session"
)

// readOrder reads the order of the rules, and the rules that a list leaves out; without the
// field the order is this program's own.
func readOrder(f *session.Fields) (o sampling.Order, unnamed []sampling.Rule) {
	if f.Has("samplers") {
		return f.Order("samplers")
	}
	return sampling.OrderOwn, nil
}

// leavesOut refuses a list that leaves out a rule that is on. llama.cpp does not apply such a
// rule; here every rule that is on is applied.
func leavesOut(s sampling.Settings, unnamed []sampling.Rule) error {
	for _, rule := range unnamed {
		if s.On(rule) {
			return wrong(
				"samplers", "invalid_value", "samplers leaves out %s, which is on. Name it too, or turn it off.",
				rule.Name(),
			)
		}
	}
	return nil
}
