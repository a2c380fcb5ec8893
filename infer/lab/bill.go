package lab

import (
	"github.com/tokenbytoken/viz/infer"
)

// Bill is what the bill lab found: what one request costs at given prices, and
// what other requests would have cost.
type Bill struct {
	Request     Request          `json:"request"`
	JSON        string           `json:"json"` // the request as a program would send it
	Prices      Prices           `json:"prices"`
	Prompt      []Token          `json:"prompt"`
	Text        string           `json:"text"`
	Stop        infer.StopReason `json:"stop"`
	Ticks       []Tick           `json:"ticks"` // the bill as the loop runs
	Cost        Cost             `json:"cost"`
	Savings     []Saving         `json:"savings"`
	OutputShare float64          `json:"output_share"` // of the cost
	// BreakEven is how many input tokens cost as much as one output token.
	BreakEven float64    `json:"break_even"`
	Machine   MachineUse `json:"machine"`
	Training  Training   `json:"training"`
	Why       Why        `json:"why"`
}

// Prices are for a million tokens, in dollars.
type Prices struct {
	Input  float64 `json:"input"`
	Output float64 `json:"output"`
}

// Cost is one request's.
type Cost struct {
	InputTokens  int     `json:"input_tokens"`
	OutputTokens int     `json:"output_tokens"`
	Input        float64 `json:"input"`  // dollars
	Output       float64 `json:"output"` // dollars
	Total        float64 `json:"total"`  // dollars
}

// Tick is the bill after a token.
type Tick struct {
	Step  int     `json:"step"`
	Token Token   `json:"token"`
	Cost  float64 `json:"cost"` // dollars so far
	Ms    float64 `json:"ms"`   // since the request
}

// Saving is what another request would have cost. It was run, not guessed.
type Saving struct {
	Name  string           `json:"name"`  // "stop", "max_tokens" or "prompt"
	Title string           `json:"title"` // in words
	Text  string           `json:"text"`  // what it would have answered
	Stop  infer.StopReason `json:"stop"`
	Cost  Cost             `json:"cost"`
	Saved float64          `json:"saved"` // dollars a request; below 0 where it costs more
	Share float64          `json:"share"` // of the whole
	ADay  float64          `json:"a_day"` // dollars a day at the given number of requests
	Same  bool             `json:"same"`  // its answer is the beginning of this one's
}

// MachineUse compares prices with a machine of one's own, at the speed
// measured in this run.
type MachineUse struct {
	PerHour      float64 `json:"per_hour"`         // dollars
	SecondsEach  float64 `json:"seconds_each"`     // a request, one after the other
	CostEach     float64 `json:"cost_each"`        // dollars
	RequestsDay  float64 `json:"requests_a_day"`   // as given
	MostADay     float64 `json:"most_a_day"`       // what the machine can do
	BreakEvenDay float64 `json:"break_even_a_day"` // requests from which the machine is cheaper; 0 where it never is
	APIDay       float64 `json:"api_a_day"`        // dollars
	MachineDay   float64 `json:"machine_a_day"`    // dollars
}

// Training compares what a model once cost with what each answer costs. A
// training step takes about three forward passes: one forward, two backward
// (Kaplan et al. 2020).
type Training struct {
	Tokens          float64 `json:"tokens"`            // trained on
	Assumed         bool    `json:"assumed"`           // they are 20 for each weight, a rule of thumb (Hoffmann et al. 2022)
	MultAdds        float64 `json:"mult_adds"`         // 3 × a forward pass for each
	RequestMultAdds float64 `json:"request_mult_adds"` // tallied in this run
	Requests        float64 `json:"requests"`          // like this one that add up to the training
	Days            float64 `json:"days"`              // at the given number of requests
	Answered        float64 `json:"answered_tokens"`   // tokens written until then
}

// Why is why output is priced above input, from this run.
type Why struct {
	InputMs   float64 `json:"input_ms"`  // of one prompt token
	OutputMs  float64 `json:"output_ms"` // of one written token
	Ratio     float64 `json:"ratio"`
	WorkRatio float64 `json:"work_ratio"` // of their multiply-adds
	Say       string  `json:"say"`
}
