package drill

import (
	"math"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tokenbytoken/viz/infer/terms"
)

// Form is the kind of number that a cell accepts. It determines the accepted units and how exact an
// answer must be.
type Form int

// The forms.
const (
	Real        Form = iota // a plain number, such as e to the power of a logit
	Probability             // 0 to 1, or a percentage
	Count                   // integers: tokens, positions, multiply-adds
	Bytes                   // a number of bytes, with or without units
	Money                   // dollars
	Ratio                   // a factor
)

// Reading is one interpretation of a learner's input.
type Reading struct {
	Value  float64
	Ulp    float64 // one unit in the last typed place; 0 if the value is exact, like 1/3
	Digits int     // number of significant digits typed; 0 if the value is exact
	scaled bool    // whether a unit or a word such as 'million' was typed
	plain  bool    // only digits and a decimal point
	typed  string  // the text, or "" if the number was typed plainly
	number string  // the number, formatted
	unit   string  // "bytes", "dollars" or ""
}

// Said describes the reading, such as "63.2% is 0.632". It is just the number if that was typed
// plainly.
func (r Reading) Said(l *terms.Language) string {
	number := r.number
	switch r.unit {
	case "bytes":
		number = l.T("drill.read.bytes", "n", number)
	case "dollars":
		number = l.T("drill.read.dollars", "n", number)
	}
	if r.typed == "" {
		return number
	}
	return l.T("drill.read.is", "typed", r.typed, "number", number)
}

// refuse politely explains why a text is not an answer.
func refuse(key string, with ...any) error { return terms.Refuse(terms.CodeFormat, key, with...) }

const (
	maxAnswer = 64   // bytes; no number in these drills is longer
	maxValue  = 1e16 // far above any answer
	minValue  = 1e-12
)

// Read parses a number as people write it: with a decimal point or a decimal comma, with thousands
// separated by commas, points, spaces or apostrophes; as a fraction, a percentage or a power (2^31,
// e^4, exp(4), 5.4e-3, 5.4×10^-3); and with a unit or the word million. If the text can be read in
// two ways ('1,024'), it returns both readings, starting with the more likely one for the form. The
// error is a *[terms.Refusal]; for blank text, Read returns no readings and no error.
func Read(text string, form Form) ([]Reading, error) {
	s, err := tidy(text)
	if err != nil || s == "" {
		return nil, err
	}
	sc := &scan{s: s, form: form}
	over, err := sc.term()
	if err != nil {
		return nil, err
	}
	var under []term
	if sc.take("/") {
		if under, err = sc.term(); err != nil {
			return nil, err
		}
	}
	behind := strings.TrimSpace(sc.s)
	scale, unit, err := readUnit(behind, form)
	if err != nil {
		return nil, err
	}
	if sc.dollar {
		unit = "dollars"
	}
	list, err := combine(form, over, under, scale)
	for i := range list {
		r := &list[i]
		r.unit = unit
		if typed := strings.TrimSpace(text); typed != r.number && !(r.plain && behind == "" && unit == "") {
			r.typed = typed
		}
	}
	return list, err
}

// tidy converts the various notations to a common one.
func tidy(text string) (string, error) {
	if len(text) > maxAnswer {
		return "", refuse("drill.refused.long")
	}
	if !utf8.ValidString(text) {
		return "", refuse("drill.refused.bytes")
	}
	s := strings.Map(func(r rune) rune {
		switch {
		case r >= 0xFF01 && r <= 0xFF5E: // full-width forms
			return r - 0xFEE0
		case slices.Contains([]rune{0xA0, 0x2009, 0x202F, '\t', '\n', '\r', 0x3000}, r):
			return ' '
		case r == '−' || r == '–':
			return '-'
		case r == '×' || r == '·' || r == '⋅':
			return '*'
		case r == '’' || r == '_':
			return '\''
		case r == '÷' || r == '⁄' || r == ':':
			return '/'
		}
		return r
	}, text)
	s = raised(strings.ToLower(strings.TrimSpace(s)))
	s = strings.TrimSpace(strings.TrimRight(strings.TrimLeft(s, "=≈~"), "…"))
	if s == "" {
		return "", nil
	}
	for _, word := range []string{"inf", "∞", "nan"} {
		if strings.HasPrefix(strings.TrimLeft(s, "+-"), word) {
			return "", refuse("drill.refused.infinite")
		}
	}
	if !strings.ContainsAny(s, "0123456789") {
		return "", refuse("drill.refused.no_number")
	}
	return s, nil
}

// raised converts the notations of powers to a common one: e⁴ and e ^ 4 become e^4, 10⁻³ becomes
// 10^-3, and a single e becomes e^1.
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
	if s == "e" {
		return "e^1"
	}
	return s
}

// term is one parsed number, with its exact value.
type term struct {
	value    *big.Rat
	decimals int // number of digits after the decimal separator; negative for 5e3
	digits   int
	plain    bool // only digits and a decimal point
}

type scan struct {
	s      string // the rest of the text
	form   Form
	dollar bool
}

func (sc *scan) take(prefix string) bool {
	s := strings.TrimLeft(sc.s, " ")
	if !strings.HasPrefix(s, prefix) {
		return false
	}
	sc.s = strings.TrimLeft(s[len(prefix):], " ")
	return true
}

