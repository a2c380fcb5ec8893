package lab

import (
	"fmt"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
)

var _ = register(60, billLab{})

type billLab struct{}

// Info implements [Lab].
func (billLab) Info() Info {
	price := func(name, label, value, help string) terms.Input {
		return terms.Input{
			Key: name, Label: label, Unit: "$ a million tokens", Kind: terms.KindFloat, Min: 0, Max: 10_000, Step: 0.1,
			Default: value, Help: help,
		}
	}
	return Info{
		Name: "bill", Title: "The bill",
		Claim: "Every token that is written costs more than one that is read.",
		Friend: "At the usual prices, a word that a model writes costs several times as much as a word it " +
			"reads.",
		Question: "What does this request cost, which change would have made it cheaper, and why does output " +
			"cost more than input?",
		Inputs: append(terms.Inputs{
			promptInput(story),
			{
				Key: "max_tokens", Label: "Max tokens", Unit: "tokens", Kind: terms.KindInt, Min: 1, Max: 4096, Step: 1,
				Default: "96", Help: "the most that may be written",
			},
			stopsInput("stop", "Stop strings", "", "one a line; \\n is a newline"),
			{
				Key: "stream", Label: "Streaming", Kind: terms.KindBool, Default: "true",
				Help: "changes how you wait, not what you pay",
			},
			seedInput(),
			price("input_price", "Input price", "3", "of tokens read"), price(
				"output_price", "Output price", "15", "of tokens written",
			),
			{
				Key: "requests", Label: "Requests", Unit: "a day", Kind: terms.KindFloat, Min: 0, Max: 1e12, Step: 1000,
				Default: "100000", Help: "like this one",
			},
			{
				Key: "machine", Label: "Own machine", Unit: "$ an hour", Kind: terms.KindFloat, Min: 0, Max: 1e6,
				Step:    0.1,
				Default: "0.5", Help: "what it costs to run this model on a machine like this one",
			},
			{
				Key: "trained_tokens", Label: "Trained on", Unit: "tokens", Kind: terms.KindFloat, Min: 0, Max: 1e15,
				Step: 1e6,
				Own:  true,
				Help: "tokens that the model was trained on; left empty, 20 for each weight, a rule of thumb " +
					"(Hoffmann et al. 2022)",
			},
			stopsInput("try_stop", "Another stop string", ".", "what it would have saved"),
			{
				Key: "try_max_tokens", Label: "A smaller limit on tokens", Unit: "tokens", Kind: terms.KindInt, Min: 1,
				Max: 4096, Step: 1, Default: "24", Help: "what it would have saved",
			},
			{
				Key: "try_prompt", Label: "A terser prompt", Unit: "bytes", Kind: terms.KindText, Min: 0,
				Max: infer.MaxSampleBytes, Default: "Once there was a",
				Help: "what it would have saved; empty leaves it out",
			},
		}, samplingInputs(common())...),
		Try: []Preset{
			{
				Name: "Long input, short output",
				Why: "Where the prompt is long and the answer short, a shorter prompt saves most, although each of " +
					"its tokens costs less.",
				Values: terms.Values{
					"prompt": longPrompt, "try_prompt": "She held the shell to her ear and", "max_tokens": "10",
					"try_max_tokens": "5",
				},
			},
			{
				Name:   "Short input, long output",
				Why:    "Output dominates, so max tokens and stop strings save the most.",
				Values: terms.Values{"max_tokens": "256", "try_max_tokens": "64"},
			},
		},
		Includes: "Input tokens are those that the tokenizer makes of the prompt, with its start mark; output tokens " +
			"are all that the loop drew, including those of a stop string and of an end of text. Prices are yours to " +
			"set; a price is not a cost. Every saving was run with the same seed, not guessed. " +
			"Times are of this machine.",
	}
}

// Bill is the result of the bill lab: the cost of one request at given prices, and what
// other requests would have cost.
type Bill struct {
	Request     Request          `json:"request"`
	JSON        string           `json:"json"` // the request in the form that a program would send
	Prices      Prices           `json:"prices"`
	Prompt      []Token          `json:"prompt"`
	Text        string           `json:"text"`
	Stop        infer.StopReason `json:"stop"`
	Ticks       []Tick           `json:"ticks"` // the bill after each token
	Cost        Cost             `json:"cost"`
	AtMost      Cost             `json:"at_most"` // if only max_tokens or a full context window ends the text
	Savings     []Saving         `json:"savings"`
	OutputShare float64          `json:"output_share"` // output's share of the cost
	// BreakEven is the number of input tokens that cost as much as one output token.
	BreakEven float64    `json:"break_even"`
	Machine   MachineUse `json:"machine"`
	Training  Training   `json:"training"`
	Why       Why        `json:"why"`
}

