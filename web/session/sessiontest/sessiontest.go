// Package sessiontest creates run states for tests of the pages that show them.
package sessiontest

import (
	"context"
	"testing"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/session"
)

// Drill returns a state whose step has the drill's five logits 4, 3, 2, 1, 0.5, as if the
// vocabulary were five tokens. Its softmax at T = 1 is 0.6316, 0.2324, 0.0855, 0.0314, 0.0191,
// and the sum of exponentials is 86.4397 / 54.5982 = 1.5832.
func Drill(t *testing.T, set sampling.Settings, at infer.Kind, u float64) *session.State {
	t.Helper()
	return Scored(t, []float32{4, 3, 2, 1, 0.5}, set, at, u)
}

// Scored returns a state whose step has these logits, as if they were the whole vocabulary.
func Scored(t *testing.T, logits []float32, set sampling.Settings, at infer.Kind, u float64) *session.State {
	t.Helper()
	m := testmodel.Target(t)
	settings := infer.Settings{Settings: set, Seed: 42, Stop: infer.Stop{MaxTokens: 64}}
	step := &infer.Step{
		N: 1, Ran: at, Settings: settings, Input: m.Encode("Once upon"),
		Logits: logits, U: u,
	}
	d := step.Distribution()
	r := d.Draw(u)
	step.Chosen, step.Rank, step.P, step.Q = int(d.Order[r]), r+1, d.P[d.Order[r]], d.Q(r)
	s := &session.State{
		Model: m, Prompt: "Once upon", Steps: []*infer.Step{step}, Cursor: session.Cursor{Step: 1, Stage: at},
		Dist: d, Settings: settings, Speed: session.SpeedNormal,
	}
	for _, id := range step.Input {
		s.PromptTokens = append(s.PromptTokens, m.Token(id))
	}
	return s
}

// Do applies a command that must not be refused, and returns the state after it.
func Do(t *testing.T, s *session.Session, c session.Command) *session.State {
	t.Helper()
	st, err := s.Apply(context.Background(), c)
	if err != nil {
		t.Fatalf("%#v: %v", c, err)
	}
	return st
}
