package grammar_test

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tokenbytoken/viz/infer/grammar"
	"github.com/tokenbytoken/viz/infer/terms"
)

// TestSchemasByHand checks texts that a schema accepts and texts that it rejects.
func TestSchemasByHand(t *testing.T) {
	for _, c := range []struct {
		schema   string
		yes, not []string
	}{
		{`{"type":"boolean"}`, []string{"true", "false"}, []string{"", "tru", "True", "true "}},
		{
			`{"type":["integer","null"]}`,
			[]string{"0", "-12", "null"},
			[]string{"01", "1.0", "+1", "1e3", "-", "1234567890123456"},
		},
		{`{"type":"number"}`, []string{"0.5", "-1e-9", "12", "3.25E+10"}, []string{".5", "1.", "NaN", "1e", "1e100"}},
		{
			`{"type":"string","minLength":1,"maxLength":2}`,
			[]string{`"é€"`, `"\""`, `"\\n"`},
			[]string{`""`, `"abc"`, `"a`, "\"\n\"", `"\x"`, "\"\xff\""},
		},
		{
			`{"type":"string","pattern":"^a\"+[b-d]?$"}`,
			[]string{`"a\""`, `"a\"\"c"`},
			[]string{`"a"`, `"a""`, `"a\"e"`, `"xa\""`},
		},
		{`{"type":"string","pattern":"b"}`, []string{`"b"`, `"abc"`, `"\"b"`}, []string{`"a"`, `""`}},
		{`{"enum":["x<y",1,null,{"a":[]}]}`, []string{`"x<y"`, "1", "null", `{"a":[]}`}, []string{`"x"`, "1.0", "2"}},
		{`{"type":"integer","enum":["x",7]}`, []string{"7"}, []string{`"x"`}},
		{
			`{"type":"array","items":{"type":"integer"},"minItems":1,"maxItems":3}`,
			[]string{"[1]", "[1,2]", "[1, 2,3]"},
			[]string{"[]", "[1,]", "[1,2,3,4]", "[1,  2]"},
		},
		{`{"type":"array","items":{"type":"null"}}`, []string{"[]", "[null,null,null]"}, []string{"[,]", "null"}},
		{
			`{"type":"object","properties":{"a":{"type":"null"},"b":{"type":"null"},"c":{"type":"null"}},
			  "required":["b"],"additionalProperties":false}`,
			[]string{`{"b":null}`, `{"a": null, "b":null}`, `{"b":null,"c":null}`, `{"a":null,"b":null,"c":null}`},
			[]string{`{}`, `{"a":null}`, `{"b":null,"a":null}`, `{"b":null,}`, `{,"b":null}`, `{"b":null,"d":null}`},
		},
		{`{"type":"object"}`, []string{"{}"}, []string{`{"a":1}`}},
		{`true`, []string{"1", `"a"`}, []string{`[[[]]]`, `{"a":{"b":{}}}`}},
		{`{}`, []string{"null", "[]", `[1, "b"]`, `{"a":true}`}, []string{`[[1]]`, "nul"}},
		{`{"type":"array"}`, []string{"[]", `[1,[2],{"a":3}]`}, []string{`{}`, "[[[1]]]"}},
		// Numbers within bounds are decimals without exponents.
		{
			`{"type":"number","minimum":0.5,"exclusiveMaximum":10}`,
			[]string{"0.5", "0.50", "1", "9.99999999999999", "3.1"},
			[]string{"0.49", "0", "-1", "10", "10.0", "1e0", "0.4999999999999", "123456789.1234567"},
		},
		{
			`{"type":"integer","minimum":-12,"maximum":105}`,
			[]string{"-12", "-0", "0", "9", "99", "100", "105"},
			[]string{"-13", "-100", "106", "1000", "5.0", "05"},
		},
		{
			`{"type":"number","exclusiveMinimum":-0.05,"maximum":0}`,
			[]string{"-0.04", "0", "-0.0"},
			[]string{"-0.05", "0.001"},
		},
		{
			`{"minimum":1e2,"maximum":1.005e2}`,
			[]string{"100", "100.5", "100.0"},
			[]string{"99.9", "100.51", "101", `"a"`},
		},
		{`{"type":"integer","multipleOf":7}`, []string{"0", "7", "-14", "777"}, []string{"1", "8", "-13"}},
		{
			`{"type":"number","multipleOf":0.25,"minimum":-1}`,
			[]string{"0.25", "3", "-0.5", "1.50", "0"},
			[]string{"0.1", "0.125", "-1.25"},
		},
		{
			`{"allOf":[{"type":"integer","multipleOf":4},{"multipleOf":6,"minimum":1}]}`,
			[]string{"12", "24", "120"},
			[]string{"0", "4", "6", "-12"},
		},
		// Strings: a pattern can match anywhere, and lengths are in characters.
		{
			`{"type":"string","pattern":"^[a-zé]*$","minLength":2,"maxLength":3}`,
			[]string{`"éé"`, `"abc"`},
			[]string{`"a"`, `"abcd"`, `"a1"`},
		},
		{`{"type":"string","pattern":"b","maxLength":3}`, []string{`"b"`, `"abc"`}, []string{`"abcd"`, `"ac"`}},
		{
			`{"type":"string","pattern":"^.\\S$"}`,
			[]string{`"ab"`, `" a"`},
			[]string{"\"a\u00a0\"", `"a "`, `"\na"`, `"\ra"`, "\"\u2028a\""},
		},
		{
			`{"type":"string","format":"date"}`,
			[]string{`"2024-02-29"`, `"2023-12-31"`, `"2000-02-29"`},
			[]string{`"2023-02-29"`, `"2024-02-30"`, `"1900-02-29"`, `"2023-04-31"`, `"2023-13-01"`, `"2023-1-1"`},
		},
		{
			`{"type":"string","format":"date-time"}`,
			[]string{`"2024-02-29T23:59:59Z"`, `"2024-01-01T00:00:00.25+05:30"`},
			[]string{`"2024-01-01T24:00:00Z"`, `"2024-01-01T00:00:00"`, `"2024-01-01 00:00:00Z"`},
		},
		{
			`{"type":"string","format":"ipv4"}`,
			[]string{`"127.0.0.1"`, `"255.255.255.255"`},
			[]string{`"256.0.0.1"`, `"1.2.3"`, `"01.2.3.4"`},
		},
		// Enum and const can be combined with other keywords.
		{`{"enum":["",{"b":1}],"minLength":1}`, []string{`{"b":1}`}, []string{`""`}},
		{`{"const":{"a":[1, 2]}}`, []string{`{"a":[1,2]}`}, []string{`{"a":[1]}`}},
		{`{"enum":[1,5,12,"x"],"minimum":2,"maximum":9}`, []string{"5", `"x"`}, []string{"1", "12"}},
		{`{"enum":["a","bb","ccc"],"type":"string","pattern":"^.{2}$"}`, []string{`"bb"`}, []string{`"a"`, `"ccc"`}},
		{`{"allOf":[{"enum":[1,2,3]},{"enum":[3,1.0,4]}]}`, []string{"1", "3"}, []string{"2", "4"}},
		// Lists.
		{
			`{"type":"array","prefixItems":[{"type":"null"},{"type":"boolean"}],"items":false}`,
			[]string{"[]", "[null]", "[null,true]"},
			[]string{"[true]", "[null,true,1]"},
		},
		{
			`{"type":"array","prefixItems":[{"type":"null"}],"items":{"type":"boolean"},"minItems":2,"maxItems":3}`,
			[]string{"[null,true]", "[null,true,false]"},
			[]string{"[null]", "[null,true,false,true]", "[null,null]"},
		},
		{
			`{"prefixItems":[{"pattern":"^a","maxLength":2},{"pattern":"a","maxLength":2},
			  {"pattern":"a","maxLength":3}]}`,
			[]string{`["ab","ba","bba"]`},
			[]string{`["ba"]`, `["a","bba"]`},
		},
		// Objects: the listed properties come first, then others.
		{
			`{"type":"object","additionalProperties":{"type":"integer"}}`,
			[]string{"{}", `{"a":1}`, `{"a":1, "b":2}`},
			[]string{`{"a":"x"}`, `{"a":1,}`},
		},
		{
			`{"type":"object","properties":{"ab":{"type":"null"}},"additionalProperties":{"type":"integer"}}`,
			[]string{`{"ab":null,"a":1}`, `{"abc":1}`, `{"":1,"b":2}`},
			[]string{`{"ab":1}`, `{"a":1,"ab":null}`, `{"ab":null,"ab":1}`},
		},
		{
			`{"type":"object","propertyNames":{"enum":["x","y"]},"additionalProperties":{"type":"null"},
			  "minProperties":1}`,
			[]string{`{"x":null}`, `{"y":null,"x":null}`},
			[]string{"{}", `{"z":null}`},
		},
		{
			`{"type":"object","additionalProperties":{"type":"null"},"maxProperties":2}`,
			[]string{"{}", `{"a":null,"b":null}`},
			[]string{`{"a":null,"b":null,"c":null}`},
		},
		{`{"required":["a"]}`, []string{`{"a":1}`, `{"a":["x"]}`}, []string{"{}", "1"}},
		// Combinations.
		{`{"anyOf":[{"type":"string","maxLength":1},{"type":"null"}]}`, []string{`"a"`, "null"}, []string{`"ab"`, "1"}},
		{
			`{"allOf":[{"properties":{"a":{"type":"null"}},"required":["a"]},{"properties":{"b":{"type":"null"}}}]}`,
			[]string{`{"a":null}`, `{"a":null,"b":null}`},
			[]string{`{"b":null}`, "{}"},
		},
		{
			`{"oneOf":[{"properties":{"k":{"const":"a"},"x":{"type":"null"}}},
			  {"properties":{"k":{"const":"b"}},"required":["k"]}]}`,
			[]string{`{"k":"a","x":null}`, `{"k":"b"}`},
			[]string{"{}", `{"x":null}`},
		},
		{
			`{"minLength":3,"anyOf":[{"maxLength":2},{"maxLength":4}],"type":"string"}`,
			[]string{`"abc"`, `"abcd"`},
			[]string{`"ab"`, `"abcde"`},
		},
		{
			`{"oneOf":[{"type":"integer","maximum":3},{"minimum":4,"type":"integer"}]}`,
			[]string{"3", "4"},
			[]string{"3.5"},
		},
		{
			`{"$defs":{"a/b":{"type":"null"},"c":{"$ref":"#/%24defs/a~1b"}},"items":{"$ref":"#/$defs/c"}}`,
			[]string{"[null]"},
			[]string{"[1]"},
		},
	} {
		g, err := grammar.FromSchema([]byte(c.schema))
		if err != nil {
			t.Errorf("%s: %v", c.schema, err)
			continue
		}
		for _, text := range c.yes {
			if !g.Matches([]byte(text)) {
				t.Errorf("%s rejects %s, want it accepted", c.schema, text)
			}
		}
		for _, text := range c.not {
			if g.Matches([]byte(text)) {
				t.Errorf("%s accepts %s, want it rejected", c.schema, text)
			}
		}
	}
}

