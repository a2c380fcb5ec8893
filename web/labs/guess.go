package labs

import (
	"slices"
)

// prediction is what a lab asks for before it runs.
type prediction struct {
	Ask     string
	Choices []choice
}

// choice is one answer.
type choice struct{ Key, Words string }

// none is the choice of someone who just wants to look.
const none = "none"

// has reports whether a key is one of the choices. Where nothing is asked, any
// will do.
func (g prediction) has(key string) bool {
	return len(g.Choices) == 0 || key == none ||
		slices.ContainsFunc(g.Choices, func(c choice) bool { return c.Key == key })
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
