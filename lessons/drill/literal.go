package drill

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
)

// literals parses digits with decimal and thousands separators. If a comma or a point could be
// either kind of separator, it returns both readings, starting with the more likely one.
func literals(s string, form Form) ([]term, error) {
	s = strings.TrimSpace(s)
	set := strings.Trim(s, "0123456789")
	odd := refuse("drill.refused.grouping", "digits", s)
	if strings.Trim(s, ".,' ") == "" {
		return nil, refuse("drill.refused.unreadable", "rest", s)
	}
	if strings.ContainsAny(set, "' ") { // apostrophes and spaces can only be thousands separators
		whole, fraction, _ := cutLast(s, ".,")
		joined, ok := join(whole, "' ")
		if !ok || strings.ContainsAny(fraction, "' .,") {
			return nil, odd
		}
		return []term{decimal(joined, fraction, false)}, nil
	}
	commas, points := strings.Count(s, ","), strings.Count(s, ".")
	switch {
	case commas == 0 && points == 0:
		return []term{decimal(s, "", true)}, nil
	case commas > 0 && points > 0: // the last one is the decimal separator
		whole, fraction, sign := cutLast(s, ".,")
		other := strings.Trim(",.", sign)
		joined, ok := join(whole, other)
		if !ok || strings.Contains(whole, sign) {
			return nil, odd
		}
		return []term{decimal(joined, fraction, false)}, nil
	case commas+points > 1:
		joined, ok := join(s, ",.")
		if !ok {
			return nil, odd
		}
		return []term{decimal(joined, "", false)}, nil
	}
	whole, fraction, sign := cutLast(s, ".,")
	list := []term{decimal(whole, fraction, sign == ".")}
	if joined, ok := join(s, sign); ok && whole[0] != '0' {
		list = append(list, decimal(joined, "", false))
		if sign == "," && (form == Count || form == Bytes || form == Ratio) {
			slices.Reverse(list)
		}
	}
	return list, nil
}

// cutLast splits s at its last separator.
func cutLast(s, signs string) (before, after, sign string) {
	i := strings.LastIndexAny(s, signs)
	if i < 0 {
		return s, "", ""
	}
	return s[:i], s[i+1:], s[i : i+1]
}

// join removes thousands separators. The first group has one to three digits, and the others have
// three. In Indian numbering, all groups but the last have two.
func join(s, signs string) (string, bool) {
	groups := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(signs, r) })
	if len(groups) == 0 || len(groups)-1 != strings.Count(s, "")-1-len(strings.Join(groups, "")) {
		return "", false // adjacent, leading or trailing separators
	}
	for i, g := range groups {
		first, last := i == 0, i == len(groups)-1
		switch {
		case strings.Trim(g, "0123456789") != "":
			return "", false
		case first && len(groups) > 1 && len(g) > 3, !first && last && len(g) != 3, !first && !last && len(g) != 3 &&
			len(g) != 2:
			return "", false
		}
	}
	return strings.Join(groups, ""), true
}

// decimal returns whole.fraction as a term. Both parts are digits, and one of them may be empty.
func decimal(whole, fraction string, plain bool) term {
	n, ok := new(big.Int).SetString("0"+whole+fraction, 10)
	if !ok {
		panic("drill: decimal of " + strconv.Quote(whole) + " and " + strconv.Quote(fraction))
	}
	v := new(big.Rat).SetInt(n)
	v.Mul(v, ten(-len(fraction)))
	digits := len(strings.TrimLeft(whole+fraction, "0"))
	return term{value: v, decimals: len(fraction), digits: max(1, digits), plain: plain}
}

// spaceBetweenGroups reports whether s begins with a thousands separator, that is, a space followed
// by exactly three digits.
func spaceBetweenGroups(s string) bool {
	if len(s) < 4 || s[0] != ' ' {
		return false
	}
	for i := 1; i < 4; i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return len(s) == 4 || s[4] < '0' || s[4] > '9'
}

// leadingInt parses an integer of at most four digits.
func leadingInt(s string) (n int, rest string, ok bool) {
	i, sign := 0, 1
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		if s[i] == '-' {
			sign = -1
		}
		i++
	}
	from := i
	for i < len(s) && s[i] >= '0' && s[i] <= '9' && i-from < 4 {
		n = n*10 + int(s[i]-'0')
		i++
	}
	return sign * n, s[i:], i > from
}

func ten(exp int) *big.Rat {
	p := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(exp, -exp))), nil)
	if exp < 0 {
		return new(big.Rat).SetFrac(big.NewInt(1), p)
	}
	return new(big.Rat).SetInt(p)
}

// canonical formats a value as the pages do, with commas from 10,000 on, at most six decimals, and
// no trailing zeros.
func canonical(v float64, form Form) string {
	if v != 0 && math.Abs(v) < 1e-6 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	s := strconv.FormatFloat(v, 'f', 6, 64)
	s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	if s == "-0" {
		s = "0"
	}
	if math.Abs(v) < 10000 && form != Count && form != Bytes {
		return s
	}
	return terms.Thousands(s)
}

// inWords returns a small count as a word.
func inWords(l *terms.Language, n int) string {
	if key := "drill.number." + strconv.Itoa(n); l.Has(key) {
		return l.T(key)
	}
	return terms.Count(n)
}
