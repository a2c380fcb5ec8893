package lab

import (
	"fmt"

	"github.com/tokenbytoken/viz/infer/terms"
)

var _ = register(50, prefillLab{})

type prefillLab struct{}

// Info implements [Lab].
func (prefillLab) Info(l *terms.Language) Info {
	return Info{
		Name: "prefill", Title: l.T("lab.prefill.title"),
		Claim:    l.T("lab.prefill.claim"),
		Friend:   l.T("lab.prefill.friend"),
		Question: l.T("lab.prefill.question"),
		Inputs: append(terms.Inputs{
			{
				Key: "lengths", Label: l.T("lab.prefill.input.lengths"), Unit: l.T("lab.unit.tokens"),
				Kind: terms.KindList, Min: 1, Max: 100_000,
				Default: "1,8,16,32,64,128,192,256", Help: l.T("lab.prefill.input.lengths.help"),
			},
			promptInput(l, story), tokensInput(l, 48, 2048), seedInput(l), repeatsInput(l, 5),
			{
				Key: "stream", Label: l.T("lab.prefill.input.stream"), Kind: terms.KindBool, Default: "true",
				Help: l.T("lab.prefill.input.stream.help"),
			},
		}, samplingInputs(l, common())...),
		Try: []Preset{
			{
				Name:   l.T("lab.prefill.try.a_long_prompt"),
				Why:    l.T("lab.prefill.try.a_long_prompt.why"),
				Values: terms.Values{"prompt": longPrompt, "lengths": "64,128,256,448"},
			},
			{
				Name: l.T("lab.prefill.try.a_long_answer"), Why: l.T("lab.prefill.try.a_long_answer.why"),
				Values: terms.Values{"tokens": "160"},
			},
		},
		Includes: l.T("lab.prefill.includes"),
	}
}

// Prefill is the result of the prefill lab: the time to the first token for several prompt lengths,
// and the gaps between the tokens after it.
type Prefill struct {
	Repeats int            `json:"repeats"`
	Points  []PrefillPoint `json:"points"`
	LeftOut []int          `json:"left_out,omitempty"` // requested lengths that exceed the context
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
	// WorkRatio is close to 1: the work hardly differs. What differs is how many tokens share one
	// read of the weights.
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

// Arrival is the time at which a token was ready, measured from the request.
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

func (p *Prefill) findings() []Phrase {
	number := fmt.Sprintf
	line := Text("lab.prefill.found", "ms", number("%.4f", p.PerToken), "constant", number("%.2f", p.Constant),
		"r2", number("%.3f", p.R2))
	if p.Constant <= 0 { // the noise is larger than the constant part
		line = Text("lab.prefill.found.noisy", "ms", number("%.4f", p.PerToken), "r2", number("%.3f", p.R2))
	}
	if p.Gaps.N == 0 {
		return []Phrase{line}
	}
	return []Phrase{
		line,
		Text("lab.prefill.found.gaps", "ms", number("%.3f", p.Gaps.Median), "low", number("%.3f", p.Gaps.Q1),
			"high", number("%.3f", p.Gaps.Q3)),
		Text("lab.prefill.found.ratio", "ratio", number("%.2g", p.Ratio), "work", number("%.2g", p.WorkRatio)),
		Text("lab.prefill.found.waits", "first", number("%.2f", p.Streamed.First), "all", number("%.2f",
			p.Whole.First)),
	}
}
