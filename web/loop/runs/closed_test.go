package runs

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/session"
)

// TestRunBegunAfterShutdownHasEnded: a request that is still in flight when the server stops gets a
// run that has already ended, and nothing waits for that run.
func TestRunBegunAfterShutdownHasEnded(t *testing.T) {
	t.Parallel()
	rs := registry(t, Limits{})
	if err := rs.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	r, v := join(t, rs, "a", "")
	select {
	case <-r.Done():
	default:
		t.Error("the run has not ended")
	}
	if _, err := r.Do(t.Context(), session.Start{Prompt: "Once"}, v, 1); !errors.Is(err, ErrGone) {
		t.Errorf("a command ended with %v, want %v", err, ErrGone)
	}
	rs.Leave(r, v)
	if n := len(rs.byID); n != 0 {
		t.Errorf("%d runs are listed, want 0", n)
	}
}

// TestRunsMayBeginDuringClose: runs may begin while the registry closes. The race detector reports
// any conflict.
func TestRunsMayBeginDuringClose(t *testing.T) {
	t.Parallel()
	for range 50 {
		rs := registry(t, Limits{})
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				v := NewViewer("")
				r, _ := rs.Join(admission.Caller{Learner: "a"}, "", v)
				defer rs.Leave(r, v)
				if err := rs.Close(context.Background()); err != nil {
					t.Error(err)
				}
				<-r.Done()
			})
		}
		all.Wait()
	}
}
