package lab

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
)

// rates caches how many multiply-adds per second each model does here, by hash, only for
// estimates: the best of the samples so far, since other work on the machine can only slow
// it down.
var rates = struct {
	sync.Mutex
	best map[string]known
}{best: map[string]known{}}

type known struct {
	rate  float64   // multiply-adds a second
	until time.Time // no new sample before this: the last one took long
}

// Samples are taken for each estimate, as long as they take less time than sampling: a
// large model gets only one.
const (
	samples   = 3
	sampleFor = 20 * time.Millisecond
)

// rate returns how many multiply-adds per second m does, one token at a time; 0 if it does
// not run. A model whose samples take long is seldom measured.
func rate(m *infer.Model) float64 {
	rates.Lock()
	known := rates.best[m.Hash()]
	rates.Unlock()
	if time.Now().Before(known.until) {
		return known.rate
	}
	start := time.Now()
	for i := 0; i < samples && time.Since(start) < sampleFor; i++ {
		known.rate = max(known.rate, sample(m, sampleFor))
	}
	if took := time.Since(start); known.rate > 0 && took > 5*sampleFor {
		known.until = time.Now().Add(50 * took)
	}
	rates.Lock()
	defer rates.Unlock()
	known.rate = max(known.rate, rates.best[m.Hash()].rate)
	rates.best[m.Hash()] = known
	return known.rate
}

// sample returns the rate of the fastest of a few steps, or of a single one if that takes
// longer than most.
func sample(m *infer.Model, most time.Duration) float64 {
	const steps = 4
	c, id := m.NewCache(), 0
	out, z := make([]float32, m.Config().Width), make([]float32, m.Config().Vocab)
	best, begun := 0.0, time.Now()
	for i := range min(steps, m.Config().Context) {
		if i > 0 && time.Since(begun) > most {
			break
		}
		start := time.Now()
		blocks, err := m.ForwardTo(context.Background(), c, []int{id}, out)
		if err != nil {
			return 0 // the run itself will report the error
		}
		scores, err := m.LogitsTo(context.Background(), out, z)
		if err != nil {
			return 0
		}
		best = max(best, float64(blocks.Plus(scores).Total())/time.Since(start).Seconds())
	}
	return best
}

// choosing returns a rough time of softmax, filters and draw over a vocabulary: the fastest
// of a few.
func choosing(vocab int) time.Duration {
	z := make([]float32, vocab)
	for i := range z { // scores in random order
		z[i] = float32(math.Log(1 / (1e-6 + sampling.U(1, i+1))))
	}
	best := time.Hour
	for range samples {
		start := time.Now()
		d := sampling.Decide(z, sampling.Pure)
		d.Draw(0.5)
		best = min(best, time.Since(start))
	}
	return best
}

// guess estimates a run from its multiply-adds, its bytes, and its turns of the loop, each
// of which chooses a token.
func guess(env Env, multAdds int64, turns int, bytes int64) Estimate {
	e := Estimate{MultAdds: multAdds, Bytes: bytes}
	if r := rate(env.Target); r > 0 {
		e.Took = time.Duration(
			float64(multAdds)/r*float64(time.Second),
		) + time.Duration(turns)*choosing(env.Target.Config().Vocab)
	}
	e.judge()
	return e
}

// judge sets whether the user should confirm the run.
func (e *Estimate) judge() { e.Large = e.Took >= LargeRun || e.Bytes >= LargeBytes }
