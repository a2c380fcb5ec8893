package terms

import (
	"math"
	"strconv"
)

// almostOne is the smallest value that counts as 1. It allows for rounding in float64 sums of a few
// thousand probabilities.
const almostOne = 1 - 1e-9

// Prob formats a probability, or a sum of probabilities, with 4 decimals. A value that is not 0 or
// 1 but would round to one of them becomes "<0.0001" or ">0.9999".
func Prob(p float64) string {
	switch {
	case p > 0 && p < 0.00005:
		return "<0.0001"
	case p >= 0.99995 && p < almostOne:
		return ">0.9999"
	}
	return strconv.FormatFloat(p, 'f', 4, 64)
}

// ProbShort formats a probability with 2 decimals, for narrow spaces. A value that is not 0 or 1
// but would round to one of them becomes "<0.01" or ">0.99".
func ProbShort(p float64) string {
	switch {
	case p > 0 && p < 0.005:
		return "<0.01"
	case p >= 0.995 && p < almostOne:
		return ">0.99"
	}
	return strconv.FormatFloat(p, 'f', 2, 64)
}

// Is formats a named probability: "p = 0.1149", or "p <0.0001".
func Is(name string, p float64) string {
	if s := Prob(p); s[0] == '<' || s[0] == '>' {
		return name + " " + s
	}
	return name + " = " + Prob(p)
}

// Percent formats a share in whole percent, such as "33%". A share that is not 0 or 1 but would
// round to 0% or 100% becomes "<1%" or ">99%".
func Percent(share float64) string {
	switch n := math.Round(100 * share); {
	case n == 0 && share > 0:
		return "<1%"
	case n == 100 && share < almostOne:
		return ">99%"
	default:
		return Grouped(n, 0) + "%"
	}
}

// PercentTo formats a share in percent with n decimals: "33.6%".
func PercentTo(share float64, n int) string { return Grouped(100*share, n) + "%" }

// OfHundred formats a probability as a number out of 100 draws: "34", "fewer than 1", "more
// than 99".
func (l *Language) OfHundred(p float64) string {
	switch n := math.Round(100 * p); {
	case n == 0:
		return l.T("draws.least")
	case n == 100 && p < almostOne:
		return l.T("draws.most")
	default:
		return Grouped(n, 0)
	}
}

// Times formats the ratio of a to b, with one decimal below 100 and no decimals from 100 on.
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
