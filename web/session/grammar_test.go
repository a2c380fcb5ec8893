package session

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/pseudo"
)

// TestGrammarIsFixedForARun: a grammar is set before the first token, by a command or a message,
// and does not change after that. A link contains the grammar and reproduces the same text.
func TestGrammarIsFixedForARun(t *testing.T) {
	const yesNo = `{"enum":["yes","no"]}`
	s, ctx := New(testmodel.Target(t), DefaultLimits()), context.Background()
	f, refused := terms.JSONFields([]byte(`{"grammar":"{\"enum\":[\"yes\",\"no\"]}"}`))
	if refused != nil {
		t.Fatalf("parsing the message: got refusal %v, want none", refused)
	}
	set, _, refused := Commands.Read("set", f)
	if refused != nil {
		t.Fatalf("parsing the form: got refusal %v, want none", refused)
	}
	var st *State
	for _, c := range []Command{set, Start{Prompt: "Is it so?"}, Finish{}} {
		var err error
		if st, err = s.Apply(ctx, c); err != nil {
			t.Fatal(err)
		}
	}
	for st.Playing {
		var err error
		if st, err = s.Tick(ctx); err != nil {
			t.Fatal(err)
		}
	}
	text := func(st *State) (text string) {
		for _, step := range st.Steps {
			text += step.Text
		}
		return text
	}
	if got := text(st); st.Settings.Grammar != yesNo || got != `"yes"` && got != `"no"` || st.Stopped != infer.StopEOS {
		t.Errorf(`got %q, stopped by %q; want "yes" or "no", as the grammar requires, up to the end of text`, got,
			st.Stopped)
	}
	other := "regexp:a*"
	var wrong *terms.Refusal
	if _, err := s.Apply(ctx, Set{Grammar: &other}); !errors.As(err, &wrong) || wrong.Field != "grammar" {
		t.Errorf("setting another grammar later: got error %v", err)
	}
	link, err := ParseLink(st.Model, LinkOf(st))
	if err != nil || link.Log.Settings.Grammar != yesNo {
		t.Fatalf("the link has %q, %v; want %q, <nil>", link.Log.Settings.Grammar, err, yesNo)
	}
	loop, err := infer.Replay(ctx, st.Model, link.Log)
	if err != nil || len(loop.Steps()) != len(st.Steps) || loop.Steps()[1].Chosen != st.Steps[1].Chosen {
		t.Errorf(
			"the link leads elsewhere: got %v, want no error, len(loop.Steps()) = %d, loop.Steps()[1].Chosen = %d", err,
			len(st.Steps), st.Steps[1].Chosen,
		)
	}
	// LinkOf does not return a link that is too long to parse.
	long := `{"title":"` + strings.Repeat("x", 60<<10) + `","type":"null"}`
	s = New(testmodel.Target(t), DefaultLimits())
	for _, c := range []Command{Set{Grammar: &long}, Start{Prompt: "A"}, StepToken{}} {
		if st, err = s.Apply(ctx, c); err != nil {
			t.Fatal(err)
		}
	}
	if link := LinkOf(st); link != "" {
		t.Errorf("got a link of %d bytes, want none", len(link))
	}
}

// TestGrammarsThatAreRefused: invalid grammars are refused before anything runs, and the settings
// do not change.
func TestGrammarsThatAreRefused(t *testing.T) {
	for _, bad := range []string{"x", "regexp:(", `{"$ref":"#"}`, `{"not":{}}`} {
		s := New(testmodel.Target(t), DefaultLimits())
		var wrong *terms.Refusal
		_, err := s.Apply(context.Background(), Set{Grammar: &bad})
		if !errors.As(err, &wrong) || wrong.Field != "grammar" || s.State().Settings.Grammar != "" {
			t.Errorf(
				`%s: got %v; want an error of type *terms.Refusal, wrong.Field = %q, s.State().Settings.Grammar = ""`,
				bad, err, "grammar",
			)
		}
	}
}

// TestSlowGrammarEndsPlaying: if a mask takes too long to compute, playing stops and a notice
// explains why.
func TestSlowGrammarEndsPlaying(t *testing.T) {
	s, ctx := New(testmodel.Target(t), DefaultLimits()), context.Background()
	open := "regexp:(([a-z ]?){30}){30}"
	for _, c := range []Command{Set{Grammar: &open}, Start{Prompt: "Once"}, Finish{}} {
		if _, err := s.Apply(ctx, c); err != nil {
			t.Fatal(err)
		}
	}
	st, err := s.Tick(ctx)
	for n := 0; n < 40 && st.Playing; n++ {
		st, err = s.Tick(ctx)
	}
	if err == nil || st.Playing || st.Stuck == nil || !strings.Contains(st.Stuck.Message, "takes too long") {
		t.Errorf(
			"got %v; playing: %v; %v; want an error, st.Playing = false, st.Stuck with %q", err, st.Playing, st.Stuck,
			"takes too long",
		)
	}
	if st, err = s.Apply(ctx, Reset{}); err != nil || st.Stuck != nil {
		t.Errorf("after a reset: got %v, %v; want no error, st.Stuck = nil", err, st.Stuck)
	}
}

// TestRestKeepsTheRefusalInEveryLanguage: if playing ended with a refusal, the refusal can still be
// shown in the viewer's language after a rest.
func TestRestKeepsTheRefusalInEveryLanguage(t *testing.T) {
	s, l := New(testmodel.Target(t), DefaultLimits()), pseudo.Language(t)
	if _, err := s.Apply(context.Background(), Start{Prompt: "Once"}); err != nil {
		t.Fatal(err)
	}
	_, err := terms.MustKnob("top_k").Parse("-1")
	want := terms.RefusalOf(err)
	s.state.Stuck = want
	packed, err := s.Rest()
	if err != nil {
		t.Fatal(err)
	}
	woken, err := Wake(s.model, DefaultLimits(), packed)
	if err != nil {
		t.Fatal(err)
	}
	got := woken.State().Stuck
	if got == nil || got.Error() != want.Error() || got.In(l) != want.In(l) {
		t.Errorf("got %v, in another language %q; want %v, %q", got, got.In(l), want, want.In(l))
	}
}
