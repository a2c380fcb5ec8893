package lab

import (
	"context"
	"sync"
	"time"

	"github.com/tokenbytoken/viz/infer"
)

// rates remembers how many multiply-adds a second each model makes here, by
// hash, for guesses alone: the best of the samples so far, since whatever else
// the machine does only makes it slower for a while.
var rates = struct {
	sync.Mutex
	best map[string]float64
}{best: map[string]float64{}}

// samples are taken whenever a guess is asked for; each is a few milliseconds.
const samples = 3

// rate is how many multiply-adds a second m makes one token at a time, 0 where
// it does not run.
func rate(m *infer.Model) float64 {
	best := 0.0
	for range samples {
		best = max(best, sample(m))
	}
	rates.Lock()
	defer rates.Unlock()
	best = max(best, rates.best[m.Hash()])
	rates.best[m.Hash()] = best
	return best
}

// sample is the rate of the fastest of a few steps.
func sample(m *infer.Model) float64 {
	const steps = 4
	c, id := m.NewCache(), 0
	out, z := make([]float32, m.Config().Width), make([]float32, m.Config().Vocab)
	best := 0.0
	for range min(steps, m.Config().Context) {
		start := time.Now()
		blocks, err := m.ForwardTo(context.Background(), c, []int{id}, out)
		if err != nil {
			return 0 // the run itself will say why
		}
		scores, err := m.LogitsTo(context.Background(), out, z)
		if err != nil {
			return 0
		}
		best = max(best, float64(blocks.Plus(scores).Total())/time.Since(start).Seconds())
	}
	return best
}

// guess makes an estimate of a count of multiply-adds and of bytes.
func guess(env Env, multAdds, bytes int64) Estimate {
	e := Estimate{MultAdds: multAdds, Bytes: bytes}
	if r := rate(env.Target); r > 0 {
		e.Took = time.Duration(float64(multAdds) / r * float64(time.Second))
	}
	e.Large = e.Took >= LargeRun
	return e
}
