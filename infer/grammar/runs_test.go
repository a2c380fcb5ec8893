package grammar_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/grammar"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
)

var schemas = []string{
	`{"type":"boolean"}`,
	`{"type":"null"}`,
	`{"type":"integer"}`,
	`{"type":"number"}`,
	`{"type":"string"}`,
	`{"type":"string","maxLength":5}`,
	`{"type":"string","minLength":3,"maxLength":8}`,
	`{"type":"string","pattern":"^[A-Z][a-z]+( [A-Z][a-z]+)?$"}`,
	`{"type":"string","pattern":"[0-9]{4}-[0-9]{2}-[0-9]{2}"}`,
	`{"type":"string","pattern":"^(\"|\\\\|é|\n)*$"}`,
	`{"enum":["red","green","blue"]}`,
	`{"enum":[1,"1",null,true,[1],{"a":1}]}`,
	`{"type":["string","null","integer"]}`,
	`{"type":"array","items":{"type":"integer"}}`,
	`{"type":"array","items":{"type":"array","items":{"type":"boolean"},"maxItems":3},"minItems":2,"maxItems":4}`,
	`{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"}},"required":["name","age"]}`,
	`{"type":"object","properties":{"a":{"type":"null"},"b":{"type":"number"},"c":{"enum":["x","y"]}}}`,
	`{"type":"object","properties":{"tags":{"type":"array","items":{"type":"string"}}},"required":["tags"],
	  "additionalProperties":false}`,
	`{"type":"object","properties":{"at":{"type":"object","properties":{"x":{"type":"number"},"y":{"type":"number"}},
	  "required":["x","y"]},"ok":{"type":"boolean"}},"required":["at"]}`,
	`{"type":"object","properties":{"a \"b\" é":{"type":["boolean","null"]},"list":{"type":"array","items":
	  {"type":"object","properties":{"k":{"type":"string","maxLength":9}},"required":["k"]}}},"required":["list"]}`,
}

// TestConstrainedRunsAreValid draws texts token by token from the bundled model's vocabulary, with
// random scores and the grammar's mask, at temperatures from 0 to 2 and with 10 to 80 tokens to
// generate. Every text that ends is complete, valid JSON that the schema accepts. A text is left
// incomplete only if the mask reported before the first token that this would happen.
func TestConstrainedRunsAreValid(t *testing.T) {
	runs := 400
	if fixture.LongTier() {
		runs = 10_000
	}
	tokens, ends := bundled(t)
	complete, vocabulary := 0, grammar.NewVocabulary(tokens, ends)
	for i, schema := range schemas {
		g, err := grammar.FromSchema([]byte(schema))
		if err != nil {
			t.Fatalf("%s: %v", schema, err)
		}
		masks := grammar.NewMasks(vocabulary)
		for run := range runs / len(schemas) {
			random := rand.New(rand.NewPCG(uint64(i), uint64(run)))
			limit := 10 + random.IntN(71)
			text, done := write(t, g, masks, tokens, ends, limit, 2*random.Float64()*float64(run%5)/4, random)
			switch {
			case !done && g.Start().Need() >= limit: // one token is needed to end the text
			case !done || !g.Matches(text) || !validates(t, schema, text):
				t.Errorf("%s, %d tokens: got %q, complete: %v; want a complete text", schema, limit, text, done)
			default:
				complete++
			}
		}
	}
	if complete < runs*3/4 {
		t.Errorf("only %d of %d texts are complete", complete, runs)
	}
}

// bundled returns the tokens of the bundled model and the ids of the tokens that end a text.
func bundled(t *testing.T) (tokens [][]byte, ends []int) {
	m := testmodel.Target(t)
	tokens, ends = make([][]byte, m.Config().Vocab), m.Config().EOS
	for id := range tokens {
		if tok := m.Token(id); !tok.Special && len(tok.Bytes) > 0 {
			tokens[id] = tok.Bytes
		} else if !tok.Special {
			tokens[id] = []byte(tok.Text)
		}
	}
	return tokens, ends
}

