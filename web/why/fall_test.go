package why

import (
	"strings"
	"testing"
)

// The sum over the blocks of a deep model is scrolled, since its words could not be read
// if it were shrunk to the page.
func TestSumOfADeepModelIsScrolled(t *testing.T) {
	for bars, long := range map[int]bool{8: false, 30: true} {
		f := fall{Width: bars * fallColumn, Bars: make([]fallBar, bars)}
		var page strings.Builder
		if err := fallHTML(f).Render(t.Context(), &page); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(page.String(), "fall--long"); got != long {
			t.Errorf("of %d bars: %v", bars, got)
		}
	}
}
