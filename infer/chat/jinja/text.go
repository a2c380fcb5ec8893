package jinja

import (
	"math"
	"strconv"
	"strings"
)

// str converts a value to a string as Python does. It converts an undefined value to an empty
// string.
func (r *render) str(v any) string {
	switch v := v.(type) {
	case undefined:
		return ""
	case string:
		return v
	}
	var b strings.Builder
	r.repr(&b, v)
	return b.String()
}

// repr appends a value to b as Python's repr formats it.
func (r *render) repr(b *strings.Builder, v any) {
	r.spend(1)
	switch v := v.(type) {
	case nil:
		b.WriteString("None")
	case bool:
		b.WriteString(map[bool]string{true: "True", false: "False"}[v])
	case int64:
		b.WriteString(strconv.FormatInt(v, 10))
	case float64:
		b.WriteString(floatText(v))
	case string:
		r.made(len(v))
		quoted(b, v)
	case *list:
		opening, closing := "[", "]"
		if v.tuple {
			opening, closing = "(", ")"
			if len(v.items) == 1 {
				closing = ",)"
			}
		}
		b.WriteString(opening)
		for i, each := range v.items {
			if i > 0 {
				b.WriteString(", ")
			}
			r.repr(b, each)
		}
		b.WriteString(closing)
	case *dict:
		b.WriteString("{")
		for i, key := range v.keys {
			if i > 0 {
				b.WriteString(", ")
			}
			r.repr(b, key)
			b.WriteString(": ")
			r.repr(b, v.values[key])
		}
		b.WriteString("}")
	default:
		r.known(v)
		r.fail("cannot print %s", typeOf(v))
	}
}

// floatText formats a floating-point number as Python does.
func floatText(x float64) string {
	switch size := math.Abs(x); {
	case math.IsInf(x, 0):
		return strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(x, 'g', -1, 64)), "+")
	case math.IsNaN(x):
		return "nan"
	case x == 0, size >= 1e-4 && size < 1e16:
		s := strconv.FormatFloat(x, 'f', -1, 64)
		if !strings.Contains(s, ".") {
			s += ".0"
		}
		return s
	}
	return strconv.FormatFloat(x, 'e', -1, 64)
}

// quoted appends a string in quotes to b, as Python formats it.
func quoted(b *strings.Builder, s string) {
	mark := byte('\'')
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		mark = '"'
	}
	b.WriteByte(mark)
	for _, c := range s {
		switch {
		case c == rune(mark), c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c == '\r':
			b.WriteString(`\r`)
		case strconv.IsPrint(c):
			b.WriteRune(c)
		case c < 0x100:
			b.WriteString(`\x` + hex(c, 2))
		case c < 0x10000:
			b.WriteString(`\u` + hex(c, 4))
		default:
			b.WriteString(`\U` + hex(c, 8))
		}
	}
	b.WriteByte(mark)
}

func hex(c rune, width int) string {
	s := strconv.FormatInt(int64(c), 16)
	return strings.Repeat("0", max(0, width-len(s))) + s
}
