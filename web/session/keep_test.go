package session_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/bundled"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// TestBranchKeepsItsSettings: a branch keeps the settings that it had when it was left,
// even after the run was evicted.
func TestBranchKeepsItsSettings(t *testing.T) {
	t.Parallel()
	s := open(t, session.Start{Prompt: "Hi"}, session.StepToken{}, session.StepToken{})
	first := s.State().Branches[0].ID
	// Changing the settings while looking back cuts off the second token and begins another branch.
	st := apply(
		t, s, session.Back{}, session.Back{}, session.Back{}, session.SetKnob("temperature", 2.5),
		session.StepToken{},
	)
	if len(st.Branches) != 2 {
		t.Fatalf("branches: got %+v, want 2 elements", st.Branches)
	}
	second := st.Branches[1].ID
	for _, row := range []struct {
		id    int
		want  float64
		evict bool
	}{{first, 1, false}, {second, 2.5, false}, {first, 1, true}, {second, 2.5, true}} {
		if row.evict {
			s.Evict()
		}
		if st := apply(t, s, session.TakeBranch{ID: row.id}); st.Settings.Temperature != row.want {
			t.Errorf(
				"branch %d (evicted: %v) continues at T = %v, want %v", row.id, row.evict, st.Settings.Temperature,
				row.want,
			)
		}
	}
}

// TestLinkHoldsEveryChoice: a link contains every token that a person has chosen, each at its step.
func TestLinkHoldsEveryChoice(t *testing.T) {
	t.Parallel()
	s := open(t, session.Start{Prompt: "Hi"}, session.StepToken{}, session.StepToken{}, session.StepToken{})
	var want []infer.Choice
	for step := 1; step <= 3; step++ {
		st := s.State()
		least := int(st.Steps[step-1].Distribution().Order[st.Model.Config().Vocab-1])
		want = append(want, infer.Choice{Step: step, Token: least})
		apply(t, s, session.Choose{Step: step, Token: least}, session.StepToken{}, session.StepToken{})
	}
	link, err := session.ParseLink(s.State().Model, session.LinkOf(s.State()))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(link.Log.Choices, want) {
		t.Errorf("the link has the choices %v, want %v", link.Log.Choices, want)
	}
	opened := apply(t, session.New(s.State().Model, session.DefaultLimits()), session.Open{Link: link})
	for i, step := range opened.Steps {
		if step.Chosen != s.State().Steps[i].Chosen || step.Forced != s.State().Steps[i].Forced {
			t.Errorf(
				"opened, step %d took %d (chosen: %v), want %d", i+1, step.Chosen, step.Forced,
				s.State().Steps[i].Chosen,
			)
		}
	}
}

// TestLinkPromptIsBounded: a link cannot contain a prompt that would be refused if it were
// typed.
func TestLinkPromptIsBounded(t *testing.T) {
	t.Parallel()
	st := open(t, session.Start{Prompt: "Hello"}, session.StepToken{}).State()
	link, err := session.ParseLink(st.Model, session.LinkOf(st))
	if err != nil {
		t.Fatal(err)
	}
	for bytes, taken := range map[int]bool{5: true, 4: false} {
		s := session.New(st.Model, session.Limits{PromptBytes: bytes})
		if taken {
			apply(t, s, session.Open{Link: link})
		} else if e := wantRefused(t, s, session.Open{Link: link}); e.Field != "prompt" {
			t.Errorf("a prompt of 5 bytes with a limit of %d: got %v, want a refusal of the prompt", bytes, e)
		}
	}
}

// TestLinkBelongsToItsModel: with rounded weights, the same files generate a different text. A link
// made with one of the two models therefore cannot be opened with the other.
// Promise: A link made with another model is refused instead of showing a different text.
func TestLinkBelongsToItsModel(t *testing.T) {
	t.Parallel()
	c, err := bundled.Draft()
	if err != nil {
		t.Fatal(err)
	}
	models := map[infer.Quant]*infer.Model{}
	for _, quant := range []infer.Quant{infer.QuantNone, infer.QuantInt8} {
		if models[quant], err = infer.LoadQuantized(c, quant); err != nil {
			t.Fatal(err)
		}
	}
	s := session.New(models[infer.QuantNone], session.DefaultLimits())
	link := session.LinkOf(apply(t, s, session.Start{Prompt: "Once"}))
	if _, err := session.ParseLink(models[infer.QuantNone], link); err != nil {
		t.Error(err)
	}
	var e *terms.Refusal
	if _, err := session.ParseLink(models[infer.QuantInt8], link); !errors.As(err, &e) || e.Code != session.CodeOther {
		t.Errorf("for another model: got %v, want code %q", err, session.CodeOther)
	}
}
