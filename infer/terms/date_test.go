package terms

import (
	"testing"
	"time"
)

// TestDates compares the English dates with the output of package time.
func TestDates(t *testing.T) {
	at := time.Date(2026, 1, 9, 7, 5, 0, 0, time.UTC)
	for range 12 {
		if got, want := English.Date(at), at.Format("January 2, 2006"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if got, want := English.DateTime(at), at.Format("January 2, 2006, 15:04"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		at = at.AddDate(0, 1, 0)
	}
}
