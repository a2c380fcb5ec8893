package lab

import (
	"fmt"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/speculation"
	"github.com/tokenbytoken/viz/infer/terms"
)

var _ = register(70, speculationLab{})

type speculationLab struct{}

// Info implements [Lab].
func (speculationLab) Info(l *terms.Language) Info {
	return Info{
		Name: "speculation", Title: l.T("lab.speculation.title"), Drafts: true,
		Claim:    l.T("lab.speculation.claim"),
		Friend:   l.T("lab.speculation.friend"),
		Question: l.T("lab.speculation.question"),
		Inputs: append(terms.Inputs{
			promptInput(l, story), tokensInput(l, 96, 1024), seedInput(l),
			{
				Key: "gamma", Label: l.T("lab.speculation.input.gamma"), Unit: l.T("lab.unit.tokens"),
				Kind: terms.KindInt, Min: 1, Max: speculation.MaxGamma,
				Step: 1, Default: "4", Help: l.T("lab.speculation.input.gamma.help"),
			},
			{
				Key: "gammas", Label: l.T("lab.speculation.input.gammas"), Unit: l.T("lab.unit.tokens"),
				Kind: terms.KindList, Min: 1,
				Max: speculation.MaxGamma, Default: "1,2,3,4,6,8",
				Help: l.T("lab.speculation.input.gammas.help"),
			},
			repeatsInput(l, 9),
			{
				Key: "rounds", Label: l.T("lab.speculation.input.rounds"), Unit: l.T("lab.unit.rounds"),
				Kind: terms.KindInt, Min: 100, Max: 200_000,
				Step: 1000, Default: "20000", Help: l.T("lab.speculation.input.rounds.help"),
			},
		}, samplingInputs(l, sampling.Settings{Temperature: 0.7, TopP: 0.9})...),
		Try: []Preset{
			{
				Name:   l.T("lab.speculation.try.greedy"),
				Why:    l.T("lab.speculation.try.greedy.why"),
				Values: terms.Values{"temperature": "0", "top_p": "1"},
			},
			{
				Name:   l.T("lab.speculation.try.long_rounds"),
				Why:    l.T("lab.speculation.try.long_rounds.why"),
				Values: terms.Values{"prompt": "The sea was", "gamma": "16", "gammas": "2,4,8,16"},
			},
		},
		Includes: l.T("lab.speculation.includes"),
	}
}

// Speculation is the result of the speculation lab: one text generated twice, by the target alone
// and with a draft.
type Speculation struct {
	Target string      `json:"target"`
	Draft  string      `json:"draft"`
	Gamma  int         `json:"gamma"` // γ of the text shown
	Rounds []SpecRound `json:"rounds"`
	Text   string      `json:"text"`
	Plain  string      `json:"plain"` // the text that the target alone generates with the same seed
	// The two texts on one time axis: each token and the time at which it was ready.
	PlainLane  []SpecTime `json:"plain_lane"`
	SpecLane   []SpecTime `json:"spec_lane"`
	Acceptance Acceptance `json:"acceptance"`
	Costs      SpecCosts  `json:"costs"`
	Gammas     []GammaRow `json:"gammas"`
	Synthetic  Synthetic  `json:"synthetic"`
	BestGamma  int        `json:"best_gamma"` // the γ with the lowest measured time; 0 if none beats the target alone
	Say        Phrase     `json:"say"`
}

// SpecRound is one round of proposals and their verification.
type SpecRound struct {
	Round    int              `json:"round"`
	Judged   []SpecJudged     `json:"judged"`
	Unjudged []Token          `json:"unjudged"` // proposals after a rejected one
	Last     *SpecDrawn       `json:"last"`     // the correction or bonus; nil if the text ended before it
	DraftMs  float64          `json:"draft_ms"`
	VerifyMs float64          `json:"verify_ms"`
	Stop     infer.StopReason `json:"stop,omitempty"`
}

// SpecJudged is a proposal and its verdict.
type SpecJudged struct {
	Step     int      `json:"step"`
	Token    Token    `json:"token"`
	Q        float64  `json:"q"`      // the draft's probability
	P        float64  `json:"p"`      // the target's probability
	Chance   float64  `json:"chance"` // min(1, p/q)
	U        *float64 `json:"u"`      // nil under greedy decoding
	Accepted bool     `json:"accepted"`
}

// SpecDrawn is a token drawn by the target.
type SpecDrawn struct {
	Step  int      `json:"step"`
	Token Token    `json:"token"`
	Bonus bool     `json:"bonus"` // false for a correction, which is drawn from norm(max(0, p − q))
	P     float64  `json:"p"`
	Q     float64  `json:"q"`
	R     float64  `json:"r"` // the probability with which it was drawn
	U     *float64 `json:"u"`
	Mass  float64  `json:"mass"` // Σ max(0, p − q), for a correction
}

// SpecTime is a token and the time at which it was ready.
type SpecTime struct {
	Step  int     `json:"step"`
	Token Token   `json:"token"`
	At    float64 `json:"at_ms"`
	Round int     `json:"round,omitempty"`
	From  string  `json:"from"` // "target", "draft", "correction" or "bonus"
}

