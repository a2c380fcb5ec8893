package learn

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
)

// What is the same for everybody is worked out once, also for those who ask at the same time; a
// failure is not kept.
func TestKeptWorkIsSharedOnce(t *testing.T) {
	t.Parallel()
	k := newKept[string]()
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
			if html, err := k.get(t.Context(), "a", work); html != "drawn" || err != nil {
				t.Errorf("got %q, %v; want %q, <nil>", html, err, "drawn")
			}
		})
	}
	close(open)
	wg.Wait()
	if n := times.Load(); n != 1 {
		t.Errorf("it was worked out %d times, want 1", n)
	}
	broken := errors.New("broken")
	if _, err := k.get(t.Context(), "b", func(context.Context) (string, error) { return "", broken }); err != broken {
		t.Errorf("got %v, want %v", err, broken)
	}
	if html, err := k.get(t.Context(), "b", work); html != "drawn" || err != nil {
		t.Errorf("after a failure: got %q, %v; want %q, <nil>", html, err, "drawn")
	}
}
