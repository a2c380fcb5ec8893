package labs

import (
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/stage"
)

// A prediction describes the question that a lab asks before it runs. The answer is one of the
// choices, or the positions of two rings in the lab's chart.
type prediction struct {
	Ask     string // the key of the question; "" if the lab asks nothing
	With    []any  // the values that the question's text refers to
	Choices []choice
	Rings   bool // rings instead of choices; each ring has a field
}

// A choice is one possible answer. Text is the key of its text.
type choice struct{ Key, Text string }

// none is the key of the choice for users who do not want to guess.
const none = "none"

// has reports whether a guess is valid. A guess is valid if it is the key of a choice or, in a lab
// with rings, if it has been drawn in the chart. If the lab asks nothing, any guess is valid.
func (g prediction) has(guess string) bool {
	key, drawn := splitGuess(guess)
	return g.Ask == "" || g.Rings && drawn != nil || key == none ||
		slices.ContainsFunc(g.Choices, func(c choice) bool { return c.Key == key })
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

func (g prediction) words(w stage.Words, key string) string {
	for _, c := range g.Choices {
		if c.Key == key {
			return w.T(c.Text)
		}
	}
	return w.T("labs.guess.no")
}

// A verdict compares a prediction with the measurement.
type verdict struct {
	Guessed string // the prediction in words; empty if there was none
	Found   string
	Right   bool
	At      int // the position of the confirmed choice among all choices, from 1
}

// among returns the first key whose upper bound is at least x. The bounds are in ascending order,
// and the last key has no bound.
func among(x float64, bounds []float64, keys ...string) string {
	for i, b := range bounds {
		if x <= b {
			return keys[i]
		}
	}
	return keys[len(bounds)]
}
