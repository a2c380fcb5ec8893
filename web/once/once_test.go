package once

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
)

// TestValuesAreComputedOnce: a value is computed once, even for concurrent callers.
func TestValuesAreComputedOnce(t *testing.T) {
	t.Parallel()
	var c Values[string]
	var times atomic.Int32
	open := make(chan struct{})
	work := func(context.Context) (string, error) {
		times.Add(1)
		<-open
		return "drawn", nil
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if v, err := c.Get(t.Context(), "a", work); v != "drawn" || err != nil {
				t.Errorf("got %q, %v; want %q, <nil>", v, err, "drawn")
			}
		})
	}
	close(open)
	wg.Wait()
	if n := times.Load(); n != 1 {
		t.Errorf("it was computed %d times, want once", n)
	}
}

// TestErrorsAreNotCached: after an error, the value is computed again.
func TestErrorsAreNotCached(t *testing.T) {
	t.Parallel()
	var c Values[string]
	broken := errors.New("broken")
	if _, err := c.Get(t.Context(), "a", func(context.Context) (string, error) { return "", broken }); err != broken {
		t.Errorf("got %v, want %v", err, broken)
	}
	work := func(context.Context) (string, error) { return "drawn", nil }
	if v, err := c.Get(t.Context(), "a", work); v != "drawn" || err != nil {
		t.Errorf("after a failure: got %q, %v; want %q, <nil>", v, err, "drawn")
	}
}

// TestWorkSurvivesItsFirstCaller: a caller whose context ends gets its error at once. The work
// continues, with that context's values, for the callers that are still waiting.
func TestWorkSurvivesItsFirstCaller(t *testing.T) {
	t.Parallel()
	type key struct{}
	var c Values[any]
	begun, open := make(chan struct{}), make(chan struct{})
	ctx, leave := context.WithCancel(context.WithValue(t.Context(), key{}, "drawn"))
	first := make(chan error)
	go func() {
		_, err := c.Get(ctx, "a", func(ctx context.Context) (any, error) {
			close(begun)
			<-open
			return ctx.Value(key{}), ctx.Err()
		})
		first <- err
	}()
	<-begun
	leave()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("the first caller: got %v, want %v", err, context.Canceled)
	}
	close(open)
	work := func(context.Context) (any, error) { return "again", nil }
	if v, err := c.Get(t.Context(), "a", work); v != "drawn" || err != nil {
		t.Errorf("another caller: got %v, %v; want %q, <nil>", v, err, "drawn")
	}
}
