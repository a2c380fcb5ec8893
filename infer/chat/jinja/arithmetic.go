package jinja

import (
	"math"
	"math/bits"
	"slices"
	"strings"
)

// arithmetic applies an operator to two values.
func (r *render) arithmetic(operator string, a, b any) any {
	if operator == "~" {
		s, t := r.str(a), r.str(b)
		r.made(len(s) + len(t))
		return s + t
	}
	r.known(a)
	r.known(b)
	if m, x, whole, ok := number(a); ok {
		if n, y, both, ok := number(b); ok {
			if whole && both && operator != "/" && !(operator == "**" && n < 0) {
				return r.whole(operator, m, n)
			}
			return r.float(operator, x, y)
		}
		if operator == "*" {
			a, b = b, a
		}
	}
	switch a := a.(type) {
	case string:
		if t, ok := b.(string); ok && operator == "+" {
			r.made(len(a) + len(t))
			return a + t
		}
		if n, _, whole, ok := number(b); ok && whole && operator == "*" {
			return strings.Repeat(a, r.times(len(a), n))
		}
		if operator == "%" {
			r.fail("formatting with %% is not supported")
		}
	case *list:
		if other, ok := b.(*list); ok && operator == "+" && a.tuple == other.tuple {
			r.spend(len(a.items) + len(other.items))
			return &list{slices.Concat(a.items, other.items), a.tuple}
		}
		if n, _, whole, ok := number(b); ok && whole && operator == "*" {
			return &list{slices.Repeat(a.items, r.times(len(a.items)*16, n)), a.tuple}
		}
	}
	r.fail("cannot combine %s and %s with %s", typeOf(a), typeOf(b), operator)
	return nil
}

// times counts the work of making n copies of `size` bytes or items, and returns n as an int, or 0
// if there is nothing to copy.
func (r *render) times(size int, n int64) int {
	if n <= 0 || size == 0 {
		return 0
	}
	if n > int64(r.limits.Work) {
		r.spend(r.limits.Work)
	}
	if high, low := bits.Mul64(uint64(n), uint64(size)); high != 0 || low > uint64(r.limits.Work)*16 {
		r.fail("the template takes too many steps")
	}
	r.made(int(n) * size)
	return int(n)
}

// whole applies an operator to two integers.
func (r *render) whole(operator string, a, b int64) any {
	switch operator {
	case "+":
		if c := a + b; (c > a) == (b > 0) {
			return c
		}
	case "-":
		if c := a - b; (c < a) == (b > 0) {
			return c
		}
	case "*":
		if high, low := bits.Mul64(magnitude(a), magnitude(b)); high == 0 && low < 1<<63 {
			return a * b
		}
	case "//", "%":
		if b == 0 {
			r.fail("division by zero")
		}
		quotient, rest := a/b, a%b
		if rest != 0 && (rest < 0) != (b < 0) { // Python rounds down
			quotient, rest = quotient-1, rest+b
		}
		if operator == "%" {
			return rest
		}
		if !(a == math.MinInt64 && b == -1) {
			return quotient
		}
	case "**":
		result := any(int64(1))
		for range min(b, 64) {
			result = r.whole("*", result.(int64), a)
		}
		if b <= 64 || a >= -1 && a <= 1 {
			if a == -1 && b%2 == 1 {
				return int64(-1)
			}
			return result
		}
	}
	r.fail("a number is too large")
	return nil
}

func magnitude(a int64) uint64 {
	if a < 0 {
		return -uint64(a)
	}
	return uint64(a)
}

// float applies an operator to two floating-point numbers.
func (r *render) float(operator string, x, y float64) any {
	if y == 0 && (operator == "/" || operator == "//" || operator == "%") {
		r.fail("division by zero")
	}
	switch operator {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	case "/":
		return x / y
	case "//":
		return math.Floor(x / y)
	case "%":
		return x - y*math.Floor(x/y)
	}
	return math.Pow(x, y)
}
