package jinja

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// typeOf returns the name of a value's type for error messages.
func typeOf(v any) string {
	switch v := v.(type) {
	case undefined:
		return "undefined"
	case nil:
		return "none"
	case bool:
		return "a truth value"
	case int64, float64:
		return "a number"
	case string:
		return "a string"
	case *list:
		if v.tuple {
			return "a tuple"
		}
		return "a list"
	case *dict:
		return "a dictionary"
	case *namespace:
		return "a namespace"
	case *loop:
		return "a loop"
	}
	return "a function"
}

// known fails if v is undefined.
func (r *render) known(v any) {
	if u, missing := v.(undefined); missing {
		r.fail("%s is undefined", shortened(u.name))
	}
}

// truth returns Python's truth value of v: empty values and zeros are false.
func (r *render) truth(v any) bool {
	switch v := v.(type) {
	case undefined, nil:
		return false
	case bool:
		return v
	case int64:
		return v != 0
	case float64:
		return v != 0
	case string:
		return v != ""
	case *list:
		return len(v.items) > 0
	case *dict:
		return len(v.keys) > 0
	}
	return true
}

// iterate returns the items of a list, the keys of a dictionary, or the characters of a string. An
// undefined value has no items.
func (r *render) iterate(v any) []any {
	switch v := v.(type) {
	case undefined:
		return nil
	case *list:
		return v.items
	case *dict:
		return v.keys
	case string:
		r.spend(len(v))
		items := make([]any, 0, len(v))
		for _, c := range v {
			items = append(items, string(c))
		}
		return items
	}
	r.fail("cannot iterate over %s", typeOf(v))
	return nil
}

// key returns v as a dictionary key, and fails if v cannot be a key.
func (r *render) key(v any) any {
	switch v := v.(type) {
	case nil, bool, int64, string:
		return v
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v)
		}
		return v
	}
	r.known(v)
	r.fail("%s cannot be used as a key", typeOf(v))
	return nil
}

// length implements len.
func (r *render) length(v any) int {
	switch v := v.(type) {
	case string:
		r.spend(len(v)/16 + 1)
		return utf8.RuneCountInString(v)
	case undefined, *list, *dict:
		return len(r.iterate(v))
	}
	r.fail("%s has no length", typeOf(v))
	return 0
}

// number returns v as a number. Booleans become 0 or 1.
func number(v any) (whole int64, x float64, isWhole, ok bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return 1, 1, true, true
		}
		return 0, 0, true, true
	case int64:
		return v, float64(v), true, true
	case float64:
		return 0, v, false, true
	}
	return 0, 0, false, false
}

// compare applies a comparison operator.
func (r *render) compare(operator string, a, b any) bool {
	switch operator {
	case "==":
		return r.equal(a, b)
	case "!=":
		return !r.equal(a, b)
	case "in":
		return r.contains(b, a)
	case "not in":
		return !r.contains(b, a)
	}
	c := r.order(a, b)
	switch operator {
	case "<":
		return c == -1
	case "<=":
		return c == -1 || c == 0
	case ">":
		return c == 1
	}
	return c == 1 || c == 0
}

// order returns -1, 0 or 1 like cmp.Compare, or 2 if a value is NaN, which has no order.
func (r *render) order(a, b any) int {
	if m, x, whole, ok := number(a); ok {
		if n, y, both, ok := number(b); ok {
			if whole && both {
				return cmp.Compare(m, n)
			}
			if math.IsNaN(x) || math.IsNaN(y) {
				return 2
			}
			return cmp.Compare(x, y)
		}
	}
	if s, ok := a.(string); ok {
		if t, ok := b.(string); ok {
			r.spend(min(len(s), len(t))/16 + 1)
			return strings.Compare(s, t)
		}
	}
	r.known(a)
	r.known(b)
	r.fail("cannot compare %s and %s", typeOf(a), typeOf(b))
	return 2
}

