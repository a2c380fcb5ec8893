package loop

import (
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/wire"
)

// orderIn parses a client's message as a connection and the Loop do.
func orderIn(message string) (order, *terms.Refusal) {
	c, err := wire.ReadCommand([]byte(message))
	if err != nil {
		return order{}, terms.RefusalOf(err)
	}
	return readOrder(c)
}

// TestWrongTypeNamesTheRange: if a value is not a number, the refusal also states the range.
func TestWrongTypeNamesTheRange(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		`{"cmd":"set","temperature":"NaN"}`:  "a number, 0 (greedy) to 100",
		`{"cmd":"set","top_p":1e999}`:        "a number, above 0, up to 1 (off)",
		`{"cmd":"set","min_p":[]}`:           "a number, 0 (off) to 1",
		`{"cmd":"set","top_k":1.5}`:          "a whole number, 0 (off) or more",
		`{"cmd":"stop","max_tokens":"many"}`: "a whole number, 1 to 1,000,000",
	} {
		if _, err := orderIn(message); err == nil || err.Want != want {
			t.Errorf("%s: %+v, want the range %q", message, err, want)
		}
	}
}
