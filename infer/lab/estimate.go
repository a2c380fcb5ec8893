package lab

import (
	"context"
	"sync"
	"time"

	"github.com/tokenbytoken/viz/infer"
)

// rates remembers how many multiply-adds a second a model makes here, by hash:
// measured once, for guesses alone.
var rates sync.Map // string → float64

// rate is how many multiply-adds a second m makes one token at a time.
func rate(m *infer.Model) float64 {
	if r, ok := rates.Load(m.Hash()); ok {
		return r.(float64)
	}
	const steps = 4
	c, id := m.NewCache(), 0
	out, z := make([]float32, m.Config().Width), make([]float32, m.Config().Vocab)
	var counted int64
	start := time.Now()
	for range min(steps, m.Config().Context) {
		blocks, err := m.ForwardTo(context.Background(), c, []int{id}, out)
		if err != nil {
			return 0 // the run itself will say why
		}
		scores, err := m.LogitsTo(context.Background(), out, z)
		if err != nil {
			return 0
		}
		counted += blocks.Plus(scores).Total()
	}
	r := float64(counted) / time.Since(start).Seconds()
	rates.Store(m.Hash(), r)
	return r
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
