package session

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
)

// stepStage moves to the next stage, running it if it has not run yet. If the draw should be
// withheld, it stops once before the draw.
func (s *Session) stepStage(ctx context.Context, next *State, withhold bool) error {
	if !s.state.AtFrontier() {
		next.Cursor = s.state.after(s.state.Cursor)
		return nil
	}
	if withhold && !s.state.Undrawn && s.state.Cursor.Stage == infer.KindFilter && !s.state.Settings.Greedy() {
		next.Undrawn = true
		return nil
	}
	if _, err := s.loop.Advance(ctx); err != nil {
		if errors.Is(err, io.EOF) {
			return s.stopped()
		}
		return err
	}
	steps := s.loop.Steps()
	last := steps[len(steps)-1]
	next.Cursor = Cursor{len(steps), last.Ran}
	if last.Ran == infer.KindSample {
		next.Ghosts = nil
	}
	return nil
}

// draw makes the draw of the step shown.
func (s *Session) draw(ctx context.Context, next *State) error {
	switch c := s.state.Cursor; {
	case c.Stage == infer.KindSample:
		return nil // already made, so a second press changes nothing
	case c.Stage != infer.KindFilter || !s.state.AtFrontier():
		return terms.Refuse(CodeOrder, "run.draw.stage")
	}
	return s.stepStage(ctx, next, false)
}

// keepsUndrawn reports whether a withheld draw remains withheld after a command. After every other
// command, the learner is at another stage, or the draw has been made.
func keepsUndrawn(c Command) bool {
	switch c.(type) {
	case Set, SetPreset, Move, SetLook, SetSpeed, Play, Finish, Pause, WhatIf:
		return true
	}
	return false
}

// stepToken continues to the end of this turn or, if the run is already there, to the end of the
// next turn.
func (s *Session) stepToken(ctx context.Context, next *State) error {
	if c := s.state.Cursor; c.Step < len(s.state.Steps) || s.state.Step().Ran == infer.KindCache {
		// When looking back, move over turns that have already run.
		target := Cursor{c.Step, infer.KindCache}
		if c.Stage == infer.KindCache && c.Step < len(s.state.Steps) {
			target.Step++
		}
		if target != c && s.state.Steps[target.Step-1].Ran == infer.KindCache {
			next.Cursor = target
			return nil
		}
	}
	for {
		kind, err := s.loop.Advance(ctx)
		if errors.Is(err, io.EOF) {
			return s.stopped()
		}
		if err != nil {
			return err
		}
		if kind == infer.KindCache {
			next.Cursor, next.Ghosts = Cursor{len(s.loop.Steps()), infer.KindCache}, nil
			return nil
		}
	}
}

// back moves one stage back. From a withheld draw, it moves to the filter stage, where Cursor
// already is.
func (s *Session) back(next *State) error {
	if s.state.Undrawn {
		next.Playing = false
		return nil
	}
	if next.Cursor == (Cursor{1, infer.KindForward}) {
		return terms.Refuse(CodeOrder, "run.back.first")
	}
	next.Cursor = next.before(next.Cursor)
	next.Playing = false
	return nil
}

func seek(next *State, c Seek) error {
	f := next.Frontier()
	if c.Step < 1 || c.Step > f.Step {
		return terms.RefuseField("step", c.Step, terms.PhraseOf("run.want.step", "last", fmt.Sprint(f.Step)))
	}
	ran := next.Steps[c.Step-1].Ran
	if c.Stage < infer.KindForward || c.Stage > ran {
		return terms.RefuseField(
			"stage", c.Stage, terms.PhraseOf("run.want.stage", "n", fmt.Sprint(c.Step), "stage", ran),
		)
	}
	next.Cursor, next.Playing = Cursor(c), false
	return nil
}

// stopped returns the refusal for a command that would continue after a stop condition has fired.
// It names the condition.
func (s *Session) stopped() *terms.Refusal {
	return terms.Refuse(
		CodeStopped, "run.stopped."+string(s.loop.Stopped()), "most", s.state.Settings.Stop.MaxTokens,
	)
}

// after returns the stage that follows c, which must not be the frontier.
func (s *State) after(c Cursor) Cursor {
	if c.Stage < s.Steps[c.Step-1].Ran {
		return Cursor{c.Step, c.Stage + 1}
	}
	return Cursor{c.Step + 1, infer.KindForward}
}

// before returns the stage before c, which must not be the first.
func (s *State) before(c Cursor) Cursor {
	if c.Stage > infer.KindForward {
		return Cursor{c.Step, c.Stage - 1}
	}
	return Cursor{c.Step - 1, infer.KindCache}
}
