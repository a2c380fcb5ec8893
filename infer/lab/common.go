package lab

import (
	"fmt"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

// Parameters that several labs share, under the same names.

// promptBytes is how long a lab's prompt may be.
const promptBytes = 4096

func promptParam(text string) Param {
	return Param{
		Name: "prompt", Label: "Prompt", Unit: "bytes", Kind: Text, Min: 1, Max: promptBytes, Default: text,
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
		Help:    "how often each time is measured; the median is shown, with the middle half of the times",
	}
}

func seedParam() Param {
	return Param{
		Name: "seed", Label: "Seed", Kind: Int, Min: 0, Max: infer.MaxSeed, Step: 1, Default: "42",
		Help: "starts the random draws: the same seed, the same text",
	}
}

// samplingParams are temperature and filters, starting with s.
func samplingParams(s sampling.Settings) []Param {
	return []Param{
		{
			Name: "temperature", Label: "Temperature", Kind: Float, Min: 0, Max: sampling.MaxTemperature, Step: 0.1,
			Default: terms.Plain(s.Temperature), Help: "divides the logits; 0 is greedy",
		},
		{
			Name: "top_k", Label: "Top-k", Unit: "tokens", Kind: Int, Min: 0, Max: 1_000_000, Step: 1,
			Default: terms.Plain(float64(s.TopK)), Help: "keep the k most probable tokens; 0 is off",
		},
		{
			Name: "top_p", Label: "Top-p", Kind: Float, Min: 0, Max: 1, Step: 0.05, Default: terms.Plain(s.TopP),
			Help: "keep the smallest leading set with at least this probability; 1 is off",
		},
		{
			Name: "min_p", Label: "Min-p", Kind: Float, Min: 0, Max: 1, Step: 0.01, Default: terms.Plain(s.MinP),
			Help: "keep tokens with at least this share of the largest probability; 0 is off",
		},
	}
}

// common are the settings of the 'Common' preset.
func common() sampling.Settings { return infer.DefaultSettings().Settings }

func greedy() sampling.Settings { return sampling.Settings{TopP: 1} }

// sampling reads what samplingParams asked for.
func (v Values) sampling() sampling.Settings {
	return sampling.Settings{
		Temperature: v.float("temperature"), TopK: v.int("top_k"), TopP: v.float("top_p"), MinP: v.float("min_p"),
	}
}

// settings reads a run's settings with so many tokens.
func (v Values) settings(tokens int, stop ...string) infer.Settings {
	return infer.Settings{
		Settings: v.sampling(), Seed: uint64(v.float("seed")), Stop: infer.Stop{MaxTokens: tokens, Strings: stop},
	}
}

// checkSampling refuses what the engine would refuse, such as a top-p of 0.
func checkSampling(v Values) error {
	if _, has := v["top_p"]; !has {
		return nil
	}
	return v.sampling().Check()
}

// room checks that a model can spell and hold a prompt and returns its length
// in positions and how many of the wanted tokens there is room for: the last one
// needs no position of its own.
func room(m *infer.Model, v Values, wanted string) (prompt, tokens int, err error) {
	if err := m.CheckText(v["prompt"]); err != nil {
		return 0, 0, err
	}
	prompt = len(m.Encode(v["prompt"]))
	if context := m.Config().Context; prompt > context {
		return 0, 0, sampling.NewRangeError(
			"prompt", fmt.Sprintf("%d tokens long", prompt),
			fmt.Sprintf("at most %d tokens, the context of this model", context),
		)
	}
	return prompt, min(v.int(wanted), m.Config().Context-prompt+1), nil
}
