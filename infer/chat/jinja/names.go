package jinja

import (
	"slices"
	"strings"
	"time"
	"unicode"
)

type test func(r *render, v any, a *arguments) bool

// tests holds Jinja's tests, except the tests for callables and escaped values. init fills the map,
// because filters look up tests in it.
var tests map[string]test

func init() {
	by := func(operator string) test {
		return func(r *render, v any, a *arguments) bool {
			other, given := a.take(0, "")
			if !given {
				r.fail("the test requires a value to compare with")
			}
			return r.compare(operator, v, other)
		}
	}
	of := func(is func(any) bool) test { return func(_ *render, v any, _ *arguments) bool { return is(v) } }
	missing := func(v any) bool { _, is := v.(undefined); return is }
	text := func(v any) bool { _, is := v.(string); return is }
	whole := func(v any) bool { _, is := v.(int64); return is }
	float := func(v any) bool { _, is := v.(float64); return is }
	truth := func(v any) bool { _, is := v.(bool); return is }
	mapping := func(v any) bool { _, is := v.(*dict); return is }
	items := func(v any) bool { _, is := v.(*list); return is || mapping(v) || text(v) }
	divides := func(r *render, v any, n int64) bool { return r.equal(r.arithmetic("%", v, n), int64(0)) }
	cased := func(change func(string) string) test {
		return func(r *render, v any, _ *arguments) bool {
			s := r.str(v)
			r.made(len(s))
			return change(s) == s && strings.ContainsFunc(s, unicode.IsLetter)
		}
	}
	tests = map[string]test{
		"defined":   of(func(v any) bool { return !missing(v) }),
		"undefined": of(missing),
		"none":      of(func(v any) bool { return v == nil }),
		"string":    of(text), "mapping": of(mapping), "integer": of(whole), "float": of(float), "boolean": of(truth),
		"number":   of(func(v any) bool { _, _, _, ok := number(v); return ok }),
		"true":     of(func(v any) bool { return v == true }),
		"false":    of(func(v any) bool { return v == false }),
		"sequence": of(items),
		"iterable": of(func(v any) bool { return items(v) || missing(v) }),
		"lower":    cased(strings.ToLower), "upper": cased(strings.ToUpper),
		"odd":  func(r *render, v any, _ *arguments) bool { return !divides(r, v, 2) },
		"even": func(r *render, v any, _ *arguments) bool { return divides(r, v, 2) },
		"divisibleby": func(r *render, v any, a *arguments) bool {
			n, _ := a.take(0, "num")
			return divides(r, v, r.wholeOf(n))
		},
	}
	for operator, names := range map[string][]string{
		"==": {"equalto", "eq", "sameas"}, "!=": {"ne"}, "<": {"lt", "lessthan"}, "<=": {"le"},
		">": {"gt", "greaterthan"}, ">=": {"ge"}, "in": {"in"},
	} {
		for _, name := range names {
			tests[name] = by(operator)
		}
	}
}

// globals holds the functions that every template has.
var globals = map[string]function{
	"range":           numbers,
	"raise_exception": raise,
	"namespace": func(_ *render, a *arguments) any {
		n := &namespace{values: map[string]any{}}
		for name, v := range a.named {
			n.values[name] = v
		}
		return n
	},
	"dict": func(_ *render, a *arguments) any {
		d := newDict()
		names := make([]string, 0, len(a.named))
		for name := range a.named {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			d.set(name, a.named[name])
		}
		return d
	},
}

func raise(r *render, a *arguments) any {
	message, _ := a.take(0, "message")
	e := fail(r.line, "%s", r.str(message))
	e.Raised = true
	panic(e)
}

func numbers(r *render, a *arguments) any {
	from, to, step := int64(0), int64(0), int64(1)
	switch len(a.positional) {
	case 1:
		to = r.wholeOf(a.positional[0])
	case 3:
		step = r.wholeOf(a.positional[2])
		fallthrough
	case 2:
		from, to = r.wholeOf(a.positional[0]), r.wholeOf(a.positional[1])
	default:
		r.fail("range takes one to three numbers")
	}
	if step == 0 {
		r.fail("the step of a range must not be 0")
	}
	l := &list{}
	for n := from; step > 0 && n < to || step < 0 && n > to; {
		if r.spend(1); len(l.items) == maxRange {
			r.fail("the range has more than %d numbers", maxRange)
		}
		l.items = append(l.items, n)
		next := n + step
		if (next > n) != (step > 0) {
			break
		}
		n = next
	}
	return l
}

// StrftimeNow returns the function strftime_now for a given time. It implements the directives of
// Python's strftime for dates and times of day.
func StrftimeNow(now time.Time) any {
	layouts := map[byte]string{
		'd': "02", 'b': "Jan", 'B': "January", 'Y': "2006", 'y': "06", 'm': "01", 'a': "Mon", 'A': "Monday",
		'H': "15", 'I': "03", 'M': "04", 'S': "05", 'p': "PM", 'j': "002", 'Z': "MST", 'z': "-0700",
	}
	return function(func(r *render, a *arguments) any {
		format, _ := a.take(0, "format")
		s := r.textOf(format)
		r.made(8 * len(s))
		var b strings.Builder
		for i := 0; i < len(s); i++ {
			if s[i] != '%' || i+1 == len(s) {
				b.WriteByte(s[i])
				continue
			}
			i++
			layout, known := layouts[s[i]]
			switch {
			case known:
				b.WriteString(now.Format(layout))
			case s[i] == '%':
				b.WriteByte('%')
			default:
				r.fail("strftime_now does not support %%%c", s[i])
			}
		}
		return b.String()
	})
}
