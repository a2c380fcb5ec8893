package stage

import (
	"math"
	"strconv"
)

// Share formats a share as an SVG length, "33.58%", clamped to 0–100%.
func Share(x float64) string {
	x = min(max(x, 0), 1)
	return strconv.FormatFloat(math.Round(x*10000)/100, 'f', -1, 64) + "%"
}

// Ramp returns the color class for a probability, from p1 (unlikely) to p5 (likely).
func Ramp(p float64) string {
	switch {
	case p < 0.05:
		return "p1"
	case p < 0.20:
		return "p2"
	case p < 0.50:
		return "p3"
	case p < 0.80:
		return "p4"
	}
	return "p5"
}
