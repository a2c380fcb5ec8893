package lab

import (
	"fmt"
	"strings"
)

// Findings are what a run came to in a few sentences: for a terminal, for the
// caption of a chart, for who cannot see one. They are made of the result
// alone.

// signed is a number with two decimals and its sign.
func signed(x float64) string { return strings.ReplaceAll(fmt.Sprintf("%+.2f", x), "-", "−") }

// shown is a text between curly quotes, its newlines visible.
func shown(text string) string { return "“" + strings.ReplaceAll(text, "\n", "↵") + "”" }

// chance is a probability, a small one never as 0.
func chance(p float64) string {
	if p > 0 && p < 0.0001 {
		return fmt.Sprintf("%.1e", p)
	}
	return fmt.Sprintf("%.4f", p)
}
