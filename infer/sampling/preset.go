package sampling

import (
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
)

// RangeError is [terms.RangeError], the error of [Settings.Check].
type RangeError = terms.RangeError

// Say lists the settings that are not off, and uses the given word for the temperature:
// "temperature 0.7, top-k 40". Under greedy, it returns "greedy".
func (s Settings) Say(temperature string) string {
	if s.Greedy() {
		return "greedy"
	}
	return s.list(temperature, func(k terms.Knob, x float64) string {
		if k.Whole() {
			return terms.Count(int64(x))
		}
		return terms.Plain(x)
	})
}

// Name lists the settings that are not off, even under greedy decoding, with numbers as users type
// them: "T 0, top-k 1000". Different settings have different names.
func (s Settings) Name() string {
	return s.list("T", func(_ terms.Knob, x float64) string { return terms.Plain(x) })
}

// list lists the temperature, by the given word, and every other rule that is on.
func (s Settings) list(temperature string, number func(k terms.Knob, x float64) string) string {
	list := []string{temperature + " " + terms.Plain(s.Temperature)}
	for _, r := range chain {
		switch x, on := r.on(s); {
		case !on || !r.optional():
		case r.name == RuleGrammar:
			list = append(list, "a grammar")
		case r.name == RuleLogitBias:
			list = append(list, r.name.Name()+" of "+terms.Counted(int(x), "token"))
		default:
			list = append(list, r.name.Name()+" "+number(terms.MustKnob(r.key()), x))
		}
		for _, key := range r.also {
			k := terms.MustKnob(key)
			if at, _ := s.field(key); *at != 0 {
				list = append(list, k.Name+" "+number(k, *at))
			}
		}
	}
	if s.Order != OrderOwn {
		list = append(list, "order "+s.Order.Text())
	}
	return strings.Join(list, ", ")
}

// Preset is a named group of settings that a learner can start from.
type Preset struct {
	Key  string // "greedy", "pure", "top_k", "top_p", "common"
	Name string
	Settings
}

// Pure samples from the model's own distribution.
var Pure = Settings{Temperature: 1, TopP: 1}

// Presets lists the presets in the order in which they are shown.
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

// PresetByKey returns the preset with the given key.
func PresetByKey(key string) (Preset, bool) {
	for _, p := range Presets {
		if p.Key == key {
			return p, true
		}
	}
	return Preset{}, false
}

// PresetKeys returns the keys of all presets as a list that fits in a sentence.
func PresetKeys() string {
	var keys []string
	for _, p := range Presets {
		keys = append(keys, p.Key)
	}
	last := len(keys) - 1
	return strings.Join(keys[:last], ", ") + " or " + keys[last]
}
