package jinja

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

type filter func(r *render, v any, a *arguments) any

// filters holds the filters that published chat templates use, and related filters. init fills the
// map, because some filters look up others in it.
var filters map[string]filter

func init() {
	filters = map[string]filter{
		"trim":       func(r *render, v any, a *arguments) any { return r.trim(r.str(v), a, "chars", 3) },
		"upper":      func(r *render, v any, _ *arguments) any { return r.mapped(v, strings.ToUpper) },
		"lower":      func(r *render, v any, _ *arguments) any { return r.mapped(v, strings.ToLower) },
		"capitalize": func(r *render, v any, _ *arguments) any { return r.mapped(v, capitalized) },
		"string":     func(r *render, v any, _ *arguments) any { return r.mapped(v, strings.Clone) },
		"safe":       func(r *render, v any, _ *arguments) any { return r.str(v) },
		"length":     func(r *render, v any, _ *arguments) any { return int64(r.length(v)) },
		"count":      func(r *render, v any, _ *arguments) any { return int64(r.length(v)) },
		"default":    otherwise, "d": otherwise,
		"join":       joined,
		"replace":    func(r *render, v any, a *arguments) any { return replaced(r, r.str(v), a) },
		"first":      func(r *render, v any, _ *arguments) any { return r.end(v, 0) },
		"last":       func(r *render, v any, _ *arguments) any { return r.end(v, -1) },
		"list":       func(r *render, v any, _ *arguments) any { return &list{items: slices.Clone(r.counted(v))} },
		"reverse":    reversed,
		"unique":     unique,
		"items":      func(r *render, v any, _ *arguments) any { return r.pairs(v) },
		"dictsort":   func(r *render, v any, _ *arguments) any { return r.sortedPairs(v) },
		"int":        toWhole,
		"float":      toFloat,
		"abs":        absolute,
		"indent":     indented,
		"tojson":     toJSON,
		"map":        mapAll,
		"select":     func(r *render, v any, a *arguments) any { return r.pick(v, a, false, true) },
		"reject":     func(r *render, v any, a *arguments) any { return r.pick(v, a, false, false) },
		"selectattr": func(r *render, v any, a *arguments) any { return r.pick(v, a, true, true) },
		"rejectattr": func(r *render, v any, a *arguments) any { return r.pick(v, a, true, false) },
	}
}

// counted is like iterate, but also counts each item as work.
func (r *render) counted(v any) []any {
	items := r.iterate(v)
	r.spend(len(items))
	return items
}

// mapped converts v to a string and applies f to it.
func (r *render) mapped(v any, f func(string) string) any {
	s := r.str(v)
	r.made(3 * len(s))
	return f(s)
}

func capitalized(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return ""
	}
	return string(unicode.ToTitle(first)) + strings.ToLower(s[size:])
}

// trim removes blanks, or the characters in the argument, from the left (sides is 1), the right (2)
// or both sides (3).
func (r *render) trim(s string, a *arguments, argument string, sides int) string {
	r.made(len(s))
	cut := blank
	if v, given := a.take(0, argument); given && v != nil {
		set := r.str(v)
		r.spend(len(set))
		if r.spend(utf8.RuneCountInString(set)); len(set) > 256 {
			r.fail("trim accepts at most 256 bytes of characters to remove")
		}
		cut = func(c rune) bool { return strings.ContainsRune(set, c) }
	}
	if sides&1 != 0 {
		s = strings.TrimLeftFunc(s, cut)
	}
	if sides&2 != 0 {
		s = strings.TrimRightFunc(s, cut)
	}
	return s
}

func otherwise(r *render, v any, a *arguments) any {
	value, given := a.take(0, "default_value")
	if !given {
		value = ""
	}
	falsy, _ := a.take(1, "boolean")
	if _, missing := v.(undefined); missing || r.truth(falsy) && !r.truth(v) {
		return value
	}
	return v
}

