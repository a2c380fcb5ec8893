package infer_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/testmodel"
)

// keeping returns a run that follows a grammar.
func keeping(t *testing.T, grammar string, temperature float64, seed uint64, limit int) *infer.Loop {
	t.Helper()
	l, err := infer.NewLoop(testmodel.Target(t), "Tell me of a cat.", infer.Settings{
		Settings: sampling.Settings{Temperature: temperature, TopP: 0.95, Grammar: grammar},
		Seed:     seed, Stop: infer.Stop{MaxTokens: limit},
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// written runs a loop to its end and returns the text.
func written(t *testing.T, l *infer.Loop) (text string) {
	t.Helper()
	for {
		_, err := l.Advance(context.Background())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range l.Steps() {
		text += s.Text
	}
	return text
}

const aCat = `{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"},
	"kind":{"enum":["house","wild"]}},"required":["name","kind"]}`

// TestLoopKeepsToAGrammar: at every temperature, texts that follow a schema are complete and end
// with an end-of-text token. If the token limit is too low for any complete text, they end at the
// limit, and the step reports it.
func TestLoopKeepsToAGrammar(t *testing.T) {
	for seed := range uint64(12) {
		l := keeping(t, aCat, float64(seed%4)/2, seed, 45)
		text := written(t, l)
		var cat struct {
			Name, Kind *string
			Age        *int
		}
		if err := json.Unmarshal([]byte(text), &cat); err != nil || cat.Name == nil || cat.Kind == nil ||
			!slices.Contains([]string{"house", "wild"}, *cat.Kind) || l.Stopped() != infer.StopEOS {
			t.Errorf(
				"seed %d wrote %q, stopped by %q (%v); want a complete cat, house or wild, stopped by the end of text",
				seed, text, l.Stopped(), err,
			)
		}
		for _, s := range l.Steps() {
			f := l.Model().Stage(s, infer.KindFilter, nil, 20).(infer.Filter)
			allowed, _, short, ok := s.Fitting()
			cut := f.Cuts[0]
			if !ok || short || cut.Rule != sampling.RuleGrammar || cut.Keeps != allowed || allowed < 1 {
				t.Fatalf(
					"step %d: got %+v; %d allowed, short: %v; want ok = true, short = false, Rule = %q, "+
						"Keeps = %d, allowed at least 1",
					s.N, cut, allowed, short, sampling.RuleGrammar, allowed,
				)
			}
		}
	}
	l := keeping(t, aCat, 1, 1, 5) // {"name":"","kind":"wild"} has 25 bytes
	text := written(t, l)
	_, _, short, _ := l.Steps()[0].Fitting()
	if l.Stopped() != infer.StopMaxTokens || !short || json.Valid([]byte(text)) {
		t.Errorf(
			"5 tokens: got %q, stopped by %q, short: %v; want incomplete JSON, stopped by the limit, short", text,
			l.Stopped(), short,
		)
	}
}

// TestGrammarLeavesRoomForTheEnd: only an end-of-text token may follow a complete text. If the
// token limit is just enough for each byte of "true" and an end-of-text token, "true" is generated
// in full.
func TestGrammarLeavesRoomForTheEnd(t *testing.T) {
	for _, limit := range []int{5, 6} {
		l := keeping(t, "regexp:tr(ue)+", 1, 7, limit)
		if text := written(t, l); !strings.HasPrefix(text, "true") || l.Stopped() != infer.StopEOS {
			t.Errorf(
				"%d tokens: %q, stopped by %q; want it beginning with %q, %q", limit, text, l.Stopped(), "true",
				infer.StopEOS,
			)
		}
	}
}

// TestGrammarForbidsManualChoice: a token that the grammar forbids cannot be chosen manually, and
// the grammar cannot change within a text. Neither attempt changes anything. Going back, branching
// and replaying follow the grammar.
func TestGrammarForbidsManualChoice(t *testing.T) {
	m, ctx := testmodel.Target(t), context.Background()
	l := keeping(t, aCat, 1, 3, 40)
	want := written(t, l)
	log := l.Log()
	again, err := infer.Replay(ctx, m, log)
	if err != nil || written(t, again) != want {
		t.Errorf("replayed: got %v, want no error, written(t, again) = %q", err, want)
	}
	var refused *terms.RangeError
	if err := l.Choose(ctx, 2, m.Encode("cat")[1]); !errors.As(err, &refused) || refused.Field != "token" {
		t.Errorf("choosing cat: got %v, want an error of type *terms.RangeError, refused.Field = %q", err, "token")
	}
	other := l.Settings()
	other.Grammar = "regexp:a*"
	if err := l.Set(other); !errors.As(err, &refused) || refused.Field != "grammar" || l.Settings().Grammar != aCat {
		t.Errorf(
			"another grammar: got %v, want an error of type *terms.RangeError, refused.Field = %q, "+
				"l.Settings().Grammar = %q",
			err, "grammar", aCat,
		)
	}
	if len(l.Steps()) != log.Steps {
		t.Errorf("got %d steps, want %d as before", len(l.Steps()), log.Steps)
	}
	if err := l.Cut(3, infer.KindFilter); err != nil {
		t.Fatal(err)
	}
	if text := written(t, l); text != want {
		t.Errorf("after going back: %q, want %q", text, want)
	}
}

// TestGrammarsThatLoopsRefuse: an invalid grammar is rejected before anything runs.
func TestGrammarsThatLoopsRefuse(t *testing.T) {
	for _, text := range []string{`{"not":{}}`, "regexp:(", `{"$ref":"#"}`, "regexp:[^\\x{0}-\\x{10FFFF}]"} {
		_, err := infer.NewLoop(testmodel.Target(t), "A", infer.Settings{
			Settings: sampling.Settings{Temperature: 1, TopP: 1, Grammar: text}, Stop: infer.Stop{MaxTokens: 9},
		})
		var r *terms.Refusal
		if !errors.As(err, &r) || r.Field != "grammar" {
			t.Errorf("%s: got %v; want an error of type *terms.Refusal, r.Field = %q", text, err, "grammar")
		}
	}
}
