package class

import (
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/web/session"
)

// named is the option that a revealed poll says the draw gives.
func named(t *testing.T, p *Poll) Option {
	t.Helper()
	for _, o := range p.Options {
		if o.Right {
			return o
		}
	}
	t.Fatalf("the reveal names no token: %+v", p.Options)
	return Option{}
}

// draws moves the run of a room past the draw of its step.
func (l *lesson) draws() *View {
	l.t.Helper()
	v := l.View()
	for v.State.Frontier().Stage < infer.KindSample {
		v = l.does(Drive{session.StepStage{}})
	}
	return v
}

// TestRevealMatchesTheDraw: whatever the seed, what a reveal names is what the draw then
// gives, if nobody changes a setting.
func TestRevealMatchesTheDraw(t *testing.T) {
	s := begun(t, "")
	l := s.room(Options{})
	for seed := range 20 {
		l.does(Drive{session.SetKnob("seed", float64(seed))})
		l.start("Once upon a time there was a")
		ask := Command(AskNext{})
		if seed%2 == 1 {
			ask = AskDraw{}
		}
		p := l.does(ask, Reveal{}).Poll
		right := Option{}
		for _, o := range p.Options {
			if o.Right {
				right = o
			}
		}
		if v := l.draws(); right.Key != "" && v.State.Step().Chosen != number(right.Key) || v.Broken != nil {
			t.Errorf(
				"seed %d: the reveal says %q, the draw gives %d, %+v; want the same token", seed, right.Text,
				v.State.Step().Chosen, v.Broken,
			)
		}
	}
}

// TestChangedSettingWithdrawsReveal: a setting that is changed after the reveal so that the
// draw gives another token withdraws the reveal for everybody, before the draw without
// naming the other token; changed back, the reveal holds again.
func TestChangedSettingWithdrawsReveal(t *testing.T) {
	dir := t.TempDir()
	s := begun(t, dir)
	l := s.room(Options{})
	l.start("Once upon a time there was a")
	said := named(t, l.does(AskNext{}, Reveal{}).Poll)
	old := l.View().State.Settings.Seed
	other := old
	for withdrawn := false; !withdrawn; {
		other++
		v := l.does(Drive{session.SetKnob("seed", float64(other))})
		if v.State.Frontier().Stage < infer.KindLogits {
			if v.Broken == nil || *v.Broken != (Broken{Said: said.Text, Unsure: true}) {
				t.Fatalf(
					"before the scores are computed again the room says %+v, want v.Broken not nil, *v.Broken = %+v",
					v.Broken, Broken{Said: said.Text, Unsure: true},
				)
			}
			v = l.does(Drive{session.StepStage{}})
		}
		if withdrawn = v.Broken != nil; withdrawn && *v.Broken != (Broken{Said: said.Text}) {
			t.Fatalf("before the draw the room says %+v of %q", v.Broken, said.Text)
		}
		if other > old+50 {
			t.Fatal("fifty seeds draw the same token")
		}
	}
	if v := l.does(Drive{session.SetKnob("seed", float64(old))}); v.Broken != nil {
		t.Errorf("with its own seed the reveal is still withdrawn: got %+v, want nil", v.Broken)
	}
	l.does(Drive{session.SetKnob("seed", float64(other))})
	v := l.draws()
	drew := v.State.Step().Chosen
	if drew == number(said.Key) || v.Broken == nil ||
		*v.Broken != (Broken{Said: said.Text, Drew: readable(v.State.Model, drew)}) {
		t.Errorf(
			"after the draw of token %d the room says %+v, want the token revealed and the other one drawn", drew,
			v.Broken,
		)
	}

	code, secret := l.Code(), l.secret
	s.end()
	s = begun(t, dir)
	r, err := s.Instruct(t.Context(), code, secret, caller(teacher))
	if err != nil {
		t.Fatal(err)
	}
	l = &lesson{r, t, secret}
	if v := l.does(Drive{session.SetLook{}}); v.Broken == nil || v.Broken.Said != said.Text {
		t.Errorf("after a restart the room says %+v, want v.Broken not nil, Said = %q", v.Broken, said.Text)
	}
	if v := l.does(Drive{session.StepToken{}}, Drive{session.StepToken{}}); v.Broken != nil {
		t.Errorf("the next token is said to be withdrawn: got %+v, want nil", v.Broken)
	}
	l.start("Once upon a time there was a little")
	if v := l.draws(); v.Broken != nil {
		t.Errorf("another text's draw is said to be withdrawn: got %+v, want nil", v.Broken)
	}
}

// TestClassChoiceKeepsTheReveal: a token that the class appends instead of the one drawn
// breaks no reveal.
func TestClassChoiceKeepsTheReveal(t *testing.T) {
	s := begun(t, "")
	l := s.room(Options{})
	l.start("Once upon a time there was a")
	l.class(1)
	p := l.does(AskNext{}).Poll
	for _, key := range keys(p) { // the last of them that is not drawn
		l.votes(1, Ballot{Choice: key})
		if key != named(t, l.mirror(Revealed)).Key {
			break
		}
	}
	said := named(t, l.does(Reveal{}).Poll)
	v := l.does(AppendMajority{})
	if chosen := v.State.Step().Chosen; chosen == number(said.Key) || v.Broken != nil {
		t.Errorf(
			"the class appended %d, the reveal named %s: %+v; want another token, and no broken reveal", chosen,
			said.Key, v.Broken,
		)
	}
}

// mirror is the poll on the stage as it will look in a phase.
func (l *lesson) mirror(phase Phase) *Poll {
	l.t.Helper()
	p, err := get(l.t.Context(), l.Room, func(c *core) (*Poll, error) { return c.onStage().view(c.votes, phase), nil })
	if err != nil {
		l.t.Fatal(err)
	}
	return p
}
