package pool

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/checkpoint/smallmodel"
	"github.com/tokenbytoken/viz/infer/fixture"
)

// TestQueuedPassIsCanceledImmediately: a pass that is canceled while it is queued returns
// immediately, even though the worker is busy.
func TestQueuedPassIsCanceledImmediately(t *testing.T) {
	m := small(t)
	pool, open := held(t, m, 1)
	slot, c := pool.Slot(), m.NewCache()
	read(t, m, c, 1, 2, 3)
	for range 2 {
		ctx, cancel := context.WithCancel(context.Background())
		result := make(chan error)
		go func() {
			_, err := slot.ForwardTo(ctx, c, []int{4}, make([]float32, m.Config().Width))
			result <- err
		}()
		waiting(pool, 1)
		cancel()
		if err := <-result; !errors.Is(err, context.Canceled) || c.Positions() != 3 {
			t.Fatalf("got %v with %d positions; want %v, 3", err, c.Positions(), context.Canceled)
		}
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := slot.LogitsTo(
		ended, make([]float32, m.Config().Width), make([]float32, m.Config().Vocab),
	); !errors.Is(err, context.Canceled) {
		t.Errorf("with a canceled context: got error %v, want %v", err, context.Canceled)
	}
	open()
	out, z := buffers(m)
	if _, err := slot.ForwardTo(context.Background(), c, []int{4}, out); err != nil {
		t.Fatal(err)
	}
	if _, err := slot.LogitsTo(context.Background(), out, z); err != nil {
		t.Fatal(err)
	}
	if want := read(t, m, m.NewCache(), 1, 2, 3, 4); !sameBits(z, want) {
		t.Error("after the cancellation, the slot continues differently")
	}
	pool.Close()
}

// TestQueueTimeIsNotPassTime: waiting for the pool is not part of a pass's time. The synctest
// bubble's clock advances only while every goroutine waits, so computing takes no time.
func TestQueueTimeIsNotPassTime(t *testing.T) {
	m := small(t)
	synctest.Test(t, func(t *testing.T) {
		pool, open := held(t, m, 1)
		defer pool.Close()
		slot := pool.Slot()
		l := generate(t, slot.Model(), "Hello", 1, 0)
		done := make(chan error)
		go func() {
			_, err := l.Advance(t.Context())
			done <- err
		}()
		waiting(pool, 1)
		const wait = time.Minute
		fixture.Pass(wait)
		open()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if slot.Waited() != wait {
			t.Errorf("waited %v, want %v", slot.Waited(), wait)
		}
		if took := l.Steps()[0].Took[infer.KindForward]; took >= wait {
			t.Errorf("the pass took %v, want less than the %v that it waited", took, wait)
		}
	})
}

// TestPanicStaysWithItsSlot: a panic reaches the goroutine whose job caused it and does not affect
// the other jobs of the same round.
func TestPanicStaysWithItsSlot(t *testing.T) {
	m := small(t)
	f := smallmodel.Small
	f.Layers = 1
	shallower := weighted(t, f, f.Random(1)) // its caches lack a block
	pool, open := held(t, m, 1)
	var all sync.WaitGroup
	for i := range 3 {
		all.Go(func() {
			c := m.NewCache()
			if i == 1 {
				c = shallower.NewCache()
			}
			defer func() {
				if v := recover(); (v != nil) != (i == 1) {
					t.Errorf("slot %d: got panic %v, want one at slot 1 only", i, v)
				}
			}()
			out, z := buffers(m)
			slot := pool.Slot()
			if _, err := slot.ForwardTo(context.Background(), c, []int{i}, out); err != nil {
				t.Error(err)
			}
			if _, err := slot.LogitsTo(context.Background(), out, z); err != nil {
				t.Error(err)
			}
			if want := read(t, m, m.NewCache(), i); !sameBits(z, want) {
				t.Errorf("slot %d gets different numbers than when run alone", i)
			}
		})
	}
	waiting(pool, 3)
	open()
	all.Wait()
	pool.Close()
}

// TestClosedPoolRefusesNewPasses: a closed pool rejects waiting and new passes, but finishes
// running ones.
func TestClosedPoolRefusesNewPasses(t *testing.T) {
	m := small(t)
	pool, open := held(t, m, 1)
	results := make(chan error, 3)
	for i := range 3 {
		c := m.NewCache()
		go func() {
			var err error
			if last := make([]float32, m.Config().Width); i == 0 { // one of them waits for scores
				_, err = pool.Slot().LogitsTo(context.Background(), last, make([]float32, m.Config().Vocab))
			} else {
				_, err = pool.Slot().ForwardTo(context.Background(), c, []int{1}, last)
			}
			results <- err
		}()
	}
	waiting(pool, 3)
	closed := make(chan struct{})
	go func() { pool.Close(); close(closed) }()
	for range 3 {
		if err := <-results; !errors.Is(err, ErrClosed) {
			t.Errorf("a waiting pass got %v, want %v", err, ErrClosed)
		}
	}
	open()
	<-closed
	if _, err := pool.Slot().LogitsTo(
		context.Background(), make([]float32, m.Config().Width), make([]float32, m.Config().Vocab),
	); !errors.Is(err, ErrClosed) {
		t.Errorf("a later pass got %v, want %v", err, ErrClosed)
	}
	pool.Close() // closing the pool twice has no effect
}

// TestSlotReportsModelErrors: a slot returns the model's own errors.
func TestSlotReportsModelErrors(t *testing.T) {
	m := small(t)
	pool := New(m, 1)
	defer pool.Close()
	through := pool.Slot().Model()
	if _, _, err := through.Forward(context.Background(), m.NewCache(), make([]int, 65)); err == nil ||
		!strings.Contains(err.Error(), "65 positions exceed") {
		t.Errorf("got error %v, want an error containing %q", err, "65 positions exceed")
	}
	f := smallmodel.Folder{Width: 4, Layers: 1, Heads: 1, KVHeads: 1, HeadDim: 2, FFN: 2, Context: 8}
	w := f.Random(1)
	for i := range w["lm_head.weight"] {
		w["lm_head.weight"][i] = 3e38
	}
	broken := New(weighted(t, f, w), 1)
	defer broken.Close()
	if _, _, err := broken.Slot().Model().Logits([]float32{1, 1, 1, 1}); err == nil ||
		!strings.Contains(err.Error(), "token 0") {
		t.Errorf("%v, want an error that names token 0", err)
	}
}
