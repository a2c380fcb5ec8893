package grammar

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
)

// maxDepth is how deep a schema may nest.
const maxDepth = 32

// annotations are keywords that say nothing of what is valid.
var annotations = []string{"title", "description", "default", "examples", "$schema", "$id", "$comment"}

// FromSchema is the language of the JSON texts that a JSON schema accepts, as far as
// this subset goes: type (one or a list) object, array, string, number, integer,
// boolean and null; properties, required and additionalProperties false; items,
// minItems and maxItems; pattern, minLength and maxLength; enum and const. Titles,
// descriptions and examples are passed over; every other keyword is refused by name,
// $ref and with it recursion too. A text has the listed properties alone, in the order
// of the schema, and at most one space after a colon or a comma; strings escape no more
// than they must, and may escape a slash. Numbers have up to 16 digits on each side of
// the point, and exponents two. The error is a *[terms.Refusal].
func FromSchema(schema []byte) (*Grammar, error) {
	if len(schema) > MaxSource {
		return nil, refuse("the schema has %d bytes; it may have %d", len(schema), MaxSource)
	}
	if !json.Valid(schema) {
		return nil, refuse("the schema is not valid JSON")
	}
	b := schemaBuilder{builder: newBuilder()}
	start := b.value(schema, "the schema", 1, end)
	if b.err != nil {
		return nil, b.err
	}
	return b.grammar(start)
}

// schemaBuilder keeps the first error.
type schemaBuilder struct {
	*builder
	err error
}

func (b *schemaBuilder) fail(format string, args ...any) int32 {
	if b.err == nil {
		b.err = refuse(format, args...)
	}
	return end
}

// short is a text from outside within a message.
func short(text string) string { return terms.Shortened(text, 60) }

// property is one field of an object, in the order of the text.
type property struct {
	name  string
	value json.RawMessage
}

// propertiesOf reads an object with its order.
func propertiesOf(object json.RawMessage) (list []property, ok bool) {
	d := json.NewDecoder(bytes.NewReader(object))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	for d.More() {
		t, err := d.Token()
		var p property
		p.name, ok = t.(string)
		if err != nil || !ok || d.Decode(&p.value) != nil ||
			slices.ContainsFunc(list, func(q property) bool { return q.name == p.name }) {
			return nil, false
		}
		list = append(list, p)
	}
	return list, true
}

// keywords are those of one schema. at says where it stands, for messages.
type keywords struct {
	at                           string
	depth                        int
	types                        []string
	properties                   []property
	required                     []string
	items                        json.RawMessage
	pattern                      *string
	enum                         []json.RawMessage
	minItems, maxItems, min, max *int
}

// value reads what a schema accepts.
func (b *schemaBuilder) value(schema json.RawMessage, at string, depth int, next int32) int32 {
	if b.err != nil || b.full {
		return end
	}
	if depth > maxDepth {
		return b.fail("%s nests deeper than %d", at, maxDepth)
	}
	k := b.read(schema, at)
	if b.err != nil {
		return end
	}
	k.depth = depth
	if k.enum != nil {
		return b.constants(k, next)
	}
	var list []int32
	for _, t := range k.types {
		list = append(list, b.typed(t, k, next))
	}
	return b.either(list...)
}

func (b *schemaBuilder) read(schema json.RawMessage, at string) keywords {
	k := keywords{at: at}
	fields, ok := propertiesOf(schema)
	if !ok {
		b.fail("%s must be an object that has no keyword twice", at)
		return k
	}
	for _, f := range fields {
		var err error
		switch f.name {
		case "type":
			var one string
			if json.Unmarshal(f.value, &one) == nil {
				k.types = []string{one}
			} else {
				err = json.Unmarshal(f.value, &k.types)
			}
		case "properties":
			if k.properties, ok = propertiesOf(f.value); !ok {
				b.fail("the properties of %s must be an object that has no name twice", at)
			}
		case "required":
			err = json.Unmarshal(f.value, &k.required)
		case "additionalProperties":
			if string(f.value) != "false" {
				b.fail("additionalProperties of %s can only be false here", at)
			}
		case "items":
			k.items = f.value
		case "pattern":
			err = json.Unmarshal(f.value, &k.pattern)
		case "enum":
			err = json.Unmarshal(f.value, &k.enum)
		case "const":
			k.enum = []json.RawMessage{f.value}
		case "minItems":
			err = json.Unmarshal(f.value, &k.minItems)
		case "maxItems":
			err = json.Unmarshal(f.value, &k.maxItems)
		case "minLength":
			err = json.Unmarshal(f.value, &k.min)
		case "maxLength":
			err = json.Unmarshal(f.value, &k.max)
		default:
			if !slices.Contains(annotations, f.name) {
				b.fail("%s has the keyword %q, which is not supported", at, short(f.name))
			}
		}
		if err != nil {
			b.fail("%s of %s is %s, which is not of the right kind", f.name, at, short(string(f.value)))
		}
	}
	if len(k.types) == 0 && k.enum == nil {
		b.fail("%s says no type", at)
	}
	return k
}

// typed reads a value of one type.
func (b *schemaBuilder) typed(t string, k keywords, next int32) int32 {
	switch t {
	case "object":
		return b.object(k, next)
	case "array":
		return b.array(k, next)
	case "string":
		return b.text(k, next)
	case "number":
		return b.expression(`-?(0|[1-9][0-9]{0,15})(\.[0-9]{1,16})?([eE][+-]?[0-9]{1,2})?`, false, next)
	case "integer":
		return b.expression(`-?(0|[1-9][0-9]{0,14})`, false, next)
	case "boolean":
		return b.either(b.literal("true", next), b.literal("false", next))
	case "null":
		return b.literal("null", next)
	}
	return b.fail("the type %q of %s is none that JSON schema has", short(t), k.at)
}

