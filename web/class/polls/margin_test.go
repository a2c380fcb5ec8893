package polls

import (
	"testing"

	"github.com/tokenbytoken/viz/web/class"
)

// TestMarginIncludesItsEnds: answers at the ends of the margin count as right, although 0.65
// − 0.6 is more than 0.05 in binary floating point.
func TestMarginIncludesItsEnds(t *testing.T) {
	t.Parallel()
	right := 0.6
	p := &Poll{Kind: class.Number, Right: &right, Within: 0.05}
	for choice, want := range map[string]bool{"0.65": true, "0.55": true, "0.6": true, "0.651": false, "0.549": false} {
		if got := p.isRight(choice); got != want {
			t.Errorf("%s is right: %v, want %v", choice, got, want)
		}
	}
}
