package grammar

import (
	"cmp"
	"strconv"
	"strings"
)

// Limits on numbers.
const (
	maxDigits   = 15    // in a number that has bounds; a float64 can represent that many
	maxExponent = 400   // in a bound
	maxMultiple = 1_000 // largest multipleOf, without its decimal point
)

// Patterns for numbers whose schema sets no bounds and no multipleOf.
var (
	anyNumber, _  = parseExpression(`-?(0|[1-9][0-9]{0,15})(\.[0-9]{1,16})?([eE][+-]?[0-9]{1,2})?`)
	anyInteger, _ = parseExpression(`-?(0|[1-9][0-9]{0,14})`)
)

// decimal is a number, stored as its digits without redundant zeros, so equal numbers are equal
// decimals.
type decimal struct {
	negative        bool
	whole, fraction string
}

// decimalOf parses a JSON number. ok is false for a number with a huge exponent.
func decimalOf(text string) (d decimal, ok bool) {
	text, d.negative = strings.CutPrefix(text, "-")
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	d.whole, d.fraction, _ = strings.Cut(mantissa, ".")
	shift := 0
	if exponent != "" {
		var err error
		if shift, err = strconv.Atoi(exponent); err != nil || shift < -maxExponent || shift > maxExponent {
			return decimal{}, false
		}
	}
	digits, point := d.whole+d.fraction, len(d.whole)+shift
	digits = strings.Repeat("0", max(-point, 0)) + digits + strings.Repeat("0", max(point-len(digits), 0))
	point = max(point, 0)
	d.whole = strings.TrimLeft(digits[:point], "0")
	d.fraction = strings.TrimRight(digits[point:], "0")
	d.negative = d.negative && d.whole+d.fraction != ""
	return d, true
}

// compare returns a negative number if d is less than e, and a positive one if d is greater.
func (d decimal) compare(e decimal) int {
	if d.negative != e.negative {
		if d.negative {
			return -1
		}
		return 1
	}
	size := cmp.Or(
		cmp.Compare(len(d.whole), len(e.whole)), cmp.Compare(d.whole, e.whole), cmp.Compare(d.fraction, e.fraction),
	)
	if d.negative {
		return -size
	}
	return size
}

// bound is a minimum or maximum for numbers. If open is set, the bound itself is excluded.
type bound struct {
	decimal
	open bool
}

// tighter returns the stricter of two bounds, which are nil if there is no bound. side is -1 for
// minimums and 1 for maximums.
func tighter(a, b *bound, side int) *bound {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case a.compare(b.decimal)*side < 0, a.decimal == b.decimal && a.open:
		return a
	}
	return b
}

// bounds are the constraints on numbers.
type bounds struct {
	least, most *bound
	multiples   []decimal
	integer     bool
}

// number builds a part that reads a number within bounds: a decimal without an exponent. The part
// reads the number digit by digit, compares its digits with the digits of the bounds, and tracks the
// remainder of the division by multipleOf.
func (c compiler) number(n bounds, next int32) int32 {
	if n.least == nil && n.most == nil && len(n.multiples) == 0 {
		e := anyNumber
		if n.integer {
			e = anyInteger
		}
		return patternBuilder{c.builder, false}.pattern(e.Regexp, next)
	}
	m := measure{integer: n.integer, multiple: 1}
	for i, side := range []*bound{n.least, n.most} {
		if side != nil {
			if len(side.whole) > maxDigits && side.negative == (i == 1) {
				return c.fail("its bounds allow only numbers of more than %d digits", maxDigits)
			}
			m.limits = append(m.limits, limit{*side, 2*i - 1})
		}
	}
	for _, d := range n.multiples {
		m.decimals = max(m.decimals, len(d.fraction))
	}
	for _, d := range n.multiples {
		x, err := strconv.Atoi(d.whole + d.fraction + strings.Repeat("0", m.decimals-len(d.fraction)))
		if err == nil && x <= maxMultiple {
			m.multiple = m.multiple / gcd(m.multiple, x) * x
		}
		if err != nil || max(x, m.multiple) > maxMultiple {
			return c.fail("the keyword \"multipleOf\" would need more than %d states", maxMultiple)
		}
	}
	m.divides = len(n.multiples) > 0
	return machine(c.builder, reading{}, "-.0123456789", m.read, m.takes, next)
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// measure reads a number byte by byte and checks it against its constraints.
type measure struct {
	integer  bool
	limits   []limit // at most two
	divides  bool    // numbers must be multiples of multiple
	multiple int     // the value of multipleOf, without its decimal point
	decimals int     // digits after the point
}

// limit is a bound and its side: -1 for the minimum, 1 for the maximum.
type limit struct {
	bound
	side int
}

// reading is the state after part of a number has been read.
type reading struct {
	at       byte // last byte: -, 0 (a whole part of 0), 1 (another whole part), ., f (a digit after the point)
	negative bool
	zero     bool // the number is 0 so far
	digits   int
	decimals int    // digits after the point
	sizes    [2]int // how the digits so far compare with the digits of each limit
	rest     int
}

// read reads one more byte.
func (m measure) read(s reading, b byte) (reading, bool) {
	last := s.at
	switch {
	case b == '-':
		s.at, s.negative = b, true
		return s, last == 0
	case b == '.':
		s.at, s.sizes = b, m.whole(s)
		return s, !m.integer && (last == '0' || last == '1')
	case last == '.' || last == 'f':
		s.at = 'f'
		s.decimals++
		if m.divides && s.decimals > m.decimals {
			return s, false
		}
		for i, l := range m.limits {
			s.sizes[i] = cmp.Or(s.sizes[i], cmp.Compare(b, digitOf(l.fraction, s.decimals-1)))
		}
	case last == '0': // no digit follows it
		return s, false
	case b == '0' && last != '1':
		s.at, s.zero = '0', true
	default:
		s.at = '1'
		for i, l := range m.limits {
			if s.digits >= len(l.whole) {
				s.sizes[i] = 1
			} else {
				s.sizes[i] = cmp.Or(s.sizes[i], cmp.Compare(b, l.whole[s.digits]))
			}
		}
	}
	s.digits++
	s.zero = s.zero && b == '0'
	s.rest = (s.rest*10 + int(b-'0')) % m.multiple
	return s, s.digits <= maxDigits
}

// whole returns the comparisons with the limits once all digits before the point have been read. A
// number with fewer of these digits than a limit is smaller.
func (m measure) whole(s reading) [2]int {
	for i, l := range m.limits {
		if s.at == '1' && s.digits < len(l.whole) || s.at == '0' && l.whole != "" {
			s.sizes[i] = -1
		}
	}
	return s.sizes
}

// takes reports whether a number can end here.
func (m measure) takes(s reading) bool {
	switch s.at {
	case '0', '1':
		s.sizes = m.whole(s)
	case 'f':
	default:
		return false
	}
	for range m.decimals - s.decimals {
		s.rest = s.rest * 10 % m.multiple
	}
	if s.rest != 0 {
		return false
	}
	for i, l := range m.limits {
		size := s.sizes[i]
		if size == 0 && s.decimals < len(l.fraction) {
			size = -1
		}
		switch negative := s.negative && !s.zero; {
		case negative && l.negative:
			size = -size
		case negative:
			size = -1
		case l.negative:
			size = 1
		}
		if size == l.side || size == 0 && l.open {
			return false
		}
	}
	return true
}

// digitOf returns digit i of a fraction, or 0 if the fraction is shorter.
func digitOf(fraction string, i int) byte {
	if i < len(fraction) {
		return fraction[i]
	}
	return '0'
}
