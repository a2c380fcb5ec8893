package lab

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/cost"
	"github.com/tokenbytoken/viz/infer/sampling"
)

// work counts the multiply-adds in a run. Those in passes over one position (steps) are counted
// separately from those in passes over many positions, which take less time each.
type work struct{ steps, passes int64 }

// times returns the work of n runs with work w.
func (w work) times(n int) work { return work{int64(n) * w.steps, int64(n) * w.passes} }

// plus returns the sum of w and x.
func (w work) plus(x work) work { return work{w.steps + x.steps, w.passes + x.passes} }

// written returns the work of generating n tokens with a cache after a prompt of m positions.
func written(s cost.Shape, m, n int) work {
	cached, _ := s.Generate(m, n)
	prompt := s.Pass(m).Total()
	return work{cached.Total() - prompt, prompt}
}

// speeds caches each model's speed on this machine, by the model's hash. It is used only for
// estimates. It keeps the fastest sample so far, since other work on the machine can only slow a
// model down.
var speeds = struct {
	sync.Mutex
	best map[string]speed
}{best: map[string]speed{}}

// speed is the number of multiply-adds per second that a model reaches in passes over one position
// and in passes over many positions.
type speed struct {
	step, pass float64
	until      time.Time // no new sample is taken before this time, because the last sample took a long time
}

// An estimate takes several samples if they fit into sampleFor, so a large model is sampled only
// once.
const (
	samples   = 3
	sampleFor = 20 * time.Millisecond
	together  = 16 // number of positions in each sampled pass of several positions
)

// speedOf measures the speed of m, or returns 0 if m does not run. If samples of a model take a
// long time, it is measured only rarely, and its passes of many positions count as steps, so its
// runs are overestimated.
func speedOf(m *infer.Model) speed {
	speeds.Lock()
	known := speeds.best[m.Hash()]
	speeds.Unlock()
	if time.Now().Before(known.until) {
		return known
	}
	start := time.Now()
	for i := 0; i < samples && time.Since(start) < sampleFor; i++ {
		known.step = max(known.step, sample(m, 1, sampleFor))
	}
	took := time.Since(start)
	if known.pass == 0 && took < 2*sampleFor { // one sample is enough, as a pass of many positions takes longer
		known.pass = sample(m, together, sampleFor)
	}
	if known.step > 0 && took > 5*sampleFor {
		known.until = time.Now().Add(50 * took)
	}
	known.pass = max(known.pass, known.step)
	speeds.Lock()
	defer speeds.Unlock()
	best := speeds.best[m.Hash()]
	known.step, known.pass = max(known.step, best.step), max(known.pass, best.pass)
	speeds.best[m.Hash()] = known
	return known
}

// sample runs a few passes of n positions, or a single pass if it takes longer than `most`, and
// returns the speed of the fastest pass.
func sample(m *infer.Model, n int, most time.Duration) float64 {
	const passes = 4
	n = min(n, m.Config().Context)
	c, ids := m.NewCache(), make([]int, n)
	out, z := make([]float32, m.Config().Width), make([]float32, m.Config().Vocab)
	best, begun := 0.0, time.Now()
	for i := range min(passes, m.Config().Context/n) {
		if i > 0 && time.Since(begun) > most {
			break
		}
		start := time.Now()
		blocks, err := m.ForwardTo(context.Background(), c, ids, out)
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

// choosing returns the approximate time for a vocabulary's softmax, filters and draw: the fastest
// of a few tries.
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

// guess estimates a run from its work, its bytes, and its number of turns of the loop. Each turn
// chooses a token.
func guess(env Env, w work, turns int, bytes int64) Estimate {
	e := Estimate{MultAdds: w.steps + w.passes, Bytes: bytes}
	if v := speedOf(env.Target); v.step > 0 {
		seconds := float64(w.steps)/v.step + float64(w.passes)/v.pass
		e.Took = time.Duration(seconds*float64(time.Second)) + time.Duration(turns)*choosing(env.Target.Config().Vocab)
	}
	e.judge()
	return e
}

// judge sets whether the user should confirm the run.
func (e *Estimate) judge() { e.Large = e.Took >= LargeRun || e.Bytes >= LargeBytes }
