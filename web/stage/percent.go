package stage

import (
	"cmp"
	"math"
	"slices"

	"github.com/tokenbytoken/viz/infer/terms"
)

// wholeShares rounds shares to whole percents. Together with others, the percentage for all other
// tokens, they add up to 100. A share below 1% is "<1%" and counts as 1. A share above 99.5% is
// ">99%" and counts as 99 if there are other shares. The value of others is 100 minus the listed
// shares. If the shares do not fit into 100, as with one share of 99.6% and four tiny ones, the
// last shares are omitted. list is then shorter than shares, and others includes the omitted
// shares. rest is the exact share of all other tokens. If nothing is left over, others is "".
func wholeShares(shares []float64, rest float64) (list []string, others string) {
	for n := len(shares); ; n-- {
		counts, sum := wholePercents(shares[:n], rest > 0)
		left := 100 - sum
		if rest <= 0 && left < 0 && n > 1 && shares[n-1] < 0.01 {
			rest = shares[n-1]
			continue
		}
		if rest <= 0 {
			fill(counts, shares[:n], left)
			return percentWords(counts, shares), ""
		}
		if left >= 1 || n <= 1 {
			list, others = percentWords(counts, shares), terms.Percent(float64(left)/100)
			if left == 1 && rest < 0.01 {
				others = terms.Percent(rest)
			}
			return list, others
		}
		rest += shares[n-1]
	}
}

// wholePercents rounds each share to at least 1, and to at most 99 if others are not zero.
func wholePercents(shares []float64, others bool) (counts []int, sum int) {
	most := 100
	if others || len(shares) > 1 {
		most = 99
	}
	for _, p := range shares {
		n := min(max(int(math.Round(100*p)), 1), most)
		counts, sum = append(counts, n), sum+n
	}
	return counts, sum
}

// fill adjusts counts that cover everything so that they add up to 100. If the sum is too low, it
// first raises the counts that rounding lowered most. If the sum is too high, it first lowers the
// counts that rounding raised most.
func fill(counts []int, shares []float64, left int) {
	if len(counts) == 0 {
		return
	}
	by, order := 1, make([]int, len(counts))
	if left < 0 {
		by = -1
	}
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		lost := func(i int) float64 { return float64(by) * (100*shares[i] - float64(counts[i])) }
		return cmp.Compare(lost(b), lost(a))
	})
	for i := 0; left != 0; i = (i + 1) % len(order) {
		if at := order[i]; counts[at]+by >= 1 {
			counts[at] += by
			left -= by
		}
	}
}

func percentWords(counts []int, shares []float64) (list []string) {
	for i, n := range counts {
		switch {
		case shares[i] < 0.01 && n == 1:
			list = append(list, "<1%")
		case shares[i] > 0.995 && n == 99:
			list = append(list, ">99%")
		default:
			list = append(list, terms.Percent(float64(n)/100))
		}
	}
	return list
}
