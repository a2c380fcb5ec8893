package session

import (
	"context"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/chat"
	"github.com/tokenbytoken/viz/infer/terms"
)

// try starts a suggestion with its settings.
func (s *Session) try(ctx context.Context, next *State, key string) error {
	suggestion, ok := SuggestionByKey(key)
	if !ok {
		return terms.RefuseField("key", key, terms.PhraseOf("run.want.suggestion"))
	}
	next.Settings = suggestion.Settings
	return s.start(ctx, next, chat.Text{Text: suggestion.Prompt}, nil)
}

// redraw draws the step shown again, with another seed.
func (s *Session) redraw(ctx context.Context, next *State, seed uint64) error {
	settings := s.state.Settings
	settings.Seed = seed
	step := s.state.Step()
	switch {
	case step.Ran < infer.KindSample:
		return terms.Refuse(CodeOrder, "run.redraw.undrawn")
	case settings.Greedy():
		return terms.Refuse(CodeOrder, "run.redraw.greedy")
	}
	if err := settings.Check(); err != nil {
		return err
	}
	next.Ghosts = s.ghosts(Cursor{step.N, infer.KindSample}) // including the step's own token, which is replaced
	s.keepBranch(Cursor{step.N, infer.KindFilter})
	if err := s.loop.Cut(step.N, infer.KindFilter); err != nil {
		return err
	}
	if err := s.loop.Set(settings); err != nil {
		return err
	}
	if _, err := s.loop.Next(ctx); err != nil {
		return err
	}
	next.Cursor, next.Playing, next.Finishing = Cursor{step.N, infer.KindSample}, false, false
	return nil
}
