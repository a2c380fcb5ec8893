package infer

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/tokenbytoken/viz/infer/cost"
)

// TestPromptsUseLeftoverPlacesInAPass: texts that are decoding a token come first in a pass, and
// prompts share the remaining positions.
func TestPromptsUseLeftoverPlacesInAPass(t *testing.T) {
	m := smallModel(t)
	for _, row := range []struct{ tokens, want []int }{
		{[]int{60}, []int{32}},
		{[]int{1, 60}, []int{1, 31}},
		{[]int{60, 1, 60}, []int{21, 1, 10}}, // 32/3 = 10 each; the other 11 go to the first text
		{[]int{3, 1, 2}, []int{3, 1, 2}},
		{slices.Repeat([]int{60}, 16), slices.Repeat([]int{2}, 16)},
	} {
		b := &batch{model: m, s: newScratch(m.config)}
		for _, n := range row.tokens {
			b.jobs = append(b.jobs, &job{cache: m.NewCache(), tokens: make([]int, n)})
		}
		b.deal()
		var got []int
		at := 0
		for _, j := range b.reads {
			if j.from != at {
				t.Errorf("%v: a job starts at input %d, want %d", row.tokens, j.from, at)
			}
			at += j.n
			got = append(got, j.n)
		}
		if !slices.Equal(got, row.want) || len(b.s.inputs) != at {
			t.Errorf("%v tokens get %v inputs, want %v", row.tokens, got, row.want)
		}
	}
}

// TestScoresOfManyJobsEqualSoloScores: vectors from several jobs get the same scores as if each job
// were scored alone, even if there are more vectors than fit in one pass.
func TestScoresOfManyJobsEqualSoloScores(t *testing.T) {
	m := smallModel(t)
	d, v := m.config.Width, m.config.Vocab
	b := &batch{model: m, s: newScratch(m.config)}
	var want [][]float32
	for i, n := range []int{1, 20, 17, 40, 1} {
		last, z := make([]float32, n*d), make([]float32, n*v)
		for k := range last {
			last[k] = float32((k*31+i*17)%100) / 50
		}
		alone := make([]float32, n*v)
		if _, err := m.LogitsTo(context.Background(), last, alone); err != nil {
			t.Fatal(err)
		}
		b.jobs, want = append(b.jobs, &job{ctx: context.Background(), last: last, z: z}), append(want, alone)
	}
	b.run()
	for i, j := range b.jobs {
		if n := int64(len(j.last)); !j.over || j.err != nil || !sameBits(j.z, want[i]) ||
			j.tally != (cost.Parts{Output: n * int64(v)}) {
			t.Errorf(
				"job %d: got error %v, tally %+v; want its own scores, bit for bit, and their multiply-adds", i, j.err,
				j.tally,
			)
		}
	}
}

// TestDecodingAllocatesNothing: once the caches have room, decoding allocates nothing, whether it
// runs directly, through one slot, or through several slots in one round.
func TestDecodingAllocatesNothing(t *testing.T) {
	m := smallModel(t)
	pool := NewPool(m, 1)
	defer pool.Close()
	slot := pool.Slot()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c := m.NewCache()
	logitsAfter(t, m, c, make([]int, 20)...)
	out, z, tokens := make([]float32, m.config.Width), make([]float32, m.config.Vocab), []int{7}
	ways := map[string]*Model{"directly": m, "at a slot": slot.Model()}
	if !poolsKeep() {
		delete(ways, "directly") // under the race detector, sync.Pool drops values on purpose
	}
	for name, through := range ways {
		n := testing.AllocsPerRun(200, func() {
			c.Truncate(10)
			for range 5 {
				if _, err := through.ForwardTo(ctx, c, tokens, out); err != nil {
					t.Fatal(err)
				}
				if _, err := through.LogitsTo(ctx, out, z); err != nil {
					t.Fatal(err)
				}
			}
		})
		if n != 0 {
			t.Errorf("%s: got %v allocations for 5 tokens, want 0", name, n)
		}
	}
	b := &batch{model: m, s: newScratch(m.config)}
	for range 4 {
		c := m.NewCache()
		c.reserve(20)
		b.jobs = append(b.jobs, &job{ctx: ctx, cache: c, out: out}, &job{ctx: ctx, last: out, z: z})
	}
	if n := testing.AllocsPerRun(100, func() {
		for _, j := range b.jobs {
			if j.over = false; j.cache != nil {
				j.cache.Truncate(0)
				j.tokens, j.out = tokens, out
			}
		}
		b.run()
	}); n != 0 {
		t.Errorf("got %v allocations per round of 8 jobs, want 0", n)
	}
}

// poolsKeep reports whether a sync.Pool returns the values put into it. It does, except under the
// race detector.
func poolsKeep() bool {
	var p sync.Pool
	for range 100 {
		p.Put(new(int))
		if p.Get() == nil {
			return false
		}
	}
	return true
}

// BenchmarkPool decodes in n slots at the same time, on one worker, and reports their total tokens
// per second.
func BenchmarkPool(b *testing.B) {
	m := bundledModel(b)
	for _, n := range []int{1, 2, 4, 8, 16, 64} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			pool := NewPool(m, 1)
			defer pool.Close()
			var all sync.WaitGroup
			for range n {
				all.Go(func() {
					slot, c := pool.Slot(), m.NewCache()
					out, z := make([]float32, m.config.Width), make([]float32, m.config.Vocab)
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
