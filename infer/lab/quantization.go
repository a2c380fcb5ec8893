package lab

import "github.com/tokenbytoken/viz/infer"

// Quantization is what the lab of that name found: one text, written with a
// model's own weights, and what rounded ones would have said at each of its
// steps.
type Quantization struct {
	Prompt int         `json:"prompt"` // tokens
	Text   []Token     `json:"text"`   // that the own weights wrote
	Step   int         `json:"step"`   // the one whose bars are shown
	Ways   []QuantWay  `json:"ways"`   // the own weights first
	Bars   []QuantBar  `json:"bars"`
	Rest   QuantBar    `json:"rest"` // the sum of all tokens without a bar
	Others int         `json:"others"`
	Steps  []QuantStep `json:"steps"` // compared so far
	// LeftOut says why there is no way of rounding that was asked for.
	LeftOut string `json:"left_out,omitempty"`
	Repeats int    `json:"repeats"`
}

// QuantWay is one way of keeping the weights.
type QuantWay struct {
	Name string      `json:"name"` // "own weights", "int8", "Q4_0"
	Kind infer.Quant `json:"kind"`
	// Bytes of all weights as this way keeps them: the blocks' matrices, and the
	// embedding table and the output matrix, which stay as they are.
	Bytes    int64   `json:"bytes"`
	BitsEach float64 `json:"bits_each"` // for each weight of the blocks' matrices, scales included
	// At the step shown: the most probable token, whether it is that of the own
	// weights, and the divergence.
	Top  Token   `json:"top"`
	Same bool    `json:"same"`
	KL   float64 `json:"kl"` // Σ p·ln(p/q) in nats, p by the own weights and q by this way, at T = 1
	// Over all steps compared.
	Kept   int     `json:"kept"` // steps whose most probable token stays
	MeanKL float64 `json:"mean_kl"`
	MaxKL  float64 `json:"max_kl"`
	Ms     Spread  `json:"ms"`   // a token's pass and scores
	Wide   bool    `json:"wide"` // computed in float32 after widening: its time says nothing of the format
}

// QuantBar is a token's probability at the step, by each of the ways in turn,
// at T = 1 with nothing cut.
type QuantBar struct {
	Token Token     `json:"token"`
	P     []float64 `json:"p"`
}

// QuantStep is one step of the text: the divergence of each way, and whether its
// most probable token is that of the own weights.
type QuantStep struct {
	Step  int       `json:"step"`
	Token Token     `json:"token"` // that was written
	KL    []float64 `json:"kl"`
	Same  []bool    `json:"same"`
}
