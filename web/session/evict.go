package session

import (
	"context"

	"github.com/tokenbytoken/viz/infer"
)

// Bytes is the memory that the run's cache and trace hold, 0 while evicted.
func (s *Session) Bytes() int64 {
	if s.loop == nil {
		return 0
	}
	const perLogit, perRank = 4, 28 // bytes; a distribution has an order, p and two running sums
	n := s.loop.Bytes()
	if d := s.state.Dist; d != nil {
		n += int64(len(d.Order)) * perRank
	}
	present := s.loop.Steps()
	for _, l := range s.lines {
		for i, step := range l.steps {
			if i >= len(present) || present[i] != step {
				n += int64(len(step.Logits)) * perLogit
			}
		}
	}
	return n
}

// Evict gives up the cache and the trace and keeps the log, from which the
// next command, or Restore, makes them again, bit for bit. The state handed
// out last still holds its steps until then; only its Version and cursor are
// kept here.
func (s *Session) Evict() {
	if s.loop == nil {
		return
	}
	log := s.loop.Log()
	for i := range s.lines {
		if l := &s.lines[i]; l.steps != nil {
			l.log, l.steps = infer.LogOf(s.model, s.state.Prompt, l.steps, l.settings), nil
		}
	}
	s.log, s.loop = &log, nil
	kept := *s.state
	kept.Steps, kept.Dist, kept.Look, kept.Playing, kept.Finishing = nil, nil, nil, false, false
	s.state = &kept
}

// Evicted reports whether the run has been given up for memory and not been
// made again yet. Its State has no steps then and is not fit to be shown.
func (s *Session) Evicted() bool { return s.log != nil }

// Restore makes an evicted run again and returns its state, which is the one
// before the eviction but for its version and the measured times, and it does
// not play. On an error (ctx ended) the run stays evicted.
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
	s.publish(&next).WhatIf = asked // nobody has seen the new state yet
	return nil
}