func joined(r *render, v any, a *arguments) any {
	between, _ := a.take(0, "d")
	separator := ""
	if between != nil {
		separator = r.str(between)
	}
	attribute, given := a.take(1, "attribute")
	var b strings.Builder
	for i, item := range r.counted(v) {
		if given {
			item = r.attribute(item, r.str(attribute))
		}
		s := r.str(item)
		r.made(len(s) + len(separator))
		if i > 0 {
			b.WriteString(separator)
		}
		b.WriteString(s)
	}
	return b.String()
}

// attribute returns the attribute of a value at a dotted path.
func (r *render) attribute(v any, path string) any {
	for part := range strings.SplitSeq(path, ".") {
		if i, err := strconv.ParseInt(part, 10, 64); err == nil {
			v = r.item(v, i)
		} else {
			v = r.item(v, part)
		}
	}
	return v
}

// replaced implements replace, as a filter and as a method.
func replaced(r *render, s string, a *arguments) any {
	before, _ := a.take(0, "old")
	after, given := a.take(1, "new")
	limit := int64(-1)
	if v, ok := a.take(2, "count"); ok && v != nil {
		limit = r.wholeOf(v)
	}
	if !given {
		r.fail("replace requires an old and a new string")
	}
	from, to := r.textOf(before), r.textOf(after)
	n := int64(strings.Count(s, from))
	if limit >= 0 {
		n = min(n, limit)
	}
	r.spend(len(s)/16 + 1)
	r.times(len(to), n)
	r.made(len(s))
	return strings.Replace(s, from, to, int(n))
}

// textOf returns v as a string, and fails if it is not a string.
func (r *render) textOf(v any) string {
	s, ok := v.(string)
	if !ok {
		r.known(v)
		r.fail("got %s, want a string", typeOf(v))
	}
	return s
}

// wholeOf returns v as an integer, and fails if it is not an integer.
func (r *render) wholeOf(v any) int64 {
	n, _, whole, ok := number(v)
	if !ok || !whole {
		r.known(v)
		r.fail("got %s, want a whole number", typeOf(v))
	}
	return n
}

func (r *render) end(v any, at int64) any {
	if items := r.iterate(v); len(items) == 0 {
		return undefined{"an item of an empty list"}
	}
	return r.item(&list{items: r.iterate(v)}, at)
}

func reversed(r *render, v any, _ *arguments) any {
	items := slices.Clone(r.counted(v))
	slices.Reverse(items)
	if _, isText := v.(string); !isText {
		return &list{items: items}
	}
	var b strings.Builder
	for _, each := range items {
		b.WriteString(each.(string))
	}
	return b.String()
}

func unique(r *render, v any, _ *arguments) any {
	l, seen := &list{}, map[any]bool{}
	for _, item := range r.counted(v) {
		key := r.key(item)
		if s, isText := key.(string); isText {
			r.made(len(s))
			key = strings.ToLower(s)
		}
		if !seen[key] {
			seen[key] = true
			l.items = append(l.items, item)
		}
	}
	return l
}

// pairs returns the keys and values of a dictionary.
func (r *render) pairs(v any) *list {
	l := &list{}
	d, ok := v.(*dict)
	if _, missing := v.(undefined); !ok && !missing {
		r.fail("got %s, want a dictionary", typeOf(v))
	}
	if ok {
		r.spend(len(d.keys))
		for _, key := range d.keys {
			l.items = append(l.items, &list{[]any{key, d.values[key]}, true})
		}
	}
	return l
}

// sortedPairs returns the pairs sorted by key, ignoring case.
func (r *render) sortedPairs(v any) *list {
	l := r.pairs(v)
	slices.SortStableFunc(l.items, func(a, b any) int {
		lower := func(v any) any {
			if s, isText := v.(string); isText {
				return strings.ToLower(s)
			}
			return v
		}
		return r.order(lower(a.(*list).items[0]), lower(b.(*list).items[0]))
	})
	return l
}