// TestMasksAreBounded: an expression is rejected if its masks take too long to compute, but not if
// it merely needs many states. In both cases, memory stays within the limit.
func TestMasksAreBounded(t *testing.T) {
	tokens, ends := bundled(t)
	vocabulary := grammar.NewVocabulary(tokens, ends)
	for expression, refused := range map[string]bool{
		"(([a-z ]?){30}){30}": true, "([a-z ]*a[a-z ]{6})*": false, ".*": false,
	} {
		g, err := grammar.FromRegexp(expression)
		if err != nil {
			t.Fatal(err)
		}
		masks := grammar.NewMasks(vocabulary)
		for s, at := g.Start(), 0; at < 26 && err == nil; at++ {
			_, err = masks.Of(s, -1)
			s = s.Next([]byte{"abcdefghijklmnopqrstuvwxyz"[at]})
		}
		var r *terms.Refusal
		if errors.As(err, &r) != refused || refused && !strings.Contains(r.Message, "takes too long") {
			t.Errorf("%s: got error %v; want it rejected as too slow: %t", expression, err, refused)
		}
	}
}

// TestMaskMatchesTheAutomaton: a mask allows exactly the tokens that the automaton accepts when it
// reads each of them separately, and the end of the text only if the text is complete.
func TestMaskMatchesTheAutomaton(t *testing.T) {
	tokens, ends := bundled(t)
	g, err := grammar.FromSchema([]byte(schemas[19]))
	if err != nil {
		t.Fatal(err)
	}
	masks := grammar.NewMasks(grammar.NewVocabulary(tokens, ends))
	for _, text := range []string{
		"", `{"a \"b`, `{"a \"b\" é":`, `{"list":[{"k":"`, `{"list":[{"k":"cat"`, `{"list":[]}`,
	} {
		s := g.Start().Next([]byte(text))
		if s == nil {
			t.Fatalf("no text in the language begins with %q", text)
		}
		for _, left := range []int{-1, 30, 12, 3, 1} {
			mask, err := masks.Of(s, left)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for id, token := range tokens {
				next := s.Next(token)
				want := len(token) > 0 && next != nil && (left < 0 || mask.Short || next.Need() <= left-2)
				if slices.Contains(ends, id) {
					want = s.Complete()
				}
				if want {
					n++
				}
				if mask.Has(id) != want {
					t.Fatalf(
						"after %q with %d left: token %d, %q: got %v, want %v", text, left, id, token, mask.Has(id),
						want,
					)
				}
			}
			if n != mask.N || n == 0 {
				t.Errorf("after %q with %d left: %d tokens, counted %d; want %d, not 0", text, left, mask.N, n, mask.N)
			}
		}
	}
}

// write draws at most a given number of tokens. It reports whether the text is complete.
func write(
	t *testing.T, g *grammar.Grammar, masks *grammar.Masks, tokens [][]byte, ends []int, limit int, temperature float64,
	random *rand.Rand,
) (text []byte, complete bool) {
	state, z := g.Start(), make([]float32, len(tokens))
	for left := limit; left > 0; left-- {
		mask, err := masks.Of(state, left)
		if err != nil || mask.N == 0 {
			t.Fatalf("after %q no token can come: %v; want no error, mask.N not 0", text, err)
		}
		for id := range z {
			if z[id] = -math.MaxFloat32; mask.Has(id) {
				z[id] = float32(4 * random.NormFloat64())
			}
		}
		d := sampling.Decide(z, sampling.Settings{Temperature: temperature, TopP: 1})
		id := int(d.Order[d.Draw(random.Float64())])
		if slices.Contains(ends, id) {
			return text, state.Complete()
		}
		if state, text = state.Next(tokens[id]), append(text, tokens[id]...); state == nil {
			t.Fatalf("%q is not a prefix of any text", text)
		}
	}
	return text, false // not ended by a token
}
