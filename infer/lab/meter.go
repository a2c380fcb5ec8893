package lab

import (
	"context"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/cost"
)

// meter is an [infer.Runner] that counts a model's passes. It forwards each pass to the model or to
// the model's runner, and keeps a tally.
type meter struct {
	model  *infer.Model
	runner infer.Runner // nil for the model itself
	tally
	last time.Duration
}

// tally is the work that a meter has counted.
type tally struct {
	passes    int
	positions int
	parts     cost.Parts
	took      time.Duration // by passes and scores, without waiting
	waited    time.Duration // for other users' passes
}

// metered returns m with a meter that counts its passes.
func metered(m *infer.Model, runner infer.Runner) (*infer.Model, *meter) {
	counter := &meter{model: m, runner: runner}
	return m.Through(counter), counter
}

// target returns the environment's target with its passes counted.
func (e Env) target() (*infer.Model, *meter) { return metered(e.Target, e.TargetRunner) }

// draft returns the environment's draft with its passes counted.
func (e Env) draft() (*infer.Model, *meter) { return metered(e.Draft, e.DraftRunner) }

// ForwardTo implements [infer.Runner].
func (m *meter) ForwardTo(ctx context.Context, c *infer.Cache, tokens []int, out []float32) (cost.Parts, error) {
	start := time.Now()
	parts, err := m.model.ForwardTo(ctx, c, tokens, out)
	m.count(start, parts, err)
	if err == nil {
		m.passes++
		m.positions += len(tokens)
	}
	return parts, err
}

// LogitsTo implements [infer.Runner].
func (m *meter) LogitsTo(ctx context.Context, last, z []float32) (cost.Parts, error) {
	start := time.Now()
	parts, err := m.model.LogitsTo(ctx, last, z)
	m.count(start, parts, err)
	return parts, err
}

// Waited implements [infer.Runner].
func (m *meter) Waited() time.Duration { return m.last }

func (m *meter) count(start time.Time, parts cost.Parts, err error) {
	took := time.Since(start)
	m.last = 0
	if m.runner != nil {
		m.last = m.runner.Waited()
	}
	m.waited += m.last
	if err == nil {
		m.took += took - m.last
		m.parts = m.parts.Plus(parts)
	}
}

// watch is a stopwatch that excludes the time that passes spend waiting.
type watch struct {
	start  time.Time
	meters []*meter
	waited time.Duration
}

func watchOf(meters ...*meter) watch {
	w := watch{meters: meters, start: time.Now()}
	for _, m := range meters {
		w.waited += m.waited
	}
	return w
}

func (w watch) took() time.Duration {
	d := time.Since(w.start) + w.waited
	for _, m := range w.meters {
		d -= m.waited
	}
	return d
}
