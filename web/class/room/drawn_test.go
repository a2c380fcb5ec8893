package room

import (
	"testing"

	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/session"
)

// TestRevealLeavesTheDrawToChance: a reveal shows the model's probabilities and marks no
// token, since none has been drawn yet. Once the run continues, the poll is no longer shown,
// and the summary names the token that was drawn.
func TestRevealLeavesTheDrawToChance(t *testing.T) {
	t.Parallel()
	s := begun(t, "")
	l := s.room(class.Options{})
	for _, ask := range []class.Command{class.AskNext{}, class.AskDraw{}} {
		l.Start("Once upon a time there was a")
		p := l.Does(ask, class.Reveal{}).Poll
		for _, o := range p.Options {
			if o.Right {
				t.Errorf("%s: the reveal marks %q, want no token", p.Kind, o.Text)
			}
		}
		if p.Phase != class.Revealed || p.Options[0].P == 0 {
			t.Errorf("%s: the reveal is %+v, want probabilities", p.Kind, p)
		}
		if v := l.Does(class.Drive{Do: session.StepToken{}}); v.Poll != nil {
			t.Errorf("after the draw, the poll is still there: %+v", v.Poll)
		}
	}
	sum, err := l.Summary(t.Context(), l.Secret)
	if err != nil {
		t.Fatal(err)
	}
	marked := 0
	for _, o := range sum.Polls[0].Options {
		if o.Right {
			marked++
		}
	}
	if marked != 1 {
		t.Errorf("the summary marks %d tokens, want only the drawn token", marked)
	}
}
