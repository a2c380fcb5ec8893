package lab

import (
	"fmt"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
)

var _ = register(90, quantizationLab{})

type quantizationLab struct{}

// Info implements [Lab].
func (quantizationLab) Info() Info {
	return Info{
		Name: "quantization", Title: "What quantization does",
		Claim: "Weights in four bits, and mostly the same words.",
		Friend: "You can round off most of what each number in a model says, and it still writes mostly " +
			"the same words.",
		Question: "Round every weight to a byte, or to four bits: how far do the model's probabilities move, and " +
			"does its favorite token stay?",
		Inputs: append(terms.Inputs{
			promptInput(story), tokensInput(48, 256),
			{
				Key: "step", Label: "Step", Unit: "tokens", Kind: terms.KindInt, Min: 1, Max: 256, Step: 1,
				Default: "1",
				Help:    "the generated token whose bars are shown",
			},
			{
				Key: "rows", Label: "Bars", Unit: "tokens", Kind: terms.KindInt, Min: 1, Max: 100, Step: 1,
				Default: "8",
				Help:    "how many tokens have bars of their own",
			},
			seedInput(), repeatsInput(9),
		}, samplingInputs(common())...),
		Try: []Preset{
			{
				Name: "A sure step",
				Why: "Where one token has nearly all the probability, even four bits don't move it: you can " +
					"hardly tell the bars apart.",
				Values: terms.Values{
					"prompt": "User: What is the capital of France?\nAssistant: The capital of", "tokens": "8",
					"temperature": "0",
				},
			},
			{
				Name: "A longer text",
				Why: "Over many steps, four bits change the favorite token now and then, mostly where two tokens " +
					"were nearly equal; int8 hardly ever does.",
				Values: terms.Values{"tokens": "200", "temperature": "1", "top_p": "1"},
			},
		},
		Includes: "The model's own weights write one text. Rounded to int8 and to Q4_0, it reads that text and is " +
			"asked at every step, at T = 1 over the whole vocabulary with nothing cut. KL is Σ p·ln(p/q) in nats, " +
			"where p is the probability before rounding and q the one after. Only the matrices of the blocks are " +
			"rounded: the embedding table and the output matrix keep their values. Q4_0 is rounded as llama.cpp " +
			"rounds it, and its size is the format's, but it is widened to float32 before the computation, " +
			"so its time says nothing about the format. A time covers one token's pass and scores, after the " +
			"whole text.",
	}
}

// Quantization is the result of the quantization lab: one text generated with a model's own
// weights, and the predictions of rounded weights at each of its steps.
type Quantization struct {
	Prompt int         `json:"prompt"` // tokens
	Text   []Token     `json:"text"`   // generated with the model's own weights
	Step   int         `json:"step"`   // the step whose bars are shown
	Ways   []QuantWay  `json:"ways"`   // the model's own weights come first
	Bars   []QuantBar  `json:"bars"`
	Rest   QuantBar    `json:"rest"` // the sum of the tokens without a bar
	Others int         `json:"others"`
	Steps  []QuantStep `json:"steps"` // the steps compared so far
	// LeftOut explains why a requested format is missing.
	LeftOut string `json:"left_out,omitempty"`
	Repeats int    `json:"repeats"`
}

// QuantWay is one way to store the weights.
type QuantWay struct {
	Name string      `json:"name"` // "own weights", "int8", "Q4_0"
	Kind infer.Quant `json:"kind"`
	// Bytes is the size of all weights: the blocks' matrices stored this way, and the unchanged
	// embedding table and output matrix.
	Bytes    int64   `json:"bytes"`
	BitsEach float64 `json:"bits_each"` // per weight of the blocks' matrices, including scales
	// For the step shown: the most probable token, whether it is the same as with the model's own
	// weights, and the divergence.
	Top  Token   `json:"top"`
	Same bool    `json:"same"`
	KL   float64 `json:"kl"` // Σ p·ln(p/q) in nats at T = 1; p is from the model's own weights, q from this way
	// For all steps compared:
	Kept   int     `json:"kept"` // steps whose most probable token is the same
	MeanKL float64 `json:"mean_kl"`
	MaxKL  float64 `json:"max_kl"`
	Ms     Spread  `json:"ms"`   // the time of a token's pass and scores
	Wide   bool    `json:"wide"` // the weights are widened to float32 first, so Ms does not measure the format
}

// QuantBar holds a token's probability at the step shown for each way of storing the weights, at T
// = 1 without filters.
type QuantBar struct {
	Token Token     `json:"token"`
	P     []float64 `json:"p"`
}

// QuantStep is one step of the text, with each way's divergence and whether its most probable token
// is the same as with the model's own weights.
type QuantStep struct {
	Step  int       `json:"step"`
	Token Token     `json:"token"` // the generated token
	KL    []float64 `json:"kl"`
	Same  []bool    `json:"same"`
}

func (q *Quantization) findings() []string {
	var list []string
	own := q.Ways[0]
	for _, w := range q.Ways[1:] {
		list = append(list, fmt.Sprintf("%s keeps the weights in %s instead of %s. The most probable token stays at "+
			"%d of %d steps; the mean KL is %.2g nats, the largest %.2g.",
			w.Name, terms.BytesShort(float64(w.Bytes)), terms.BytesShort(
				float64(own.Bytes),
			), w.Kept, len(q.Steps), w.MeanKL, w.MaxKL))
	}
	for _, w := range q.Ways[1:] {
		if own.Ms.N > 0 && !w.Wide {
			list = append(
				list,
				fmt.Sprintf(
					"A token takes %.3f ms with the model's own weights and %.3f ms with %s.", own.Ms.Median,
					w.Ms.Median, w.Name,
				),
			)
		}
	}
	if q.LeftOut != "" {
		list = append(list, "Left out: "+q.LeftOut+".")
	}
	return list
}
