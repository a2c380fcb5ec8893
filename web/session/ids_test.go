package session

import (
	"context"
	"slices"
	"testing"

	"github.com/tokenbytoken/viz/infer/testmodel"
)

// TestGivenTokensSurvive: a run whose prompt was given as tokens is unchanged when it is opened
// from a link or woken from rest.
func TestGivenTokensSurvive(t *testing.T) {
	t.Parallel()
	m := testmodel.Target(t)
	var ids []int
	for _, b := range []byte("The fox") {
		id, _ := m.TokenOf(string(b))
		ids = append(ids, id)
	}
	prompt, err := m.PromptOf(ids)
	if err != nil || prompt.IDs == nil {
		t.Fatalf("got %+v, %v; want tokens that differ from the encoded text", prompt, err)
	}
	s := New(m, DefaultLimits())
	st, err := s.Apply(context.Background(), Start{Prompt: prompt.Text, IDs: prompt.IDs})
	if err != nil {
		t.Fatal(err)
	}
	link, err := ParseLink(m, LinkOf(st))
	if err != nil {
		t.Fatal(err)
	}
	opened, err := New(m, DefaultLimits()).Apply(context.Background(), Open{Link: link})
	if err != nil {
		t.Fatal(err)
	}
	packed, err := s.Rest()
	if err != nil {
		t.Fatal(err)
	}
	woken, err := Wake(m, DefaultLimits(), packed)
	if err != nil {
		t.Fatal(err)
	}
	for name, st := range map[string]*State{"a link": opened, "a rest": woken.State()} {
		if !slices.Equal(st.Whole().IDs, prompt.IDs) || len(st.PromptTokens) != len(prompt.IDs) {
			t.Errorf("after %s, the tokens are %v, want %v", name, st.Whole().IDs, prompt.IDs)
		}
	}
	link.Log.Prompt = "The dog"
	if _, err := New(m, DefaultLimits()).Apply(context.Background(), Open{Link: link}); err == nil {
		t.Error("a link whose tokens do not spell its text was opened, want an error")
	}
}