// Prices are in dollars per million tokens.
type Prices struct {
	Input  float64 `json:"input"`
	Output float64 `json:"output"`
}

// Cost is the cost of one request.
type Cost struct {
	InputTokens  int     `json:"input_tokens"`
	OutputTokens int     `json:"output_tokens"`
	Input        float64 `json:"input"`  // dollars
	Output       float64 `json:"output"` // dollars
	Total        float64 `json:"total"`  // dollars
}

// Tick is the bill after one more token.
type Tick struct {
	Step  int     `json:"step"`
	Token Token   `json:"token"`
	Cost  float64 `json:"cost"` // dollars up to this token
	Ms    float64 `json:"ms"`   // since the request
}

// Saving compares the cost of the request with the cost of another request, which was also run.
type Saving struct {
	Name  string           `json:"name"`  // "stop", "max_tokens" or "prompt"
	Title string           `json:"title"` // in words
	Text  string           `json:"text"`  // the other request's answer
	Stop  infer.StopReason `json:"stop"`
	Cost  Cost             `json:"cost"`
	Saved float64          `json:"saved"` // dollars per request; negative if the other request costs more
	Share float64          `json:"share"` // of the request's cost
	ADay  float64          `json:"a_day"` // dollars per day at the given number of requests
	Same  bool             `json:"same"`  // the other answer is a prefix of the original one
}

// MachineUse compares the prices with the cost of running your own machine, at the speed measured
// in this run.
type MachineUse struct {
	PerHour      float64 `json:"per_hour"`         // dollars
	SecondsEach  float64 `json:"seconds_each"`     // per request, if requests run one at a time
	CostEach     float64 `json:"cost_each"`        // dollars
	RequestsDay  float64 `json:"requests_a_day"`   // the given number of requests
	MostADay     float64 `json:"most_a_day"`       // the machine's capacity
	BreakEvenDay float64 `json:"break_even_a_day"` // requests per day from which the machine is cheaper; 0 if never
	APIDay       float64 `json:"api_a_day"`        // dollars
	MachineDay   float64 `json:"machine_a_day"`    // dollars
}

// Training compares the cost of training a model with the cost of one answer. A training step costs
// about as much as three forward passes: one for the forward pass, two for the backward pass
// (Kaplan et al. 2020).
type Training struct {
	Tokens float64 `json:"tokens"` // that the model was trained on
	// Assumed means that Tokens is 20 per weight, a rule of thumb (Hoffmann et al. 2022)
	Assumed         bool    `json:"assumed"`
	MultAdds        float64 `json:"mult_adds"`         // 3 × a forward pass per token
	RequestMultAdds float64 `json:"request_mult_adds"` // counted in this run
	Requests        float64 `json:"requests"`          // requests like this one that cost as much as the training
	Days            float64 `json:"days"`              // at the given number of requests
	Answered        float64 `json:"answered_tokens"`   // tokens generated by that many requests
}

// Why holds this run's measurements that explain why output costs more than input.
type Why struct {
	InputMs   float64 `json:"input_ms"`  // per prompt token
	OutputMs  float64 `json:"output_ms"` // per generated token
	Ratio     float64 `json:"ratio"`
	WorkRatio float64 `json:"work_ratio"` // output's multiply-adds over input's
	Say       string  `json:"say"`
}

func (b *Bill) findings() []string {
	if len(b.Ticks) == 0 {
		return []string{fmt.Sprintf("%s tokens read and at most %s written cost at most $%.3g.",
			terms.Count(b.AtMost.InputTokens), terms.Count(b.AtMost.OutputTokens), b.AtMost.Total)}
	}
	list := []string{fmt.Sprintf("%s tokens read and %s written cost $%.3g; output is %.0f%% of it.",
		terms.Count(b.Cost.InputTokens), terms.Count(b.Cost.OutputTokens), b.Cost.Total, 100*b.OutputShare)}
	for _, s := range b.Savings {
		verb, share := "saves", s.Share
		if s.Saved < 0 {
			verb, share = "costs another", -s.Share
		}
		list = append(list, fmt.Sprintf("The same request %s %s %.0f%%.", s.Title, verb, 100*share))
	}
	if b.Why.Say != "" {
		list = append(list, b.Why.Say)
	}
	return list
}