// TestUnsupportedGrammarsAreRefused: a schema that is unsupported, recursive, contradictory or too
// large is rejected with an explanation.
// Promise: A schema that is recursive, contradictory, unsupported or too large is refused with the reason.
func TestUnsupportedGrammarsAreRefused(t *testing.T) {
	deep := strings.Repeat(`{"type":"array","items":`, 40) + `{"type":"null"}` + strings.Repeat("}", 40)
	for schema, want := range map[string]string{
		``:                                    "not valid JSON",
		`[]`:                                  "must be an object",
		`7`:                                   "must be an object",
		`false`:                               "contradicts itself",
		`{"type":"thing"}`:                    `"thing"`,
		`{"type":7}`:                          "invalid value",
		`{"$ref":"#"}`:                        `through "$ref"; recursion`,
		`{"not":{"type":"null"}}`:             `keyword "not"`,
		`{"patternProperties":{}}`:            `keyword "patternProperties"`,
		`{"uniqueItems":true}`:                `keyword "uniqueItems"`,
		`{"typ":"null"}`:                      `keyword "typ"`,
		`{"type":"string","type":"null"}`:     "without duplicate keywords",
		`{"type":"string","pattern":"("}`:     "cannot parse the expression",
		`{"type":"string","pattern":"a^b"}`:   "only at its start",
		`{"type":"string","pattern":"(?=a)"}`: "must mean the same",
		`{"type":"string","minLength":3,"maxLength":2}`:                            "at least 3 and at most 2",
		`{"type":"string","maxLength":-1}`:                                         "invalid value",
		`{"type":"string","pattern":"^a$","minLength":2}`:                          "contradicts itself",
		`{"type":"string","enum":[1]}`:                                             "contradicts itself",
		`{"enum":[]}`:                                                              "contradicts itself",
		`{"type":"string","pattern":"[^\\s\\S]"}`:                                  "contradicts itself",
		`{"type":"object","required":["a"],"additionalProperties":false}`:          "contradicts itself",
		`{"type":"object","properties":{"a":{"type":"null"},"a":{"type":"null"}}}`: "without duplicate keys",
		`{"type":"array","minItems":1000000000,"items":{"type":"string"}}`:         "more than 20000 nodes",
		`{"type":"string","minLength":1000000000}`:                                 "more than 20000 nodes",
		`{"type":"string","pattern":"((a{1,100}){1,10}b{1,500}){1,1000}"}`:         "cannot parse the expression",
		`{"type":"string","pattern":"^(([a-z]|é|[0-9])(x|yy)?.{1,40}){1,24}$"}`:    "more than 20000 nodes",
		deep: "is nested more than 32 levels deep",
		// A oneOf is accepted only if it is provable that no text fits two branches.
		`{"oneOf":[{"type":"integer"},{"type":"number"}]}`:                             `"oneOf"`,
		`{"oneOf":[{"enum":["x"],"minimum":1},{"type":"string"}]}`:                     `"oneOf"`,
		`{"oneOf":[{"enum":[{"a":1}]},{"required":["a"]}]}`:                            `"oneOf"`,
		`{"oneOf":[{"minProperties":1,"type":"object"},{"required":["a"]}]}`:           `"oneOf"`,
		`{"oneOf":[{"additionalProperties":true},{"required":["a"]}]}`:                 `"oneOf"`,
		`{"oneOf":[{"properties":{"a":{"type":"null"}}},{"type":"object"}]}`:           `"oneOf"`,
		`{"oneOf":[{"type":"string","pattern":"a"},{"type":"string","pattern":"b"}]}`:  `"oneOf"`,
		`{"$defs":{"n":{"properties":{"n":{"$ref":"#/$defs/n"}}}},"$ref":"#/$defs/n"}`: "recursion",
		// References must resolve, and the grammar must be small enough.
		`{"$ref":"#/$defs/none"}`:                                     "does not exist in the schema",
		`{"$ref":"https://json-schema.org/draft/2020-12/schema"}`:     "must point into the same schema",
		`{"properties":{"a":{"$id":"x","items":{"$ref":"#/items"}}}}`: "inside a subschema with an $id",
		`{"type":"integer","multipleOf":1001}`:                        `"multipleOf"`,
		`{"type":"integer","multipleOf":0}`:                           "multipleOf",
		`{"type":"integer","minimum":1e15}`:                           "more than 15 digits",
		`{"type":"integer","minimum":1,"maximum":0}`:                  "contradicts itself",

		`{"minimum":"1"}`:                                      "minimum",
		`{"type":"string","format":"regex"}`:                   `format "regex"`,
		`{"type":"string","pattern":"(?i)a"}`:                  "must mean the same",
		`{"type":"string","pattern":"[[:alpha:]]"}`:            "must mean the same",
		`{"type":"object","minProperties":2}`:                  `"minProperties"`,
		`{"properties":{"a":true,"b":true},"maxProperties":1}`: `"maxProperties"`,

		`{"anyOf":[]}`:                        "anyOf",
		`{"type":"string","maxLength":20000}`: "more than 20000 nodes",

		`{"type":"array","items":{"enum":[` + words(3000) + `]},"maxItems":50}`: "more than 20000 nodes",
		`{"anyOf":[` + nulls(30) + `],"allOf":[{"anyOf":[` + nulls(30) + `]}]}`: "more than 500 cases",
		`{"title":"` + strings.Repeat("x", grammar.MaxSource) + `"}`:            "the limit is 65536",
	} {
		_, err := grammar.FromSchema([]byte(schema))
		var r *terms.Refusal
		if !errors.As(err, &r) || r.Field != "grammar" || !strings.Contains(r.Message, want) {
			t.Errorf("%s: %v, want %q", terms.Shortened(schema, 80), err, want)
		}
	}
}

