package lab

import (
	"fmt"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
)

var _ = register(90, quantizationLab{})

type quantizationLab struct{}

// Info implements [Lab].
func (quantizationLab) Info(l *terms.Language) Info {
	return Info{
		Name: "quantization", Title: l.T("lab.quantization.title"),
		Claim:    l.T("lab.quantization.claim"),
		Friend:   l.T("lab.quantization.friend"),
		Question: l.T("lab.quantization.question"),
		Inputs: append(terms.Inputs{
			promptInput(l, story), tokensInput(l, 48, 256),
			{
				Key: "step", Label: l.T("lab.quantization.input.step"), Unit: l.T("lab.unit.tokens"),
				Kind: terms.KindInt, Min: 1, Max: 256, Step: 1,
				Default: "1",
				Help:    l.T("lab.quantization.input.step.help"),
			},
			{
				Key: "rows", Label: l.T("lab.quantization.input.rows"), Unit: l.T("lab.unit.tokens"),
				Kind: terms.KindInt, Min: 1, Max: 100, Step: 1,
				Default: "8",
				Help:    l.T("lab.quantization.input.rows.help"),
			},
			seedInput(l), repeatsInput(l, 9),
		}, samplingInputs(l, common())...),
		Try: []Preset{
			{
				Name: l.T("lab.quantization.try.a_sure_step"),
				Why:  l.T("lab.quantization.try.a_sure_step.why"),
				Values: terms.Values{
					"prompt": "User: What is the capital of France?\nAssistant: The capital of", "tokens": "8",
					"temperature": "0",
				},
			},
			{
				Name:   l.T("lab.quantization.try.a_longer_text"),
				Why:    l.T("lab.quantization.try.a_longer_text.why"),
				Values: terms.Values{"tokens": "200", "temperature": "1", "top_p": "1"},
			},
		},
		Includes: l.T("lab.quantization.includes"),
	}
}

// Quantization is the result of the quantization lab: a text generated with a model's own weights,
// and the predictions that rounded weights make at each step of the text.
type Quantization struct {
	Prompt int         `json:"prompt"` // tokens
	Text   []Token     `json:"text"`   // generated with the model's own weights
	Step   int         `json:"step"`   // the step whose bars are shown
	Ways   []QuantWay  `json:"ways"`   // the model's own weights come first
	Bars   []QuantBar  `json:"bars"`
	Rest   QuantBar    `json:"rest"` // the total for the tokens without a bar
	Others int         `json:"others"`
	Steps  []QuantStep `json:"steps"` // the steps compared so far
	// LeftOut explains why a requested format is missing.
	LeftOut Phrase `json:"left_out,omitzero"`
	Repeats int    `json:"repeats"`
}

// QuantWay is one way to store the weights.
type QuantWay struct {
	Name Phrase      `json:"name"` // "own weights", "int8", "Q4_0"
	Kind infer.Quant `json:"kind"`
	// Bytes is the size of all weights: the blocks' matrices stored this way, and the unchanged
	// embedding table and output matrix.
	Bytes    int64   `json:"bytes"`
	BitsEach float64 `json:"bits_each"` // per weight of the blocks' matrices, including scales
	// For the step shown: the most probable token, whether it is the same as with the model's own
	// weights, and the divergence from them.
	Top  Token   `json:"top"`
	Same bool    `json:"same"`
	KL   float64 `json:"kl"` // Σ p·ln(p/q) in nats at T = 1; p is from the model's own weights, q from this way
	// For all steps compared:
	Kept   int     `json:"kept"` // number of steps whose most probable token is the same
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

func (q *Quantization) findings() []Phrase {
	var list []Phrase
	own := q.Ways[0]
	two := func(x float64) string { return fmt.Sprintf("%.2g", x) }
	for _, w := range q.Ways[1:] {
		list = append(list, Text("lab.quantization.found", "way", w.Name, "bytes", size(float64(w.Bytes)),
			"own", size(float64(own.Bytes)), "kept", fmt.Sprint(w.Kept), "steps", fmt.Sprint(len(q.Steps)),
			"mean", two(w.MeanKL), "largest", two(w.MaxKL)))
	}
	for _, w := range q.Ways[1:] {
		if own.Ms.N > 0 && !w.Wide {
			list = append(list, Text("lab.quantization.found.time", "own", fmt.Sprintf("%.3f", own.Ms.Median),
				"ms", fmt.Sprintf("%.3f", w.Ms.Median), "way", w.Name))
		}
	}
	if !q.LeftOut.IsZero() {
		list = append(list, Text("lab.quantization.found.left_out", "what", q.LeftOut))
	}
	return list
}
