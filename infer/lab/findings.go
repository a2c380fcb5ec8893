package lab

import (
	"fmt"
	"strings"
)

// Findings sum up a run in a few sentences: for a terminal, for the caption of
// a chart, for people who cannot see one. They follow from the result alone.

// signed is a number with two decimals and its sign.
func signed(x float64) string { return strings.ReplaceAll(fmt.Sprintf("%+.2f", x), "-", "−") }

// shown is a text between curly quotes, its newlines visible.
func shown(text string) string { return "“" + strings.ReplaceAll(text, "\n", "↵") + "”" }

// chance is a probability; a small one is never 0.
func chance(p float64) string {
	if p > 0 && p < 0.0001 {
		return fmt.Sprintf("%.1e", p)
	}
	return fmt.Sprintf("%.4f", p)
}
