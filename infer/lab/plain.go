package lab

import (
	"context"
	"slices"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

// plainText is a text that a model generated without a draft and with as little overhead as
// possible. As in speculation, all of the prompt except its last token is read before the clock
// starts.
type plainText struct {
	ids   []int           // generated
	at    []time.Duration // when each token was ready
	steps []time.Duration // the time of each token's pass and scores
	took  time.Duration   // total
}

// writePlain generates up to the given number of tokens. They are the same tokens that a loop would
// generate.
func writePlain(ctx context.Context, m *infer.Model, counter *meter, v terms.Values, tokens int) (plainText, error) {
	var t plainText
	ids := m.Encode(v["prompt"])
	cache := m.NewCache()
	last, z := make([]float32, m.Config().Width), make([]float32, m.Config().Vocab)
	if n := len(ids); n > 1 {
		if _, err := m.ForwardTo(ctx, cache, ids[:n-1], last); err != nil {
			return t, err
		}
	}
	next, settings, seed := ids[len(ids)-1], samplingOf(v), uint64(v.Float("seed"))
	var sampler sampling.Sampler // as in the speculator
	text := slices.Clone(ids)
	clock := watchOf(counter)
	for n := 1; n <= tokens; n++ {
		before := counter.took
		if _, err := m.ForwardTo(ctx, cache, []int{next}, last); err != nil {
			return t, err
		}
		if _, err := m.LogitsTo(ctx, last, z); err != nil {
			return t, err
		}
		sampler.DecideIn(sampling.Context{Text: text, Seed: seed, Step: n}, z, settings)
		next = sampler.Token(sampler.Draw(sampling.U(seed, n)))
		t.ids, text = append(t.ids, next), append(text, next)
		t.steps, t.at = append(t.steps, counter.took-before), append(t.at, clock.took())
		if m.EOS(next) {
			break
		}
	}
	t.took = clock.took()
	return t, nil
}
