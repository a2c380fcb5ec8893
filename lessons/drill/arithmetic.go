package drill

import (
	"math"
	"math/big"
	"strings"
	"unicode/utf8"
)

// term is a parsed number or the result of arithmetic.
type term struct {
	value    *big.Rat
	decimals int  // number of digits after the decimal separator; negative for 5e3
	digits   int  // number of significant digits; 0 if the value was computed
	plain    bool // only digits and a decimal point
	inexact  bool // the value was rounded to a float64, such as e^4
	dollars  int  // the power of dollars: 1 for $3, and 0 for $3 / $4
}

// scan parses arithmetic by recursive descent:
//
//	sum      = product { ( "+" | "-" ) product }
//	product  = signed { ( "*" | "x" | "/" ) signed | implicit }
//	implicit = a signed that begins with "(", "e^", "exp", "sqrt" or "√"
//	signed   = [ "+" | "-" ] power [ "%" ]
//	power    = atom [ "^" exponent ]
//	exponent = [ "+" | "-" ] power
//	atom     = [ "$" ] ( number | group | "e" [ "^" exponent ] | ( "exp" | "sqrt" | "√" ) [ "-" ] atom )
//	group    = "(" sum ")"
//
// A number in parentheses repeats the value before it: 0.632 (63.2%) and 12 / 19 (0.632) are not
// products.
type scan struct {
	s         string // the rest of the text
	form      Form
	choice    int  // which reading of an ambiguous number to use, 0 or 1
	ambiguous bool // whether a number with two readings was found
	dollar    bool // whether a dollar sign was found
	divided   bool // whether a division was found
	bound     bool // whether the next number follows "/" or "^": there, 2*10^3 is a product, not one number
}

// take skips the first of the prefixes that the rest of the text has, and the spaces around it.
func (sc *scan) take(prefixes ...string) bool {
	s := strings.TrimLeft(sc.s, " ")
	for _, prefix := range prefixes {
		if strings.HasPrefix(s, prefix) {
			sc.s = strings.TrimLeft(s[len(prefix):], " ")
			return true
		}
	}
	return false
}

// unreadable returns the refusal of the rest of the text.
func (sc *scan) unreadable() error {
	if sc.s == "" {
		return refuse("drill.refused.unfinished")
	}
	return refuse("drill.refused.unreadable", "rest", sc.s)
}

func (sc *scan) sum() (term, error) {
	a, err := sc.product()
	for err == nil {
		minus := sc.take("-")
		if !minus && !sc.take("+") {
			break
		}
		var b term
		if b, err = sc.product(); err != nil {
			break
		}
		if minus {
			b.value = new(big.Rat).Neg(b.value)
		}
		dollars := max(a.dollars, b.dollars)
		a, err = computed(new(big.Rat).Add(a.value, b.value), a, b)
		a.dollars = dollars
	}
	return a, err
}

func (sc *scan) product() (term, error) {
	group := strings.HasPrefix(strings.TrimLeft(sc.s, " "), "(") // whether a is only a group
	a, err := sc.signed()
	bare := a.digits > 0 && !group // whether the last operand is a typed number
	for err == nil {
		divide, repeat := false, false
		switch {
		case sc.times():
		case sc.factor():
			repeat = !group && strings.HasPrefix(strings.TrimLeft(sc.s, " "), "(")
		case sc.take("/"):
			divide, sc.divided, sc.bound = true, true, true
		default:
			return a, nil
		}
		before := sc.s
		var b term
		if b, err = sc.signed(); err != nil {
			break
		}
		repeat = repeat && b.digits > 0
		switch {
		case repeat && sameNumber(a, b):
		case repeat && bare:
			err = refuse("drill.refused.two_numbers")
		case !divide:
			dollars := a.dollars + b.dollars
			a, err = computed(new(big.Rat).Mul(a.value, b.value), a, b)
			a.dollars = dollars
		case b.value.Sign() == 0:
			err = refuse("drill.refused.zero")
		default:
			dollars := a.dollars - b.dollars
			a, err = computed(new(big.Rat).Quo(a.value, b.value), a, b)
			a.dollars = dollars
		}
		group, bare = false, b.digits > 0 && !strings.HasPrefix(strings.TrimLeft(before, " "), "(")
	}
	return a, err
}

