package lab

import (
	"fmt"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
)

var _ = register(60, billLab{})

type billLab struct{}

// Info implements [Lab].
func (billLab) Info(l *terms.Language) Info {
	price := func(name, value string) terms.Input {
		return terms.Input{
			Key: name, Label: l.T("lab.bill.input." + name), Unit: l.T("lab.unit.dollars_a_million"),
			Kind: terms.KindFloat, Min: 0, Max: 10_000, Step: 0.1, Default: value,
			Help: l.T("lab.bill.input." + name + ".help"),
		}
	}
	return Info{
		Name: "bill", Title: l.T("lab.bill.title"),
		Claim:    l.T("lab.bill.claim"),
		Friend:   l.T("lab.bill.friend"),
		Question: l.T("lab.bill.question"),
		Inputs: append(terms.Inputs{
			promptInput(l, story),
			{
				Key: "max_tokens", Label: l.T("lab.bill.input.max_tokens"), Unit: l.T("lab.unit.tokens"),
				Kind: terms.KindInt, Min: 1, Max: 4096, Step: 1,
				Default: "96", Help: l.T("lab.bill.input.max_tokens.help"),
			},
			stopsInput(l, "stop", l.T("lab.input.stop"), "", l.T("lab.input.stop.help")),
			{
				Key: "stream", Label: l.T("lab.bill.input.stream"), Kind: terms.KindBool, Default: "true",
				Help: l.T("lab.bill.input.stream.help"),
			},
			seedInput(l),
			price("input_price", "3"), price("output_price", "15"),
			{
				Key: "requests", Label: l.T("lab.bill.input.requests"), Unit: l.T("lab.unit.a_day"),
				Kind: terms.KindFloat, Min: 0, Max: 1e12, Step: 1000,
				Default: "100000", Help: l.T("lab.bill.input.requests.help"),
			},
			{
				Key: "machine", Label: l.T("lab.bill.input.machine"), Unit: l.T("lab.unit.dollars_an_hour"),
				Kind: terms.KindFloat, Min: 0, Max: 1e6,
				Step:    0.1,
				Default: "0.5", Help: l.T("lab.bill.input.machine.help"),
			},
			{
				Key: "trained_tokens", Label: l.T("lab.bill.input.trained_tokens"), Unit: l.T("lab.unit.tokens"),
				Kind: terms.KindFloat, Min: 0, Max: 1e15,
				Step: 1e6,
				Own:  true,
				Help: l.T("lab.bill.input.trained_tokens.help"),
			},
			stopsInput(
				l, "try_stop", l.T("lab.bill.input.try_stop"), ".", l.T("lab.bill.input.try_stop.help"),
			),
			{
				Key: "try_max_tokens", Label: l.T("lab.bill.input.try_max_tokens"), Unit: l.T("lab.unit.tokens"),
				Kind: terms.KindInt, Min: 1,
				Max: 4096, Step: 1, Default: "24", Help: l.T("lab.bill.input.try_max_tokens.help"),
			},
			{
				Key: "try_prompt", Label: l.T("lab.bill.input.try_prompt"), Unit: l.T("lab.unit.bytes"),
				Kind: terms.KindText, Min: 0,
				Max: infer.MaxSampleBytes, Default: "Once there was a",
				Help: l.T("lab.bill.input.try_prompt.help"),
			},
		}, samplingInputs(l, common())...),
		Try: []Preset{
			{
				Name: l.T("lab.bill.try.long_input_short_output"),
				Why:  l.T("lab.bill.try.long_input_short_output.why"),
				Values: terms.Values{
					"prompt": longPrompt, "try_prompt": "She held the shell to her ear and", "max_tokens": "10",
					"try_max_tokens": "5",
				},
			},
			{
				Name:   l.T("lab.bill.try.short_input_long_output"),
				Why:    l.T("lab.bill.try.short_input_long_output.why"),
				Values: terms.Values{"max_tokens": "256", "try_max_tokens": "64"},
			},
		},
		Includes: l.T("lab.bill.includes"),
	}
}

// Bill is the result of the bill lab: the cost of one request at given prices, and what
// other requests would have cost.
type Bill struct {
	Request     Request          `json:"request"`
	JSON        string           `json:"json"` // the request as a program would send it
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
	Ms    float64 `json:"ms"`   // time since the request was sent
}

// Saving compares the cost of the request with the cost of another request, which was also run.
type Saving struct {
	Name  string           `json:"name"`  // "stop", "max_tokens" or "prompt"
	Title Phrase           `json:"title"` // in words
	Text  string           `json:"text"`  // the other request's answer
	Stop  infer.StopReason `json:"stop"`
	Cost  Cost             `json:"cost"`
	Saved float64          `json:"saved"` // dollars per request; negative if the other request costs more
	Share float64          `json:"share"` // Saved as a share of the request's cost
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
	Tokens float64 `json:"tokens"` // number of tokens that the model was trained on
	// Assumed means that Tokens is an estimate: 20 per weight, a rule of thumb (Hoffmann et al.
	// 2022).
	Assumed         bool    `json:"assumed"`
	MultAdds        float64 `json:"mult_adds"`         // three forward passes per token
	RequestMultAdds float64 `json:"request_mult_adds"` // counted in this run
	Requests        float64 `json:"requests"`          // number of such requests that cost as much as the training
	Days            float64 `json:"days"`              // days for that many requests, at the given number per day
	Answered        float64 `json:"answered_tokens"`   // tokens generated by that many requests
}

// Why holds this run's measurements that explain why output costs more than input.
type Why struct {
	InputMs   float64 `json:"input_ms"`  // per prompt token
	OutputMs  float64 `json:"output_ms"` // per generated token
	Ratio     float64 `json:"ratio"`
	WorkRatio float64 `json:"work_ratio"` // output's multiply-adds over input's
	Say       Phrase  `json:"say"`
}

func (b *Bill) findings() []Phrase {
	dollars := func(x float64) string { return fmt.Sprintf("$%.3g", x) }
	percent := func(share float64) string { return fmt.Sprintf("%.0f%%", 100*share) }
	if len(b.Ticks) == 0 {
		return []Phrase{Text("lab.bill.found.most", "read", terms.Count(b.AtMost.InputTokens),
			"written", terms.Count(b.AtMost.OutputTokens), "cost", dollars(b.AtMost.Total))}
	}
	list := []Phrase{Text("lab.bill.found", "read", terms.Count(b.Cost.InputTokens),
		"written", terms.Count(b.Cost.OutputTokens), "cost", dollars(b.Cost.Total), "share", percent(b.OutputShare))}
	for _, s := range b.Savings {
		if s.Saved < 0 {
			list = append(list, Text("lab.bill.found.costs", "change", s.Title, "share", percent(-s.Share)))
			continue
		}
		list = append(list, Text("lab.bill.found.saves", "change", s.Title, "share", percent(s.Share)))
	}
	if !b.Why.Say.IsZero() {
		list = append(list, b.Why.Say)
	}
	return list
}
