package session

import (
	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
)

// Suggestion is a run worth trying: a prompt, and settings that show its point.
type Suggestion struct {
	Key      string
	Prompt   string
	Settings infer.Settings
}

// Suggestions are the runs that a page offers. A test checks that each of them shows its point with
// the bundled model. With another model, they are only prompts.
var Suggestions = []Suggestion{
	{Key: "sure", Prompt: "The capital of France is", Settings: tryAt("pure", 16)},
	{Key: "unsure", Prompt: "The capital of", Settings: tryAt("pure", 16)},
	{Key: "loop", Prompt: "Mile upon mile", Settings: tryAt("greedy", 64)},
}

// tryAt returns the default settings with a preset and a limit.
func tryAt(preset string, maxTokens int) infer.Settings {
	settings := infer.DefaultSettings()
	p, ok := sampling.PresetByKey(preset)
	if !ok {
		panic("session: unknown preset " + preset)
	}
	settings.Settings, settings.Stop.MaxTokens = p.Settings, maxTokens
	return settings
}

// SuggestionByKey returns the suggestion with the given key.
func SuggestionByKey(key string) (Suggestion, bool) {
	for _, s := range Suggestions {
		if s.Key == key {
			return s, true
		}
	}
	return Suggestion{}, false
}
