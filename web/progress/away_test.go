package progress

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/store"
)

// silent is a journal whose methods return ErrAway after eight seconds, even if the caller has
// stopped waiting.
type silent struct{ journal.Journal }

func (silent) Snapshot(context.Context, journal.Owner) (journal.Snapshot, error) {
	<-time.After(8 * time.Second)
	return journal.Snapshot{}, journal.ErrAway
}

// TestPagesWaitForLogsOnceAndBriefly: before anyone has noticed that the logs are unreachable, a
// page waits three seconds for them, even if a form that the same learner has submitted is waiting
// longer. After that, the page does not wait again.
func TestPagesWaitForLogsOnceAndBriefly(t *testing.T) {
	s := New(silent{journal.NewMemory()}, memory(t), course(), time.Now)
	synctest.Test(t, func(t *testing.T) {
		go func() { _ = s.Visit(t.Context(), "ada", "loop#steps") }()
		synctest.Wait()
		page, away := Reach(t.Context(), false)
		if away() {
			t.Error("the logs count as away before any of them was read")
		}
		began := time.Now()
		for range 2 {
			m, err := s.Map(page, "ada")
			if took := time.Since(began); err != nil || m.All.Seen != 0 || took != 3*time.Second || !away() {
				t.Errorf("got %d sections seen, %v, after %v, away: %v; want 0, no error, 3s, true",
					m.All.Seen, err, took, away())
			}
		}
		if err := s.Visit(page, "ada", "loop#steps"); !errors.Is(err, store.ErrAway) {
			t.Errorf("a visit: got error %v, want %v", err, store.ErrAway)
		}
		left, leave := context.WithCancel(t.Context())
		page, away = Reach(left, false)
		leave()
		if _, err := s.Map(page, "grace"); err == nil || away() {
			t.Errorf("for a browser that is gone: got error %v, away: %v; want an error, false", err, away())
		}
		fixture.Pass(10 * time.Second) // until all of the journal's methods have returned
	})
}
