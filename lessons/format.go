package lessons

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// format writes a figure: with N decimals ("4"), as a count with commas (","),
// in per cent ("%1"), as bytes ("bytes") or as a multiple ("x2"). Without a
// format a figure must be whole, or a word.
func format(v value, how string) (string, error) {
	if v.word != "" {
		if how != "" {
			return "", fmt.Errorf("a word takes no format %q", how)
		}
		return v.word, nil
	}
	x, err := v.number()
	if err != nil {
		return "", err
	}
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "", errors.New("the figure is not finite")
	}
	if math.Abs(x) >= 1<<63 {
		return "", errors.New("the figure is too large to print")
	}
	switch {
	case how == "" && x == math.Trunc(x), how == ",":
		return decimals(x, 0), nil
	case how == "":
		return "", fmt.Errorf("the figure %v is not whole: say how many decimals", x)
	case how == "bytes":
		return byteSize(x)
	}
	before, after := "", ""
	switch how[0] {
	case '%':
		how, x, after = how[1:], x*100, "\u202f%"
	case 'x':
		how, after = how[1:], "×"
	}
	n, err := strconv.Atoi(how)
	if err != nil || n < 0 || n > 9 {
		return "", fmt.Errorf("there is no format %q; a digit, a comma, %%N, xN or bytes", how)
	}
	return before + decimals(x, n) + after, nil
}

// decimals writes x with n decimals, commas between thousands, and a true
// minus sign.
func decimals(x float64, n int) string {
	s := strconv.FormatFloat(math.Abs(x), 'f', n, 64)
	whole, part, _ := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if part != "" {
		whole += "." + part
	}
	if x < 0 && strings.Trim(whole, "0.,") != "" {
		whole = "−" + whole
	}
	return whole
}

// byteSize writes bytes as the other pages do, exact below 10,000, else in KiB,
// MiB or GiB with one decimal, which a whole number of units does without.
func byteSize(x float64) (string, error) {
	if x < 0 || x != math.Trunc(x) {
		return "", fmt.Errorf("%v is not a number of bytes", x)
	}
	unit, name := 1.0, "B"
	switch {
	case x < 10_000:
	case x < 1<<20:
		unit, name = 1<<10, "KiB"
	case x < 1<<30:
		unit, name = 1<<20, "MiB"
	default:
		unit, name = 1<<30, "GiB"
	}
	x /= unit
	if x == math.Trunc(x) {
		return decimals(x, 0) + " " + name, nil
	}
	return decimals(x, 1) + " " + name, nil
}
