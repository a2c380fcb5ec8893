package jinja

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// method returns the method of a value with the given name. It returns nil if there is no such
// method, or if the method would modify the value.
func method(of any, name string) any {
	switch of := of.(type) {
	case string:
		if m := textMethods[name]; m != nil {
			return function(func(r *render, a *arguments) any {
				v := m(r, of, a)
				a.finish(r, name)
				return v
			})
		}
	case *dict:
		switch name {
		case "items":
			return function(func(r *render, _ *arguments) any { return r.pairs(of) })
		case "keys":
			return function(func(r *render, _ *arguments) any { return &list{items: r.counted(of)} })
		case "values":
			return function(func(r *render, _ *arguments) any {
				l := &list{}
				for _, key := range r.counted(of) {
					l.items = append(l.items, of.values[key])
				}
				return l
			})
		case "get":
			return function(func(r *render, a *arguments) any {
				key, _ := a.take(0, "key")
				absent, _ := a.take(1, "default")
				if v, has := of.values[r.key(key)]; has {
					return v
				}
				return absent
			})
		}
	}
	return nil
}

// textMethods holds the methods of strings, which work as in Python. init fills the map, because
// evaluating an item looks up methods in it.
var textMethods map[string]textMethod

type textMethod func(r *render, s string, a *arguments) any

func init() {
	textMethods = map[string]textMethod{
		"strip":      func(r *render, s string, a *arguments) any { return r.trim(s, a, "chars", 3) },
		"lstrip":     func(r *render, s string, a *arguments) any { return r.trim(s, a, "chars", 1) },
		"rstrip":     func(r *render, s string, a *arguments) any { return r.trim(s, a, "chars", 2) },
		"upper":      func(r *render, s string, _ *arguments) any { return r.mapped(s, strings.ToUpper) },
		"lower":      func(r *render, s string, _ *arguments) any { return r.mapped(s, strings.ToLower) },
		"capitalize": func(r *render, s string, _ *arguments) any { return r.mapped(s, capitalized) },
		"replace":    replaced,
		"split":      func(r *render, s string, a *arguments) any { return r.split(s, a) },
		"startswith": func(r *render, s string, a *arguments) any { return r.affix(s, a, strings.HasPrefix) },
		"endswith":   func(r *render, s string, a *arguments) any { return r.affix(s, a, strings.HasSuffix) },
		"find":       func(r *render, s string, a *arguments) any { return r.find(s, a, strings.Index) },
		"rfind":      func(r *render, s string, a *arguments) any { return r.find(s, a, strings.LastIndex) },
		"join":       func(r *render, s string, a *arguments) any { return r.joinWith(s, a) },
		"splitlines": func(r *render, s string, _ *arguments) any { return r.lines(s) },
		"isdigit":    func(r *render, s string, _ *arguments) any { return r.all(s, unicode.IsDigit) },
		"isalpha":    func(r *render, s string, _ *arguments) any { return r.all(s, unicode.IsLetter) },
		"isspace":    func(r *render, s string, _ *arguments) any { return r.all(s, blank) },
		"count": func(r *render, s string, a *arguments) any {
			sub, _ := a.take(0, "sub")
			r.spend(len(s)/16 + 1)
			return int64(strings.Count(s, r.textOf(sub)))
		},
		"removeprefix": func(r *render, s string, a *arguments) any {
			v, _ := a.take(0, "prefix")
			return strings.TrimPrefix(s, r.textOf(v))
		},
		"removesuffix": func(r *render, s string, a *arguments) any {
			v, _ := a.take(0, "suffix")
			return strings.TrimSuffix(s, r.textOf(v))
		},
	}
}

// split implements Python's split, which splits at a separator or at blanks.
func (r *render) split(s string, a *arguments) any {
	limit := -1
	separator, given := a.take(0, "sep")
	if v, ok := a.take(1, "maxsplit"); ok && r.wholeOf(v) >= 0 {
		limit = int(min(r.wholeOf(v), int64(len(s)))) + 1
	}
	r.spend(len(s) + 1)
	var parts []string
	switch {
	case given && separator != nil:
		mark := r.textOf(separator)
		if mark == "" {
			r.fail("split requires a nonempty separator")
		}
		parts = strings.SplitN(s, mark, limit)
	case limit < 0:
		parts = strings.FieldsFunc(s, blank)
	default:
		for s = trimLeft(s); s != ""; s = trimLeft(s) {
			end := strings.IndexFunc(s, blank)
			if end < 0 || len(parts) == limit-1 {
				parts = append(parts, s)
				break
			}
			parts, s = append(parts, s[:end]), s[end:]
		}
	}
	l := &list{}
	for _, part := range parts {
		l.items = append(l.items, part)
	}
	return l
}

// affix implements startswith and endswith, whose argument is one string or several.
func (r *render) affix(s string, a *arguments, has func(s, affix string) bool) any {
	v, _ := a.take(0, "")
	if several, ok := v.(*list); ok && several.tuple {
		return slices.ContainsFunc(r.counted(several), func(each any) bool { return has(s, r.textOf(each)) })
	}
	affix := r.textOf(v)
	r.spend(len(affix)/16 + 1)
	return has(s, affix)
}

func (r *render) find(s string, a *arguments, index func(s, sub string) int) any {
	v, _ := a.take(0, "")
	sub := r.textOf(v)
	r.spend(len(s)/8 + 1)
	i := index(s, sub)
	if i < 0 {
		return int64(-1)
	}
	return int64(utf8.RuneCountInString(s[:i]))
}

func (r *render) joinWith(s string, a *arguments) any {
	v, _ := a.take(0, "iterable")
	return joined(r, v, &arguments{positional: []any{s}})
}

// lines implements splitlines for the common line endings.
func (r *render) lines(s string) any {
	r.spend(len(s) + 1)
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	l := &list{}
	if s != "" {
		for line := range strings.SplitSeq(strings.TrimSuffix(s, "\n"), "\n") {
			l.items = append(l.items, line)
		}
	}
	return l
}

func (r *render) all(s string, is func(rune) bool) any {
	r.spend(len(s)/4 + 1)
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool { return !is(c) })
}
