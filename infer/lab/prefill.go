package lab

import (
	"fmt"

	"github.com/tokenbytoken/viz/infer/terms"
)

var _ = register(50, prefillLab{})

type prefillLab struct{}

// Info implements [Lab].
func (prefillLab) Info() Info {
	return Info{
		Name: "prefill", Title: "Prefill and decode",
		Claim: "Reading is quick. Writing takes the time.",
		Friend: "It reads your whole question at once, but writes its answer piece by piece. That’s the " +
			"pause, and then the trickle.",
		Question: "How long until the first token, and how long between the others? What changes " +
			"with the prompt's length?",
		Inputs: append(terms.Inputs{
			{
				Key: "lengths", Label: "Prompt lengths", Unit: "tokens", Kind: terms.KindList, Min: 1, Max: 100_000,
				Default: "1,8,16,32,64,128,192,256", Help: "prompts of these lengths are read",
			},
			promptInput(story), tokensInput(48, 2048), seedInput(), repeatsInput(5),
			{
				Key: "stream", Label: "Streaming", Kind: terms.KindBool, Default: "true",
				Help: "show each token as soon as it exists, or the whole answer at the end",
			},
		}, samplingInputs(common())...),
		Try: []Preset{
			{
				Name:   "A long prompt",
				Why:    "Twice the prompt, about twice the wait for the first token; the gaps after it hardly change.",
				Values: terms.Values{"prompt": longPrompt, "lengths": "64,128,256,448"},
			},
			{
				Name: "A long answer", Why: "Without streaming, you wait for all of it.",
				Values: terms.Values{"tokens": "160"},
			},
		},
		Includes: "Time to the first token is the pass over the prompt, the scores of its last position, filters and " +
			"draw. A gap is one turn of the loop. Network and drawing on a screen are left out; a real " +
			"service adds a queue.",
	}
}

// Prefill is the result of the prefill lab: the time to the first token for several prompt lengths,
// and the gaps between the tokens after it.
type Prefill struct {
	Repeats int            `json:"repeats"`
	Points  []PrefillPoint `json:"points"`
	LeftOut []int          `json:"left_out,omitempty"` // lengths that are longer than the context
	// The line fitted to the points: a prompt of n tokens takes Constant + PerToken·n ms.
	Constant float64 `json:"constant_ms"`
	PerToken float64 `json:"per_token_ms"`
	R2       float64 `json:"r2"`
	// One text, generated after a prompt of Prompt tokens.
	Prompt   int       `json:"prompt"`
	First    float64   `json:"first_ms"` // to the first token
	Gaps     Spread    `json:"gaps_ms"`  // between tokens
	Arrivals []Arrival `json:"arrivals"`
	Stream   bool      `json:"stream"` // as requested; decides which of the two waits is shown
	Streamed Wait      `json:"streamed"`
	Whole    Wait      `json:"whole"` // not streamed
	// Measurements of the same run that explain why generating a token costs more than reading one:
	Input  PerToken `json:"input"`
	Output PerToken `json:"output"`
	// OutputPass is the part of Output's time that is spent on the pass and the scores. The rest is
	// spent on the softmax, the filters, the draw and the text.
	OutputPass float64 `json:"output_pass_ms"`
	Ratio      float64 `json:"ratio"` // time to generate a token over the time to read one
	// The counted work hardly differs. The difference is in how many tokens share one read of the
	// weights.
	WorkRatio   float64 `json:"work_ratio"`
	WeightBytes int64   `json:"weight_bytes"` // read in every pass
}

// PrefillPoint holds the measurements for one prompt length.
type PrefillPoint struct {
	Tokens   int     `json:"tokens"`
	Ms       Spread  `json:"ms"`           // to the first token: pass, scores and draw
	PerToken float64 `json:"per_token_ms"` // median over tokens
	MultAdds int64   `json:"mult_adds"`    // counted during the run
	Formula  int64   `json:"formula"`
}

// Arrival is the time at which a token was ready, counted from the request.
type Arrival struct {
	Step  int     `json:"step"`
	Token Token   `json:"token"`
	At    float64 `json:"at_ms"`
	Gap   float64 `json:"gap_ms"`
	Text  string  `json:"text"` // the text that could be shown then; "" while text is held back
}

// Wait is how long a reader waits.
type Wait struct {
	First float64 `json:"first_ms"` // until there is something to read
	Last  float64 `json:"last_ms"`  // until the text is complete
}

// PerToken is the cost of one token.
type PerToken struct {
	Ms       float64 `json:"ms"`
	MultAdds float64 `json:"mult_adds"`
	Rate     float64 `json:"rate"` // in 10⁹ multiply-adds per second
}

func (p *Prefill) findings() []string {
	list := []string{
		fmt.Sprintf(
			"Each token of a prompt takes %.4f ms, plus %.2f ms for the prompt as a whole (R² of that line: %.3f).",
			p.PerToken,
			p.Constant, p.R2,
		),
	}
	if p.Constant <= 0 { // the noise is larger than the constant part
		list[0] = fmt.Sprintf("Each token of a prompt takes %.4f ms (R² of that line: %.3f).", p.PerToken, p.R2)
	}
	if p.Gaps.N == 0 {
		return list
	}
	return append(list,
		fmt.Sprintf(
			"The gaps between tokens are %.3f ms, the middle half from %.3f to %.3f.", p.Gaps.Median, p.Gaps.Q1,
			p.Gaps.Q3,
		),
		fmt.Sprintf(
			"Writing a token takes %.2g times as long as reading one, for %.2g times the multiply-adds.", p.Ratio,
			p.WorkRatio,
		),
		fmt.Sprintf("Streamed, the first words arrive after %.2f ms; in one piece, everything arrives after %.2f.",
			p.Streamed.First, p.Whole.First))
}
