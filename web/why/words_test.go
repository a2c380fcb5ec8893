package why

import (
	"testing"

	"github.com/tokenbytoken/viz/web/stage"
)

// TestAverageBitsInWords: an average of 3 bits is described as a guess among 2·2·2 tokens.
func TestAverageBitsInWords(t *testing.T) {
	t.Parallel()
	for bits, want := range map[float64]string{
		0: "On average, a token cost 0.00 bits. That is as hard as guessing among 1 equally likely tokens, " +
			"each time.",
		3: "On average, a token cost 3.00 bits. That is as hard as guessing among 8 equally likely tokens, " +
			"each time.",
		500: "On average, a token cost 500.00 bits.",
	} {
		if got := averageText(stage.English, bits); got != want {
			t.Errorf("%v bits: got %q, want %q", bits, got, want)
		}
	}
}
