package speculation

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/bundled"
	"github.com/tokenbytoken/viz/infer/checkpoint/smallmodel"
	"github.com/tokenbytoken/viz/infer/sampling"
)

const endID = smallmodel.EndID

// modelOf loads a small model.
func modelOf(tb testing.TB, f smallmodel.Folder, w smallmodel.Weights) *infer.Model {
	tb.Helper()
	c, err := f.Open(w)
	if err != nil {
		tb.Fatal(err)
	}
	defer c.Close()
	m, err := infer.Load(c)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// smallModel returns a model with random weights. other returns a second such model, with one
// block.
func smallModel(tb testing.TB) *infer.Model {
	return modelOf(tb, smallmodel.Small, smallmodel.Small.Random(7))
}

func other(tb testing.TB) *infer.Model {
	f := smallmodel.Small
	f.Layers = 1
	return modelOf(tb, f, f.Random(8))
}

// shallow returns a poor draft model: the bundled target with only its first blocks.
func shallow(tb testing.TB, layers int) *infer.Model {
	tb.Helper()
	c, err := bundled.Target()
	if err != nil {
		tb.Fatal(err)
	}
	defer c.Close()
	c.Config.Layers, c.Config.Attention = layers, c.Config.Attention[:layers]
	m, err := infer.Load(c)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

func bigram(tb testing.TB, extra []string, next map[int]map[int]float32) *infer.Model {
	f, w := smallmodel.Bigram(extra, next)
	return modelOf(tb, f, w)
}

func pure(seed uint64) infer.Settings {
	return infer.Settings{Settings: sampling.Pure, Seed: seed, Stop: infer.Stop{MaxTokens: 64}}
}

func newLoop(tb testing.TB, m *infer.Model, prompt string, s infer.Settings) *infer.Loop {
	tb.Helper()
	l, err := infer.NewLoop(m, prompt, s)
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

// finish runs a loop to its end.
func finish(tb testing.TB, l *infer.Loop) {
	tb.Helper()
	for {
		if _, err := l.Next(context.Background()); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			tb.Fatal(err)
		}
	}
}

func textOf(l *infer.Loop) (text string) {
	for _, s := range l.Steps() {
		text += s.Text
	}
	return text
}

func logitsAfter(tb testing.TB, m *infer.Model, c *infer.Cache, tokens ...int) []float32 {
	tb.Helper()
	last, _, err := m.Forward(context.Background(), c, tokens)
	if err != nil {
		tb.Fatal(err)
	}
	z, _, err := m.Logits(last)
	if err != nil {
		tb.Fatal(err)
	}
	return z
}

func sameBits(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
}

// lateContext is a context that ends after a given number of calls to Err, so a pass is interrupted
// between two of its blocks.
type lateContext struct {
	context.Context
	left int
}

func (c *lateContext) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}
