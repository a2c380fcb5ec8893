package session_test

import (
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/pseudo"
	"github.com/tokenbytoken/viz/web/session"
)

// TestRefusalsAreInTheCatalog causes every refusal of a command or a link that is not about a
// range. It renders the refusals in the pseudo-language, which marks every word from a catalog.
func TestRefusalsAreInTheCatalog(t *testing.T) {
	l, m := pseudo.Language(t), testmodel.Target(t)
	data := pseudo.NewData([]string{m.Name(), "xyz", "WhatIf", "top_k"})
	check := func(what string, err error) {
		t.Helper()
		r, refused := terms.AsRefusal(err)
		if !refused || r.Code == terms.CodeRange {
			t.Errorf("%s: got %v, want a refusal that is not about a range", what, err)
			return
		}
		if left := data.Unmarked(r.In(l)); len(left) > 0 {
			t.Errorf("%s: %q is in no catalog, want none: %s", what, left, r.In(l))
		}
	}
	u := 0.5
	one := session.Start{Prompt: "Once upon a"}
	greedy := session.SetPreset{Key: "greedy"}
	end := session.SetKnob("max_tokens", 1)
	token := session.StepToken{}
	for _, c := range []struct {
		what     string
		commands []session.Command // the last one is refused
	}{
		{"no text", []session.Command{token}},
		{"the first stage", []session.Command{one, session.Back{}}},
		{"nothing to continue", []session.Command{one, session.GoOn{}}},
		{"no draw yet", []session.Command{one, session.Draw{}}},
		{"u too early", []session.Command{one, session.WhatIf{U: &u}}},
		{"u without a draw", []session.Command{
			greedy, one, token, session.Seek{Step: 1, Stage: infer.KindSample}, session.WhatIf{U: &u},
		}},
		{"nothing to draw again", []session.Command{one, session.Redraw{Seed: 1}}},
		{"greedy again", []session.Command{greedy, one, token, session.Redraw{Seed: 1}}},
		{"at the limit", []session.Command{end, one, token, token}},
	} {
		s := session.New(m, session.DefaultLimits())
		for i, command := range c.commands {
			_, err := s.Apply(t.Context(), command)
			switch {
			case i == len(c.commands)-1:
				check(c.what, err)
			case err != nil:
				t.Fatalf("%s: %#v: %v", c.what, command, err)
			}
		}
	}
	_, err := session.ParseLink(m, "xyz")
	check("a damaged link", err)
	_, err = session.ReadRules("xyz", sampling.Pure)
	check("a rule without a value", err)
	for _, prompt := range []string{"Once ", "Once  "} {
		space, ok := session.NewSpaceAtEnd(l, m, prompt)
		if !ok {
			t.Fatalf("%q does not end with a space", prompt)
		}
		if left := data.Unmarked(space.Head + space.Say + space.Act); len(left) > 0 {
			t.Errorf("%q: %q is in no catalog", prompt, left)
		}
	}
}
