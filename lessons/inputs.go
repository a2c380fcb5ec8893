package lessons

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

// The range of the temperature experiment's slider. It begins above 0, since the scores are divided
// by T.
const (
	LeastT = 0.1
	MostT  = 2.0
)

// ChatEdited is the last position of the chat experiment. The first three positions are requests;
// the last one repeats the first request with a changed question.
const ChatEdited = 4

// maxTokens is the maximum number of tokens that an experiment generates.
const maxTokens = 512

// widgetInputs holds the inputs of each kind of experiment. A lesson may override their defaults,
// and it must provide the texts, which have none.
var widgetInputs = map[WidgetKind]terms.Inputs{
	WidgetTurn: slices.Concat(
		terms.Inputs{promptInput("prompt", "Prompt")},
		samplingInputs(infer.DefaultSettings().Settings),
		terms.Inputs{
			tokensInput(maxTokens, "24"), hidden(seedInput()),
			positionInput(float64(maxTokens*int(infer.KindCache)), "1"),
		},
	),
	WidgetTemperature: {
		promptInput("prompt", "Prompt"),
		marked(knobInput("temperature", 1).Slider(LeastT, MostT), "0.5", "1", "2"),
	},
	WidgetNucleus: {
		promptInput("peaked", "A sure prompt"),
		promptInput("flat", "An unsure prompt"),
		knobInput("top_k", 40).Slider(1, 100),
		knobInput("top_p", 0.9).Slider(0.05, 1),
		hidden(knobInput("temperature", 1)),
	},
	WidgetGreedyLoop: {
		promptInput("prompt", "Prompt"),
		marked(knobInput("temperature", 0).Slider(0, 1.5), "0", "0.7", "1"),
		seedInput(),
		tokensInput(maxTokens, "48"),
	},
	WidgetBestSequence: {
		promptInput("prompt", "Prompt"),
		lengthInput,
		hidden(numberInput("width", "Candidates", 2, 4096, "4096")),
	},
	WidgetStopString: slices.Concat(
		terms.Inputs{
			promptInput("prompt", "Prompt"),
			{
				Key: "stop", Label: "Stop string", Kind: terms.KindText, Min: 1, Max: infer.MaxStopStringLen,
				Optional: true,
			},
		},
		samplingInputs(infer.DefaultSettings().Settings),
		terms.Inputs{
			tokensInput(maxTokens, "64"), seedInput(),
			positionInput(maxTokens, strconv.Itoa(maxTokens)), // the end of the text
		},
	),
	WidgetCache: {
		promptInput("prompt", "Prompt"),
		tokensInput(maxTokens, "48"),
		positionInput(maxTokens, strconv.Itoa(maxTokens)),
	},
	WidgetSpeculate: slices.Concat(
		terms.Inputs{
			promptInput("prompt", "Prompt"), gammaInput("4"),
			knobInput("temperature", sampling.Pure.Temperature).Slider(0, 1.5),
		},
		samplingInputs(sampling.Pure)[1:],
		terms.Inputs{seedInput(), tokensInput(maxTokens, "48"), positionInput(maxTokens, "1")},
	),
	WidgetTokens: {promptInput("prompt", "A text")},
	WidgetLook: {
		promptInput("prompt", "A text"),
		numberInput("block", "Block", 1, 6, "1"),
		numberInput("head", "Head", 1, 6, "1"),
	},
	WidgetChat: {
		promptInput("prompt", "Your question"),
		promptInput("edit", "What you change it to"),
		positionInput(ChatEdited, "1"),
	},
}

// pictureInputs holds the inputs of each kind of picture, all of which the lesson sets. In
// addition, every kind may have a name.
var pictureInputs = map[PictureKind]terms.Inputs{
	PictureText: nil, PictureTokens: nil, PictureColumns: nil, PictureStream: nil, PictureScores: nil,
	PictureAttention: {numberInput("block", "Block", 1, 6, ""), numberInput("head", "Head", 1, 6, "")},
	PictureShares:    {knobInput("temperature", 1)},
	PictureCut:       drawInputs,
	PictureStrip:     drawInputs,
	PictureDraw:      drawInputs,
	PictureCache:     drawInputs,
	PictureEdit:      {promptInput("to", "The sentence after the edit")},
	PictureGuesses:   append(terms.Inputs{gammaInput("3")}, drawInputs...),
}

// drawInputs are the inputs for the draw of a token.
var drawInputs = append(samplingInputs(sampling.Pure), seedInput(), tokensInput(maxTokens, "48"))

// lengthInput is the input for the length of a sequence. The slider ends at 4, since searching for
// longer sequences is slow.
var lengthInput = terms.Input{
	Key: "length", Label: "Tokens", Kind: terms.KindInt, Min: 2, Max: 5, From: 2, To: 4, Step: 1, Default: "3",
}

func promptInput(key, label string) terms.Input {
	return terms.Input{Key: key, Label: label, Kind: terms.KindText, Min: 1, Max: infer.MaxSampleBytes}
}

// numberInput returns an input for a whole number.
func numberInput(key, label string, from, to float64, value string) terms.Input {
	return terms.Input{Key: key, Label: label, Kind: terms.KindInt, Min: from, Max: to, Step: 1, Default: value}
}

// knobInput returns the input of a knob, which has the knob's short name in lessons.
func knobInput(key string, x float64) terms.Input {
	k := terms.MustKnob(key)
	in := k.With(terms.Plain(x))
	in.Key = k.Short
	return in
}

// samplingInputs returns inputs for the temperature, which comes first, and the filters. Their
// defaults are the values in s. No form shows them.
func samplingInputs(s sampling.Settings) terms.Inputs {
	var list terms.Inputs
	for _, k := range terms.Knobs() {
		if x, ok := s.Value(k.Key); ok {
			list = append(list, hidden(knobInput(k.Key, x)))
		}
	}
	return list
}

func seedInput() terms.Input { return knobInput("seed", 42) }

func gammaInput(value string) terms.Input {
	return numberInput("gamma", "Drafted each time", 1, 8, value)
}

// tokensInput returns the input for the number of tokens to generate.
func tokensInput(most float64, value string) terms.Input {
	return hidden(numberInput("tokens", "Tokens", 1, most, value))
}

// positionInput returns the input for the position to which an experiment's buttons move.
func positionInput(most float64, value string) terms.Input {
	return hidden(numberInput("at", "Place", 1, most, value))
}

// hidden returns an input that no form shows. Its value is set by the lesson or by a button.
func hidden(in terms.Input) terms.Input {
	in.Hidden = true
	return in
}

// marked returns an input with buttons for some values.
func marked(in terms.Input, values ...string) terms.Input {
	in.Marks = values
	return in
}

// checkInputs checks a lesson's values for inputs and replaces them with their canonical form. It
// returns all errors.
func checkInputs(inputs terms.Inputs, given map[string]string) (wrong []error) {
	for _, key := range slices.Sorted(maps.Keys(given)) {
		in, ok := inputs.Find(key)
		if !ok {
			wrong = append(wrong, fmt.Errorf("there is no setting %q here", key))
			continue
		}
		if k, isKnob := terms.KnobNamed(key); isKnob && k.Label == in.Label {
			in = k.Input // a slider may be narrower
			in.Key = key
		}
		value, err := in.Parse(given[key])
		if err != nil {
			wrong = append(wrong, err)
		}
		given[key] = value
	}
	for _, in := range inputs {
		if _, ok := given[in.Key]; !ok && in.Default == "" {
			wrong = append(wrong, errors.New(in.Key+" is missing"))
		}
	}
	return wrong
}
