package lab

import (
	"fmt"
	"strings"
)

// Findings summarize a run in a few sentences for a terminal, for a chart's caption, and for people
// who cannot see charts. They depend only on the result.

// signed formats a number with two decimals and its sign.
func signed(x float64) string { return strings.ReplaceAll(fmt.Sprintf("%+.2f", x), "-", "−") }

// shown puts a text in curly quotes, with visible newlines.
func shown(text string) string { return "“" + strings.ReplaceAll(text, "\n", "↵") + "”" }

// chance formats a probability. It never formats a small probability as 0.
func chance(p float64) string {
	if p > 0 && p < 0.0001 {
		return fmt.Sprintf("%.1e", p)
	}
	return fmt.Sprintf("%.4f", p)
}
