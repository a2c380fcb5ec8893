package lab

import (
	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
)

// CacheAhead holds what is known about a run of the cache lab in advance, so that a learner can
// guess its curves: where they start, and how high the chart must be. The times are in
// milliseconds, estimated from counted work and the model's speed.
type CacheAhead struct {
	Prompt, Tokens int
	First          float64 // the first token, which takes the same time in both ways
	Again          float64 // the last token, if the whole text is read again
}

// AheadOfCache predicts a run of the cache lab. v must come from [terms.Inputs.Read]. It returns a
// *[terms.RangeError] if a run with these values is not possible.
func AheadOfCache(m *infer.Model, v terms.Values) (CacheAhead, error) {
	prompt, tokens, err := Env{Target: m}.room(v, "tokens")
	if err != nil {
		return CacheAhead{}, err
	}
	a, s := CacheAhead{Prompt: prompt, Tokens: tokens}, m.Shape()
	if r := speedOf(m).pass; r > 0 {
		a.First = 1000 * float64(s.Pass(prompt).Total()) / r
		a.Again = 1000 * float64(s.Pass(prompt+tokens-1).Total()) / r
	}
	return a, nil
}