// words returns n JSON strings, joined by commas. nulls does the same for n schemas.
func words(n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf(`"w%d"`, i))
	}
	return strings.Join(list, ",")
}

func nulls(n int) string { return strings.Repeat(`{"type":"null"},`, n-1) + `{"type":"null"}` }

// TestRegexpAgreesWithGo: the automaton accepts the same short texts as Go's package regexp.
func TestRegexpAgreesWithGo(t *testing.T) {
	for _, expression := range []string{
		"a*b|c", "^(ab?){2,3}$", "[^ab]c+", "(?i)Ab", "a.c", "(?s)a.c", "é|[à-ü]b", "", "(a|b*)*c?", "a{0}b",
		"[€-₿]?a",
	} {
		g, err := grammar.FromRegexp(expression)
		if err != nil {
			t.Fatalf("%s: %v", expression, err)
		}
		whole := regexp.MustCompile(`\A(?:` + expression + `)\z`)
		rapid.Check(t, func(t *rapid.T) {
			text := strings.Join(rapid.SliceOfN(
				rapid.SampledFrom([]string{"a", "b", "c", "A", "é", "ü", "€", "\n", " "}), 0, 6,
			).Draw(t, "text"), "")
			if got, want := g.Matches([]byte(text)), whole.MatchString(text); got != want {
				t.Fatalf("%s on %q: %v, want %v", expression, text, got, want)
			}
		})
	}
}

