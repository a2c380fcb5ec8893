package session

import (
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/testmodel"
)

// TestTooLongCountsCharacters: a text is too long if it has more bytes than are accepted, or more
// tokens than the model can read. The part that fits is counted in characters.
func TestTooLongCountsCharacters(t *testing.T) {
	t.Parallel()
	m := testmodel.Target(t)
	for _, c := range []struct {
		text     string
		maxBytes int
		keep     int
		over     bool
	}{
		{"", 10, 0, false},
		{"ten bytes!", 10, 0, false},
		{"eleven byte", 10, 10, true},               // 11 · 10/11
		{strings.Repeat("é", 6), 10, 5, true},       // 12 bytes: 6 · 10/12
		{strings.Repeat(" a", 200), 399, 390, true}, // 400 bytes: 400 · 399/400 = 399, rounded down to two digits
		{strings.Repeat(" a", 200), 400, 0, false},  // 400 bytes and 200 tokens, of 512
		// A character outside the vocabulary is a token for each of its three bytes: 1,200 · 512/3,600 = 170.7.
		{strings.Repeat("日本語", 400), 4096, 170, true},
		{strings.Repeat("日本語", 400), 3600, 170, true},
		{strings.Repeat("日本語", 400), 360, 120, true}, // 1,200 · 360/3,600, the lower of the two limits
	} {
		if keep, over := TooLong(m, c.text, c.maxBytes); keep != c.keep || over != c.over {
			t.Errorf("%.12q, %d bytes of %d: keep %d, too long %t; want %d, %t",
				c.text, len(c.text), c.maxBytes, keep, over, c.keep, c.over)
		}
	}
}
