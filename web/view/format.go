package view

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// minus is the sign for negative numbers; a hyphen would be too short beside
// tabular figures.
const minus = "−"

// almostOne takes up what float64 sums of a few thousand probabilities lose:
// anything this near to 1 is 1.
const almostOne = 1 - 1e-9

// Prob writes a probability, or a sum of some, with 4 decimals. What would
// round to 0 or 1 without being it is written "<0.0001" or ">0.9999".
func Prob(p float64) string {
	switch {
	case p > 0 && p < 0.00005:
		return "<0.0001"
	case p >= 0.99995 && p < almostOne:
		return ">0.9999"
	}
	return strconv.FormatFloat(p, 'f', 4, 64)
}

// ProbShort writes a probability with 2 decimals, for the token strip; "<0.01"
// and ">0.99" stand for what would round to 0 or 1 without being it.
func ProbShort(p float64) string {
	switch {
	case p > 0 && p < 0.005:
		return "<0.01"
	case p >= 0.995 && p < almostOne:
		return ">0.99"
	}
	return strconv.FormatFloat(p, 'f', 2, 64)
}

// is writes "p = 0.1149", or "p <0.0001".
func is(name string, p float64) string {
	if s := Prob(p); s[0] == '<' || s[0] == '>' {
		return name + " " + s
	}
	return name + " = " + Prob(p)
}

// tooLong is from where on a number is written in scientific form: with a
// temperature of 1e-300 even a small score becomes a number of 301 digits.
const tooLong = 1e6

// Decimals writes any number with n decimals, thousands commas and a true
// minus sign. A negative number that rounds to zero loses its sign. From a
// million on it is "1.34e301", and "∞" beyond all numbers.
func Decimals(x float64, n int) string {
	if math.Abs(x) >= tooLong {
		return scientific(x)
	}
	s := strconv.FormatFloat(math.Abs(x), 'f', n, 64)
	whole, rest, _ := strings.Cut(s, ".")
	s = commas(whole)
	if rest != "" {
		s += "." + rest
	}
	if x < 0 && strings.Trim(s, "0.,") != "" {
		s = minus + s
	}
	return s
}

// scientific writes a number as "1.34e301".
func scientific(x float64) string {
	s := "∞"
	if !math.IsInf(x, 0) {
		s = exponent(strconv.FormatFloat(math.Abs(x), 'e', 2, 64))
	}
	if x < 0 {
		s = minus + s
	}
	return s
}

// exponent writes "1.00e+06" as "1.00e6", as it would be typed.
func exponent(s string) string {
	mantissa, power, _ := strings.Cut(s, "e")
	digits := strings.TrimLeft(power[1:], "0")
	if power[0] == '-' {
		digits = "-" + digits
	}
	return mantissa + "e" + digits
}

// Logit writes a raw score with 2 decimals.
func Logit(z float64) string { return Decimals(z, 2) }

// Count writes a whole number with thousands commas.
func Count[N ~int | ~int64](n N) string {
	if n < 0 {
		return minus + commas(strconv.FormatInt(-int64(n), 10))
	}
	return commas(strconv.FormatInt(int64(n), 10))
}

func commas(digits string) string {
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Bytes writes a size: exact below 10,000, else KiB, MiB or GiB with one
// decimal.
func Bytes(n int64) string {
	switch {
	case n < 10_000:
		return Count(n) + " B"
	case n < 1<<20:
		return Decimals(float64(n)/(1<<10), 1) + " KiB"
	case n < 1<<30:
		return Decimals(float64(n)/(1<<20), 1) + " MiB"
	}
	return Decimals(float64(n)/(1<<30), 1) + " GiB"
}

// MultAdds writes a count of multiply-adds: exact below 10,000, else in
// millions (M) or thousands of millions (G) with two decimals.
func MultAdds(n int64) string {
	switch {
	case n < 10_000:
		return Count(n)
	case n < 1e9:
		return Decimals(float64(n)/1e6, 2) + " M"
	}
	return Decimals(float64(n)/1e9, 2) + " G"
}

// Took writes a measured time with two or three digits.
func Took(d time.Duration) string {
	us := float64(d) / float64(time.Microsecond)
	switch {
	case us < 9.95:
		return Decimals(us, 1) + " µs"
	case us < 99.5:
		return Decimals(us, 0) + " µs"
	case us < 995:
		return Decimals(us/1e3, 2) + " ms"
	case us < 99_950:
		return Decimals(us/1e3, 1) + " ms"
	case us < 999_500:
		return Decimals(us/1e3, 0) + " ms"
	}
	return Decimals(us/1e6, 1) + " s"
}

// Times writes how many times a is b: one decimal below 100, none above.
func Times(a, b int64) string {
	if b == 0 {
		return "–"
	}
	x := float64(a) / float64(b)
	if x < 99.95 {
		return Decimals(x, 1) + "×"
	}
	return Decimals(x, 0) + "×"
}

// Ordinal writes 1st, 2nd, 3rd, 4th, 11th, 21st.
func Ordinal(n int) string {
	suffix := "th"
	if n/10%10 != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return Count(n) + suffix
}

// Share writes a part of a whole as an SVG length, "33.58%", cut to 0–100 %.
func Share(x float64) string {
	x = min(max(x, 0), 1)
	return strconv.FormatFloat(math.Round(x*10000)/100, 'f', -1, 64) + "%"
}

// Ramp is the colour class of a probability, p1 (unlikely) to p5 (likely).
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

// setting writes a value someone set, with as many decimals as it takes but
// two at least: 0.70, 0.125, 2.00. Very small and very large ones are written
// as they would be typed: 1e-300.
func setting(x float64) string {
	if a := math.Abs(x); a >= tooLong || (a > 0 && a < 1e-4) {
		return exponent(strconv.FormatFloat(x, 'e', -1, 64))
	}
	s := strconv.FormatFloat(x, 'f', -1, 64)
	if _, rest, _ := strings.Cut(s, "."); len(rest) >= 2 {
		return s
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

// plural puts a count before a noun: "1 token", "4,096 tokens".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Count(n) + " " + noun + "s"
}
