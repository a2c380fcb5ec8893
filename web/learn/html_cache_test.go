package learn

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
)

// TestKeptWorkIsSharedOnce: HTML that is the same for everyone is computed once, even for
// concurrent requests. Failures are not cached.
func TestKeptWorkIsSharedOnce(t *testing.T) {
	t.Parallel()
	k := newHTMLCache[string]()
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
		t.Errorf("it was computed %d times, want once", n)
	}
	broken := errors.New("broken")
	if _, err := k.get(t.Context(), "b", func(context.Context) (string, error) { return "", broken }); err != broken {
		t.Errorf("got %v, want %v", err, broken)
	}
	if html, err := k.get(t.Context(), "b", work); html != "drawn" || err != nil {
		t.Errorf("after a failure: got %q, %v; want %q, <nil>", html, err, "drawn")
	}
}
