package sampling

import (
	"fmt"
	"strconv"
)

// RangeError says which setting was out of range, what was given and what is
// taken. Its text is made for people; Field is for programs.
type RangeError struct {
	Field string // as in JSON: "temperature", "top_k", "max_tokens", ...
	Got   string
	Want  string
}

// NewRangeError makes a [RangeError] for a value.
func NewRangeError(field string, got any, want string) *RangeError {
	text := fmt.Sprint(got)
	if f, ok := got.(float64); ok {
		text = strconv.FormatFloat(f, 'g', -1, 64)
	}
	return &RangeError{Field: field, Got: text, Want: want}
}

func (e *RangeError) Error() string {
	return fmt.Sprintf("%s is %s; it must be %s", e.Field, e.Got, e.Want)
}

// Preset is a named choice of settings that a learner can start from.
type Preset struct {
	Key  string // "greedy", "pure", "top_k", "top_p", "common"
	Name string
	Settings
}

// Pure samples from the distribution as the model gives it.
var Pure = Settings{Temperature: 1, TopP: 1}

// Presets in the order in which screens show them.
var Presets = []Preset{
	{"greedy", "Greedy", Settings{Temperature: 0, TopP: 1}},
	{"pure", "Pure", Pure},
	{"top_k", "Top-k 40", Settings{Temperature: 1, TopK: 40, TopP: 1}},
	{"top_p", "Top-p 0.9", Settings{Temperature: 1, TopP: 0.9}},
	{"common", "Common", Settings{Temperature: 0.7, TopP: 0.9}},
}

// PresetOf returns the preset whose settings are exactly s.
func PresetOf(s Settings) (Preset, bool) {
	for _, p := range Presets {
		if p.Settings == s {
			return p, true
		}
	}
	return Preset{}, false
}

// PresetByKey returns the preset with a key.
func PresetByKey(key string) (Preset, bool) {
	for _, p := range Presets {
		if p.Key == key {
			return p, true
		}
	}
	return Preset{}, false
}
