package infer

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

// Settings determine how a text continues after its prompt.
type Settings struct {
	sampling.Settings
	Seed uint64 `json:"seed"`
	Stop Stop   `json:"stop"`
}

// Stop holds the conditions that end generation, in addition to the end-of-text token and a full
// context window, which always end it. Strings is never modified in place.
type Stop struct {
	MaxTokens int      `json:"max_tokens"`
	Strings   []string `json:"strings,omitempty"`
}

// Limits of [Settings].
const (
	MaxSeed          = terms.MaxSeed
	MaxMaxTokens     = terms.MaxMaxTokens
	MaxPromptBytes   = 256 << 10 // the context of a model is usually shorter than this
	MaxSampleBytes   = 4 << 10   // for a text in a lesson, lab or measurement, which may read it many times
	MaxStopStrings   = 8
	MaxStopStringLen = 100 // bytes
)

// DefaultSettings returns the settings of a new run: the 'Common' preset, seed 42, at most 64
// tokens.
func DefaultSettings() Settings {
	return Settings{
		Settings: sampling.Settings{Temperature: 0.7, TopP: 0.9},
		Seed:     42,
		Stop:     Stop{MaxTokens: 64},
	}
}

// Knobs maps knob keys to values ([terms.Knob]).
type Knobs map[string]float64

// Value returns the setting of a knob, or 0 for an unknown key.
func (s Settings) Value(key string) float64 {
	switch key {
	case "seed":
		return float64(s.Seed)
	case "max_tokens":
		return float64(s.Stop.MaxTokens)
	}
	x, _ := s.Settings.Value(key)
	return x
}

// Set sets a knob to a valid value ([terms.Knob.Check]), and reports whether the knob exists.
func (s *Settings) Set(key string, x float64) bool {
	switch key {
	case "seed":
		s.Seed = uint64(x)
	case "max_tokens":
		s.Stop.MaxTokens = int(x)
	default:
		return s.Settings.Set(key, x)
	}
	return true
}

// Knobs returns all knobs and their settings.
func (s Settings) Knobs() Knobs {
	all := Knobs{}
	for _, k := range terms.Knobs() {
		all[k.Key] = s.Value(k.Key)
	}
	return all
}

// With returns the settings with some knobs changed. The error is a
// *[terms.RangeError] for the first value, in the order of [terms.Knobs], that
// its knob does not accept, or for an unknown key.
func (s Settings) With(some Knobs) (Settings, error) {
	next, known := s, 0
	for _, k := range terms.Knobs() {
		x, ok := some[k.Key]
		if !ok {
			continue
		}
		known++
		if err := k.Check(x); err != nil {
			return s, err
		}
		next.Set(k.Key, x)
	}
	if known < len(some) {
		for _, key := range slices.Sorted(maps.Keys(some)) {
			if _, ok := terms.KnobOf(key); !ok {
				return s, terms.NewRangeError(
					key, terms.PhraseOf("got.knob"),
					terms.PhraseOf("want.choice", "options", strings.Join(terms.KnobKeys(), ", ")),
				)
			}
		}
	}
	return next, nil
}

// Check returns a *[terms.RangeError] for the first field outside its range, or
// nil.
func (s Settings) Check() error {
	if _, err := s.With(s.Knobs()); err != nil {
		return err
	}
	return s.Stop.checkStrings()
}

// CheckBias returns a *[terms.RangeError] if a bias names a token that the model's vocabulary does
// not have. Such a bias cannot be set, but if a log contains one, a replay ignores it, as the
// original run did.
func (m *Model) CheckBias(b sampling.Bias) error {
	for id := range b.All() {
		if id >= m.config.Vocab {
			return terms.NewRangeError(
				"logit_bias", terms.PhraseOf("got.bias.token", "id", fmt.Sprint(id)),
				terms.PhraseOf("want.bias.tokens", "last", fmt.Sprint(m.config.Vocab-1)),
			)
		}
	}
	return nil
}

// Check returns a *[terms.RangeError] for the first field outside its range, or
// nil.
func (s Stop) Check() error {
	if err := terms.MustKnob("max_tokens").Check(float64(s.MaxTokens)); err != nil {
		return err
	}
	return s.checkStrings()
}

func (s Stop) checkStrings() error {
	if n := len(s.Strings); n > MaxStopStrings {
		return terms.NewRangeError(
			"stop", terms.PhraseOf("got.strings", "n", fmt.Sprint(n)),
			terms.PhraseOf("want.strings", "most", fmt.Sprint(MaxStopStrings)),
		)
	}
	want := WantBytes(MaxStopStringLen)
	for _, str := range s.Strings {
		switch {
		case str == "":
			return terms.NewRangeError("stop", terms.PhraseOf("got.string.empty"), want)
		case len(str) > MaxStopStringLen:
			return terms.NewRangeError("stop", terms.PhraseOf("got.bytes", "n", fmt.Sprint(len(str))), want)
		case !utf8.ValidString(str):
			return terms.NewRangeError("stop", terms.PhraseOf("got.utf8"), want)
		}
	}
	return nil
}

// Equal reports whether two settings have the same effect.
func (s Settings) Equal(o Settings) bool {
	return s.Settings == o.Settings && s.Seed == o.Seed &&
		s.Stop.MaxTokens == o.Stop.MaxTokens && slices.Equal(s.Stop.Strings, o.Stop.Strings)
}

// WantBytes describes texts of 1 to most bytes, for a [terms.RangeError].
func WantBytes(most int) terms.Phrase {
	return terms.PhraseOf("want.bytes", "between", terms.PhraseOf("want.between", "min", "1", "max", fmt.Sprint(most)))
}

// CheckPrompt returns a *[terms.RangeError] unless text is 1 to maxBytes
// bytes of valid UTF-8.
func CheckPrompt(text string, maxBytes int) error {
	want := WantBytes(maxBytes)
	switch {
	case text == "":
		return terms.NewRangeError("prompt", terms.PhraseOf("got.empty"), want)
	case len(text) > maxBytes:
		return terms.NewRangeError("prompt", terms.PhraseOf("got.bytes", "n", fmt.Sprint(len(text))), want)
	case !utf8.ValidString(text):
		return terms.NewRangeError("prompt", terms.PhraseOf("got.utf8.at", "n", fmt.Sprint(invalidAt(text))), want)
	case strings.ContainsRune(text, 0):
		return terms.NewRangeError("prompt", terms.PhraseOf("got.nul"), want)
	}
	return nil
}

// CheckPrompt is like the function [CheckPrompt], but also accepts an empty prompt if the model was
// trained with a start token, because the model can continue from that token alone.
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