// times skips a multiplication sign, unless it is the unit in '417×'.
func (sc *scan) times() bool {
	s := strings.TrimLeft(sc.s, " ")
	if !strings.HasPrefix(s, "*") && !strings.HasPrefix(s, "x") {
		return false
	}
	after := strings.TrimLeft(s[1:], " ")
	if r, _ := utf8.DecodeRuneInString(after); after == "" ||
		s[0] == 'x' && !strings.ContainsRune("0123456789.,(√e", r) && vulgar[r] == [2]int64{} {
		return false
	}
	sc.s = after
	return true
}

// factor reports whether a factor without a multiplication sign follows, as in 2(3 + 4) or 2e^4.
func (sc *scan) factor() bool {
	for _, prefix := range []string{"(", "√", "e^", "exp", "sqrt"} {
		if strings.HasPrefix(strings.TrimLeft(sc.s, " "), prefix) {
			return true
		}
	}
	return false
}

// sameNumber reports whether a and the typed number b are equal if the more exact one is rounded like
// the other.
func sameNumber(a, b term) bool {
	d := new(big.Rat).Sub(a.value, b.value)
	places := b.decimals
	if a.digits > 0 {
		places = min(places, a.decimals)
	}
	half := new(big.Rat).Mul(big.NewRat(1, 2), ten(-places))
	return d.Abs(d).Cmp(half) <= 0
}

func (sc *scan) signed() (term, error) {
	t, err := sc.exponent()
	if err == nil && sc.take("%", "percent", "per cent") {
		t.value = new(big.Rat).Mul(t.value, ten(-2))
		t.decimals, t.plain = t.decimals+2, false
	}
	return t, err
}

func (sc *scan) exponent() (term, error) {
	negative := sc.take("-")
	if !negative {
		sc.take("+")
	}
	t, err := sc.power()
	if err == nil && negative {
		t.value = new(big.Rat).Neg(t.value)
	}
	return t, err
}

func (sc *scan) power() (term, error) {
	t, err := sc.atom()
	if err == nil && sc.take("^", "**") {
		var x term
		sc.bound = true
		if x, err = sc.exponent(); err == nil {
			t, err = raise(t, x)
		}
	}
	return t, err
}

// mostOfE is the largest accepted exponent of e: e^36 is near maxValue.
const mostOfE = 36

func (sc *scan) atom() (term, error) {
	if !sc.take("$") && (sc.form != Money || !sc.take("us$", "usd")) {
		return sc.unsigned()
	}
	sc.dollar = true
	t, err := sc.unsigned()
	t.dollars++
	return t, err
}

// unsigned parses an atom without a dollar sign.
func (sc *scan) unsigned() (term, error) {
	bound := sc.bound
	sc.bound = false
	switch {
	case sc.take("("):
		t, err := sc.sum()
		if err == nil && !sc.take(")") {
			err = refuse("drill.refused.bracket")
		}
		t.plain = false
		return t, err
	case sc.take("√", "sqrt"):
		x, err := sc.argument()
		if err != nil {
			return term{}, err
		}
		return inexact(math.Sqrt(x))
	case sc.take("exp"):
		x, err := sc.argument()
		if err != nil {
			return term{}, err
		}
		return powerOfE(x)
	case sc.isE():
		sc.take("e")
		if !sc.take("^", "**") {
			return powerOfE(1)
		}
		sc.bound = true
		x, err := sc.exponent()
		if err != nil {
			return term{}, err
		}
		v, _ := x.value.Float64()
		return powerOfE(v)
	}
	return sc.number(bound)
}

// argument parses the argument of a function, which does not need parentheses: exp(4), exp -2, √2.
func (sc *scan) argument() (float64, error) {
	negative := sc.take("-")
	t, err := sc.atom()
	if err != nil {
		return 0, err
	}
	x, _ := t.value.Float64()
	if negative {
		x = -x
	}
	return x, nil
}

// isE reports whether the number e follows, rather than a word that begins with e.
func (sc *scan) isE() bool {
	rest, ok := strings.CutPrefix(sc.s, "e")
	r, _ := utf8.DecodeRuneInString(rest)
	return ok && (rest == "" || strings.ContainsRune(" ^*/+-)%", r))
}

func powerOfE(x float64) (term, error) {
	if math.Abs(x) > mostOfE {
		return term{}, refuse("drill.refused.power_of_e")
	}
	return inexact(math.Exp(x))
}

