package grammar_test

import (
	"testing"

	"github.com/tokenbytoken/viz/infer/grammar"
)

// TestSchemasOfClients: the JSON schemas that popular client libraries generate are accepted
// unchanged.
// Promise: The JSON schemas that pydantic and Zod generate are accepted as they are.
func TestSchemasOfClients(t *testing.T) {
	for name, c := range map[string]struct {
		schema   string
		yes, not []string
	}{
		"pydantic: a class with an Enum, an optional field, a nested class and a bounded field": {
			`{"$defs":{
				"Address":{"properties":{"street":{"title":"Street","type":"string"},
					"zip":{"anyOf":[{"type":"string"},{"type":"null"}],"default":null,"title":"Zip"}},
					"required":["street"],"title":"Address","type":"object"},
				"Color":{"enum":["red","green"],"title":"Color","type":"string"}},
			"description":"A person.",
			"properties":{
				"name":{"maxLength":40,"minLength":1,"title":"Name","type":"string"},
				"nick":{"anyOf":[{"type":"string"},{"type":"null"}],"default":null,"title":"Nick"},
				"color":{"$ref":"#/$defs/Color"},
				"address":{"$ref":"#/$defs/Address","description":"Where they live."},
				"others":{"items":{"$ref":"#/$defs/Address"},"title":"Others","type":"array"},
				"score":{"default":3,"maximum":10,"minimum":0,"title":"Score","type":"integer"},
				"height":{"exclusiveMinimum":0,"title":"Height","type":"number"},
				"born":{"format":"date","title":"Born","type":"string"},
				"labels":{"additionalProperties":{"type":"string"},"title":"Labels","type":"object"},
				"at":{"maxItems":2,"minItems":2,"prefixItems":[{"type":"number"},{"type":"number"}],"title":"At",
					"type":"array"}
			},
			"required":["name","color","address"],"title":"Person","type":"object"}`,
			[]string{
				`{"name":"Ada","color":"red","address":{"street":"a"}}`,
				`{"name":"Ada","nick":null,"color":"green","address":{"street":"a","zip":"1"},` +
					`"others":[{"street":""}],"score":10,"height":1.7,"born":"1815-12-10",` +
					`"labels":{"a":"b"},"at":[1,2.5]}`,
			},
			[]string{
				`{"name":"","color":"red","address":{"street":"a"}}`,
				`{"name":"Ada","color":"blue","address":{"street":"a"}}`,
				`{"name":"Ada","color":"red","address":{"street":"a"},"score":11}`,
				`{"name":"Ada","color":"red","address":{"street":"a"},"height":0}`,
				`{"name":"Ada","color":"red","address":{"street":"a"},"born":"1815-02-30"}`,
				`{"name":"Ada","color":"red","address":{"street":"a"},"at":[1]}`,
			},
		},
		"pydantic: a tagged union": {
			`{"$defs":{
				"Cat":{"properties":{"kind":{"const":"cat","default":"cat","title":"Kind","type":"string"},
					"lives":{"title":"Lives","type":"integer"}},"required":["lives"],"title":"Cat","type":"object"},
				"Dog":{"properties":{"kind":{"const":"dog","default":"dog","title":"Kind","type":"string"},
					"lives":{"title":"Lives","type":"integer"}},"required":["lives"],"title":"Dog","type":"object"}},
			"properties":{"pet":{
				"discriminator":{"mapping":{"cat":"#/$defs/Cat","dog":"#/$defs/Dog"},"propertyName":"kind"},
				"oneOf":[{"$ref":"#/$defs/Cat"},{"$ref":"#/$defs/Dog"}],"title":"Pet"}},
			"required":["pet"],"title":"Owner","type":"object"}`,
			[]string{`{"pet":{"kind":"cat","lives":9}}`, `{"pet":{"kind":"dog","lives":1}}`},
			[]string{`{"pet":{"lives":9}}`, `{"pet":{"kind":"cow","lives":1}}`},
		},
		"Zod: objects, integers, literals and records": {
			`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
			"properties":{
				"id":{"type":"integer","minimum":-9007199254740991,"maximum":9007199254740991},
				"count":{"type":"integer","exclusiveMinimum":0,"maximum":9007199254740991},
				"mail":{"type":"string","format":"email",
					"pattern":"^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@` +
				`([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$"},
				"state":{"anyOf":[{"type":"string","const":"on"},{"type":"string","const":"off"}]},
				"map":{"type":"object","propertyNames":{"type":"string"},"additionalProperties":{"type":"number"}},
				"any":{}
			},"required":["id","count","mail","state","map","any"],"additionalProperties":false}`,
			[]string{
				`{"id":-3,"count":1,"mail":"ada@example.org","state":"off","map":{"x":0.5},"any":["x"]}`,
				`{"id":123456789012345,"count":10,"mail":"a.b@c-d.de","state":"on","map":{},"any":null}`,
			},
			[]string{
				`{"id":0.5,"count":1,"mail":"ada@example.org","state":"off","map":{},"any":1}`,
				`{"id":1,"count":0,"mail":"ada@example.org","state":"off","map":{},"any":1}`,
				`{"id":1,"count":1,"mail":"ada..b@example.org","state":"off","map":{},"any":1}`,
				`{"id":1,"count":1,"mail":"ada@example.org","state":"","map":{},"any":1}`,
			},
		},
		"Zod: the pattern of a date": {
			`{"type":"string","format":"date","pattern":"^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|` +
				`[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|` +
				`(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))$"}`,
			[]string{`"2024-02-29"`, `"1999-12-31"`},
			[]string{`"2023-02-29"`, `"2024-2-1"`},
		},
	} {
		g, err := grammar.FromSchema([]byte(c.schema))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, text := range c.yes {
			if !g.Matches([]byte(text)) || !validates(t, c.schema, []byte(text)) {
				t.Errorf("%s: %s: accepted %v, valid %v; want both true", name, text, g.Matches([]byte(text)),
					validates(t, c.schema, []byte(text)))
			}
		}
		for _, text := range c.not {
			if g.Matches([]byte(text)) {
				t.Errorf("%s: accepted %s, want it rejected", name, text)
			}
		}
	}
}
