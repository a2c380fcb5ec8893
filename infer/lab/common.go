package lab

import (
	"fmt"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

// This file holds parameters that several labs share.

// story is a prompt that a small model continues at length.
const story = "Once upon a time there was a"

// longPrompt is a longer prompt in the style of the bundled model's texts.
const longPrompt = "Once upon a time there was a little girl who lived in a house by the sea. Every morning she went " +
	"down to the shore to look for shells, and every evening she put them in a row on the window sill. One day she " +
	"found a shell that was larger than all the others. She held it to her ear and"

func promptParam(text string) Param {
	return Param{
		Name: "prompt", Label: "Prompt", Unit: "bytes", Kind: Text, Min: 1, Max: infer.MaxSampleBytes, Default: text,
		Help: "the text to go on from",
	}
}

func tokensParam(n, most int) Param {
	return Param{
		Name: "tokens", Label: "Tokens to write", Unit: "tokens", Kind: Int, Min: 1, Max: float64(most), Step: 1,
		Default: fmt.Sprint(n), Help: "how many tokens to write after the prompt",
	}
}

func repeatsParam(n int) Param {
	return Param{
		Name: "repeats", Label: "Repeats", Unit: "times", Kind: Int, Min: 1, Max: 50, Step: 1,
		Default: fmt.Sprint(n),
		Help:    "repeat each timing; the chart shows the median and the middle half",
	}
}

// knobParam returns the parameter of a knob, with default x.
func knobParam(key string, x float64) Param {
	k := terms.MustKnob(key)
	kind := Float
	if k.Whole {
		kind = Int
	}
	return Param{
		Name: k.Key, Label: k.Label, Unit: k.Unit, Kind: kind, Min: k.Min, Max: k.Max, Step: k.Step,
		Default: terms.Plain(x), Help: k.Help,
	}
}

func seedParam() Param { return knobParam("seed", 42) }

// samplingParams returns the parameters for the temperature and the filters. Their defaults are in
// s.
func samplingParams(s sampling.Settings) []Param {
	var list []Param
	for _, k := range terms.Knobs() {
		if x, ok := s.Value(k.Key); ok && !k.Late {
			list = append(list, knobParam(k.Key, x))
		}
	}
	return list
}

// common returns the settings of the "Common" preset.
func common() sampling.Settings { return infer.DefaultSettings().Settings }

func greedy() sampling.Settings { return sampling.Settings{TopP: 1} }

// sampling returns the sampling settings given by the parameters of samplingParams.
func (v Values) sampling() (s sampling.Settings) {
	for _, k := range terms.Knobs() {
		if _, ok := v[k.Key]; ok {
			s.Set(k.Key, v.float(k.Key))
		}
	}
	return s
}

// settings returns a run's settings for n tokens.
func (v Values) settings(tokens int, stop ...string) infer.Settings {
	return infer.Settings{
		Settings: v.sampling(), Seed: uint64(v.float("seed")), Stop: infer.Stop{MaxTokens: tokens, Strings: stop},
	}
}

// room checks that a model's vocabulary can spell a prompt and that its context can hold it. It
// returns the prompt's length in positions and how many of the wanted tokens fit. The last token
// needs no position.
func room(m *infer.Model, v Values, wanted string) (prompt, tokens int, err error) {
	if err := m.CheckText(v["prompt"]); err != nil {
		return 0, 0, err
	}
	prompt = len(m.Encode(v["prompt"]))
	if context := m.Config().Context; prompt > context {
		return 0, 0, terms.NewRangeError(
			"prompt", fmt.Sprintf("%d tokens long", prompt),
			fmt.Sprintf("at most %d tokens, the context of this model", context),
		)
	}
	return prompt, min(v.int(wanted), m.Config().Context-prompt+1), nil
}
