package grammar_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/grammar"
	"github.com/tokenbytoken/viz/infer/terms"
)

// object is a schema or any other JSON object.
type object = map[string]any

// generator generates random schemas like the ones that clients send.
type generator struct{ *rand.Rand }

func (g generator) maybe() bool { return g.IntN(2) == 0 }

func (g generator) pick(list ...any) any { return list[g.IntN(len(list))] }

// schema returns a random schema whose nesting does not exceed depth.
func (g generator) schema(depth int) any {
	s := g.kind(depth)
	for _, name := range []string{"title", "description", "default", "deprecated", "readOnly", "examples", "x-order"} {
		if g.IntN(8) == 0 {
			s[name] = "an annotation"
		}
	}
	return s
}

func (g generator) kind(depth int) object {
	n := 7
	if depth > 0 {
		n = 14
	}
	switch g.IntN(n) {
	case 0:
		return g.text()
	case 1:
		return g.number("number")
	case 2:
		return g.number("integer")
	case 3:
		return object{"type": g.pick("boolean", "null")}
	case 4:
		return object{"enum": []any{"red", "green \"blue\"", 1, -2.5, nil, true, []any{1}, object{"a": "b"}}}
	case 5:
		return object{"const": g.pick("x", 7, false, 0.5)}
	case 6:
		return object{"type": []any{"string", "null"}, "maxLength": g.IntN(9)}
	case 7:
		return object{"anyOf": []any{g.schema(depth - 1), object{"type": "null"}}}
	case 8:
		return object{"anyOf": []any{g.schema(depth - 1), g.schema(depth - 1)}}
	case 9:
		return object{"allOf": []any{g.schema(depth - 1)}}
	case 10:
		return object{"$ref": g.pick("#/$defs/one", "#/$defs/two")}
	case 11:
		return g.tagged(depth)
	case 12:
		return g.array(depth)
	}
	return g.object(depth)
}

func (g generator) text() object {
	s := object{"type": "string"}
	switch g.IntN(4) {
	case 0:
		s["minLength"], s["maxLength"] = g.IntN(3), 3+g.IntN(6)
	case 1:
		s["pattern"] = g.pick("^[A-Z][a-z]*$", "[0-9]", "^(a|bc)+$", "\\d{3}", "^\\S+$", "^.*é$", "^[^\"]{2,}$", "")
	case 2:
		s["pattern"] = g.pick("^[a-z]+$", "-", "^(ab)*$", "^\\w+\\s\\w+$")
		s["minLength"], s["maxLength"] = g.IntN(5), 5+g.IntN(6)
	case 3:
		s["format"] = g.pick(
			"date", "time", "date-time", "duration", "uuid", "ipv4", "ipv6", "hostname", "email", "uri", "path",
		)
	}
	return s
}

func (g generator) number(kind string) object {
	s := object{"type": kind}
	scale := []float64{1, 10, 1000, 0.01, 9007199254740991}[g.IntN(5)]
	bound := func() json.Number {
		x := (2*g.Float64() - 1) * scale
		if kind == "integer" || g.maybe() {
			return json.Number(fmt.Sprintf("%.0f", x))
		}
		return json.Number(fmt.Sprintf("%.*f", g.IntN(7), x))
	}
	for _, name := range []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"} {
		if g.IntN(3) == 0 {
			s[name] = bound()
		}
	}
	if g.IntN(4) == 0 {
		s["multipleOf"] = g.pick(1, 2, 5, 7, 10, 60, 100, json.Number("0.5"), json.Number("0.01"), json.Number("0.25"))
	}
	return s
}

func (g generator) array(depth int) object {
	s := object{"type": "array"}
	if g.maybe() {
		s["items"] = g.schema(depth - 1)
	}
	if g.IntN(3) == 0 {
		s["prefixItems"] = []any{g.schema(depth - 1), g.schema(depth - 1)}
		if g.maybe() {
			s["items"] = false
		}
	}
	if g.maybe() {
		s["minItems"] = g.IntN(3)
	}
	if g.maybe() {
		s["maxItems"] = 1 + g.IntN(4)
	}
	if g.maybe() {
		s["uniqueItems"] = false
	}
	return s
}

