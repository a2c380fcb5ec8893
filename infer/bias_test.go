package infer_test

import (
	"errors"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/speculation"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
)

// TestBiasOutsideTheVocabulary: all functions that start a text reject a bias on a token that the
// model does not have.
func TestBiasOutsideTheVocabulary(t *testing.T) {
	t.Parallel()
	m := testmodel.Target(t)
	for id, want := range map[string]string{"4095": "", "4096": "set for token 4096"} {
		s := infer.DefaultSettings()
		if err := s.LogitBias.UnmarshalJSON([]byte(`{"` + id + `": 5}`)); err != nil {
			t.Fatal(err)
		}
		_, loop := infer.NewLoop(m, "A", s)
		_, drafted := speculation.New(m, testmodel.Draft(t), "A", s, 1)
		s.XTCProbability = 0
		_, compared := m.Compare(t.Context(), infer.Side{Text: "A fox", Settings: s.Settings})
		for name, err := range map[string]error{"a loop": loop, "speculation": drafted, "a comparison": compared} {
			r := new(terms.RangeError)
			if errors.As(err, &r) != (want != "") || want != "" && (r.Field != "logit_bias" || r.Got.String() != want) {
				t.Errorf("%s with a bias on %s: got %v, want %q", name, id, err, want)
			}
		}
	}
}
