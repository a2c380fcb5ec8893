package lessons

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A value is the value of an expression: a number, a word, or a record whose fields are selected
// with a dot. A record may also have its own numeric value.
type value struct {
	num    float64
	word   string // if not empty, the value is this word
	fields map[string]value
	bare   bool // a record without a numeric value
}

func number(x float64) value { return value{num: x} }
func word(s string) value    { return value{word: s} }

// compute evaluates the contents of {=…}: an expression and an optional format. It returns the
// figure in the form that pages show.
//
//	expr   = term  { ("+" | "-") term }
//	term   = power { ("*" | "/") power }
//	power  = [ "-" ] atom [ "^" power ]
//	atom   = number | "(" expr ")" | name "(" [ arg { "," arg } ] ")" { "." field }
//	arg    = expr | name "=" (expr | word)
func compute(text string) (string, error) {
	e := &expression{rest: strings.TrimSpace(text)}
	v, err := e.sum()
	if err != nil {
		return "", err
	}
	return format(v, strings.TrimSpace(e.rest))
}

type expression struct {
	rest  string
	depth int
}

// maxDepth is the maximum nesting depth of expressions.
const maxDepth = 32

func (e *expression) skip() { e.rest = strings.TrimLeft(e.rest, " \t") }

// eat consumes and returns the next character if it is one of the operators.
func (e *expression) eat(operators string) byte {
	e.skip()
	if e.rest == "" || !strings.ContainsRune(operators, rune(e.rest[0])) {
		return 0
	}
	c := e.rest[0]
	e.rest = e.rest[1:]
	return c
}

func (e *expression) sum() (value, error) {
	return e.chain("+-", e.product, func(op byte, a, b float64) float64 {
		if op == '+' {
			return a + b
		}
		return a - b
	})
}

func (e *expression) product() (value, error) {
	return e.chain("*/", e.power, func(op byte, a, b float64) float64 {
		if op == '*' {
			return a * b
		}
		return a / b
	})
}

func (e *expression) chain(
	operators string, next func() (value, error), apply func(op byte, a, b float64) float64,
) (value, error) {
	if e.depth++; e.depth > maxDepth*3 {
		return value{}, errors.New("the expression is nested too deeply")
	}
	defer func() { e.depth-- }()
	v, err := next()
	for err == nil {
		op := e.eat(operators)
		if op == 0 {
			return v, nil
		}
		var w value
		if w, err = next(); err != nil {
			break
		}
		var a, b float64
		if a, err = v.number(); err != nil {
			break
		}
		if b, err = w.number(); err != nil {
			break
		}
		v = number(apply(op, a, b))
	}
	return value{}, err
}

func (e *expression) power() (value, error) {
	negative := e.eat("-") != 0
	v, err := e.atom()
	if err != nil {
		return v, err
	}
	if e.eat("^") != 0 {
		if e.depth++; e.depth > maxDepth*3 {
			return value{}, errors.New("the expression is nested too deeply")
		}
		w, err := e.power()
		e.depth--
		if err != nil {
			return w, err
		}
		a, err := v.number()
		if err != nil {
			return v, err
		}
		b, err := w.number()
		if err != nil {
			return w, err
		}
		v = number(math.Pow(a, b))
	}
	if negative {
		x, err := v.number()
		return number(-x), err
	}
	return v, nil
}

func (e *expression) atom() (value, error) {
	if e.eat("(") != 0 {
		v, err := e.sum()
		if err == nil && e.eat(")") == 0 {
			err = errors.New("missing closing parenthesis")
		}
		return v, err
	}
	if name := e.name(); name != "" {
		return e.call(name)
	}
	n := 0
	for n < len(e.rest) && (isDigit(e.rest[n]) || e.rest[n] == '.' ||
		n > 0 && e.rest[n] == 'e' || n > 0 && e.rest[n] == '-' && e.rest[n-1] == 'e') {
		n++
	}
	x, err := strconv.ParseFloat(e.rest[:n], 64)
	if err != nil {
		return value{}, fmt.Errorf("expected a number or a function, found %q", e.rest)
	}
	e.rest = e.rest[n:]
	return number(x), nil
}

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }

// name consumes and returns a word if one is next.
func (e *expression) name() string {
	e.skip()
	n := 0
	for n < len(e.rest) && (isLetter(e.rest[n]) || n > 0 && isDigit(e.rest[n])) {
		n++
	}
	name := e.rest[:n]
	e.rest = e.rest[n:]
	return name
}

