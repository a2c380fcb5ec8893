package api

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
)

// These fields name tokens whose log-probabilities are listed even if they are not among the most
// probable ones.
const (
	namedIDs   = "logprob_token_ids" // vLLM's name
	namedTexts = "logprob_texts"
	maxNamed   = 20
)

// readNamed reads the tokens to list at every position. The request names them by id or by text.
func (q *request) readNamed(m *infer.Model, f *terms.Fields) error {
	raw := map[string]json.RawMessage{}
	for _, name := range []string{namedIDs, namedTexts} {
		if !f.Has(name) {
			continue
		}
		if q.logprobs < 0 {
			return unsupported(name, "it requires logprobs")
		}
		raw[name] = f.Rest()[name]
		delete(f.Rest(), name)
	}
	var ids []int
	if given := raw[namedIDs]; given != nil && json.Unmarshal(given, &ids) != nil {
		return wrong(namedIDs, "invalid_value", "%s must be a list of token ids.", namedIDs)
	}
	for _, id := range ids {
		if id < 0 || id >= m.Config().Vocab {
			return wrong(namedIDs, "invalid_value", "%s contains the id %d; this model's ids are 0 to %d.",
				namedIDs, id, m.Config().Vocab-1)
		}
	}
	var texts []string
	if given := raw[namedTexts]; given != nil && json.Unmarshal(given, &texts) != nil {
		return wrong(namedTexts, "invalid_value", "%s must be a list of strings.", namedTexts)
	}
	for _, text := range texts[:min(len(texts), maxNamed+1)] {
		id, ok := m.TokenOf(text)
		if !ok {
			return wrong(namedTexts, "invalid_value", "%s contains %s, which is not a single token of this model%s.",
				namedTexts, terms.Quoted(text), tokensIn(m, text))
		}
		ids = append(ids, id)
	}
	for _, id := range ids {
		if !slices.Contains(q.named, id) {
			q.named = append(q.named, id)
		}
		if len(q.named) > maxNamed {
			return wrong(namedIDs, "invalid_value", "%s and %s list more than %d tokens.",
				namedIDs, namedTexts, maxNamed)
		}
	}
	return nil
}

// tokensIn describes the tokens of a short string.
func tokensIn(m *infer.Model, text string) string {
	if len(text) > 40 || m.CheckText(text) != nil {
		return ""
	}
	var list []string
	for _, id := range m.Encode(text) {
		if t := m.Token(id); !t.Special {
			list = append(list, fmt.Sprintf("%q (%d)", t.Text, id))
		}
	}
	if len(list) == 0 {
		return ""
	}
	return ", but " + strings.Join(list, ", ")
}
