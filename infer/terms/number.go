package terms

import (
	"math"
	"strconv"
	"strings"
)

// Minus is the sign of negative numbers. A hyphen would be too short next to tabular figures.
const Minus = "−"

// tooLong is the magnitude from which scientific notation is used: at a temperature of 1e-300, even
// a small score becomes a number with 301 digits.
const tooLong = 1e6

// Decimals formats any number with n decimals, commas as thousands separators and a true minus
// sign. A negative number that rounds to zero has no sign. Numbers of tooLong or more look like
// "1.34e301", and infinity is "∞".
func Decimals(x float64, n int) string {
	if math.Abs(x) >= tooLong {
		return scientific(x)
	}
	return Grouped(x, n)
}

// Grouped is like [Decimals], but never uses scientific notation. It is for counts, prices, and the
// marks on a chart's axis.
func Grouped(x float64, n int) string {
	s := Thousands(strconv.FormatFloat(math.Abs(x), 'f', n, 64))
	if x < 0 && strings.Trim(s, "0.,") != "" {
		s = Minus + s
	}
	return s
}

// scientific formats a number as "1.34e301".
func scientific(x float64) string {
	s := "∞"
	if !math.IsInf(x, 0) {
		s = exponent(strconv.FormatFloat(math.Abs(x), 'e', 2, 64))
	}
	if x < 0 {
		s = Minus + s
	}
	return s
}

// exponent shortens "1.00e+06" to "1.00e6", as users type it.
func exponent(s string) string {
	mantissa, power, _ := strings.Cut(s, "e")
	digits := strings.TrimLeft(power[1:], "0")
	if power[0] == '-' {
		digits = "-" + digits
	}
	return mantissa + "e" + digits
}

// Logit formats a raw score with 2 decimals.
func Logit(z float64) string { return Decimals(z, 2) }

// Count formats an integer with commas as thousands separators.
func Count[N ~int | ~int64](n N) string {
	if n < 0 {
		return Minus + Thousands(strconv.FormatInt(-int64(n), 10))
	}
	return Thousands(strconv.FormatInt(int64(n), 10))
}

// Thousands inserts commas into a formatted number: "-1234.5" becomes
// "-1,234.5".
func Thousands(number string) string {
	end := len(number)
	if dot := strings.IndexByte(number, '.'); dot >= 0 {
		end = dot
	}
	for i := end - 3; i > 0 && number[i-1] != '-'; i -= 3 {
		number = number[:i] + "," + number[i:]
	}
	return number
}

// Measured formats a measured number with three or four significant digits: "1,204", "123.4",
// "12.34", "0.1234", "0.000345", "2.50e-7". Integers, and numbers of a million or more, have no
// decimals.
func Measured(x float64) string {
	switch a := math.Abs(x); {
	case x == math.Trunc(x) && a < 1<<53:
		return Count(int64(x))
	case math.IsNaN(x), a >= 1<<53:
		return Decimals(x, 2)
	case a >= 1e6:
		return Grouped(x, 0)
	case a >= 100:
		return Grouped(x, 1)
	case a >= 1:
		return Grouped(x, 2)
	case a >= 0.001:
		return Grouped(x, 4)
	case a >= 1e-6:
		return Grouped(x, 2-int(math.Floor(math.Log10(a))))
	case x < 0:
		return Minus + exponent(strconv.FormatFloat(a, 'e', 2, 64))
	}
	return exponent(strconv.FormatFloat(x, 'e', 2, 64))
}

// Setting formats a value set by a user, with as many decimals as necessary, but at least two:
// 0.70, 0.125, 2.00. Very small and very large values are formatted as users type them: 1e-300.
func Setting(x float64) string {
	if a := math.Abs(x); a >= tooLong || (a > 0 && a < 1e-4) {
		return exponent(strconv.FormatFloat(x, 'e', -1, 64))
	}
	s := strconv.FormatFloat(x, 'f', -1, 64)
	if _, rest, _ := strings.Cut(s, "."); len(rest) >= 2 {
		return s
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

// Plain formats a number in its shortest form, but integers without an exponent. It is for
// programs, addresses and table cells.
func Plain(x float64) string {
	switch {
	case x == 0:
		return "0" // without a sign
	case x == math.Trunc(x) && math.Abs(x) < 1e18:
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
