package grammar

import (
	"encoding/json"

	"github.com/tokenbytoken/viz/infer/terms"
)

// Limits on schemas.
const (
	maxDepth  = 32  // maximum nesting
	maxShapes = 500 // maximum number of combinations of anyOf and oneOf for one value
	anyDepth  = 1   // nesting in values that a schema does not restrict
)

// FromSchema returns the language of the JSON texts that a JSON schema accepts, restricted to the
// form described below. A schema can have
//
//   - type, enum and const;
//   - properties, required, additionalProperties, propertyNames, minProperties and
//     maxProperties;
//   - items, prefixItems, minItems and maxItems;
//   - pattern, format, minLength and maxLength;
//   - minimum, maximum, exclusiveMinimum, exclusiveMaximum and multipleOf;
//   - allOf, anyOf, oneOf, and $ref to a location within the schema.
//
// Annotations are ignored. Every other keyword is rejected with an error that names it. Recursion
// is also rejected, and so is a oneOf unless each text provably fits only one branch.
//
// An object has the listed properties in the order of the schema, followed by others if
// additionalProperties is given and not false. Without a type, all types that the keywords restrict
// are allowed. If a schema has no restrictions, the value is a scalar, or a list or an object of
// scalars. There is at most one space after a colon or a comma, and strings have the fewest
// possible escapes. Numbers have up to 16 digits on each side of the point and exponents of up to
// two digits or, if bounds are given, up to 15 digits and no exponent. The error is a
// *[terms.Refusal].
func FromSchema(text []byte) (*Grammar, error) {
	if len(text) > MaxSource {
		return nil, refuse("the schema has %d bytes; the limit is %d", len(text), MaxSource)
	}
	if !json.Valid(text) {
		return nil, refuse("the schema is not valid JSON")
	}
	root := parseJSON(text)
	b := newBuilder()
	r := reader{b.budget, root, map[*value]*schema{}}
	s := r.child(root, "the schema", false)
	return b.grammar(compiler{b}.value([]*schema{s}, 1, end))
}

// short shortens a user's text for a message.
func short(text string) string { return terms.Shortened(text, 60) }

// compiler builds automata from schemas.
type compiler struct{ *builder }

// value builds a part that reads a value accepted by all of the given schemas.
func (c compiler) value(all []*schema, depth int, next int32) int32 {
	if c.spend(1); c.over() {
		return dead
	}
	if depth > maxDepth {
		return c.fail("%s is nested more than %d levels deep", all[0].at, maxDepth)
	}
	var list []int32
	for _, x := range c.shapes(all) {
		if c.apart(&x) {
			list = append(list, c.shape(x, depth, next))
		}
	}
	return c.either(list...)
}

// shape builds a part that reads a value of the shape x.
func (c compiler) shape(x shape, depth int, next int32) int32 {
	if values, listed := x.values(); listed {
		return c.constants(x, values, depth, next)
	}
	k := x.kinds()
	if k == allKinds && x.about() == 0 {
		return c.any(anyDepth, next)
	}
	var list []int32
	if k&aNull != 0 {
		list = append(list, c.literal("null", next))
	}
	if k&aBoolean != 0 {
		list = append(list, c.boolean(next))
	}
	if k&aNumber != 0 {
		list = append(list, c.number(x.bounds(), next))
	}
	if k&aString != 0 {
		list = append(list, c.text(x.from, next))
	}
	if k&anArray != 0 {
		list = append(list, c.array(x, depth, next))
	}
	if k&anObject != 0 {
		list = append(list, c.object(x, depth, next))
	}
	return c.either(list...)
}

func (c compiler) boolean(next int32) int32 {
	return c.either(c.literal("true", next), c.literal("false", next))
}

// any builds a part that reads a value without restrictions.
func (c compiler) any(depth int, next int32) int32 {
	text := func(next int32) int32 { return c.text([]*schema{{}}, next) }
	list := []int32{c.literal("null", next), c.boolean(next), c.number(bounds{}, next), text(next)}
	if depth > 0 {
		value := func(next int32) int32 { return c.any(depth-1, next) }
		entry := func(next int32) int32 { return text(c.separator(":", value(next))) }
		list = append(
			list, c.bytes('[', '[', c.series(value, 0, c.bytes(']', ']', next))),
			c.bytes('{', '{', c.series(entry, 0, c.bytes('}', '}', next))),
		)
	}
	return c.either(list...)
}

// series builds a part that reads a list of at least `least` things (0 or 1), separated by commas.
func (c compiler) series(thing func(next int32) int32, least int, closed int32) int32 {
	var first int32
	c.loop(func(after int32) int32 {
		first = thing(after)
		return c.either(c.separator(",", first), closed)
	})
	if least > 0 {
		return first
	}
	return c.either(first, closed)
}

// separator builds a part that reads a colon or a comma, followed by an optional space.
func (c compiler) separator(text string, next int32) int32 {
	return c.literal(text, c.either(c.bytes(' ', ' ', next), next))
}

// constants builds a part that reads any of the given values that satisfies the other keywords.
func (c compiler) constants(x shape, values []*value, depth int, next int32) int32 {
	fits, about := func(string) bool { return true }, x.about()
	if about != 0 {
		b := c.beside()
		fits = b.matcher(compiler{b}.shape(x.unlisted(), depth, end))
	}
	var list []int32
	for _, v := range values {
		text := v.String()
		if c.spend(1 + len(text)); c.over() {
			return dead
		}
		if v.kinds()&about == 0 || fits(text) {
			list = append(list, c.literal(text, next))
		}
	}
	return c.either(list...)
}

// array builds a part that reads a list. Each of the first items can have its own schema, and all
// other items share one schema.
func (c compiler) array(x shape, depth int, next int32) int32 {
	var n span
	fixed := 0
	for _, s := range x.from {
		if s.items.empty() {
			return c.fail("%s requires at least %d and at most %d items, which is impossible",
				s.at, s.items.least, s.items.most)
		}
		n, fixed = n.and(s.items), max(fixed, len(s.prefix))
	}
	item := func(i int) func(next int32) int32 {
		all := x.item(i)
		return func(next int32) int32 { return c.value(all, depth+1, next) }
	}
	closed := c.bytes(']', ']', next)
	// The first items are built one by one, and all other items as one repeated item.
	build, after := max(fixed, n.least), int32(dead)
	switch {
	case n.empty():
		return dead
	case fixed == 0 && !n.bounded && n.least <= 1:
		return c.bytes('[', '[', c.series(item(0), n.least, closed))
	case n.bounded:
		build, after = n.most, closed
	case fixed > 0 && !x.hasRest() && n.least <= fixed: // the other items have no schema
		build, after = fixed, closed
	default:
		rest := item(build)
		after = c.loop(func(self int32) int32 { return c.either(c.separator(",", rest(self)), closed) })
	}
	for i := build - 1; i >= 0 && !c.over(); i-- {
		c.spend(1)
		if here := item(i)(after); i > 0 {
			after = c.separator(",", here)
		} else {
			after = here
		}
		if i >= n.least {
			after = c.either(after, closed)
		}
	}
	return c.bytes('[', '[', after)
}