// inexact returns a result of floating-point arithmetic as a term.
func inexact(x float64) (term, error) {
	v := new(big.Rat).SetFloat64(x)
	if v == nil || math.Abs(x) > maxTerm || x != 0 && math.Abs(x) < 1/maxTerm {
		return term{}, refuse("drill.refused.power")
	}
	return term{value: v, inexact: true}, nil
}

// Intermediate results have an absolute value up to maxTerm. Those with a longer numerator or
// denominator than maxBits are rounded.
const (
	maxTerm = 1e40
	maxBits = 2048
)

// computed returns the result v of an operation on a and b as a term.
func computed(v *big.Rat, a, b term) (term, error) {
	x, _ := v.Float64()
	switch {
	case math.Abs(x) > maxTerm:
		return term{}, refuse("drill.refused.large")
	case v.Sign() != 0 && math.Abs(x) < 1/maxTerm:
		return term{}, refuse("drill.refused.small")
	case bits(v) > maxBits:
		return inexact(x)
	}
	return term{value: v, inexact: a.inexact || b.inexact}, nil
}

func bits(v *big.Rat) int { return max(v.Num().BitLen(), v.Denom().BitLen()) }

// raise returns b to the power of x. It is exact if x is an integer, as in 2^31 and 0.8^5.
func raise(b, x term) (term, error) {
	base, _ := b.value.Float64()
	exponent, _ := x.value.Float64()
	n := int(max(-maxBits-1, min(exponent, maxBits+1)))
	if base == 0 && n < 0 {
		return term{}, refuse("drill.refused.zero")
	}
	if !x.value.IsInt() || bits(b.value)*max(n, -n) > maxBits {
		return inexact(math.Pow(base, exponent))
	}
	v, factor := big.NewRat(1, 1), b.value
	if n < 0 {
		factor = new(big.Rat).Inv(factor)
	}
	for range max(n, -n) {
		v.Mul(v, factor)
	}
	t, err := computed(v, b, x)
	if err != nil {
		return t, refuse("drill.refused.power")
	}
	return t, nil
}

// number parses digits, perhaps with a power of ten, or a character such as ½.
func (sc *scan) number(bound bool) (term, error) {
	n := 0
	for n < len(sc.s) && (strings.IndexByte("0123456789.,'", sc.s[n]) >= 0 || spaceBetweenGroups(sc.s[n:])) {
		n++
	}
	r, size := utf8.DecodeRuneInString(sc.s[n:])
	fraction := vulgar[r]
	if n == 0 && fraction == [2]int64{} {
		return term{}, sc.unreadable()
	}
	t := term{value: new(big.Rat)}
	if n > 0 {
		list, err := literals(strings.TrimRight(sc.s[:n], ","), sc.form)
		if err != nil {
			return term{}, err
		}
		sc.ambiguous = sc.ambiguous || len(list) > 1
		t = list[min(sc.choice, len(list)-1)]
	}
	sc.s = sc.s[n:]
	if fraction != [2]int64{} { // 2½ is 2 + 1/2
		sc.s, sc.divided = sc.s[size:], true
		return computed(new(big.Rat).Add(t.value, big.NewRat(fraction[0], fraction[1])), t, t)
	}
	exp, ok, err := sc.powerOfTen(bound)
	if err != nil {
		return term{}, err
	}
	if ok {
		t.value = new(big.Rat).Mul(t.value, ten(exp))
		t.decimals, t.plain = t.decimals-exp, false
	}
	return t, nil
}

// powerOfTen parses the exponent of a number in scientific notation: e-3 or *10^-3. After a division
// sign or in an exponent, the second form is a product: 1 / 2 * 10^3 is 500.
func (sc *scan) powerOfTen(bound bool) (int, bool, error) {
	marks := []string{"e", "*10^", "* 10^", "x10^", "*10**", "x 10^"}
	if bound {
		marks = marks[:1]
	}
	rest := strings.TrimLeft(sc.s, " ")
	for _, mark := range marks {
		after, found := strings.CutPrefix(rest, mark)
		n, behind, ok := leadingInt(after)
		if !found || !ok {
			continue
		}
		if n > 40 || n < -40 {
			return 0, false, refuse("drill.refused.power_of_ten")
		}
		sc.s = behind
		return n, true, nil
	}
	return 0, false, nil
}