// TestNeedIsShortestCompletion: Need returns the length of the shortest completion. For example,
// {"a":0} has seven bytes.
func TestNeedIsShortestCompletion(t *testing.T) {
	g, err := grammar.FromSchema([]byte(
		`{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"null"}},"required":["a"]}`,
	))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{"": 7, `{"a":`: 2, `{"a":1`: 1, `{"a":1}`: 0, `{"a":1,`: 9} {
		s := g.Start().Next([]byte(text))
		if s == nil || s.Need() != want || s.Complete() != (want == 0) || s.Ends() != (want == 0) {
			t.Errorf("after %s: %+v, want a need of %d", text, s, want)
		}
	}
}

// TestStateCacheIsBounded: when too many states are cached, they are dropped, and texts can still
// be read afterward.
func TestStateCacheIsBounded(t *testing.T) {
	g, err := grammar.FromRegexp("(a|b)*a(a|b){14}") // 2¹⁵ states: one for each combination of the last fifteen letters
	if err != nil {
		t.Fatal(err)
	}
	whole := regexp.MustCompile(`\A(a|b)*a(a|b){14}\z`)
	text, state, x := []byte{}, g.Start(), uint32(1)
	for range 20_000 {
		x = x*1664525 + 1013904223
		b := "ab"[x>>31]
		text = append(text, b)
		if state = state.Next([]byte{b}); state == nil {
			t.Fatalf("after %d letters, nothing can follow", len(text))
		}
		if tail := text[max(0, len(text)-20):]; state.Complete() != whole.Match(tail) {
			t.Fatalf("after %d letters: complete %v, want the opposite", len(text), state.Complete())
		}
	}
}