// call evaluates a function and selects fields of its result.
func (e *expression) call(name string) (value, error) {
	f, ok := functions[name]
	if !ok {
		return value{}, fmt.Errorf("unknown function %q", name)
	}
	if e.eat("(") == 0 {
		return value{}, fmt.Errorf("missing parentheses after %s; want %s(…)", name, name)
	}
	a := &arguments{named: map[string]string{}, asked: map[string]bool{}}
	for e.eat(")") == 0 {
		if e.rest == "" {
			return value{}, fmt.Errorf("%s: missing closing parenthesis", name)
		}
		if err := e.argument(a); err != nil {
			return value{}, fmt.Errorf("%s: %w", name, err)
		}
	}
	v := f(a)
	if err := a.err(); err != nil {
		return value{}, fmt.Errorf("%s: %w", name, err)
	}
	for strings.HasPrefix(e.rest, ".") {
		e.rest = e.rest[1:]
		asked := e.name()
		inner, ok := v.fields[asked]
		if !ok {
			return value{}, fmt.Errorf("%s has no field %q", name, asked)
		}
		v = inner
	}
	return v, nil
}

// argument parses one argument and the comma after it.
func (e *expression) argument(a *arguments) error {
	e.skip()
	if key, after, ok := strings.Cut(e.rest, "="); ok && isWord(strings.TrimSpace(key)) {
		text := raw(after)
		e.rest = after[len(text):]
		key = strings.TrimSpace(key)
		if _, twice := a.named[key]; twice {
			return fmt.Errorf("duplicate argument %s", key)
		}
		a.named[key] = strings.TrimSpace(text)
	} else {
		v, err := e.sum()
		if err != nil {
			return err
		}
		x, err := v.number()
		if err != nil {
			return err
		}
		a.list = append(a.list, x)
	}
	if e.eat(",") == 0 {
		if e.skip(); !strings.HasPrefix(e.rest, ")") {
			return fmt.Errorf("missing comma or closing parenthesis before %q", e.rest)
		}
	}
	return nil
}

func isWord(s string) bool {
	for i := range len(s) {
		if !isLetter(s[i]) && (i == 0 || !isDigit(s[i])) {
			return false
		}
	}
	return s != ""
}

// raw returns the part of the text before the comma or bracket that ends an argument.
func raw(text string) string {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				return text[:i]
			}
		case ',':
			if depth == 0 {
				return text[:i]
			}
		}
	}
	return text
}

func (v value) number() (float64, error) {
	if v.word != "" || v.bare {
		return 0, errors.New("got a word or a record, want a number; to select a record's field, use a dot")
	}
	return v.num, nil
}

// arguments holds a function's arguments. Its methods collect errors, so functions need not check
// each argument.
type arguments struct {
	list  []float64
	named map[string]string
	asked map[string]bool
	bad   error
}

func (a *arguments) fail(format string, args ...any) {
	if a.bad == nil {
		a.bad = fmt.Errorf(format, args...)
	}
}

// err returns the first error, including one for an unused argument.
func (a *arguments) err() error {
	if a.bad != nil {
		return a.bad
	}
	for k := range a.named {
		if !a.asked[k] {
			return fmt.Errorf("unknown argument %s", k)
		}
	}
	if len(a.list) > 0 && !a.asked[""] {
		return errors.New("arguments must be named: name=value")
	}
	return nil
}

// word returns a named argument verbatim. If the argument is missing, it returns the default.
func (a *arguments) word(name, otherwise string) string {
	a.asked[name] = true
	if s, ok := a.named[name]; ok {
		return s
	}
	return otherwise
}

// float evaluates a named argument and checks its range.
func (a *arguments) float(name string, otherwise, low, high float64) float64 {
	a.asked[name] = true
	text, ok := a.named[name]
	if !ok {
		if math.IsNaN(otherwise) {
			a.fail("missing argument %s", name)
		}
		return otherwise
	}
	e := &expression{rest: text}
	v, err := e.sum()
	if err == nil && strings.TrimSpace(e.rest) != "" {
		err = fmt.Errorf("unexpected %q", e.rest)
	}
	var x float64
	if err == nil {
		x, err = v.number()
	}
	if err != nil {
		a.fail("%s: %w", name, err)
	} else if !(x >= low && x <= high) {
		a.fail("%s is %v; want %v to %v", name, x, low, high)
	}
	return x
}

// whole is like float, but the number must be an integer.
func (a *arguments) whole(name string, otherwise, low, high float64) int {
	x := a.float(name, otherwise, low, high)
	if a.bad == nil && x != math.Trunc(x) {
		a.fail("%s is %v; want an integer", name, x)
	}
	if a.bad != nil {
		return int(low)
	}
	return int(x)
}

// one returns the only unnamed argument.
func (a *arguments) one() float64 {
	a.asked[""] = true
	if len(a.list) != 1 {
		a.fail("got %d numbers, want 1", len(a.list))
		return 1
	}
	return a.list[0]
}

// must is the default value that marks an argument as required.
var must = math.NaN()
