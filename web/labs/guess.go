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

// none is the choice of someone who would rather just look.
const none = "none"

// has tells whether a key is one of the choices.
func (g prediction) has(key string) bool {
	return key == none || slices.ContainsFunc(g.Choices, func(c choice) bool { return c.Key == key })
}

func (g prediction) words(key string) string {
	for _, c := range g.Choices {
		if c.Key == key {
			return c.Words
		}
	}
	return "no guess"
}

// verdict lays a prediction beside what was measured.
type verdict struct {
	Guessed string // in words; empty where there was none
	Found   string
	Right   bool
}

// among returns the last of some keys whose bound x reaches: bounds rise, and
// the last key has none.
func among(x float64, bounds []float64, keys ...string) string {
	for i, b := range bounds {
		if x <= b {
			return keys[i]
		}
	}
	return keys[len(bounds)]
}
