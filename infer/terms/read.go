package terms

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// written replaces characters that people use in numbers with the characters that a parser accepts.
var written = strings.NewReplacer(" ", "", "\u00a0", "", "\u202f", "", Minus, "-")

var (
	groupedByCommas = regexp.MustCompile(`^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?$`)
	decimalNumber   = regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$`)
)

// longestNumber is the maximum length of a number, in bytes.
const longestNumber = 64

// ReadNumber parses a number in the forms that people write: it accepts 0.63, 0,63, 63%, 1 000 and
// 1,000 as well as 1e-3 and a true minus sign. It returns false for anything else, for values that
// a float64 cannot represent, and for more than 64 bytes.
func ReadNumber(text string) (float64, bool) {
	if len(text) > longestNumber {
		return 0, false
	}
	text, percent := strings.CutSuffix(written.Replace(strings.TrimSpace(text)), "%")
	switch {
	case groupedByCommas.MatchString(text):
		text = strings.ReplaceAll(text, ",", "")
	case strings.Count(text, ",") == 1 && !strings.Contains(text, "."):
		text = strings.Replace(text, ",", ".", 1)
	}
	if !decimalNumber.MatchString(text) {
		return 0, false
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(x, 0) {
		return 0, false
	}
	if percent {
		x /= 100
	}
	if x == 0 {
		return 0, true // without a sign
	}
	return x, true
}

// Lists of strings in forms and labs have one string per line, with \n, \t, \r and \\ for newline,
// tab, carriage return and backslash.
var (
	escape   = strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\t", `\t`, "\r", `\r`)
	unescape = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\r`, "\r")
)

// Unescaped resolves the escapes in one string of a list.
func Unescaped(text string) string { return unescape.Replace(text) }

// ReadLines parses a list of strings. It ignores empty lines.
func ReadLines(text string) []string {
	var list []string
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		if line != "" {
			list = append(list, Unescaped(line))
		}
	}
	return list
}

// Lines formats a list for [ReadLines].
func Lines(list []string) string {
	lines := make([]string, len(list))
	for i, s := range list {
		lines[i] = escape.Replace(s)
	}
	return strings.Join(lines, "\n")
}

// readUnits holds the units that ReadBytes accepts, longer names first.
var readUnits = []struct {
	name  string
	bytes float64
}{
	{"KiB", 1 << 10},
	{"MiB", 1 << 20},
	{"GiB", 1 << 30},
	{"TiB", 1 << 40},
	{"K", 1 << 10},
	{"M", 1 << 20},
	{"G", 1 << 30},
	{"T", 1 << 40},
}

// ReadBytes parses a size in the forms that people write: a number above 0 and a unit, such as
// "512MiB", "1.5 GiB" or "2G". It returns false for anything else, including GB, which some people
// use for 10⁹ bytes and others for 2³⁰.
func ReadBytes(text string) (int64, bool) {
	for _, unit := range readUnits {
		number, has := strings.CutSuffix(text, unit.name)
		if !has {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if n *= unit.bytes; err == nil && n >= 1 && n < 1<<62 {
			return int64(n), true
		}
		break
	}
	return 0, false
}
