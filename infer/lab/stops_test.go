package lab

import (
	"reflect"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
)

// TestStopLimitsBeforeARun: the limits of a run are known in advance. The pass for the first token
// reads all 4 tokens of the prompt, so 512 positions are full when the 509th token is drawn.
func TestStopLimitsBeforeARun(t *testing.T) {
	env := models(t)
	i, _ := Find("stops")
	v, err := i.Info(terms.English).Inputs.Read(terms.Values{
		"prompt": "the the the", "max_tokens": "30", "stop": "e", "tokens": "600",
	})
	if err != nil {
		t.Fatal(err)
	}
	racers, written, err := AheadOfStops(env.Target, v)
	if err != nil {
		t.Fatal(err)
	}
	prompt := len(env.Target.Encode("the the the"))
	full := env.Target.Config().Context - prompt + 1
	want := []Racer{
		{Kind: infer.StopEOS},
		{Kind: infer.StopString, String: "e"},
		{Kind: infer.StopMaxTokens, Limit: 30, Step: 30, Sure: true},
		{Kind: infer.StopContext, Limit: env.Target.Config().Context, Step: full, Sure: true},
	}
	if !reflect.DeepEqual(racers, want) || written != full {
		t.Errorf("%+v in %d tokens, want %+v in %d", racers, written, want, full)
	}
}

// TestStopRaceMatchesSingleRuns: every racer's step and text equal the step and text of a run that only its
// condition can end.
func TestStopRaceMatchesSingleRuns(t *testing.T) {
	env := models(t)
	s, _ := result[*Stops](t, "stops", terms.Values{"tokens": "300", "max_tokens": "30", "stop": "e\n.\n</answer>"})
	if len(s.Racers) != 6 || s.Winner != string(s.Racers[0].Kind) || s.Answer != s.Racers[0].Text {
		t.Fatalf(
			"winner %s of %+v; want 6 elements, s.Winner = %s, s.Answer = %q", s.Winner, s.Racers,
			string(s.Racers[0].Kind), s.Racers[0].Text,
		)
	}
	for i, x := range s.Racers {
		if before := s.Racers[max(0, i-1)]; x.Step > 0 && (before.Step == 0 || before.Step > x.Step) || x.Say.IsZero() {
			t.Errorf("got %+v after %+v, want the racers ordered by step, each with a sentence", x, before)
		}
		settings := infer.Settings{Settings: common(), Seed: 42, Stop: infer.Stop{MaxTokens: 300}}
		switch x.Kind {
		case infer.StopString:
			settings.Stop.Strings = []string{x.String}
		case infer.StopMaxTokens:
			settings.Stop.MaxTokens = x.Limit
		case infer.StopContext:
			if want := env.Target.Config().Context - len(s.Prompt) + 1; x.Step != want || !x.Sure {
				t.Errorf("the context is full at %d, want %d", x.Step, want)
			}
			continue
		}
		loop, err := infer.NewLoop(env.Target, story, settings)
		if err != nil {
			t.Fatal(err)
		}
		text, err := write(t.Context(), loop)
		if err != nil {
			t.Fatal(err)
		}
		steps := loop.Steps()
		last := steps[len(steps)-1]
		if last.Stop != x.Kind { // an end-of-text token came first, or the condition never fired
			if x.Step != 0 && x.Step <= last.N {
				t.Errorf(
					"%s %q fires at %d, but alone the run ends at %d by %s", x.Kind, x.String, x.Step, last.N,
					last.Stop,
				)
			}
			continue
		}
		if x.Step != last.N || x.Text != text {
			t.Errorf(
				"%s %q at %d leaves %q; alone it fires at %d and leaves %q", x.Kind, x.String, x.Step, x.Text, last.N,
				text,
			)
		}
	}
}

