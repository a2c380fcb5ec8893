package grammar

import (
	"errors"
	"slices"
)

// kinds is a set of types. A number is either an integer or has a fraction.
type kinds uint8

const (
	aNull kinds = 1 << iota
	aBoolean
	anInteger
	aFraction
	aString
	anArray
	anObject
	aNumber  = anInteger | aFraction
	allKinds = anObject<<1 - 1
)

// types maps the names of types to kinds.
var types = map[string]kinds{
	"null": aNull, "boolean": aBoolean, "integer": anInteger, "number": aNumber, "string": aString,
	"array": anArray, "object": anObject,
}

// schema is a parsed schema. The zero value accepts everything.
type schema struct {
	at         string     // the schema's position, for messages
	never      bool       // the schema is `false`
	types      kinds      // 0 means all
	about      kinds      // the types that the schema's keywords restrict
	values     [][]*value // from enum and const: a value must be in every list
	least      *bound
	most       *bound
	multiples  []decimal
	patterns   []*expression // a string must match all of them
	chars      span
	prefix     []*schema // the schemas of the first items
	rest       *schema   // the schema of all other items
	items      span
	listed     []string // the names of the properties, in the order of the schema's text
	properties map[string]*schema
	required   []string
	further    *schema // the schema of other properties
	names      *schema // the schema of property names
	size       span    // how many properties an object may have
	all        []*schema
	any        [][]*schema // at least one schema in each list must match
	one        [][]*schema // exactly one schema in each list must match
}

// span is a range of counts.
type span struct {
	least, most int
	bounded     bool // whether most is set
}

// and returns the intersection of two spans.
func (a span) and(b span) span {
	if b.bounded && (!a.bounded || b.most < a.most) {
		a.most, a.bounded = b.most, true
	}
	a.least = max(a.least, b.least)
	return a
}

// empty reports whether no count is in the span.
func (a span) empty() bool { return a.bounded && a.most < a.least }

// limit returns the maximum, or -1 if there is none.
func (a span) limit() int {
	if a.bounded {
		return a.most
	}
	return -1
}

// annotations are keywords that do not affect validity.
var annotations = []string{
	"title", "description", "default", "examples", "example", "deprecated", "readOnly", "writeOnly", "discriminator",
	"contentEncoding", "contentMediaType", "contentSchema", "$schema", "$id", "$anchor", "$comment", "$defs",
	"definitions",
}

// errKind reports that the value of a keyword has the wrong type.
var errKind = errors.New("invalid value")

// leaf is a keyword whose value contains no schema.
type leaf struct {
	about kinds // the types that the keyword restricts; 0 for all
	read  func(*schema, *value) error
}

// leaves holds the leaf keywords by name.
var leaves = map[string]leaf{
	"type": {0, readTypes},
	"enum": {0, func(s *schema, v *value) error {
		if v.kind != '[' {
			return errKind
		}
		return s.constants(v.list)
	}},
	"const":            {0, func(s *schema, v *value) error { return s.constants([]*value{v}) }},
	"minimum":          {aNumber, func(s *schema, v *value) error { return readBound(&s.least, v, false, -1) }},
	"exclusiveMinimum": {aNumber, func(s *schema, v *value) error { return readBound(&s.least, v, true, -1) }},
	"maximum":          {aNumber, func(s *schema, v *value) error { return readBound(&s.most, v, false, 1) }},
	"exclusiveMaximum": {aNumber, func(s *schema, v *value) error { return readBound(&s.most, v, true, 1) }},
	"multipleOf": {aNumber, func(s *schema, v *value) error {
		d, ok := decimalOf(v.text)
		if s.multiples = []decimal{d}; !ok || v.kind != '0' || d.negative || d.whole+d.fraction == "" {
			return errKind
		}
		return nil
	}},
	"pattern": {aString, func(s *schema, v *value) error {
		if v.kind != '"' {
			return errKind
		}
		return s.matches(v.text)
	}},
	"format": {aString, func(s *schema, v *value) error {
		if v.kind != '"' {
			return errKind
		}
		return s.hasFormat(v.text)
	}},
	"minLength":     {aString, func(s *schema, v *value) error { return s.chars.readLeast(v) }},
	"maxLength":     {aString, func(s *schema, v *value) error { return s.chars.readMost(v) }},
	"minItems":      {anArray, func(s *schema, v *value) error { return s.items.readLeast(v) }},
	"maxItems":      {anArray, func(s *schema, v *value) error { return s.items.readMost(v) }},
	"minProperties": {anObject, func(s *schema, v *value) error { return s.size.readLeast(v) }},
	"maxProperties": {anObject, func(s *schema, v *value) error { return s.size.readMost(v) }},
	"required": {anObject, func(s *schema, v *value) error {
		for _, name := range v.list {
			if name.kind != '"' {
				return errKind
			}
			s.required = append(s.required, name.text)
		}
		return kindIs(v, '[')
	}},
	"uniqueItems": {anArray, func(_ *schema, v *value) error {
		if v.kind == 't' {
			return errUnsupported
		}
		return kindIs(v, 'f')
	}},
}

// errUnsupported reports that the program does not support a keyword with the given value.
var errUnsupported = errors.New("not supported")

func kindIs(v *value, kind byte) error {
	if v.kind != kind {
		return errKind
	}
	return nil
}

// constants parses the values of an enum or const.
func (s *schema) constants(list []*value) error {
	s.values = append(s.values, list)
	if slices.ContainsFunc(list, func(v *value) bool { return !v.settle() }) {
		return errKind
	}
	return nil
}

func readTypes(s *schema, v *value) error {
	list := v.list
	if v.kind == '"' {
		list = []*value{v}
	}
	for _, t := range list {
		if t.kind != '"' {
			return errKind
		}
		if types[t.text] == 0 {
			return refuse("the type %q of %s is not a JSON Schema type", short(t.text), s.at)
		}
		s.types |= types[t.text]
	}
	if len(list) == 0 {
		return errKind
	}
	return nil
}

// readBound parses a bound on numbers and combines it with an earlier bound on the same side.
func readBound(to **bound, v *value, open bool, side int) error {
	d, ok := decimalOf(v.text)
	if v.kind != '0' || !ok {
		return errKind
	}
	*to = tighter(*to, &bound{d, open}, side)
	return nil
}

func (a *span) readLeast(v *value) (err error) {
	a.least, err = countOf(v)
	return err
}

func (a *span) readMost(v *value) (err error) {
	a.most, err = countOf(v)
	a.bounded = true
	return err
}

// countOf parses a count, which may be written as 2.0.
func countOf(v *value) (n int, err error) {
	d, ok := decimalOf(v.text)
	if v.kind != '0' || !ok || d.negative || d.fraction != "" {
		return 0, errKind
	}
	if len(d.whole) > 9 {
		return 1e9, nil // larger than in any text
	}
	for _, digit := range d.whole {
		n = n*10 + int(digit-'0')
	}
	return n, nil
}

// isAnnotation reports whether a keyword is ignored.
func isAnnotation(name string) bool {
	return slices.Contains(annotations, name) || len(name) > 2 && name[:2] == "x-"
}
