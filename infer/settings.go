package infer

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tokenbytoken/viz/infer/sampling"
)

// Settings are everything that decides how a text goes on after its prompt.
type Settings struct {
	sampling.Settings
	Seed uint64 `json:"seed"`
	Stop Stop   `json:"stop"`
}

// Stop says when generation ends, besides the end-of-text token and a full
// context window, which always end it. Strings is never changed in place.
type Stop struct {
	MaxTokens int      `json:"max_tokens"`
	Strings   []string `json:"strings,omitempty"`
}

// Limits of [Settings]. MaxSeed is what a JavaScript number holds exactly, so
// that a seed survives any page or notebook.
const (
	MaxSeed          = 1<<53 - 1
	MaxMaxTokens     = 1_000_000
	MaxStopStrings   = 8
	MaxStopStringLen = 100 // bytes
)

// DefaultSettings are what a new run starts with: the 'Common' preset, seed
// 42, at most 64 tokens.
func DefaultSettings() Settings {
	return Settings{
		Settings: sampling.Settings{Temperature: 0.7, TopP: 0.9},
		Seed:     42,
		Stop:     Stop{MaxTokens: 64},
	}
}

// Check returns a *[sampling.RangeError] for the first field outside its
// range, or nil.
func (s Settings) Check() error {
	if err := s.Settings.Check(); err != nil {
		return err
	}
	if s.Seed > MaxSeed {
		return sampling.NewRangeError("seed", s.Seed, fmt.Sprintf("a whole number from 0 to %d", uint64(MaxSeed)))
	}
	return s.Stop.Check()
}

// Check returns a *[sampling.RangeError] for the first field outside its
// range, or nil.
func (s Stop) Check() error {
	if s.MaxTokens < 1 || s.MaxTokens > MaxMaxTokens {
		return sampling.NewRangeError("max_tokens", s.MaxTokens, "1 to 1,000,000")
	}
	if n := len(s.Strings); n > MaxStopStrings {
		return sampling.NewRangeError("stop", fmt.Sprintf("a list of %d strings", n), "at most 8 strings")
	}
	for _, str := range s.Strings {
		switch {
		case str == "":
			return sampling.NewRangeError("stop", "an empty string", "1 to 100 bytes of text")
		case len(str) > MaxStopStringLen:
			return sampling.NewRangeError("stop", fmt.Sprintf("%d bytes long", len(str)), "1 to 100 bytes of text")
		case !utf8.ValidString(str):
			return sampling.NewRangeError("stop", "not valid UTF-8", "1 to 100 bytes of text")
		}
	}
	return nil
}

// Equal reports whether two settings decide alike.
func (s Settings) Equal(o Settings) bool {
	return s.Settings == o.Settings && s.Seed == o.Seed &&
		s.Stop.MaxTokens == o.Stop.MaxTokens && slices.Equal(s.Stop.Strings, o.Stop.Strings)
}

// CheckPrompt returns a *[sampling.RangeError] unless text is 1 to maxBytes
// bytes of valid UTF-8.
func CheckPrompt(text string, maxBytes int) error {
	want := fmt.Sprintf("1 to %d bytes of text", maxBytes)
	switch {
	case text == "":
		return sampling.NewRangeError("prompt", "empty", want)
	case len(text) > maxBytes:
		return sampling.NewRangeError("prompt", fmt.Sprintf("%d bytes long", len(text)), want)
	case !utf8.ValidString(text):
		return sampling.NewRangeError("prompt", fmt.Sprintf("not valid UTF-8 at byte %d", invalidAt(text)), want)
	case strings.ContainsRune(text, 0):
		return sampling.NewRangeError("prompt", "holding a NUL character", want)
	}
	return nil
}

// CheckPrompt is [CheckPrompt] for this model: one that was trained with a start
// token can begin with that alone, and allows an empty prompt.
func (m *Model) CheckPrompt(text string, maxBytes int) error {
	if text == "" && m.config.BOS >= 0 {
		return nil
	}
	return CheckPrompt(text, maxBytes)
}

func invalidAt(s string) int {
	for i, r := range s {
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(s[i:]); n == 1 {
				return i
			}
		}
	}
	return len(s)
}
