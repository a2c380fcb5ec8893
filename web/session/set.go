package session

import (
	"slices"

	"github.com/tokenbytoken/viz/infer"
)

// set changes the settings from the point shown on. What was generated beyond
// it was made with other settings, so it goes; its tokens stay as ghosts.
func (s *Session) set(next *State, settings infer.Settings) error {
	if err := settings.Check(); err != nil {
		return err
	}
	if settings.Equal(s.state.Settings) {
		return nil
	}
	next.Settings = settings
	if s.loop == nil {
		return nil
	}
	if !s.state.AtFrontier() {
		c := s.state.Cursor
		next.Ghosts = s.ghosts(c)
		s.keepLine(c)
		if err := s.loop.Cut(c.Step, c.Stage); err != nil {
			return err
		}
	}
	return s.loop.Set(settings)
}

// ghosts lists the tokens that a cut after c will drop, older ghosts after
// them left out.
func (s *Session) ghosts(c Cursor) []infer.Token {
	var list []infer.Token
	for _, step := range s.state.Steps[c.Step-1:] {
		if step.Ran >= infer.KindSample && (step.N > c.Step || c.Stage < infer.KindSample) {
			list = append(list, s.model.Token(step.Chosen))
		}
	}
	return list
}

func (c SetSampling) on(s infer.Settings) infer.Settings {
	assign(&s.Temperature, c.Temperature)
	assign(&s.TopK, c.TopK)
	assign(&s.TopP, c.TopP)
	assign(&s.MinP, c.MinP)
	assign(&s.Seed, c.Seed)
	s.Temperature, s.MinP = unsigned(s.Temperature), unsigned(s.MinP)
	return s
}

// unsigned takes the sign from a zero: it would be shown.
func unsigned(x float64) float64 {
	if x == 0 {
		return 0
	}
	return x
}

func (c SetStop) on(s infer.Settings) infer.Settings {
	assign(&s.Stop.MaxTokens, c.MaxTokens)
	if c.Strings != nil {
		s.Stop.Strings = slices.Clone(*c.Strings)
	}
	return s
}

func assign[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}
