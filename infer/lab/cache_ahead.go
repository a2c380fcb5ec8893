package lab

import "github.com/tokenbytoken/viz/infer"

// CacheAhead holds what is known about a run of the cache lab in advance: where a guessed
// curve starts, and how high its chart must be. The times are estimates from counted work
// and the model's rate, in milliseconds.
type CacheAhead struct {
	Prompt, Tokens int
	First          float64 // the first token, both ways
	Again          float64 // the last token, with everything read again
}

// AheadOfCache predicts a run of the cache lab. v must come from [Info.Parse]. A
// *[RangeError] means that such a run is not possible.
func AheadOfCache(m *infer.Model, v Values) (CacheAhead, error) {
	prompt, tokens, err := room(m, v, "tokens")
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
