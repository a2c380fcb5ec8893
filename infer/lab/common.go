package lab

import (
	"fmt"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

// This file holds inputs that several labs share.

// story is a prompt for which even a small model generates a long continuation.
const story = "Once upon a time there was a"

// longPrompt is a longer prompt in the style of the bundled model's texts.
const longPrompt = "Once upon a time there was a little girl who lived in a house by the sea. Every morning she went " +
	"down to the shore to look for shells, and every evening she put them in a row on the window sill. One day she " +
	"found a shell that was larger than all the others. She held it to her ear and"

func promptInput(l *terms.Language, text string) terms.Input {
	return terms.Input{
		Key: "prompt", Label: l.T("lab.input.prompt"), Unit: l.T("lab.unit.bytes"), Kind: terms.KindText, Min: 1,
		Max: infer.MaxSampleBytes, Default: text, Help: l.T("lab.input.prompt.help"),
	}
}

func tokensInput(l *terms.Language, n, most int) terms.Input {
	return terms.Input{
		Key: "tokens", Label: l.T("lab.input.tokens"), Unit: l.T("lab.unit.tokens"), Kind: terms.KindInt, Min: 1,
		Max: float64(most), Step: 1, Default: fmt.Sprint(n), Help: l.T("lab.input.tokens.help"),
	}
}

func repeatsInput(l *terms.Language, n int) terms.Input {
	return terms.Input{
		Key: "repeats", Label: l.T("lab.input.repeats"), Unit: l.T("lab.unit.times"), Kind: terms.KindInt, Min: 1,
		Max: 50, Step: 1, Default: fmt.Sprint(n), Help: l.T("lab.input.repeats.help"),
	}
}

// knobInput returns an input for a knob, with default x.
func knobInput(l *terms.Language, key string, x float64) terms.Input {
	k, ok := l.Knob(key)
	if !ok {
		panic("lab: unknown knob " + key)
	}
	return k.With(terms.Plain(x))
}

// stopsInput returns an input for stop strings.
func stopsInput(l *terms.Language, key, label, value, help string) terms.Input {
	return terms.Input{
		Key: key, Label: label, Kind: terms.KindLines, Default: value, Help: help,
		Want: terms.PhraseOf("lab.input.stop.want", "n", infer.MaxStopStrings, "bytes", infer.MaxStopStringLen),
		Verify: func(lines string) error {
			return infer.Stop{MaxTokens: 1, Strings: terms.ReadLines(lines)}.Check()
		},
	}
}

func seedInput(l *terms.Language) terms.Input { return knobInput(l, "seed", 42) }

// samplingInputs returns the inputs for the temperature and the filters. Their defaults are in s.
func samplingInputs(l *terms.Language, s sampling.Settings) terms.Inputs {
	var list terms.Inputs
	for _, k := range l.Knobs() {
		if x, ok := s.Value(k.Key); ok && !k.Late {
			list = append(list, k.With(terms.Plain(x)))
		}
	}
	return list
}

// common returns the settings of the "Common" preset.
func common() sampling.Settings { return infer.DefaultSettings().Settings }

func greedy() sampling.Settings { return sampling.Settings{TopP: 1} }

// samplingOf returns the sampling settings given by the inputs of samplingInputs.
func samplingOf(v terms.Values) (s sampling.Settings) {
	for _, k := range terms.Knobs() {
		if _, ok := v[k.Key]; ok {
			s.Set(k.Key, v.Float(k.Key))
		}
	}
	return s
}

// settingsOf returns a run's settings, with `tokens` as the token limit.
func settingsOf(v terms.Values, tokens int, stop ...string) infer.Settings {
	return infer.Settings{
		Settings: samplingOf(v), Seed: uint64(v.Float("seed")), Stop: infer.Stop{MaxTokens: tokens, Strings: stop},
	}
}

// room checks that a model's vocabulary can spell a prompt and that the prompt fits in its context.
// It returns the prompt's length in positions and how many of the wanted tokens fit. The last
// generated token does not need a position.
func (e Env) room(v terms.Values, wanted string) (prompt, tokens int, err error) {
	m, l := e.Target, e.words()
	if err := m.CheckText(v["prompt"]); err != nil {
		return 0, 0, err
	}
	prompt = len(m.Encode(v["prompt"]))
	if context := m.Config().Context; prompt > context {
		return 0, 0, terms.NewRangeError(
			"prompt", l.T("lab.refused.prompt", "n", prompt),
			l.T("lab.refused.context", "tokens", l.T("lab.refused.tokens", "n", fmt.Sprint(context))),
		)
	}
	return prompt, min(v.Int(wanted), m.Config().Context-prompt+1), nil
}
