package room

import (
	"testing"
	"time"

	"github.com/tokenbytoken/viz/web/class/records"
)

// TestClockBeforeTheYear2000: rooms that were saved while the clock was wrong can be read later.
func TestClockBeforeTheYear2000(t *testing.T) {
	t.Parallel()
	for _, at := range []time.Time{time.Unix(0, 0), time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC)} {
		now := Config{Now: func() time.Time { return at }}.withDefaults().Now()
		if !records.ValidTime(now) {
			t.Errorf("at %v, a room is saved with %v, which is not a valid time", at, now)
		}
	}
}
