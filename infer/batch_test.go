package infer

import (
	"context"
	"errors"
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
		b, jobs := NewBatch(m), []*Job(nil)
		for _, n := range row.tokens {
			jobs = append(jobs, &Job{Cache: m.NewCache(), Tokens: make([]int, n)})
		}
		b.jobs = jobs
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
	b, jobs := NewBatch(m), []*Job(nil)
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
		jobs, want = append(jobs, &Job{Context: context.Background(), Last: last, Z: z}), append(want, alone)
	}
	b.Run(jobs)
	for i, j := range jobs {
		if n := int64(len(j.Last)); !j.Over || j.Err != nil || !sameBits(j.Z, want[i]) ||
			j.Tally != (cost.Parts{Output: n * int64(v)}) {
			t.Errorf(
				"job %d: got error %v, tally %+v; want its own scores, bit for bit, and their multiply-adds", i, j.Err,
				j.Tally,
			)
		}
	}
}

// TestDroppedJobLeavesOthersUnchanged: a job that is dropped in the middle of a round leaves its
// cache unchanged, no matter which block it was dropped before, and the other jobs get the same
// numbers as when they run alone.
func TestDroppedJobLeavesOthersUnchanged(t *testing.T) {
	m := smallModel(t)
	d := m.config.Width
	lengths := []int{1, 5, 1, 3, 40}
	for gone := range lengths {
		rounds := 1
		if lengths[gone] == 40 { // 22 of its tokens fit in the first round
			rounds = 2
		}
		for blocks := range rounds * m.config.Layers {
			b, jobs := NewBatch(m), []*Job(nil)
			want := make([][]float32, len(lengths))
			for i, n := range lengths {
				tokens := make([]int, n)
				for k := range tokens {
					tokens[k] = (i*50 + k*7) % 256
				}
				alone, c := m.NewCache(), m.NewCache()
				logitsAfter(t, m, alone, 9, i)
				logitsAfter(t, m, c, 9, i)
				rows := min(n, 30)
				vectors := make([]float32, rows*d)
				if _, err := m.ForwardTo(context.Background(), alone, tokens, vectors); err != nil {
					t.Fatal(err)
				}
				j := &Job{Context: context.Background(), Cache: c, Start: 2, Tokens: tokens}
				j.Out = make([]float32, rows*d)
				if i == gone {
					j.Context = &lateContext{context.Background(), blocks}
				}
				jobs, want[i] = append(jobs, j), vectors
			}
			outs := make([][]float32, len(lengths))
			for i, j := range jobs {
				outs[i] = j.Out
			}
			for range 3 { // the long job needs more than one round
				b.Run(jobs)
			}
			for i, j := range jobs {
				switch {
				case !j.Over:
					t.Errorf("job %d is not done", i)
				case i == gone:
					if !errors.Is(j.Err, context.Canceled) || j.Cache.Positions() != 2 {
						t.Errorf(
							"dropped after %d blocks: %v, %d positions; want %v, 2", blocks, j.Err, j.Cache.Positions(),
							context.Canceled,
						)
					}
				default:
					shape := m.Shape().Blocks(2, lengths[i])
					if !sameBits(outs[i], want[i]) || j.Err != nil || j.Tally != shape {
						t.Errorf(
							"job %d dropped after %d blocks: job %d has %v and %+v, want %+v", gone, blocks, i, j.Err,
							j.Tally, shape,
						)
					}
				}
			}
		}
	}
}

// TestDecodingAllocatesNothing: once the caches have room, decoding allocates nothing, whether it
// runs directly or in a batch with other texts.
func TestDecodingAllocatesNothing(t *testing.T) {
	m := smallModel(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c := m.NewCache()
	logitsAfter(t, m, c, make([]int, 20)...)
	out, z, tokens := make([]float32, m.config.Width), make([]float32, m.config.Vocab), []int{7}
	if n := testing.AllocsPerRun(200, func() {
		c.Truncate(10)
		for range 5 {
			if _, err := m.ForwardTo(ctx, c, tokens, out); err != nil {
				t.Fatal(err)
			}
			if _, err := m.LogitsTo(ctx, out, z); err != nil {
				t.Fatal(err)
			}
		}
	}); n != 0 && poolsKeep() { // under the race detector, sync.Pool drops values on purpose
		t.Errorf("got %v allocations for 5 tokens, want 0", n)
	}
	b := NewBatch(m)
	var jobs []*Job
	for range 4 {
		c := m.NewCache()
		c.reserve(20)
		jobs = append(jobs, &Job{Context: ctx, Cache: c, Out: out}, &Job{Context: ctx, Last: out, Z: z})
	}
	if n := testing.AllocsPerRun(100, func() {
		for _, j := range jobs {
			if j.Over = false; j.Cache != nil {
				j.Cache.Truncate(0)
				j.Tokens, j.Out = tokens, out
			}
		}
		b.Run(jobs)
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
