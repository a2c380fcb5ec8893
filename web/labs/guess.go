package labs

import (
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
)

// prediction is what a lab asks for before it runs: one of the choices, or two rings in its chart.
type prediction struct {
	Ask     string // "" asks nothing
	Choices []choice
	Rings   bool // in place of choices; each has a field
}

// choice is one answer.
type choice struct{ Key, Words string }

// none is the choice of someone who just wants to look.
const none = "none"

// has reports whether a guess is one: a choice's key, or where there are rings, drawn in the
// chart. Where nothing is asked, any will do.
func (g prediction) has(guess string) bool {
	key, drawn := splitGuess(guess)
	return g.Ask == "" || g.Rings && drawn != nil || key == none ||
		slices.ContainsFunc(g.Choices, func(c choice) bool { return c.Key == key })
}

// Between a choice's key and what was drawn for the last token, in milliseconds: all read
// again, and with the cache.
const drawnMark = "@"

// withDrawn is a guess with what was drawn, if both texts are times.
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

// splitGuess returns a guess's key and what was drawn, nil if nothing was.
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

func (g prediction) words(key string) string {
	for _, c := range g.Choices {
		if c.Key == key {
			return c.Words
		}
	}
	return "no guess"
}

// verdict compares a prediction with the measurement.
type verdict struct {
	Guessed string // in words; empty if there was none
	Found   string
	Right   bool
	At      int // the place of the choice that was found, from 1, among all
}

// among returns the last key whose bound x reaches: bounds ascend, and the last
// key has none.
func among(x float64, bounds []float64, keys ...string) string {
	for i, b := range bounds {
		if x <= b {
			return keys[i]
		}
	}
	return keys[len(bounds)]
}