func (g generator) object(depth int) object {
	s, properties, required := object{"type": "object"}, object{}, []any{}
	for _, name := range []string{"id", "name", "a \"b\" é", "tags"}[:g.IntN(5)] {
		properties[name] = g.schema(depth - 1)
		if g.maybe() {
			required = append(required, name)
		}
	}
	if len(properties) > 0 {
		s["properties"], s["required"] = properties, required
	}
	switch g.IntN(5) {
	case 0:
		s["additionalProperties"] = false
	case 1:
		s["additionalProperties"] = g.pick(true, object{})
	case 2:
		s["additionalProperties"] = g.schema(depth - 1)
		if g.maybe() {
			s["propertyNames"] = object{"pattern": "^[a-z]*$", "maxLength": 4}
		}
	}
	if g.IntN(4) == 0 {
		s["minProperties"] = 1
	}
	if g.IntN(4) == 0 {
		s["maxProperties"] = 4 + g.IntN(2)
	}
	return s
}

// tagged returns a schema with a oneOf whose branches differ in a property, or with an anyOf next
// to other keywords.
func (g generator) tagged(depth int) object {
	branch := func(tag string) object {
		b := g.object(depth)
		b["properties"] = object{"kind": object{"const": tag}, "value": g.schema(depth - 1)}
		b["required"] = g.pick([]any{"kind"}, []any{"value"}, []any{"kind", "value"})
		return b
	}
	if g.maybe() {
		return object{
			"oneOf":         []any{branch("cat"), branch("dog")},
			"discriminator": object{"propertyName": "kind"},
		}
	}
	s := g.object(depth)
	s["properties"] = object{"a": g.schema(depth - 1), "b": g.schema(depth - 1)}
	s["anyOf"] = []any{object{"required": []any{"a"}}, object{"required": []any{"b"}, "maxProperties": 9}}
	return s
}

// TestGeneratedSchemas: each of 500 random schemas like the ones that clients send is either
// compiled or rejected as contradictory or too large. The texts generated for compiled schemas are
// valid.
func TestGeneratedSchemas(t *testing.T) {
	schemas, samples := 60, 3
	if fixture.LongTier() {
		schemas, samples = 500, 20
	}
	tokens, ends := singleBytes()
	vocabulary := grammar.NewVocabulary(tokens, ends)
	answered := 0
	for i := range schemas {
		g := generator{rand.New(rand.NewPCG(41, uint64(i)))}
		s := object{"$defs": object{"one": g.schema(0), "two": g.schema(1)}}
		for name, x := range g.kind(3) {
			s[name] = x
		}
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		compiled, err := grammar.FromSchema(text)
		if err != nil {
			if !errors.As(err, new(*terms.Refusal)) {
				t.Errorf("%s: got %v, want a *terms.Refusal", text, err)
			}
			t.Logf("%v: %s", err, text)
			continue
		}
		answered++
		masks := grammar.NewMasks(vocabulary)
		for run := range samples {
			random := rand.New(rand.NewPCG(uint64(i), uint64(run)))
			limit := 30 + random.IntN(300)
			written, done := write(t, compiled, masks, tokens, ends, limit, random.Float64(), random)
			switch {
			case !done && compiled.Start().Need() >= limit:
			case !done || !compiled.Matches(written) || !validates(t, string(text), written):
				t.Errorf("%s: generated %q, complete: %v; want a valid text", text, written, done)
			}
		}
	}
	t.Logf("%d of %d schemas were compiled", answered, schemas)
	if answered < schemas*8/10 {
		t.Errorf("%d of %d schemas were compiled, want 80%%", answered, schemas)
	}
}
