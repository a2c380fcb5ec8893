package lessons

import (
	"errors"
	"fmt"
	"maps"
	"math"
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

// The states of the counters experiment: the learner is still placing counters, or has placed all of
// them and asked for the head's. A learner without an idea sends [NoGuess].
const (
	CountersOpen = "no"
	CountersDone = "yes"
)

// maxTokens is the maximum number of tokens that an experiment generates.
const maxTokens = 512

// widgetInputs holds the inputs of each kind of experiment. A lesson may override their defaults
// and must provide the texts, which have no defaults. Except for knobs, the labels are keys of
// catalog texts.
var widgetInputs = map[WidgetKind]terms.Inputs{
	WidgetTurn: slices.Concat(
		terms.Inputs{promptInput("prompt", "lessons.input.prompt")},
		samplingInputs(infer.DefaultSettings().Settings),
		terms.Inputs{
			tokensInput(maxTokens, "24"), hidden(seedInput()),
			positionInput(float64(maxTokens*int(infer.KindCache)), "1"),
		},
	),
	WidgetTemperature: {
		promptInput("prompt", "lessons.input.prompt"),
		marked(knobInput("temperature", 1).Slider(LeastT, MostT), "0.5", "1", "2"),
	},
	WidgetNucleus: {
		promptInput("peaked", "lessons.input.peaked"),
		promptInput("flat", "lessons.input.flat"),
		knobInput("top_k", 40).Slider(1, 100),
		knobInput("top_p", 0.9).Slider(0.05, 1),
		hidden(knobInput("temperature", 1)),
	},
	WidgetGreedyLoop: {
		promptInput("prompt", "lessons.input.prompt"),
		marked(knobInput("temperature", 0).Slider(0, 1.5), "0", "0.7", "1"),
		seedInput(),
		tokensInput(maxTokens, "48"),
	},
	WidgetBestSequence: {
		promptInput("prompt", "lessons.input.prompt"),
		lengthInput,
		hidden(numberInput("width", "lessons.input.width", 2, 4096, "4096")),
	},
	WidgetStopString: slices.Concat(
		terms.Inputs{
			promptInput("prompt", "lessons.input.prompt"),
			{
				Key: "stop", Label: "lessons.input.stop", Kind: terms.KindText, Min: 1, Max: infer.MaxStopStringLen,
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
		promptInput("prompt", "lessons.input.prompt"),
		tokensInput(maxTokens, "48"),
		positionInput(maxTokens, strconv.Itoa(maxTokens)),
	},
	WidgetSpeculate: slices.Concat(
		terms.Inputs{
			promptInput("prompt", "lessons.input.prompt"), gammaInput("4"),
			knobInput("temperature", sampling.Pure.Temperature).Slider(0, 1.5),
		},
		samplingInputs(sampling.Pure)[1:],
		terms.Inputs{seedInput(), tokensInput(maxTokens, "48"), positionInput(maxTokens, "1")},
	),
	WidgetTokens: {promptInput("prompt", "lessons.input.text")},
	WidgetLook: {
		promptInput("prompt", "lessons.input.text"),
		numberInput("block", "lessons.input.block", 1, 6, "1"),
		numberInput("head", "lessons.input.head", 1, 6, "1"),
		hidden(numberInput("row", "lessons.input.row", 0, maxTokens, "0")), // 0 is the last token
		ofInput(),
	},
	WidgetChat: {
		promptInput("prompt", "lessons.input.question"),
		promptInput("edit", "lessons.input.edit"),
		positionInput(ChatEdited, "1"),
	},
	WidgetCounters: {
		hidden(promptInput("prompt", "lessons.input.text")),
		hidden(numberInput("block", "lessons.input.block", 1, 6, "1")),
		hidden(numberInput("head", "lessons.input.head", 1, 6, "1")),
		hidden(terms.Input{
			Key: "spread", Label: "lessons.input.spread", Kind: terms.KindText, Min: 1, Max: 64, Default: "0",
		}),
		hidden(terms.Input{
			Key: "done", Label: "lessons.input.done", Kind: terms.KindChoice, Default: CountersOpen,
			Options: []string{CountersOpen, CountersDone, NoGuess},
		}),
	},
	WidgetHide: {
		promptInput("prompt", "lessons.input.text"),
		// The numbers of the hidden tokens, from 1. 0 hides nothing.
		hidden(terms.Input{Key: "off", Label: "lessons.input.off", Kind: terms.KindList, Max: maxTokens, Default: "0"}),
		ofInput(),
	},
	WidgetSure: sureInputs(),
}

// SureCards are the cards of the experiment sure. Their inputs have these prefixes; see [sureInputs].
var SureCards = []string{"a", "b", "c", "d"}

// SureKinds are the kinds of answers in the experiment sure: right, wrong, or invented, about
// something that does not exist. NotYet is the guess for a card that is still closed.
var SureKinds = []string{"right", "wrong", "invented"}

const NotYet = "closed"

// sureInputs returns the inputs of the experiment sure. Each card has a prompt (a), how the bundled
// model's answer begins (a_says), what kind of answer that is (a_is), and the learner's guess of the
// kind (a_guess) and of the first token's probability in percent (a_sure).
func sureInputs() (list terms.Inputs) {
	kind := terms.Input{Label: "lessons.input.kind", Kind: terms.KindChoice, Options: SureKinds}
	for _, card := range SureCards {
		is, guess := kind, kind
		is.Key, guess.Key, guess.Default = card+"_is", card+"_guess", NotYet
		guess.Options = append(slices.Clone(SureKinds), NoGuess, NotYet)
		list = append(
			list, promptInput(card, "lessons.input.prompt"), promptInput(card+"_says", "lessons.input.says"), is, guess,
			numberInput(card+"_sure", "lessons.input.sure", 0, 100, "50"),
		)
	}
	for i := range list {
		list[i].Hidden = true
	}
	return list
}

// pictureInputs holds the inputs of each kind of picture, all of which the lesson sets. In
// addition, every kind may have a name.
var pictureInputs = map[PictureKind]terms.Inputs{
	PictureText: nil, PictureTokens: nil, PictureColumns: nil, PictureStream: nil, PictureScores: nil,
	PictureAttention: {
		numberInput("block", "lessons.input.block", 1, 6, ""), numberInput("head", "lessons.input.head", 1, 6, ""),
	},
	PictureShares:  {knobInput("temperature", 1)},
	PictureCut:     drawInputs,
	PictureStrip:   drawInputs,
	PictureDraw:    drawInputs,
	PictureCache:   drawInputs,
	PictureEdit:    {promptInput("to", "lessons.input.to")},
	PictureGuesses: append(terms.Inputs{gammaInput("3")}, drawInputs...),
}

// drawInputs are the inputs for the draw of a token.
var drawInputs = append(samplingInputs(sampling.Pure), seedInput(), tokensInput(maxTokens, "48"))

// lengthInput is the input for the length of a sequence. The slider ends at 4, since searching for
// longer sequences is slow.
var lengthInput = terms.Input{
	Key: "length", Label: "lessons.input.tokens", Kind: terms.KindInt, Min: 2, Max: 5, From: 2, To: 4, Step: 1,
	Default: "3",
}

func promptInput(key, label string) terms.Input {
	return terms.Input{Key: key, Label: label, Kind: terms.KindText, Min: 1, Max: infer.MaxSampleBytes}
}

// numberInput returns an input for a whole number.
func numberInput(key, label string, from, to float64, value string) terms.Input {
	return terms.Input{Key: key, Label: label, Kind: terms.KindInt, Min: from, Max: to, Step: 1, Default: value}
}

// knobInput returns the input for a knob. In lessons, its key is the knob's short name.
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
	return numberInput("gamma", "lessons.input.gamma", 1, 8, value)
}

// tokensInput returns the input for the number of tokens to generate.
func tokensInput(most float64, value string) terms.Input {
	return hidden(numberInput("tokens", "lessons.input.tokens", 1, most, value))
}

// ofInput returns the hidden input that identifies the text to which an experiment's other hidden
// inputs belong. 0 means that they belong to the text that is sent with them.
func ofInput() terms.Input {
	return hidden(numberInput("of", "lessons.input.of", 0, math.MaxInt32, "0"))
}

// positionInput returns the hidden input for the position, which an experiment's buttons change.
func positionInput(most float64, value string) terms.Input {
	return hidden(numberInput("at", "lessons.input.at", 1, most, value))
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

// inLanguage translates an input's label, and all texts of a knob, into a language.
func inLanguage(l *terms.Language, in terms.Input) terms.Input {
	english, ok := knobOf(in)
	if !ok {
		in.Label = l.T(in.Label)
		return in
	}
	knob, _ := l.Knob(english.Key)
	own := knob.Input
	own.Key, own.Default, own.Hidden, own.Marks = in.Key, in.Default, in.Hidden, in.Marks
	if in.Want.IsZero() { // a slider with a narrower range
		own = own.Slider(in.From, in.To)
	}
	return own
}

// knobOf returns the knob that an input sets, or false if the input is not for a knob.
func knobOf(in terms.Input) (terms.Knob, bool) {
	k, ok := terms.KnobNamed(in.Key)
	return k, ok && k.Label == in.Label
}

// checkInputs checks a lesson's values for inputs and replaces them with their canonical form. It
// returns all errors.
func checkInputs(inputs terms.Inputs, given map[string]string) (wrong []error) {
	for _, key := range slices.Sorted(maps.Keys(given)) {
		in, ok := inputs.Find(key)
		if !ok {
			wrong = append(wrong, fmt.Errorf("unknown setting %q", key))
			continue
		}
		if k, isKnob := knobOf(in); isKnob {
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
			wrong = append(wrong, errors.New("missing setting "+in.Key))
		}
	}
	return wrong
}
