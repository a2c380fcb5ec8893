package session

import (
	"context"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
)

// TestBiasIsCheckedAgainstTheModel: even before there is a text, the set command refuses a bias on
// a token that the model does not have.
func TestBiasIsCheckedAgainstTheModel(t *testing.T) {
	t.Parallel()
	s := New(testmodel.Target(t), DefaultLimits())
	bias, err := sampling.NewBias(map[int]float64{4096: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []Command{Set{Bias: &bias}, Start{Prompt: "A"}, Set{Bias: &bias, Knobs: infer.Knobs{"seed": 1}}} {
		_, err := s.Apply(context.Background(), c)
		if _, set := c.(Set); !set {
			if err != nil {
				t.Fatal(err)
			}
			continue
		}
		if r, ok := terms.AsRefusal(err); !ok || r.Field != "logit_bias" {
			t.Errorf("%+v: got %v, want a refusal of logit_bias", c, err)
		}
	}
}
