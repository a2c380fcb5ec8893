package progress

import (
	"slices"
	"strings"
	"testing"

	drills "github.com/tokenbytoken/viz/lessons/drill"
	"github.com/tokenbytoken/viz/web/progress/saved"
)

// TestSlipsRoundTripInDetail: mistakes are added to a detail without duplicates, as many as fit,
// and can be read back from it. Unknown words are ignored.
func TestSlipsRoundTripInDetail(t *testing.T) {
	got := WithSlips("seed 0", []drills.Mistake{drills.Units, "", drills.Base10, drills.Units, "nonsense"})
	if got != "seed 0; slips: base-10, units" {
		t.Errorf("got %q, want %q", got, "seed 0; slips: base-10, units")
	}
	want := []drills.Mistake{drills.Base10, drills.Units}
	if list := slipsIn(got + ", <b>, "); !slices.Equal(list, want) {
		t.Errorf("got %q, want %q", list, want)
	}
	for _, detail := range []string{"", "choice 2", "seed 0: slips", "; slips: "} {
		if list := slipsIn(detail); len(list) != 0 {
			t.Errorf("the mistakes in %q are %q, want 0 elements", detail, list)
		}
	}
	long := strings.Repeat("x", saved.MaxDetail-len("; slips: units"))
	if got := WithSlips(long, []drills.Mistake{drills.Base10, drills.Units}); got != long+"; slips: units" {
		t.Errorf("got %q, want %q", got, long+"; slips: units")
	}
}