// TestStopStringAcrossTokens: a stop string that begins inside one token and ends in a
// later one ends the run there, and the text before it is the answer.
func TestStopStringAcrossTokens(t *testing.T) {
	s, _ := result[*Stops](t, "stops", terms.Values{"tokens": "60", "stop": ""})
	x := s.Straddle
	if x == nil || x.Given || x.First >= x.Last || x.Offset <= 0 || strings.Contains(x.Kept, x.String) {
		t.Fatalf(
			"got %+v, want x not nil, Given = false, First less than %d, Offset more than 0, Kept without %q", x,
			x.Last, x.String,
		)
	}
	last := x.Steps[len(x.Steps)-1]
	if last.Stop != infer.StopString || last.Step != x.Last || last.Matched != len(x.String) {
		t.Errorf(
			"it ends with %+v, want Stop = %q, Step = %d, Matched = %d", last, infer.StopString, x.Last, len(x.String),
		)
	}
	whole := ""
	for _, token := range s.Tokens[:x.Last] {
		whole += token.Token.Text
	}
	if before, _, found := strings.Cut(whole, x.String); !found || before != x.Kept {
		t.Errorf("kept %q of %q, want the text before the stop string", x.Kept, whole)
	}
	held := false
	for _, step := range x.Steps[:len(x.Steps)-1] {
		held = held || step.Held != "" && step.Matched > 0
	}
	if !held {
		t.Error("no text was held back before the string was complete")
	}
	// If the user enters this string as a stop string, the lab shows the user's string.
	again, _ := result[*Stops](t, "stops", terms.Values{"tokens": "60", "stop": x.String})
	if y := again.Straddle; y == nil || !y.Given || y.First != x.First || y.Last != x.Last || y.Kept != x.Kept {
		t.Errorf(
			"given: got %+v, want y not nil, Given = true, First = %d, Last = %d, Kept = %q", y, x.First, x.Last,
			x.Kept,
		)
	}
}

// TestStopStringAtATokenOffset: a string that begins inside a later token is found at its offset in
// that token.
func TestStopStringAtATokenOffset(t *testing.T) {
	s, _ := result[*Stops](t, "stops", terms.Values{"tokens": "60", "stop": ""})
	text, found := "", 0
	for i, x := range s.Tokens[:len(s.Tokens)-1] {
		a, b := x.Token.Text, s.Tokens[i+1].Token.Text
		before := len(text)
		text += a
		if i == 0 || !cuttable(a) || !cuttable(b) {
			continue
		}
		str := a[len(a)-2:] + b[:3]
		if strings.Index(text+b, str) != before+len(a)-2 {
			continue // the string also occurs earlier
		}
		again, _ := result[*Stops](t, "stops", terms.Values{"tokens": "60", "stop": str})
		if y := again.Straddle; y == nil || y.String != str || y.First != i+1 || y.Last != i+2 ||
			y.Offset != len(a)-2 || y.Kept != text[:len(text)-2] {
			t.Errorf(
				"%q across tokens %d and %d: %+v; want y not nil, String = %q, First = %d, Last = %d, "+
					"Offset = %d, Kept = %q",
				str, i+1, i+2, y, str, i+1, i+2, len(a)-2, text[:len(text)-2],
			)
		}
		if found++; found == 3 {
			return
		}
	}
	t.Error("found too few such strings, so the test proves little")
}

func TestTokenAtTextOffset(t *testing.T) {
	r := stopsRun{ends: []int{3, 3, 5, 8}} // the second token has no bytes
	for place, want := range []int{0, 0, 0, 2, 2, 3, 3, 3} {
		if got := r.tokenAt(place); got != want {
			t.Errorf("byte %d belongs to token %d, want %d", place, got, want)
		}
	}
}

// TestStopsRunContinuesPastTheEnd: a run continues past the end of text, and counts the rest
// separately.
func TestStopsRunContinuesPastTheEnd(t *testing.T) {
	m := models(t).Target
	s, _ := result[*Stops](t, "stops", terms.Values{"tokens": "400", "max_tokens": "400", "stop": ""})
	ends, first := 0, 0
	for i, x := range s.Tokens {
		if m.EOS(x.Token.ID) {
			if ends++; first == 0 {
				first = i + 1
			}
		}
	}
	n := s.NoEnd
	if n.Ends != ends || n.EndAt != first || n.Tokens != len(s.Tokens) || n.Say.IsZero() {
		t.Errorf(
			"%d ends, the first at %d, of %d tokens; counted %d and %d; want n.Ends = %d, n.EndAt = %d, "+
				"n.Tokens = %d, n.Say not empty",
			n.Ends, n.EndAt, n.Tokens, ends, first, ends, first, len(s.Tokens),
		)
	}
	if n.EndAt > 0 && (n.Measures[0].Tokens != first || n.Measures[1].Tokens != len(s.Tokens)-first || n.After == "") {
		t.Errorf(
			"got %+v, want %d tokens measured before the end, %d after it, and the text after it", n, first,
			len(s.Tokens)-first,
		)
	}
	if len(s.Tokens) != 400 {
		t.Errorf("got %d tokens, want 400: an end of text stopped the run", len(s.Tokens))
	}
}
