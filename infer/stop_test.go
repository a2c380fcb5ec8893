package infer

import (
	"context"
	"errors"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

// lastAppend returns the append stage of the newest step.
func lastAppend(l *Loop) Append {
	steps := l.Steps()
	return l.model.Stage(steps[len(steps)-1], KindAppend, nil, 0).(Append)
}

// condition returns the stop condition of the given kind in a stage.
func condition(tb testing.TB, a Append, kind StopReason) Condition {
	tb.Helper()
	for _, c := range a.Conditions {
		if c.Kind == kind {
			return c
		}
	}
	tb.Fatalf("no condition %q among %+v", kind, a.Conditions)
	return Condition{}
}

// TestEveryStopReason: after each kind of stop, the turn is finished, and then Next returns io.EOF.
// The append stage names the reason, and no other condition has fired.
func TestEveryStopReason(t *testing.T) {
	greedy := Settings{Settings: sampling.Settings{TopP: 1}, Stop: Stop{MaxTokens: 100}}
	limited, strung := greedy, greedy
	limited.Stop.MaxTokens = 2
	strung.Stop.Strings = []string{"zz", "bc"}
	abc := chain(t, nil, 'x', 'a', 'b', 'c')
	for _, row := range []struct {
		reason   StopReason
		model    *Model
		prompt   string
		settings Settings
		steps    int
		text     string
	}{
		{StopEOS, abc, "x", greedy, 4, "abc"},
		{StopMaxTokens, abc, "x", limited, 2, "ab"},
		{StopString, abc, "x", strung, 3, "a"},
		// The prompt takes 30 positions of a window of 32, so the third token would not fit.
		{StopContext, chain(t, nil, 'p', 'q', 'r', 's', 't'), strings.Repeat("p", 30), greedy, 3, "qrs"},
		// A prompt that fills the window leaves room to predict one token.
		{StopContext, chain(t, nil, 'p', 'q', 'r'), strings.Repeat("p", 32), greedy, 1, "q"},
	} {
		t.Run(string(row.reason), func(t *testing.T) {
			l := newLoop(t, row.model, row.prompt, row.settings)
			stages := finish(t, l)
			if len(stages) != 7*row.steps || len(l.Steps()) != row.steps || !l.BetweenTurns() {
				t.Errorf("%d stages in %d steps, want %d steps of 7", len(stages), len(l.Steps()), row.steps)
			}
			if _, err := l.Next(context.Background()); !errors.Is(err, io.EOF) {
				t.Errorf("Next gives %v, want io.EOF", err)
			}
			if l.Stopped() != row.reason || textOf(l) != row.text {
				t.Errorf("stopped by %q with the text %q, want %q and %q", l.Stopped(), textOf(l), row.reason, row.text)
			}
			a := lastAppend(l)
			if a.Stop != row.reason || a.Generated != row.steps {
				t.Errorf(
					"append reports %q after %d tokens; want %q, %d", a.Stop, a.Generated, row.reason, row.steps,
				)
			}
			for _, c := range a.Conditions {
				want := c.Kind == row.reason && (c.Kind != StopString || c.String == "bc")
				if c.Fired != want {
					t.Errorf("condition %+v: fired is %v, want %v", c, c.Fired, want)
				}
			}
			for _, s := range l.Steps()[:row.steps-1] {
				for _, c := range s.Conditions {
					if s.Stop != StopNone || c.Fired {
						t.Errorf(
							"step %d: got %q, condition %+v; want s.Stop = %q, Fired = false", s.N, s.Stop, c, StopNone,
						)
					}
				}
			}
		})
	}
}

// TestStopConditionsShowProgress: each step reports how close each condition is to firing.
func TestStopConditionsShowProgress(t *testing.T) {
	// After x, the end of text has z = 1 and a has z = 3 (all other tokens −1000): p = e/(e + e³) =
	// 0.1192. After a, both tokens have z = 0, so each has p = ½.
	m := bigram(t, nil, map[int]map[int]float32{
		'x': {'a': 3, endID: 1},
		'a': {'b': 0, endID: 0},
	})
	s := Settings{
		Settings: sampling.Settings{Temperature: 1, TopK: 1, TopP: 1},
		Stop:     Stop{MaxTokens: 5, Strings: []string{"aab", "no"}},
	}
	l := newLoop(t, m, "xx", s)
	runTo(t, l, 1, KindCache)
	a := lastAppend(l)
	for _, want := range []Condition{
		{Kind: StopMaxTokens, Have: 1, Limit: 5},
		{Kind: StopContext, Have: 2, Limit: 32},
	} {
		if got := condition(t, a, want.Kind); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	if c := condition(t, a, StopEOS); !(math.Abs(c.P-0.1192) <= 5e-5) || c.Kept || c.Fired {
		t.Errorf("%+v, want p 0.1192, cut by top-k", c)
	}
	if len(a.Conditions) != 5 || a.Conditions[2].String != "aab" || a.Conditions[2].Matched != 1 ||
		a.Conditions[3].Matched != 0 {
		t.Errorf("stop strings: %+v, want 1 byte matched of aab and none of no", a.Conditions)
	}
	runTo(t, l, 2, KindAppend)
	if c := condition(t, lastAppend(l), StopEOS); c.P != 0.5 || c.Kept {
		t.Errorf("%+v, want p ½, cut by top-k since b has the lower id", c)
	}

	s.TopK = 0
	l = newLoop(t, m, "x", s)
	runTo(t, l, 1, KindAppend)
	if c := condition(t, lastAppend(l), StopEOS); !c.Kept {
		t.Errorf("%+v, want it kept by pure sampling", c)
	}
}

// TestFiredStopStringMatchesInFull: the stop string that fired is reported as matched in full.
func TestFiredStopStringMatchesInFull(t *testing.T) {
	l := newLoop(t, smallModel(t), "x", stopAt(9, "User:", "zz"))
	write(t, l, spell(t, l.model, "User", ": ")...)
	for _, c := range lastAppend(l).Conditions {
		if c.Kind == StopString &&
			(c.String == "User:" && (c.Matched != 5 || !c.Fired) || c.String == "zz" && (c.Matched != 0 || c.Fired)) {
			t.Errorf(`got condition %+v, want "User:" matched in full (5) and fired, "zz" not matched at all`, c)
		}
	}
}

// TestRaisedLimitContinues: a run stopped by the token limit continues when the limit is raised,
// and then equals a run with the higher limit from the start.
func TestRaisedLimitContinues(t *testing.T) {
	m := smallModel(t)
	l := generate(t, m, "Hi", 3, pure(5))
	s := pure(5)
	s.Stop.MaxTokens = 8
	if err := l.Set(s); err != nil {
		t.Fatal(err)
	}
	if l.Stopped() != StopNone {
		t.Fatalf("with the limit raised: stopped by %q, want %q", l.Stopped(), StopNone)
	}
	finish(t, l)
	want := generate(t, m, "Hi", 8, pure(5))
	if !reflect.DeepEqual(chosen(l), chosen(want)) || textOf(l) != textOf(want) {
		t.Errorf("continued with %v, want %v as in a run of 8", chosen(l), chosen(want))
	}
	s.Stop.MaxTokens = 4 // lowered below the current length
	if err := l.Set(s); err != nil {
		t.Fatal(err)
	}
	if l.Stopped() != StopMaxTokens || len(l.Steps()) != 8 {
		t.Errorf(
			"with the limit lowered: got %q after %d steps; want %q, 8", l.Stopped(), len(l.Steps()), StopMaxTokens,
		)
	}
}

// TestSettingsUndoOnlySomeStops: removing a stop string lets the run continue;
// settings cannot undo the end of the text or a full window.
func TestSettingsUndoOnlySomeStops(t *testing.T) {
	abc := chain(t, nil, 'x', 'a', 'b', 'c')
	greedy := Settings{Settings: sampling.Settings{TopP: 1}, Stop: Stop{MaxTokens: 9, Strings: []string{"b"}}}
	l := newLoop(t, abc, "x", greedy)
	finish(t, l)
	if l.Stopped() != StopString || textOf(l) != "a" {
		t.Fatalf("stopped by %q at %q; want %q, %q", l.Stopped(), textOf(l), StopString, "a")
	}
	greedy.Stop.Strings = nil
	if err := l.Set(greedy); err != nil {
		t.Fatal(err)
	}
	finish(t, l)
	if l.Stopped() != StopEOS || textOf(l) != "abc" {
		t.Fatalf("without the stop string: %q at %q, want eos at abc", l.Stopped(), textOf(l))
	}
	greedy.Stop.MaxTokens = 100
	if err := l.Set(greedy); err != nil || l.Stopped() != StopEOS {
		t.Errorf("a raised limit undid the end of the text: got %q, %v; want %q, <nil>", l.Stopped(), err, StopEOS)
	}
}

func TestNewLoopRefusesBadInput(t *testing.T) {
	m := smallModel(t) // context 64, with a start token
	for _, row := range []struct {
		name, prompt string
		change       func(*Settings)
		field, want  string
	}{
		{"prompt too long", strings.Repeat("x", 64), nil, "prompt", "at most 64 tokens, the context of this model"},
		{"settings", "x", func(s *Settings) { s.TopP = 0 }, "top_p", "above 0, up to 1 (off)"},
		{"seed", "x", func(s *Settings) { s.Seed = MaxSeed + 1 }, "seed", "a whole number from 0 to 9007199254740991"},
		{"no tokens", "x", func(s *Settings) { s.Stop.MaxTokens = 0 }, "max_tokens", "1 to 1,000,000"},
		{"too many tokens", "x", func(s *Settings) { s.Stop.MaxTokens = 1_000_001 }, "max_tokens", "1 to 1,000,000"},
		{
			"empty stop string", "x", func(s *Settings) { s.Stop.Strings = []string{"a", ""} }, "stop",
			"1 to 100 bytes of text",
		},
		{
			"long stop string", "x", func(s *Settings) { s.Stop.Strings = []string{strings.Repeat("x", 101)} }, "stop",
			"1 to 100 bytes of text",
		},
		{
			"broken stop string", "x", func(s *Settings) { s.Stop.Strings = []string{"a\xff"} }, "stop",
			"1 to 100 bytes of text",
		},
		{
			"nine stop strings", "x", func(s *Settings) { s.Stop.Strings = strings.Split("abcdefghi", "") }, "stop",
			"at most 8 strings",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := pure(1)
			if row.change != nil {
				row.change(&s)
			}
			l, err := NewLoop(m, row.prompt, s)
			var r *terms.RangeError
			if l != nil || !errors.As(err, &r) || r.Field != row.field || r.Want.String() != row.want {
				t.Errorf("%v, want a RangeError for %q that asks for %q", err, row.field, row.want)
			}
			if row.change == nil {
				return
			}
			l = newLoop(t, m, "x", pure(1))
			if err := l.Set(s); !errors.As(err, &r) || !l.Settings().Equal(pure(1)) {
				t.Errorf(
					"Set: got error %v, settings %+v; want a refusal and unchanged settings", err, l.Settings(),
				)
			}
		})
	}
	if _, err := NewLoop(m, strings.Repeat("x", 63), pure(1)); err != nil {
		t.Errorf("a prompt that just fits: got error %v", err)
	}
	if _, err := NewLoop(bigram(t, nil, nil), "", pure(1)); err == nil {
		t.Error("got no error for a prompt without any token, want one")
	}
	if err := DefaultSettings().Check(); err != nil {
		t.Errorf("the default settings: got error %v", err)
	}
}

func TestCheckPrompt(t *testing.T) {
	for _, row := range []struct{ text, got string }{
		{"", "empty"},
		{strings.Repeat("é", 6), "12 bytes long"},
		{"a\uFFFDb\xffc", "not valid UTF-8 at byte 5"},
		{"\xe2\x82", "not valid UTF-8 at byte 0"},
		{"a\x00b", "text with a NUL character"},
	} {
		var r *terms.RangeError
		if err := CheckPrompt(row.text, 10); !errors.As(err, &r) || r.Field != "prompt" || r.Got.String() != row.got ||
			r.Want.String() != "1 to 10 bytes of text" {
			t.Errorf("CheckPrompt(%q): %v, want %q", row.text, err, row.got)
		}
	}
	for _, text := range []string{"a", strings.Repeat("é", 5), "<|end|>", "\n", "\uFFFD"} {
		if err := CheckPrompt(text, 10); err != nil {
			t.Errorf("CheckPrompt(%q): %v", text, err)
		}
	}
}

// TestPromptIsPlainText: text typed by a learner is plain text, even if it is the name of a special
// token. Only the model adds the start token.
// Promise: The name of a special token in a prompt is plain text.
func TestPromptIsPlainText(t *testing.T) {
	m := bundledModel(t)
	ids := m.Encode("<|endoftext|>")
	if ids[0] != m.Config().BOS || len(ids) < 3 {
		t.Fatalf("%v: want the start token, then several tokens", ids)
	}
	text := ""
	for _, id := range ids[1:] {
		if m.EOS(id) || m.Token(id).Special {
			t.Errorf("got special token %d in typed text, want none", id)
		}
		text += m.Token(id).Text
	}
	if text != "<|endoftext|>" {
		t.Errorf("the tokens spell %q, want %q", text, "<|endoftext|>")
	}
}
