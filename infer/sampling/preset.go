package sampling

import (
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
)

// RangeError is [terms.RangeError], the error of [Settings.Check].
type RangeError = terms.RangeError

// Name lists the settings that are not off, even under greedy decoding, with numbers as users type
// them: "T 0, top-k 1000". Different settings have different names.
func (s Settings) Name() terms.Phrase {
	setting := func(name, x any) terms.Phrase { return terms.PhraseOf("setting", "name", name, "x", x) }
	list := setting("T", terms.Plain(s.Temperature))
	add := func(next terms.Phrase) { list = terms.PhraseOf("list.next", "list", list, "next", next) }
	for _, r := range chain {
		switch x, on := r.on(s); {
		case !on || !r.optional():
		case r.name == RuleGrammar:
			add(terms.PhraseOf("setting.grammar"))
		case r.name == RuleLogitBias:
			tokens := func(l *terms.Language) string { return l.Counted(int(x), "token") }
			add(terms.PhraseOf("setting.logit_bias", "rule", r.name, "tokens", tokens))
		default:
			add(setting(r.name, terms.Plain(x)))
		}
		for _, key := range r.also {
			if x, _ := s.field(key); *x != 0 {
				add(setting(terms.PhraseOf("knob."+key+".name"), terms.Plain(*x)))
			}
		}
	}
	if s.Order != OrderOwn {
		add(terms.PhraseOf("setting.order", "order", s.Order.Text()))
	}
	return list
}

// Preset is a named set of settings that a learner can start from.
type Preset struct {
	Key string // "greedy", "pure", "top_k", "top_p", "common"
	Settings
}

// Name returns the preset's name.
func (p Preset) Name() terms.Phrase { return terms.PhraseOf("preset." + p.Key) }

// Pure samples from the model's own distribution.
var Pure = Settings{Temperature: 1, TopP: 1}

// Presets lists the presets in the order in which they are shown.
var Presets = []Preset{
	{"greedy", Settings{Temperature: 0, TopP: 1}},
	{"pure", Pure},
	{"top_k", Settings{Temperature: 1, TopK: 40, TopP: 1}},
	{"top_p", Settings{Temperature: 1, TopP: 0.9}},
	{"common", Settings{Temperature: 0.7, TopP: 0.9}},
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

// PresetKeys describes the keys of all presets, for a [RangeError].
func PresetKeys() terms.Phrase {
	var keys []string
	for _, p := range Presets {
		keys = append(keys, p.Key)
	}
	last := len(keys) - 1
	return terms.PhraseOf("want.preset", "list", strings.Join(keys[:last], ", "), "last", keys[last])
}
