package session

import (
	"context"

	"github.com/tokenbytoken/viz/infer"
)

// Bytes returns the memory used by the run's cache and trace, or 0 while the run is evicted.
func (s *Session) Bytes() int64 {
	if s.loop == nil {
		return 0
	}
	const perLogit, perRank = 4, 28 // bytes; a distribution has an order, p and two running sums
	n := s.loop.Bytes()
	if d := s.state.Dist; d != nil {
		n += int64(len(d.Order)) * perRank
	}
	current := s.loop.Steps()
	for _, b := range s.others {
		for i, step := range b.steps {
			if i >= len(current) || current[i] != step {
				n += int64(len(step.Logits)) * perLogit
			}
		}
	}
	return n
}

// Evict frees the cache and the trace. It keeps the log, from which the next command or
// [Session.Restore] rebuilds them bit for bit. The state that was returned last keeps its steps,
// but the session's own state does not.
func (s *Session) Evict() {
	if s.loop == nil {
		return
	}
	s.evictTo(s.loop.Log())
}

// Recover resets the session to its state before a command that panicked. The session is then
// evicted, and is rebuilt from the log of the last returned state.
func (s *Session) Recover() {
	if s.log != nil {
		return // the run was being rebuilt
	}
	if s.loop = nil; s.state.Started() {
		s.evictTo(infer.LogOf(s.model, s.state.Whole(), s.state.Steps, s.state.Settings))
	}
}

// evictTo frees everything except a log.
func (s *Session) evictTo(log infer.Log) {
	for i := range s.others {
		if b := &s.others[i]; b.steps != nil {
			b.log, b.steps = infer.LogOf(s.model, s.state.Whole(), b.steps, b.settings), nil
		}
	}
	s.log, s.loop = &log, nil
	kept := *s.state
	kept.Steps, kept.Dist, kept.Look, kept.Playing, kept.Finishing = nil, nil, nil, false, false
	s.state = &kept
}

// Evicted reports whether the run has been evicted and not been rebuilt yet. The State of an
// evicted run has no steps and must not be shown.
func (s *Session) Evicted() bool { return s.log != nil }

// Restore rebuilds an evicted run and returns its state, which equals the state before the eviction
// with three exceptions: its version and the measured times differ, and the run does not play. If
// ctx ends, Restore returns an error and the run stays evicted.
func (s *Session) Restore(ctx context.Context) (*State, error) {
	err := s.restore(ctx)
	return s.state, err
}

func (s *Session) restore(ctx context.Context) error {
	if s.log == nil {
		return nil
	}
	loop, err := infer.Replay(ctx, s.model, *s.log)
	if err != nil {
		return typed(err)
	}
	s.loop, s.log = loop, nil
	next := *s.state
	next.Steps = loop.Steps()
	asked := next.WhatIf
	s.publish(&next).WhatIf = asked // the new state has not been shown yet
	return nil
}
