package runs

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/session"
)

// TestGrammarsTakeTurns: grammars are compiled in a fair order. A caller with too many grammars in
// the queue is refused. So is a caller who has sent too many unusable grammars, even in commands to
// a run.
func TestGrammarsTakeTurns(t *testing.T) {
	t.Parallel()
	rs := registry(t, Limits{})
	rs.cfg.Grammars = admission.NewQueue(admission.Backlog{Most: 9, PerLearner: 1}, 0)
	rs.cfg.BadGrammars = admission.NewMeter(
		admission.Pace{PerLearner: admission.Rate{PerSecond: 1e-6, Burst: 2}}, nil,
	)
	ada, bob := admission.Caller{Learner: "ada"}, admission.Caller{Learner: "bob"}
	full := func(err error) bool { return errors.Is(err, &terms.Refusal{Code: terms.CodeFull}) }
	const good, bad = `{"type":"boolean"}`, `{"not":{}}`

	_, leave, err := rs.cfg.Grammars.Enter(t.Context(), bob, time.Second, nil) // a grammar is being compiled
	if err != nil {
		t.Fatal(err)
	}
	waiting, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := rs.Grammar(waiting, ada, good)
		ended <- err
	}()
	browser.Eventually(t, func() bool { return rs.cfg.Grammars.Len() == 2 }) // ada waits
	if _, err := rs.Grammar(t.Context(), ada, good); !full(err) {
		t.Errorf("a second grammar in the queue: got %v, want a refusal with code %q", err, terms.CodeFull)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who leaves the queue: got %v, want %v", err, context.Canceled)
	}
	leave()

	g, err := rs.Grammar(t.Context(), ada, good)
	if again, err2 := rs.Grammar(t.Context(), bob, good); err != nil || err2 != nil || g != again {
		t.Errorf("a grammar that is held: got %p, %v, then %p, %v; want the same twice", g, err, again, err2)
	}
	r, _ := join(t, rs, "ada", "")
	text := bad
	for range 2 {
		_, err := r.Do(t.Context(), session.Set{Grammar: &text}, nil, 0)
		if r, ok := terms.AsRefusal(err); !ok || r.Field != "grammar" {
			t.Errorf("an unusable grammar: got %v, want a refusal of the field grammar", err)
		}
	}
	text = good
	if _, err := r.Do(t.Context(), session.Set{Grammar: &text}, nil, 0); !full(err) {
		t.Errorf("after two bad grammars: got %v, want a refusal with code %q", err, terms.CodeFull)
	}
	if _, err := rs.Grammar(t.Context(), bob, good); err != nil {
		t.Errorf("another caller: got %v, want no error", err)
	}
}
