package session

import (
	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
)

// Suggestion is a run worth trying: a prompt, settings that show its point, and a sentence
// about what to look at.
type Suggestion struct {
	Key      string
	Title    string
	Why      string
	Prompt   string
	Settings infer.Settings
}

// Suggestions are the runs that a page offers. A test checks that each of them keeps its
// promise with the bundled model. With another model, they are only prompts.
var Suggestions = []Suggestion{
	{
		Key: "sure", Title: "One it is sure of", Prompt: "The capital of France is",
		Why:      "One token has nearly all of the probability. At stage 5 almost every u falls on it.",
		Settings: tryAt("pure", 16),
	},
	{
		Key: "unsure", Title: "One it is unsure of", Prompt: "The capital of",
		Why: "The same words, but the country is missing: dozens of tokens share the probability. Draw again " +
			"and see where it goes.",
		Settings: tryAt("pure", 16),
	},
	{
		Key: "loop", Title: "One that goes in circles", Prompt: "Mile upon mile",
		Why: "Greedy chooses the likeliest token every time, and soon writes “and the wind blew and blew,” for " +
			"ever. Raise the temperature to break the circle.",
		Settings: tryAt("greedy", 64),
	},
}

// tryAt returns the default settings with a preset and a limit.
func tryAt(preset string, maxTokens int) infer.Settings {
	settings := infer.DefaultSettings()
	p, ok := sampling.PresetByKey(preset)
	if !ok {
		panic("session: no preset " + preset)
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