// Acceptance holds how many proposals were accepted, and numbers derived from it.
type Acceptance struct {
	Proposed int     `json:"proposed"`
	Judged   int     `json:"judged"`
	Accepted int     `json:"accepted"`
	Alpha    float64 `json:"alpha"` // the share of judged proposals that were accepted
	// ByPlace is the share of proposals accepted at each position in a round, out of the proposals
	// judged at that position.
	ByPlace []PlaceRate `json:"by_place"`
	// Tokens per pass of the target:
	PerPass  float64 `json:"per_pass"`
	Expected float64 `json:"expected"` // E(α, γ), which assumes independent acceptance
	// The gap between PerPass and Expected, and the two parts that add up to it:
	Gap        float64 `json:"gap"`         // PerPass − Expected
	Dependence float64 `json:"dependence"`  // the part due to unequal or dependent acceptance
	Short      float64 `json:"short"`       // the part due to rounds with fewer than γ guesses or the text's end
	FullRounds int     `json:"full_rounds"` // rounds that drafted γ and did not end the text
	AllRounds  int     `json:"rounds"`
	Say        Phrase  `json:"say"`
}

// PlaceRate is the acceptance rate at one position in a round. Positions are numbered from 1.
type PlaceRate struct {
	Position int     `json:"place"`
	Judged   int     `json:"judged"`
	Accepted int     `json:"accepted"`
	Rate     float64 `json:"rate"`
}

// SpecCosts holds the measured costs from which the formula's c and v are computed.
type SpecCosts struct {
	StepMs   Spread  `json:"step_ms"`   // one decode step of the target, pass and scores
	DraftMs  Spread  `json:"draft_ms"`  // one decode step of the draft
	VerifyMs Spread  `json:"verify_ms"` // one verification of γ + 1 positions
	C        float64 `json:"c"`         // draft / step
	V        float64 `json:"v"`         // verify / step
	SpeedUp  float64 `json:"speed_up"`  // E / (γ·c + v), from the measured α, c and v
	Counted  Counted `json:"counted"`   // c and v as they would be if time were proportional to multiply-adds
}

// Counted holds costs in terms of multiply-adds.
type Counted struct {
	C float64 `json:"c"`
	V float64 `json:"v"`
}

// GammaRow holds the results for one γ. Saved passes and saved time are separate numbers.
type GammaRow struct {
	Gamma       int     `json:"gamma"` // 0 is the target alone
	Tokens      int     `json:"tokens"`
	Passes      int     `json:"passes"` // passes of the target, excluding the prompt
	PassesSaved int     `json:"passes_saved"`
	Ms          Spread  `json:"ms"` // for the tokens, excluding the prompt
	PerToken    float64 `json:"per_token_ms"`
	MsSaved     float64 `json:"ms_saved"`  // compared with the target alone for that many tokens; negative if slower
	SpeedUp     float64 `json:"speed_up"`  // measured
	Predicted   float64 `json:"predicted"` // E / (γ·c + v)
	Alpha       float64 `json:"alpha"`
	PerPass     float64 `json:"per_pass"`
	Expected    float64 `json:"expected"` // E(α, γ)
	C           float64 `json:"c"`
	V           float64 `json:"v"`
	// Where the time went:
	DraftMs  float64 `json:"draft_ms"`
	VerifyMs float64 `json:"verify_ms"`
	OtherMs  float64 `json:"other_ms"` // softmax, filters, draws and verdicts
}

// Synthetic is the result for a pair of models whose acceptance is independent by construction:
// each model has a single distribution, the same at every position.
type Synthetic struct {
	Gamma    int     `json:"gamma"`
	Alpha    float64 `json:"alpha"` // Σ min(p, q): the exact value
	Measured float64 `json:"measured_alpha"`
	Rounds   int     `json:"rounds"`
	PerPass  float64 `json:"per_pass"`
	Expected float64 `json:"expected"` // E(α, γ)
	Off      float64 `json:"off"`      // PerPass / Expected − 1
	// Distance is the total variation distance between the generated tokens and the target's
	// distribution, and DistanceExpected is the expected value for the same number of plain draws.
	Distance         float64 `json:"distance"`
	DistanceExpected float64 `json:"distance_expected"`
}

func (s *Speculation) findings() []Phrase {
	list := []Phrase{s.Acceptance.Say}
	if !s.Say.IsZero() {
		list = append(list, s.Say)
	}
	two := func(x float64) string { return fmt.Sprintf("%.2f", x) }
	three := func(x float64) string { return fmt.Sprintf("%.3f", x) }
	if s.Costs.StepMs.N > 0 {
		list = append(list, Text("lab.speculation.found.costs", "c", two(s.Costs.C), "positions", fmt.Sprint(s.Gamma+1),
			"v", two(s.Costs.V), "counted_c", two(s.Costs.Counted.C), "counted_v", two(s.Costs.Counted.V)))
	}
	if x := s.Synthetic; x.Rounds > 0 {
		list = append(list, Text("lab.speculation.found.synthetic", "alpha", three(x.Alpha), "tokens", three(x.PerPass),
			"expected", three(x.Expected), "off", signed(100*x.Off)+"%"))
	}
	return list
}
