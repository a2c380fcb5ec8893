package infer

import (
	"context"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// TestPooledTextsMatchSoloRuns: texts generated at the same time in the slots of a pool equal the
// same texts generated alone, bit for bit, including logits and counts.
// Promise: Your text and its numbers are the same, bit for bit, no matter what others run at the same time.
func TestPooledTextsMatchSoloRuns(t *testing.T) {
	for name, m := range map[string]*Model{"small": smallModel(t), "bundled": bundledModel(t)} {
		pool, open := held(t, m, 2)
		texts := 20
		if name == "bundled" {
			texts = 6
		}
		var together sync.WaitGroup
		for i := range texts {
			together.Go(func() {
				prompt := strings.Repeat("ab ", 1+i) // some fit in one pass, others take several
				s := pure(uint64(i))
				s.Stop.MaxTokens = 20
				slot := pool.Slot()
				slot.Step(i%3 == 0)
				got, err := NewLoop(slot.Model(), prompt, s)
				if err != nil {
					t.Error(err)
					return
				}
				for err == nil {
					_, err = got.Advance(context.Background())
				}
				want, err := NewLoop(m, prompt, s)
				for err == nil {
					_, err = want.Advance(context.Background())
				}
				if !reflect.DeepEqual(untimed(got.Steps()), untimed(want.Steps())) {
					t.Errorf("%s, text %d: the steps differ from the steps of a solo run", name, i)
				}
			})
		}
		waiting(pool, texts)
		open()
		together.Wait()
		pool.Close()
		if st := pool.Stats(); st.Served <= st.Rounds {
			t.Errorf("%s: %d jobs in %d rounds: nothing was batched", name, st.Served, st.Rounds)
		}
	}
}

// TestReplayRunsThroughASlot: a replay gives the same results through a slot.
func TestReplayRunsThroughASlot(t *testing.T) {
	m := smallModel(t)
	pool := NewPool(m, 2)
	defer pool.Close()
	s := pure(3)
	s.Stop.MaxTokens = 20
	want := newLoop(t, m, "Hello", s)
	finish(t, want)
	before := pool.Stats().Served
	got, err := Replay(context.Background(), pool.Slot().Model(), want.Log())
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(untimed(got.Steps()), untimed(want.Steps())) {
		t.Error("a replay through a slot differs")
	}
	if n := pool.Stats().Served - before; n != 2*int64(len(want.Steps())) {
		t.Errorf("the pool served %d passes, want a forward pass and scores for each of %d steps", n, len(want.Steps()))
	}
}

// TestSixtyFourSessionsOnTwoWorkers: while 64 sessions play on two workers and 8 learners step as
// fast as they can, none of them waits more than 9 rounds, which is twice the fair share of 72 / 16
// = 4.5.
func TestSixtyFourSessionsOnTwoWorkers(t *testing.T) {
	m := bundledModel(t)
	pool, open := held(t, m, 2)
	const playing, stepping, tokens = 64, 8, 8
	var players, steppers sync.WaitGroup
	stop := make(chan struct{})
	decode := func(slot *Slot, c *Cache, out, z []float32) bool {
		_, err := slot.ForwardTo(context.Background(), c, []int{c.Positions() % 256}, out)
		if err == nil {
			_, err = slot.LogitsTo(context.Background(), out, z)
		}
		if err != nil {
			t.Error(err)
		}
		return err == nil
	}
	counted := make([]int, stepping)
	for i := range playing + stepping {
		slot, c := pool.Slot(), m.NewCache()
		out, z := make([]float32, m.config.Width), make([]float32, m.config.Vocab)
		if i < playing {
			players.Go(func() {
				for range tokens {
					if !decode(slot, c, out, z) {
						return
					}
				}
			})
			continue
		}
		slot.Step(true)
		steppers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if !decode(slot, c, out, z) {
					return
				}
				counted[i-playing]++
				c.Truncate(0)
			}
		})
	}
	waiting(pool, playing+stepping)
	open()
	players.Wait()
	close(stop)
	steppers.Wait()
	pool.Close()
	st := pool.Stats()
	if st.Longest > 9 {
		t.Errorf("the longest wait is %d rounds; twice the fair share is 9", st.Longest)
	}
	if st.Served < 2*st.Rounds {
		t.Errorf(
			"%d passes in %d rounds, so few were batched; want at least %d", st.Served, st.Rounds, 2*st.Rounds,
		)
	}
	for i, n := range counted {
		if n < tokens {
			t.Errorf("stepping learner %d got %d tokens, want at least as many as playing learners, %d", i, n, tokens)
		}
	}
	t.Logf("%d rounds served %d passes, %.1f each; the longest wait was %d rounds, the mean %.2f",
		st.Rounds, st.Served, float64(st.Served)/float64(st.Rounds), st.Longest, float64(st.Waited)/float64(st.Served))
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
func held(t *testing.T, m *Model, workers int) (pool *Pool, open func()) {
	t.Helper()
	pool = NewPool(m, workers)
	var busy sync.WaitGroup
	var gates []*gate
	for range workers {
		g := newGate()
		busy.Go(func() {
			if _, err := pool.Slot().ForwardTo(g, m.NewCache(), []int{1}, make([]float32, m.config.Width)); err != nil {
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