// equal implements ==.
func (r *render) equal(a, b any) bool {
	r.spend(1)
	if m, x, whole, ok := number(a); ok {
		n, y, both, ok := number(b)
		return ok && (whole && both && m == n || !(whole && both) && x == y)
	}
	switch a := a.(type) {
	case string:
		b, ok := b.(string)
		if ok && len(a) == len(b) {
			r.spend(len(a) / 16)
		}
		return ok && a == b
	case undefined:
		_, ok := b.(undefined)
		return ok
	case nil:
		return b == nil
	case *list:
		b, ok := b.(*list)
		return ok && a.tuple == b.tuple && slices.EqualFunc(a.items, b.items, r.equal)
	case *dict:
		b, ok := b.(*dict)
		if !ok || len(a.keys) != len(b.keys) {
			return false
		}
		for key, v := range a.values {
			if w, has := b.values[key]; !has || !r.equal(v, w) {
				return false
			}
		}
		return true
	case *namespace:
		b, ok := b.(*namespace)
		return ok && a == b
	}
	return false
}

// contains implements the operator "in".
func (r *render) contains(in, v any) bool {
	switch in := in.(type) {
	case string:
		s, ok := v.(string)
		if !ok {
			r.known(v)
			r.fail("got %s to search for in a string, want a string", typeOf(v))
		}
		r.spend(len(in)/16 + 1)
		return strings.Contains(in, s)
	case *dict:
		_, has := in.values[r.key(v)]
		return has
	}
	return slices.ContainsFunc(r.iterate(in), func(item any) bool { return r.equal(item, v) })
}

// member returns the member of a value that a name after a dot refers to.
func (r *render) member(of any, name string) any {
	r.known(of)
	switch of := of.(type) {
	case *namespace:
		if v, has := of.values[name]; has {
			return v
		}
		return undefined{name}
	case *loop:
		return of.get(name)
	}
	if f := method(of, name); f != nil {
		return f
	}
	if d, ok := of.(*dict); ok {
		if v, has := d.values[name]; has {
			return v
		}
	}
	return undefined{name}
}

// item returns the item of a value that a subscript refers to.
func (r *render) item(of, at any) any {
	r.known(of)
	switch of := of.(type) {
	case *dict:
		if v, has := of.values[r.key(at)]; has {
			return v
		}
		if name, ok := at.(string); ok {
			if f := method(of, name); f != nil {
				return f
			}
		}
		return undefined{r.str(at)}
	case *list, string:
		if i, _, whole, ok := number(at); ok && whole {
			items := r.iterate(of)
			if i < 0 {
				i += int64(len(items))
			}
			if i >= 0 && i < int64(len(items)) {
				return items[i]
			}
			return undefined{r.str(at)}
		}
	}
	if name, ok := at.(string); ok {
		return r.member(of, name)
	}
	return undefined{r.str(at)}
}

// slice implements Python's slices of lists and strings.
func (r *render) slice(of any, parts [3]any) any {
	r.known(of)
	s, isText := of.(string)
	l, isList := of.(*list)
	if !isText && !isList {
		r.fail("cannot slice %s", typeOf(of))
	}
	items := r.iterate(of)
	n := int64(len(items))
	bound := func(v any, absent, low, high int64) int64 {
		if v == nil {
			return absent
		}
		i, _, whole, ok := number(v)
		if !ok || !whole {
			r.fail("%s is not a slice index", typeOf(v))
		}
		if i < 0 {
			i += n
		}
		return max(low, min(i, high))
	}
	step := int64(1)
	if parts[2] != nil {
		i, _, whole, ok := number(parts[2])
		if !ok || !whole || i == 0 || i < -n-1 && i < -maxRange || i > math.MaxInt32 {
			r.fail("the step of a slice must be an integer other than 0")
		}
		step = i
	}
	var picked []any
	if step > 0 {
		for i, to := bound(parts[0], 0, 0, n), bound(parts[1], n, 0, n); i < to; i += step {
			picked = append(picked, items[i])
		}
	} else {
		for i, to := bound(parts[0], n-1, -1, n-1), bound(parts[1], -1, -1, n-1); i > to; i += step {
			picked = append(picked, items[i])
		}
	}
	r.spend(len(picked))
	if isList {
		return &list{picked, l.tuple}
	}
	r.made(len(s))
	var b strings.Builder
	for _, each := range picked {
		b.WriteString(each.(string))
	}
	return b.String()
}