// term parses a sign, digits, a power of ten, a power, and a percent sign.
func (sc *scan) term() ([]term, error) {
	negative := sc.take("-")
	if !negative {
		sc.take("+")
	}
	if sc.form == Money && sc.take("$") {
		sc.dollar = true
	}
	if power, ok, err := sc.ofE(); ok || err != nil {
		if negative && err == nil {
			power[0].value.Neg(power[0].value)
		}
		return power, err
	}
	n := 0
	for n < len(sc.s) && (strings.IndexByte("0123456789.,'", sc.s[n]) >= 0 || spaceBetweenGroups(sc.s[n:])) {
		n++
	}
	list, err := literals(strings.TrimRight(sc.s[:n], ","), sc.form)
	if err != nil {
		return nil, err
	}
	sc.s = sc.s[n:]
	exp, ok, err := sc.exponent()
	if err != nil {
		return nil, err
	}
	for i := range list {
		t := &list[i]
		if ok {
			t.value.Mul(t.value, ten(exp))
			t.decimals, t.plain = t.decimals-exp, false
		}
		if negative {
			t.value.Neg(t.value)
		}
	}
	if !ok {
		if list, err = sc.power(list); err != nil {
			return nil, err
		}
	}
	if sc.take("%") || sc.take("percent") || sc.take("per cent") {
		for i := range list {
			t := &list[i]
			t.value.Mul(t.value, ten(-2))
			t.decimals, t.plain = t.decimals+2, false
		}
	}
	return list, nil
}

// mostOfE is the largest accepted exponent of e: e^36 is near maxValue.
const mostOfE = 36

// ofE parses a power of e in the notations that people use on paper: e^4, e^-0.5, e^(3/2) or
// exp(4). The value counts as exact. The bool result is false if the text is not such a power.
func (sc *scan) ofE() ([]term, bool, error) {
	if !sc.take("e^") && !sc.take("e**") && !sc.take("exp") {
		return nil, false, nil
	}
	closed := sc.take("(")
	over, err := sc.term()
	if err != nil {
		return nil, false, err
	}
	x, _ := over[0].value.Float64()
	if closed {
		if sc.take("/") {
			under, err := sc.term()
			if err != nil {
				return nil, false, err
			}
			y, _ := under[0].value.Float64()
			x /= y // division by 0 is refused below
		}
		if !sc.take(")") {
			return nil, false, refuse("drill.refused.bracket")
		}
	}
	if math.IsNaN(x) || math.Abs(x) > mostOfE {
		return nil, false, refuse("drill.refused.power_of_e")
	}
	return []term{{value: new(big.Rat).SetFloat64(math.Exp(x))}}, true, nil
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

// exponent parses an exponent such as e-3 or *10^-3.
func (sc *scan) exponent() (int, bool, error) {
	rest := strings.TrimLeft(sc.s, " ")
	found := false
	for _, mark := range []string{"e", "*10^", "* 10^", "x10^", "*10**", "* 10 ^ ", "x 10^"} {
		if strings.HasPrefix(rest, mark) && (mark != "e" || startsWithInt(rest[1:])) {
			rest, found = rest[len(mark):], true
			break
		}
	}
	if !found {
		return 0, false, nil
	}
	n, rest, ok := leadingInt(rest)
	if !ok || n > 40 || n < -40 {
		return 0, false, refuse("drill.refused.power_of_ten")
	}
	sc.s = rest
	return n, true, nil
}

// power parses a power such as 2^31. Both numbers must be integers.
func (sc *scan) power(list []term) ([]term, error) {
	if !sc.take("^") && !sc.take("**") {
		return list, nil
	}
	n, rest, ok := leadingInt(sc.s)
	if !ok || n < 0 || n > 64 {
		return nil, refuse("drill.refused.power")
	}
	sc.s = rest
	for i := range list {
		t := &list[i]
		base, v := new(big.Rat).Set(t.value), big.NewRat(1, 1)
		for range n {
			v.Mul(v, base)
		}
		*t = term{value: v}
	}
	return list, nil
}

func startsWithInt(s string) bool { _, _, ok := leadingInt(s); return ok }

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

// combine divides and scales the readings.
func combine(form Form, over, under []term, scale *big.Rat) ([]Reading, error) {
	fraction := under != nil
	if !fraction {
		under = []term{{value: big.NewRat(1, 1)}}
	}
	factor, _ := scale.Float64()
	var list []Reading
	for _, o := range over {
		for _, u := range under {
			if u.value.Sign() == 0 {
				return nil, refuse("drill.refused.zero")
			}
			v := new(big.Rat).Quo(o.value, u.value)
			value, _ := v.Mul(v, scale).Float64()
			if math.Abs(value) > maxValue {
				return nil, refuse("drill.refused.large")
			}
			if v.Sign() != 0 && math.Abs(value) < minValue {
				return nil, refuse("drill.refused.small")
			}
			r := Reading{
				Value: value, number: canonical(value, form), scaled: factor != 1,
				plain: o.plain && !fraction,
			}
			if !fraction && o.digits > 0 { // a fraction or a power is exact
				r.Ulp, r.Digits = factor*math.Pow10(-o.decimals), o.digits
			}
			list = append(list, r)
		}
	}
	return list, nil
}
