package pool

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/tokenbytoken/viz/infer"
)

// TestPooledTextsMatchSoloRuns: texts generated at the same time in the slots of a pool equal the
// same texts generated alone, bit for bit, including logits and counts.
// Promise: Your text and its numbers are the same, bit for bit, no matter what others run at the same time.
func TestPooledTextsMatchSoloRuns(t *testing.T) {
	for name, m := range map[string]*infer.Model{"small": small(t), "bundled": target(t)} {
		pool, open := held(t, m, 2)
		texts := 20
		if name == "bundled" {
			texts = 6
		}
		var together sync.WaitGroup
		for i := range texts {
			together.Go(func() {
				prompt := strings.Repeat("ab ", 1+i) // some fit in one pass, others take several
				slot := pool.Slot()
				slot.Step(i%3 == 0)
				got, want := generate(t, slot.Model(), prompt, uint64(i), 20), generate(t, m, prompt, uint64(i), 20)
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
	m := small(t)
	pool := New(m, 2)
	defer pool.Close()
	want := generate(t, m, "Hello", 3, 20)
	before := pool.Stats().Served
	got, err := infer.Replay(context.Background(), pool.Slot().Model(), want.Log())
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
	m := target(t)
	pool, open := held(t, m, 2)
	const playing, stepping, tokens = 64, 8, 8
	var players, steppers sync.WaitGroup
	stop := make(chan struct{})
	decode := func(slot *Slot, c *infer.Cache, out, z []float32) bool {
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
		out, z := buffers(m)
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

// TestIdlePoolKeepsNoCache: once a pass is over, the pool does not keep its cache in memory.
func TestIdlePoolKeepsNoCache(t *testing.T) {
	m := small(t)
	pool := New(m, 1)
	defer pool.Close()
	slot := pool.Slot()
	freed := make(chan bool, 1)
	func() {
		c := m.NewCache()
		runtime.AddCleanup(c, func(bool) { freed <- true }, true)
		out, _ := buffers(m)
		if _, err := slot.ForwardTo(t.Context(), c, []int{1}, out); err != nil {
			t.Fatal(err)
		}
	}()
	for range 100 {
		runtime.GC() // cleanups run on a goroutine of their own, after a collection
		select {
		case <-freed:
			runtime.KeepAlive(slot)
			return
		default:
			runtime.Gosched()
		}
	}
	t.Error("the cache is still in memory after 100 garbage collections")
}

// TestDecodingAllocatesNothing: once the cache has room, decoding through a slot allocates nothing.
func TestDecodingAllocatesNothing(t *testing.T) {
	m := small(t)
	pool := New(m, 1)
	defer pool.Close()
	through := pool.Slot().Model()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c := m.NewCache()
	read(t, m, c, make([]int, 20)...)
	out, z := buffers(m)
	tokens := []int{7}
	if n := testing.AllocsPerRun(200, func() {
		c.Truncate(10)
		for range 5 {
			if _, err := through.ForwardTo(ctx, c, tokens, out); err != nil {
				t.Fatal(err)
			}
			if _, err := through.LogitsTo(ctx, out, z); err != nil {
				t.Fatal(err)
			}
		}
	}); n != 0 {
		t.Errorf("got %v allocations for 5 tokens, want 0", n)
	}
}

// BenchmarkPool decodes in n slots at the same time, on one worker, and reports their total tokens
// per second.
func BenchmarkPool(b *testing.B) {
	m := target(b)
	for _, n := range []int{1, 2, 4, 8, 16, 64} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			pool := New(m, 1)
			defer pool.Close()
			var all sync.WaitGroup
			for range n {
				all.Go(func() {
					slot, c := pool.Slot(), m.NewCache()
					out, z := buffers(m)
					for range b.N {
						if c.Positions() == 64 {
							c.Truncate(0)
						}
						if _, err := slot.ForwardTo(context.Background(), c, []int{1}, out); err != nil {
							b.Error(err)
							return
						}
						if _, err := slot.LogitsTo(context.Background(), out, z); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			all.Wait()
			b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "tokens/s")
		})
	}
}