// expression reads what an expression matches as a whole.
func (b *schemaBuilder) expression(text string, quoted bool, next int32) int32 {
	re, begins, ends, err := parsePattern(text)
	if err != nil {
		b.err = err
		return end
	}
	c := patternBuilder{builder: b.builder, quoted: quoted}
	if quoted && !ends { // a pattern may match anywhere in a string
		next = c.repeat(b.character, 0, -1, next)
	}
	next = c.pattern(re, next)
	if quoted && !begins {
		next = c.repeat(b.character, 0, -1, next)
	}
	if c.err != nil {
		b.err = c.err
	}
	return next
}

// character reads one character of a JSON string.
func (b *schemaBuilder) character(next int32) int32 {
	escape := b.bytes('\\', '\\', b.either(
		b.bytes('"', '"', next), b.bytes('/', '/', next), b.bytes('\\', '\\', next), b.bytes('b', 'b', next),
		b.bytes('f', 'f', next), b.bytes('n', 'n', next), b.bytes('r', 'r', next), b.bytes('t', 't', next),
	))
	return b.either(b.runes(' ', '"'-1, next), b.runes('"'+1, '\\'-1, next), b.runes('\\'+1, 0x10ffff, next), escape)
}

// text reads a string.
func (b *schemaBuilder) text(k keywords, next int32) int32 {
	next = b.bytes('"', '"', next)
	least, most := count(k.min, 0), count(k.max, -1)
	switch {
	case k.pattern != nil && (k.min != nil || k.max != nil):
		return b.fail("%s has a pattern and a length; say the length in the pattern", k.at)
	case k.pattern != nil:
		next = b.expression(*k.pattern, true, next)
	case least < 0 || k.max != nil && most < least:
		return b.fail("no string of %s can be from %d to %d long", k.at, least, most)
	default:
		next = b.repeat(b.character, least, most, next)
	}
	return b.bytes('"', '"', next)
}

func count(n *int, without int) int {
	if n == nil {
		return without
	}
	return *n
}

// array reads a list.
func (b *schemaBuilder) array(k keywords, next int32) int32 {
	if k.items == nil {
		return b.fail("%s is an array and does not say its items", k.at)
	}
	least, most := count(k.minItems, 0), count(k.maxItems, -1)
	if least < 0 || k.maxItems != nil && most < least {
		return b.fail("no array of %s can have from %d to %d items", k.at, least, most)
	}
	item := func(next int32) int32 { return b.value(k.items, "an item of "+k.at, k.depth+1, next) }
	after := func(next int32) int32 { return b.separator(",", item(next)) }
	closed := b.bytes(']', ']', next)
	if most == 0 {
		return b.bytes('[', '[', closed)
	}
	some := item(b.repeat(after, max(least-1, 0), max(most-1, -1), closed))
	if least == 0 {
		some = b.either(some, closed)
	}
	return b.bytes('[', '[', some)
}

// separator reads a colon or a comma and a space, which may be missing.
func (b *schemaBuilder) separator(text string, next int32) int32 {
	return b.literal(text, b.either(b.bytes(' ', ' ', next), next))
}

// object reads an object: its properties in order, those that are not required or left
// out.
func (b *schemaBuilder) object(k keywords, next int32) int32 {
	for _, name := range k.required {
		if !slices.ContainsFunc(k.properties, func(p property) bool { return p.name == name }) {
			return b.fail("%s requires %q, which is none of its properties", k.at, short(name))
		}
	}
	closed := b.bytes('}', '}', next)
	// By whether a property has been written: where the properties from i on begin.
	first, later := closed, closed
	for i := len(k.properties) - 1; i >= 0 && b.err == nil && !b.full; i-- {
		p := k.properties[i]
		name, err := literalOf(p.name)
		if err != nil {
			return b.fail("a property's name cannot be written: %v", err)
		}
		value := b.value(p.value, fmt.Sprintf("%q", short(p.name)), k.depth+1, later)
		here := b.literal(name, b.separator(":", value))
		after := b.separator(",", here)
		if slices.Contains(k.required, p.name) {
			first, later = here, after
		} else {
			first, later = b.either(here, first), b.either(after, later)
		}
	}
	return b.bytes('{', '{', first)
}

// constants reads one of the values that an enum lists, of those that have the type.
func (b *schemaBuilder) constants(k keywords, next int32) int32 {
	if k.pattern != nil || k.min != nil || k.max != nil || k.items != nil || k.properties != nil {
		return b.fail("%s lists its values and has other keywords beside its type", k.at)
	}
	var list []int32
	for _, raw := range k.enum {
		var v any
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			return b.fail("a value of %s cannot be read", k.at)
		}
		text, err := literalOf(v)
		if err != nil {
			return b.fail("a value of %s cannot be written: %v", k.at, err)
		}
		if k.types == nil || slices.ContainsFunc(k.types, func(t string) bool { return hasType(v, t) }) {
			list = append(list, b.literal(text, next))
		}
	}
	if len(list) == 0 {
		return b.fail("%s lists no value of its type: it contradicts itself", k.at)
	}
	return b.either(list...)
}

// literalOf is a value as JSON, on one line.
func literalOf(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// hasType reports whether a value is of a type of JSON schema.
func hasType(v any, t string) bool {
	switch v := v.(type) {
	case nil:
		return t == "null"
	case bool:
		return t == "boolean"
	case string:
		return t == "string"
	case json.Number:
		return t == "number" || t == "integer" && !strings.ContainsAny(v.String(), ".eE")
	case []any:
		return t == "array"
	}
	return t == "object"
}
