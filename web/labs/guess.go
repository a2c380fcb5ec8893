package labs

import (
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/guess"
)

// hasGuess reports whether a guess is valid. A guess is valid if it is the key of a choice or, in a
// lab with rings, if it has been drawn in the chart. If the lab asks nothing, any guess is valid.
func hasGuess(q guess.Question, guessed string) bool {
	key, drawn := splitGuess(guessed)
	return q.Rings && drawn != nil || q.Has(key)
}

// drawnMark separates a choice's key from the two drawn times of the last token, in milliseconds.
// The time without the cache comes first.
const drawnMark = "@"

// withDrawn returns a guess with the drawn times added, if both strings are valid times.
func withDrawn(key, again, cached string) string {
	for _, text := range []string{again, cached} {
		if ms, ok := terms.ReadNumber(strings.TrimSpace(text)); !ok || !(ms >= 0 && ms <= mostDrawn) {
			return key
		}
	}
	return key + drawnMark + strings.TrimSpace(again) + "," + strings.TrimSpace(cached)
}

// mostDrawn is the longest time that can be guessed: ten minutes.
const mostDrawn = 600_000

// splitGuess returns a guess's key and its drawn times, which are nil if nothing was drawn.
func splitGuess(guess string) (key string, drawn *[2]float64) {
	key, text, ok := strings.Cut(guess, drawnMark)
	again, cached, both := strings.Cut(text, ",")
	if !ok || !both {
		return key, nil
	}
	a, okA := terms.ReadNumber(again)
	c, okC := terms.ReadNumber(cached)
	if !okA || !okC {
		return key, nil
	}
	return key, &[2]float64{a, c}
}
