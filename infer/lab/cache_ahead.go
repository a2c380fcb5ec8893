package lab

import "github.com/tokenbytoken/viz/infer"

// CacheAhead is what can be said of a run of the cache lab before it: where a guess has to
// begin, and how high a chart of it must be. The times are guesses from counted work and
// the model's rate, in milliseconds.
type CacheAhead struct {
	Prompt, Tokens int
	First          float64 // the first token, both ways
	Again          float64 // the last one, all read again
}

// AheadOfCache looks ahead of a run of the cache lab with values that [Info.Parse]
// returned. A *[RangeError] means that there cannot be one.
func AheadOfCache(m *infer.Model, v Values) (CacheAhead, error) {
	prompt, tokens, err := room(m, v, "tokens")
	if err != nil {
		return CacheAhead{}, err
	}
	a, s := CacheAhead{Prompt: prompt, Tokens: tokens}, m.Shape()
	if r := rate(m); r > 0 {
		a.First = 1000 * float64(s.Pass(prompt).Total()) / r
		a.Again = 1000 * float64(s.Pass(prompt+tokens-1).Total()) / r
	}
	return a, nil
}
