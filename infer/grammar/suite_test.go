package grammar_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/grammar"
	"github.com/tokenbytoken/viz/infer/terms"
)

// group is a schema from the JSON Schema Test Suite, together with its test instances.
type group struct {
	File, Name string
	Schema     json.RawMessage
	Tests      []struct {
		Name  string
		Data  json.RawMessage
		Valid bool
	}
}

func suite(t *testing.T) (list []group) {
	fixture.ReadZipped(t, "../../testdata/jsonschema/suite.json.gz", &list)
	return list
}

// singleBytes returns a vocabulary in which every byte is a token and token 256 ends a text.
func singleBytes() (tokens [][]byte, ends []int) {
	tokens = make([][]byte, 257)
	for b := range 256 {
		tokens[b] = []byte{byte(b)}
	}
	return tokens, []int{256}
}

// TestSchemasOfTheSuite: every schema in the suite is compiled or rejected with an explanation. If
// it is compiled, no invalid instance is in the language, and every generated text is valid.
func TestSchemasOfTheSuite(t *testing.T) {
	samples := 6
	if fixture.LongTier() {
		samples = 200
	}
	tokens, ends := singleBytes()
	vocabulary := grammar.NewVocabulary(tokens, ends)
	answered, refused, valid, matched := 0, 0, 0, 0
	for i, g := range suite(t) {
		name := g.File + ": " + g.Name
		compiled, err := grammar.FromSchema(g.Schema)
		if err != nil {
			refused++
			var r *terms.Refusal
			if !errors.As(err, &r) || r.Field != "grammar" {
				t.Errorf("%s: got %v, want the grammar rejected", name, err)
			}
			continue
		}
		answered++
		root := decoded(t, g.Schema)
		check := validator{t, root, strings.HasPrefix(g.File, "optional/format")}
		for _, test := range g.Tests {
			var text bytes.Buffer
			if err := json.Compact(&text, test.Data); err != nil {
				t.Fatal(err)
			}
			is := compiled.Matches(text.Bytes())
			if is && !test.Valid {
				t.Errorf("%s: %s: %s is in the language, want it rejected", name, test.Name, &text)
			}
			if test.Valid {
				valid++
				if is {
					matched++
				}
			}
			// The validator checks formats with the standard library's parsers, and ignores the
			// keyword $vocabulary.
			knows := !check.formats && g.File != "vocabulary"
			if got := check.valid(root, decoded(t, test.Data)); knows && got != test.Valid {
				t.Errorf(
					"%s: %s: the test's validator returned %v for %s, want %v", name, test.Name, got, &text, test.Valid,
				)
			}
		}
		masks := grammar.NewMasks(vocabulary)
		for run := range samples {
			random := rand.New(rand.NewPCG(uint64(i), uint64(run)))
			text, done := write(t, compiled, masks, tokens, ends, 40+random.IntN(200), random.Float64(), random)
			if !done && compiled.Start().Need() < 40 || done && !validates(t, string(g.Schema), text) {
				t.Errorf("%s: generated %q, complete: %v; want a valid text", name, text, done)
			}
		}
	}
	t.Logf("%d compiled, %d rejected; %d of %d valid instances accepted", answered, refused, matched, valid)
	if answered < 200 || matched < 300 {
		t.Errorf("%d schemas are compiled and %d instances accepted, want 200 and 300", answered, matched)
	}
}
