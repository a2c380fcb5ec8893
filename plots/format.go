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
func millis(l *terms.Language, ms float64) string { return timeIn(l, ms, figures) }

// millisTick returns a function that formats a time on an axis.
func millisTick(l *terms.Language) func(ms float64) string {
	return func(ms float64) string {
		if ms == 0 {
			return "0"
		}
		return timeIn(l, ms, tick)
	}
}

// timeIn formats a time in ms in the unit that fits.
func timeIn(l *terms.Language, ms float64, number func(float64) string) string {
	switch a := math.Abs(ms); {
	case a >= 1000:
		return l.T("unit.s", "n", number(ms/1000))
	case a > 0 && a < 0.1:
		return l.T("unit.us", "n", number(ms*1000))
	}
	return l.T("unit.ms", "n", number(ms))
}

// countTick returns a function that formats a round count on an axis.
func countTick(l *terms.Language) func(v float64) string {
	return func(v float64) string {
		for _, u := range countUnits {
			if v >= max(u.size, 1e4) {
				return l.T(u.key, "n", tick(v/u.size))
			}
		}
		if v >= 1000 && v == math.Trunc(v) {
			return terms.Count(int64(v))
		}
		return tick(v)
	}
}

// countUnits holds the units of large counts, with the keys of their texts.
var countUnits = []struct {
	size float64
	key  string
}{{1e12, "unit.tera"}, {1e9, "unit.giga"}, {1e6, "unit.mega"}, {1e3, "unit.kilo"}}

// dollarsTick formats a price on an axis.
func dollarsTick(x float64) string { return "$" + tick(x) }
