package grammar_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tokenbytoken/viz/infer/grammar"
	"github.com/tokenbytoken/viz/infer/terms"
)

// What a schema accepts and what it does not.
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
	} {
		g, err := grammar.FromSchema([]byte(c.schema))
		if err != nil {
			t.Errorf("%s: %v", c.schema, err)
			continue
		}
		for _, text := range c.yes {
			if !g.Matches([]byte(text)) {
				t.Errorf("%s does not take %s", c.schema, text)
			}
		}
		for _, text := range c.not {
			if g.Matches([]byte(text)) {
				t.Errorf("%s accepts %s, want it refused", c.schema, text)
			}
		}
	}
}

// What is not supported, recursive, contradictory or too large is refused in words.
func TestUnsupportedGrammarsAreRefused(t *testing.T) {
	deep := strings.Repeat(`{"type":"array","items":`, 40) + `{"type":"null"}` + strings.Repeat("}", 40)
	for schema, want := range map[string]string{
		``:                                    "not valid JSON",
		`[]`:                                  "must be an object",
		`true`:                                "must be an object",
		`{}`:                                  "says no type",
		`{"type":"thing"}`:                    `"thing"`,
		`{"type":7}`:                          "not of the right kind",
		`{"type":"array"}`:                    "does not say its items",
		`{"$ref":"#"}`:                        `keyword "$ref"`,
		`{"anyOf":[{"type":"null"}]}`:         `keyword "anyOf"`,
		`{"type":"integer","minimum":1}`:      `keyword "minimum"`,
		`{"type":"string","type":"null"}`:     "no keyword twice",
		`{"type":"string","pattern":"("}`:     "not understood",
		`{"type":"string","pattern":"a^b"}`:   "only at its two ends",
		`{"type":"string","pattern":"(?=a)"}`: "not understood",
		`{"type":"string","minLength":3,"maxLength":2}`:                            "from 3 to 2",
		`{"type":"string","maxLength":-1}`:                                         "from 0 to -1",
		`{"type":"string","pattern":"a","minLength":1}`:                            "a pattern and a length",
		`{"type":"string","enum":[1]}`:                                             "contradicts itself",
		`{"enum":[]}`:                                                              "contradicts itself",
		`{"type":"string","pattern":"[^\\x{0}-\\x{10FFFF}]"}`:                      "contradicts itself",
		`{"type":"object","required":["a"]}`:                                       "none of its properties",
		`{"type":"object","properties":{"a":{"type":"null"},"a":{"type":"null"}}}`: "no name twice",
		`{"type":"object","additionalProperties":true}`:                            "can only be false",
		`{"type":"array","minItems":1000000000,"items":{"type":"string"}}`:         "more than 20000 nodes",
		`{"type":"string","minLength":1000000000}`:                                 "more than 20000 nodes",
		`{"type":"string","pattern":"((a{1,100}){1,10}b{1,500}){1,1000}"}`:         "not understood",
		`{"type":"string","pattern":"^(([a-z]|é|[0-9])(x|yy)?.{1,40}){1,24}$"}`:    "more than 20000 nodes",
		deep: "nests deeper than 32",
		`{"title":"` + strings.Repeat("x", grammar.MaxSource) + `"}`: "it may have 65536",
	} {
		_, err := grammar.FromSchema([]byte(schema))
		var r *terms.Refusal
		if !errors.As(err, &r) || r.Field != "grammar" || !strings.Contains(r.Message, want) {
			t.Errorf("%s: %v, want %q", terms.Shortened(schema, 80), err, want)
		}
	}
}

// The automaton agrees with Go's regexp on short texts.
func TestRegexpAgreesWithGo(t *testing.T) {
	for _, expression := range []string{
		"a*b|c", "^(ab?){2,3}$", "[^ab]c+", "(?i)Ab", "a.c", "(?s)a.c", "é|[à-ü]b", "", "(a|b*)*c?", "a{0}b", "[€-₿]?a",
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

// What a state needs is the length of the shortest text that completes it: {"a":0} has
// seven bytes.
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
			t.Errorf("after %s: %+v, want %d more", text, s, want)
		}
	}
}

// States are forgotten when there are too many, and a text that is being read goes on.
func TestStateCacheIsBounded(t *testing.T) {
	g, err := grammar.FromRegexp("(a|b)*a(a|b){14}") // 2¹⁵ states: one for each of the last fifteen letters
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
			t.Fatalf("after %d letters nothing may follow", len(text))
		}
		if tail := text[max(0, len(text)-20):]; state.Complete() != whole.Match(tail) {
			t.Fatalf("after %d letters: complete %v, want the opposite", len(text), state.Complete())
		}
	}
}
