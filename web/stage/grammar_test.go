package stage

import (
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/session/sessiontest"
)

// TestGrammarCutsAreExplained: if there is a grammar, no voice claims that tokens are cut because
// they are unlikely. Tokens that do not fit the grammar are cut, and Numbers shows how many there
// are and their share.
func TestGrammarCutsAreExplained(t *testing.T) {
	yes := `{"enum":["yes","no"]}`
	for temperature, want := range map[float64][2]string{
		1: {"can’t come next", "must follow a set form"},
		0: {"among the tokens that the grammar allows", "of those that fit the text’s form"},
	} {
		s := session.New(testmodel.Target(t), session.DefaultLimits())
		sessiontest.Do(t, s, session.Set{Grammar: &yes, Knobs: infer.Knobs{"temperature": temperature, "top_p": 1}})
		sessiontest.Do(t, s, session.Start{Prompt: "Is it so?"})
		sessiontest.Do(t, s, session.StepToken{})
		st := sessiontest.Do(t, s, session.Seek{Step: 1, Stage: infer.KindFilter})
		for i, v := range []Voice{Numbers, Tale} {
			if got := English.SentenceOf(v, st, infer.KindFilter).String(); !strings.Contains(got, want[i]) ||
				strings.Contains(got, "nlikely") {
				t.Errorf("T = %v: %q, want %q", temperature, got, want[i])
			}
		}
	}
}
