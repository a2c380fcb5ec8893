package drill

import (
	"math/big"
	"strings"
)

// The units and words that multiply a number.
var (
	byteScales = map[string]int64{
		"b": 1, "byte": 1, "bytes": 1,
		"kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12,
		"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
		"kilobytes": 1e3, "megabytes": 1e6, "gigabytes": 1e9,
		"kibibytes": 1 << 10, "mebibytes": 1 << 20, "gibibytes": 1 << 30,
	}
	countScales = map[string]int64{
		"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "millions": 1e6, "mio": 1e6,
		"bn": 1e9, "g": 1e9, "billion": 1e9, "trillion": 1e12,
	}
	countWords = map[string]bool{
		"token": true, "tokens": true, "position": true, "positions": true, "multiply-adds": true,
		"multiply-add": true,
		"macs":         true, "times": true, "x": true, "*": true, "values": true, "value": true, "columns": true,
	}
	moneyScales = map[string][2]int64{
		"dollar": {1, 1}, "dollars": {1, 1}, "usd": {1, 1}, "$": {1, 1},
		"cent": {1, 100}, "cents": {1, 100}, "ct": {1, 100}, "¢": {1, 100}, "c": {1, 100},
	}
)

// readUnit parses the text after a number. It returns the factor by which the text multiplies the
// number, and the unit of the result.
func readUnit(s string, form Form) (scale *big.Rat, unit string, err error) {
	scale = big.NewRat(1, 1)
	s = strings.TrimRight(s, ".;!?, ")
	for _, word := range strings.Fields(s) {
		factor, in := unitOf(word, form)
		if factor == nil || unit != "" && in != "" && unit != in {
			return nil, "", refuse("drill.refused.unit", "word", word)
		}
		scale.Mul(scale, factor)
		if in != "" {
			unit = in
		}
	}
	if scale.Cmp(ten(13)) > 0 {
		return nil, "", refuse("drill.refused.large_unit")
	}
	return scale, unit, nil
}

// unitOf parses one word after a number. It returns the word's unit and its factor, which is nil if
// the word is not allowed for the form.
func unitOf(word string, form Form) (*big.Rat, string) {
	one := big.NewRat(1, 1)
	switch form {
	case Bytes:
		if f, ok := byteScales[word]; ok {
			return new(big.Rat).SetInt64(f), "bytes"
		}
		if f, ok := countScales[word]; ok && f > 1 && len(word) > 2 { // 'million bytes'
			return new(big.Rat).SetInt64(f), ""
		}
	case Count, Ratio:
		if f, ok := countScales[word]; ok {
			return new(big.Rat).SetInt64(f), ""
		}
		if countWords[word] {
			return one, ""
		}
	case Money:
		if f, ok := moneyScales[word]; ok {
			return big.NewRat(f[0], f[1]), "dollars"
		}
	}
	return nil, ""
}
