package infer

import (
	"context"
	"fmt"

	"github.com/tokenbytoken/viz/infer/sampling"
)

// ReadToken is one token of a text that the model has read, with what the model expected
// in its place.
type ReadToken struct {
	Token Token
	// First is set where nothing stands before the token, so that nothing was expected.
	// LogProb and Top mean nothing there.
	First   bool
	LogProb float64       // ln p at T = 1 over the whole vocabulary, before any rule
	Top     []TokenChance // the most probable tokens in its place, best first
}

// TokenChance is a token with ln of its probability.
type TokenChance struct {
	Token   Token
	LogProb float64
}

// Chances returns ln p of a token and the top most probable ones under the logits z
// [vocab] of the position before it.
func (m *Model) Chances(z []float32, id, top int) (logProb float64, list []TokenChance) {
	l := sampling.LogProbsOf(z)
	for _, other := range l.Top(top) {
		list = append(list, TokenChance{m.Token(int(other)), l.Of(int(other))})
	}
	return l.Of(id), list
}

// Score reads a text and says how probable each of its tokens was after those before
// it, with the top most probable ones in its place. The start token, if the model has
// one, stands before the text and is not listed. A text that the vocabulary cannot
// spell or that is longer than the context is a *[terms.RangeError].
func (m *Model) Score(ctx context.Context, text string, top int) ([]ReadToken, error) {
	ids := m.Encode(text)
	if err := m.checkPrompt(text, ids); err != nil {
		return nil, err
	}
	cache := m.NewCache()
	var list []ReadToken
	var z []float32 // after the token before
	for i, id := range ids {
		switch {
		case z != nil:
			s := ReadToken{Token: m.Token(id)}
			s.LogProb, s.Top = m.Chances(z, id, top)
			list = append(list, s)
		case m.config.BOS < 0:
			list = append(list, ReadToken{Token: m.Token(id), First: true})
		}
		if i == len(ids)-1 {
			break
		}
		last, _, err := m.Forward(ctx, cache, []int{id})
		if err != nil {
			return nil, fmt.Errorf("reading token %d: %w", i+1, err)
		}
		if z, _, err = m.Logits(last); err != nil {
			return nil, fmt.Errorf("scoring token %d: %w", i+1, err)
		}
	}
	return list, nil
}
