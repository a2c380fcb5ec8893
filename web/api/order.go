package api

import (
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/web/session"
)

// readOrder reads the order of the rules and returns the rules that are missing from it. If the
// request has no such field, readOrder returns this program's own order.
func readOrder(f *session.Fields) (o sampling.Order, unnamed []sampling.Rule) {
	if f.Has("samplers") {
		return f.Order("samplers")
	}
	return sampling.OrderOwn, nil
}

// leavesOut returns an error if a rule that is on is missing from the list. llama.cpp would not
// apply such a rule, but this program applies every rule that is on.
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
