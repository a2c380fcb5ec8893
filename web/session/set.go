package session

import (
	"github.com/tokenbytoken/viz/infer"
	grammars "github.com/tokenbytoken/viz/infer/grammar"
	"github.com/tokenbytoken/viz/infer/terms"
)

// set changes the settings from the stage shown onward. The text after that stage was generated
// with other settings and is therefore dropped. Its tokens remain as ghosts.
func (s *Session) set(next *State, settings infer.Settings) error {
	if err := settings.Check(); err != nil {
		return err
	}
	if settings.Equal(s.state.Settings) {
		return nil
	}
	if settings.LogitBias != s.state.Settings.LogitBias {
		if err := s.model.CheckBias(settings.LogitBias); err != nil {
			return err
		}
	}
	if settings.Grammar != s.state.Settings.Grammar {
		if err := s.checkGrammar(settings.Grammar); err != nil {
			return err
		}
	}
	next.Settings = settings
	if s.loop == nil {
		return nil
	}
	if !s.state.AtFrontier() {
		c := s.state.Cursor
		next.Ghosts = s.ghosts(c)
		s.keepBranch(c)
		if err := s.loop.Cut(c.Step, c.Stage); err != nil {
			return err
		}
	}
	return s.loop.Set(settings)
}

// checkGrammar checks that a grammar can be set at the stage shown.
func (s *Session) checkGrammar(text string) error {
	if c := s.state.Cursor; s.loop != nil && (c.Step > 1 || c.Stage >= infer.KindSample) {
		return terms.RefuseField("grammar", terms.PhraseOf("got.changed"), terms.PhraseOf("want.grammar.same"))
	}
	if text == "" {
		return nil
	}
	_, err := grammars.Compile(text)
	return err
}

// ghosts lists the tokens that a cut after c will drop. It does not include older ghosts that
// follow them.
func (s *Session) ghosts(c Cursor) []infer.Token {
	var list []infer.Token
	for _, step := range s.state.Steps[c.Step-1:] {
		if step.Ran >= infer.KindSample && (step.N > c.Step || c.Stage < infer.KindSample) {
			list = append(list, s.model.Token(step.Chosen))
		}
	}
	return list
}

// on returns the settings that result from applying the command to s.
func (c Set) on(s infer.Settings) (infer.Settings, error) {
	s, err := s.With(c.Knobs)
	if err == nil && c.Bias != nil {
		s.LogitBias = *c.Bias
	}
	if err == nil && c.Order != nil {
		s.Order = *c.Order
	}
	if err == nil && c.Grammar != nil {
		s.Grammar = *c.Grammar
	}
	if err == nil && c.Stop != nil {
		s.Stop.Strings = append([]string(nil), *c.Stop...) // nil if empty, as in a restored run
	}
	return s, err
}
