package pool

import (
	"context"
	"math"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/bundled"
	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/checkpoint/smallmodel"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/sampling"
)

func TestMain(m *testing.M) {
	fixture.Tokens = infer.PositionsRead
	os.Exit(fixture.Run(m))
}

// target returns the bundled target model.
func target(t testing.TB) *infer.Model { return load(t, bundled.Target) }

// small returns a model with random weights, whose steps take microseconds.
func small(t testing.TB) *infer.Model {
	return weighted(t, smallmodel.Small, smallmodel.Small.Random(7))
}

func weighted(t testing.TB, f smallmodel.Folder, w smallmodel.Weights) *infer.Model {
	return load(t, func() (*checkpoint.Checkpoint, error) { return f.Open(w) })
}

func load(t testing.TB, open func() (*checkpoint.Checkpoint, error)) *infer.Model {
	t.Helper()
	c, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	m, err := infer.Load(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// read reads tokens and returns the scores after them.
func read(t testing.TB, m *infer.Model, c *infer.Cache, tokens ...int) []float32 {
	t.Helper()
	last, _, err := m.Forward(context.Background(), c, tokens)
	if err != nil {
		t.Fatal(err)
	}
	z, _, err := m.Logits(last)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// buffers returns space for a vector and for its scores.
func buffers(m *infer.Model) (out, z []float32) {
	c := m.Config()
	return make([]float32, c.Width), make([]float32, c.Vocab)
}

// generate returns a loop that has generated up to n tokens and has stopped, or has not begun if n is 0.
func generate(t testing.TB, m *infer.Model, prompt string, seed uint64, n int) *infer.Loop {
	t.Helper()
	l, err := infer.NewLoop(m, prompt, infer.Settings{
		Settings: sampling.Pure, Seed: seed, Stop: infer.Stop{MaxTokens: max(n, 1)},
	})
	if err != nil {
		t.Error(err)
		return l
	}
	for err == nil && n > 0 {
		_, err = l.Advance(context.Background())
	}
	return l
}

// untimed returns copies of steps without their times.
func untimed(steps []*infer.Step) []infer.Step {
	list := make([]infer.Step, len(steps))
	for i, s := range steps {
		list[i] = *s
		list[i].Took = infer.Step{}.Took
	}
	return list
}

func sameBits(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
}

// gate is a context in which the first call to Err (by the slot) returns and the second (by the
// worker) blocks until the gate is opened.
type gate struct {
	context.Context
	calls   int
	reached chan struct{}
	open    chan struct{}
}

func newGate() *gate {
	return &gate{context.Background(), 0, make(chan struct{}), make(chan struct{})}
}

func (g *gate) Err() error {
	if g.calls++; g.calls == 2 {
		close(g.reached)
		<-g.open
	}
	return nil
}

// held returns a pool whose workers are all busy until open is called.
func held(t *testing.T, m *infer.Model, workers int) (pool *Pool, open func()) {
	t.Helper()
	pool = New(m, workers)
	var busy sync.WaitGroup
	var gates []*gate
	for range workers {
		g := newGate()
		busy.Go(func() {
			out, _ := buffers(m)
			if _, err := pool.Slot().ForwardTo(g, m.NewCache(), []int{1}, out); err != nil {
				t.Error(err)
			}
		})
		<-g.reached
		gates = append(gates, g)
	}
	return pool, func() {
		for _, g := range gates {
			close(g.open)
		}
		busy.Wait()
	}
}

// waiting blocks until n jobs are queued.
func waiting(pool *Pool, n int) {
	for {
		pool.mu.Lock()
		have := pool.queue.len()
		pool.mu.Unlock()
		if have >= n {
			return
		}
		runtime.Gosched()
	}
}
