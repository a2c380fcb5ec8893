package plots

import (
	"math"
	"strconv"

	"github.com/tokenbytoken/viz/infer/terms"
)

// figures formats a number with about three significant figures and no
// exponent.
func figures(x float64) string {
	if x == 0 {
		return "0"
	}
	digits := 2 - int(math.Floor(math.Log10(math.Abs(x))))
	return terms.Grouped(x, min(max(digits, 0), 8))
}

// tick formats a number on an axis as briefly as possible.
func tick(x float64) string {
	s := strconv.FormatFloat(roundTo(x), 'f', -1, 64)
	if s[0] == '-' {
		return "−" + s[1:]
	}
	return s
}

// roundTo removes rounding errors beyond the ninth significant figure.
func roundTo(x float64) float64 {
	if x == 0 {
		return 0
	}
	scale := math.Pow(10, 9-math.Ceil(math.Log10(math.Abs(x))))
	return math.Round(x*scale) / scale
}

// millis formats a time in ms: 42.0 µs, 0.420 ms, 12.3 ms, 2.80 s.
func millis(ms float64) string {
	switch a := math.Abs(ms); {
	case a >= 1000:
		return figures(ms/1000) + " s"
	case a > 0 && a < 0.1:
		return figures(ms*1000) + " µs"
	}
	return figures(ms) + " ms"
}

// millisTick formats a time on an axis.
func millisTick(ms float64) string {
	switch {
	case ms == 0:
		return "0"
	case math.Abs(ms) >= 1000:
		return tick(ms/1000) + " s"
	case math.Abs(ms) < 0.1:
		return tick(ms*1000) + " µs"
	}
	return tick(ms) + " ms"
}

// countTick formats a round count on an axis.
func countTick(v float64) string {
	if v == 0 {
		return "0"
	}
	for _, u := range []struct {
		size float64
		unit string
	}{{1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e4, " k"}} {
		if v >= u.size {
			if u.size == 1e4 {
				u.size = 1e3
			}
			return tick(v/u.size) + u.unit
		}
	}
	if v >= 1000 && v == math.Trunc(v) {
		return terms.Count(int64(v))
	}
	return tick(v)
}

// dollarsTick formats a price on an axis.
func dollarsTick(x float64) string { return "$" + tick(x) }
