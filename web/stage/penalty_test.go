package stage

import (
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/session/sessiontest"
)

// TestLogitsSayWhatThePenaltyChanged: if a token's score was changed, its row shows the original
// score, and its worked line divides or multiplies. The note counts all such tokens.
func TestLogitsSayWhatThePenaltyChanged(t *testing.T) {
	m := testmodel.Target(t)
	s := session.New(m, session.DefaultLimits())
	const prompt = "the dog and the cat and the dog and the"
	sessiontest.Do(t, s, session.Set{Knobs: infer.Knobs{"repetition_penalty": 1.05}})
	sessiontest.Do(t, s, session.Start{Prompt: prompt})
	sessiontest.Do(t, s, session.StepStage{})
	and := m.Encode(prompt)[3]
	sessiontest.Do(t, s, session.Choose{Step: 1, Token: and}) // a token with a negative score, far down the list
	st := sessiontest.Do(t, s, session.Seek{Step: 1, Stage: infer.KindLogits})
	p := English.New(st)
	was := map[string]TableRow{}
	for _, r := range p.Table.Rows {
		if r.Was != "" {
			was[r.Text.String()] = r
		}
	}
	dog, last := was["·dog"], was["·and"]
	if len(was) != 2 || dog.Was != "was 6.69" || dog.Z != "6.37" || dog.aside() != dog.Was ||
		last.Far == "" || last.aside() != last.Far+", "+last.Was {
		t.Errorf(
			"got %+v, want 2 elements, dog.Was = %q, dog.Z = %q, dog.aside() = %q, last.Far not empty, "+
				"last.aside() = %q",
			was, "was 6.69", "6.37", dog.Was, last.Far+", "+last.Was,
		)
	}
	if got := dog.Work.Cells[1].Sum.String(); got != "6.6902 / 1.05 = 6.3716" {
		t.Errorf("the worked line of ·dog is %s, want %s", got, "6.6902 / 1.05 = 6.3716")
	}
	if got := last.Work.Cells[1].Sum.String(); !strings.Contains(got, " × 1.05 = "+terms.Minus) {
		t.Errorf("the worked line of ·and is %s, want it to contain %q", got, " × 1.05 = "+terms.Minus)
	}
	const say = "The repetition penalty, 1.05, lowered the scores of 6 tokens already in the text. " +
		"Highest now: ·dog 6.69"
	if got := strings.ReplaceAll(p.Notes[0].String(), "\u00a0", " "); !strings.HasPrefix(got, say) {
		t.Errorf("the note is %s, want it to begin with %q", got, say)
	}
}
