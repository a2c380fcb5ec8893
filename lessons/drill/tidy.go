package drill

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tidy converts the various notations to a common one. It returns "" for blank text.
func tidy(text string, form Form) (string, error) {
	if len(text) > maxAnswer {
		return "", refuse("drill.refused.long")
	}
	if !utf8.ValidString(text) {
		return "", refuse("drill.refused.bytes")
	}
	s := strings.TrimSpace(strings.ToLower(strings.Map(usual, text)))
	if s == "" || strings.Trim(s, equals+" ") == "" {
		return "", nil
	}
	if sign := foreign(s, form); sign != "" {
		if form == Money {
			return "", refuse("drill.refused.currency.dollars", "sign", sign)
		}
		return "", refuse("drill.refused.currency", "sign", sign)
	}
	s = strings.TrimRight(answerIn(raised(s)), " .…。!?;,")
	for _, word := range []string{"inf", "∞", "nan"} {
		if strings.HasPrefix(strings.TrimLeft(s, "+-"), word) {
			return "", refuse("drill.refused.infinite")
		}
	}
	if !hasNumber(s) {
		return "", refuse("drill.refused.no_number")
	}
	if vectors.MatchString(s) {
		return "", refuse("drill.refused.vectors")
	}
	return s, nil
}

// usual maps the variants of a character to the one that the parser reads.
func usual(r rune) rune {
	if r >= 0xFF01 && r <= 0xFF5E { // full-width forms
		r -= 0xFEE0
	}
	if d, ok := digit(r); ok {
		return '0' + rune(d)
	}
	switch r {
	case 0xA0, 0x2009, 0x202F, '\t', '\n', '\r', 0x3000:
		return ' '
	case '−', '–', '—', '‐', '‑':
		return '-'
	case '×', '·', '⋅', '∙', '•', '✕', '✖':
		return '*'
	case '’', '_', '٬': // the last one is the Arabic thousands separator
		return '\''
	case '÷', '⁄', '∕':
		return '/'
	case '٫': // Arabic decimal separator
		return '.'
	case '،':
		return ','
	case '٪':
		return '%'
	case '[':
		return '('
	case ']':
		return ')'
	}
	return r
}

// digit returns the value of a decimal digit of any script. Unicode encodes the ten digits of a
// script in ascending order, so the ranges of the category Nd consist of whole sets of ten.
func digit(r rune) (int, bool) {
	for _, x := range unicode.Nd.R16 {
		if rune(x.Lo) <= r && r <= rune(x.Hi) {
			return int(r-rune(x.Lo)) % 10, true
		}
	}
	for _, x := range unicode.Nd.R32 {
		if rune(x.Lo) <= r && r <= rune(x.Hi) {
			return int(r-rune(x.Lo)) % 10, true
		}
	}
	return 0, false
}

// foreign returns a currency sign in s that the form does not allow, or "". An amount divided by an
// amount is a plain number, as in $3 / $4.
func foreign(s string, form Form) string {
	if strings.Contains(s, "/") && strings.Count(s, "$") > 1 {
		s = strings.ReplaceAll(s, "$", "") // scan counts them
	}
	for _, r := range s {
		if unicode.Is(unicode.Sc, r) && (form != Money || r != '$' && r != '¢') {
			return string(r)
		}
	}
	return ""
}

// equals are the signs between a name or a formula and its value.
const equals = "=≈≅~"

// remark matches the beginning of a remark such as '(= 63.2%)'.
var remark = regexp.MustCompile(`\([ ` + equals + `]+`)

// vectors matches a product of vectors such as '(2, 1)*(2, 1)'. With a comma as the decimal separator,
// it would be the product of 2.1 and 2.1.
var vectors = regexp.MustCompile(`^` + vectorForm + ` *[*x]? *` + vectorForm + `$`)

// vectorForm matches a vector of integers with at most two digits.
const vectorForm = `\( *-?[0-9]{1,2}(?: *, *-?[0-9]{1,2})+ *\)`

// answerIn returns the part of a line that is the answer. This is the part after the last equals
// sign: 0.632 in 'p = 0.632'. A name that ends with a colon is removed, too. It may contain a number
// if a space follows the colon, but not before it: 0.632 in 'T = 1: 0.632', but 1/3 in '1 : 3'.
func answerIn(s string) string {
	s = remark.ReplaceAllString(s, "(")
	if at := strings.LastIndex(s, ": "); at > 0 && s[at-1] != ' ' && hasNumber(s[at:]) {
		s = s[at+2:]
	}
	parts := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(equals, r) })
	for _, part := range slices.Backward(parts) {
		if hasNumber(part) {
			s = part
			break
		}
	}
	if name, value, ok := strings.Cut(s, ":"); ok && !hasNumber(name) {
		s = value
	}
	return strings.TrimSpace(strings.ReplaceAll(s, ":", "/"))
}

// hasNumber reports whether s contains digits, a character such as ½, or the number e alone.
func hasNumber(s string) bool {
	return strings.ContainsAny(s, "0123456789") || strings.TrimSpace(s) == "e" ||
		strings.ContainsFunc(s, func(r rune) bool { return vulgar[r] != [2]int64{} })
}

// vulgar holds the fractions that are single characters.
var vulgar = map[rune][2]int64{
	'½': {1, 2}, '⅓': {1, 3}, '⅔': {2, 3}, '¼': {1, 4}, '¾': {3, 4}, '⅕': {1, 5}, '⅖': {2, 5}, '⅗': {3, 5},
	'⅘': {4, 5}, '⅙': {1, 6}, '⅚': {5, 6}, '⅐': {1, 7}, '⅛': {1, 8}, '⅜': {3, 8}, '⅝': {5, 8},
	'⅞': {7, 8}, '⅑': {1, 9}, '⅒': {1, 10},
}

// raised converts the notations of powers to a common one: e⁴ and e ^ 4 become e^4, and 10⁻³ becomes
// 10^-3.
func raised(s string) string {
	const above = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺"
	var b strings.Builder
	up := false
	for _, r := range s {
		at := slices.Index([]rune(above), r)
		if at >= 0 && !up {
			b.WriteByte('^')
		}
		if up = at >= 0; up {
			r = rune("0123456789-+"[at])
		}
		b.WriteRune(r)
	}
	s = b.String()
	for _, spaced := range []string{" ^", "^ "} {
		s = strings.ReplaceAll(s, spaced, "^")
	}
	return s
}