func toWhole(r *render, v any, a *arguments) any {
	absent, given := a.take(0, "default")
	if !given {
		absent = int64(0)
	}
	if n, x, whole, ok := number(v); ok {
		if whole {
			return n
		}
		if math.Abs(x) < 1<<62 {
			return int64(x)
		}
		return absent
	}
	if s, isText := v.(string); isText {
		if n, err := strconv.ParseInt(strings.TrimFunc(s, blank), 10, 64); err == nil {
			return n
		}
	}
	return absent
}

func toFloat(_ *render, v any, a *arguments) any {
	absent, given := a.take(0, "default")
	if !given {
		absent = 0.0
	}
	if _, x, _, ok := number(v); ok {
		return x
	}
	if s, isText := v.(string); isText {
		if x, err := strconv.ParseFloat(strings.TrimFunc(s, blank), 64); err == nil {
			return x
		}
	}
	return absent
}

func absolute(r *render, v any, _ *arguments) any {
	if r.compare("<", v, int64(0)) {
		return r.arithmetic("-", int64(0), v)
	}
	return v
}

func indented(r *render, v any, a *arguments) any {
	by := "    "
	if width, given := a.take(0, "width"); given {
		if s, isText := width.(string); isText {
			by = s
		} else {
			by = strings.Repeat(" ", r.times(1, r.wholeOf(width)))
		}
	}
	first, _ := a.take(1, "first")
	blanks, _ := a.take(2, "blank")
	var b strings.Builder
	for i, line := range strings.Split(r.str(v), "\n") {
		r.made(len(line) + len(by))
		if i > 0 {
			b.WriteByte('\n')
		}
		if (i > 0 || r.truth(first)) && (line != "" || r.truth(blanks)) {
			b.WriteString(by)
		}
		b.WriteString(line)
	}
	return b.String()
}

// mapAll implements map, with an attribute or with another filter.
func mapAll(r *render, v any, a *arguments) any {
	l := &list{}
	if attribute, given := a.take(len(a.positional), "attribute"); given {
		absent, hasDefault := a.take(len(a.positional), "default")
		for _, item := range r.counted(v) {
			found := r.attribute(item, r.str(attribute))
			if _, missing := found.(undefined); missing && hasDefault {
				found = absent
			}
			l.items = append(l.items, found)
		}
		return l
	}
	name, _ := a.take(0, "")
	f := filters[r.str(name)]
	if f == nil {
		r.fail("the filter %s is not supported", shortened(r.str(name)))
	}
	rest := a.positional[min(1, len(a.positional)):]
	a.taken = len(a.positional)
	for _, item := range r.counted(v) {
		l.items = append(l.items, f(r, item, &arguments{positional: rest, named: a.named}))
	}
	a.named = nil
	return l
}

// pick implements select and its variants, which return the items that pass or fail a test. The
// test is applied to the item itself or to one of its attributes.
func (r *render) pick(v any, a *arguments, byAttribute, passing bool) any {
	at := 0
	path := ""
	if byAttribute {
		attribute, given := a.take(0, "")
		if !given {
			r.fail("missing attribute name")
		}
		path, at = r.str(attribute), 1
	}
	is := test(func(r *render, v any, _ *arguments) bool { return r.truth(v) })
	if name, given := a.take(at, ""); given {
		if is = tests[r.str(name)]; is == nil {
			r.fail("the test %s is not supported", shortened(r.str(name)))
		}
	}
	rest := a.positional[min(at+1, len(a.positional)):]
	a.taken = len(a.positional)
	l := &list{}
	for _, item := range r.counted(v) {
		of := item
		if byAttribute {
			of = r.attribute(item, path)
		}
		if is(r, of, &arguments{positional: rest}) == passing {
			l.items = append(l.items, item)
		}
	}
	return l
}
