package lessons

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/tokenbytoken/viz/infer/terms"
)

// format formats a figure: with N decimals ("4"), as a count with commas (","), as a percentage
// ("%1"), as bytes ("bytes") or as a multiple ("x2"). Without a format, a figure must be an integer
// or a word.
func format(v value, how string) (string, error) {
	if v.word != "" {
		if how != "" {
			return "", fmt.Errorf("format %q does not apply to a word", how)
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
		return terms.Grouped(x, 0), nil
	case how == "":
		return "", fmt.Errorf("the figure %v is not an integer; specify the number of decimals", x)
	case how == "bytes":
		if x < 0 || x != math.Trunc(x) {
			return "", fmt.Errorf("%v is not a valid number of bytes", x)
		}
		return terms.BytesShort(x), nil
	}
	before, after := "", ""
	switch how[0] {
	case '%':
		how, x, after = how[1:], x*100, "%"
	case 'x':
		how, after = how[1:], "×"
	}
	n, err := strconv.Atoi(how)
	if err != nil || n < 0 || n > 9 {
		return "", fmt.Errorf("unknown format %q; want a digit, a comma, %%N, xN or bytes", how)
	}
	return before + terms.Grouped(x, n) + after, nil
}
