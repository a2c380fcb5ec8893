package progress

import (
	"testing"
	"time"

	"github.com/tokenbytoken/viz/web/progress/saved"
)

// TestClockOutsideTheBounds: an entry that was confirmed while the server's clock was wrong can
// still be read later.
func TestClockOutsideTheBounds(t *testing.T) {
	for _, at := range []time.Time{time.Unix(0, 0), {}, time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC)} {
		s := &Store{now: func() time.Time { return at }}
		e := saved.Visit{Section: "loop#steps", First: s.time(), Last: s.time(), Times: 1}
		r, err := record("1", e)
		if err != nil || !Readable(r) {
			t.Errorf("with the clock at %v: %s is not readable: %v", at, r.Data, err)
		}
	}
}
