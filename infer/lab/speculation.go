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
func (speculationLab) Info() Info {
	return Info{
		Name: "speculation", Title: "Speculative decoding", Drafts: true,
		Claim: "A small model guesses, a large one checks, and the text stays the same.",
		Friend: "A small model guesses ahead, and the big one checks several guesses in one go. A wrong " +
			"guess is thrown out, so nothing gets worse.",
		Question: "How many passes of the large model does a draft save, and does that save time on this machine?",
		Inputs: append(terms.Inputs{
			promptInput(story), tokensInput(96, 1024), seedInput(),
			{
				Key: "gamma", Label: "γ", Unit: "tokens", Kind: terms.KindInt, Min: 1, Max: speculation.MaxGamma,
				Step: 1, Default: "4", Help: "tokens drafted in a round of the run that is shown",
			},
			{
				Key: "gammas", Label: "γ compared", Unit: "tokens", Kind: terms.KindList, Min: 1,
				Max: speculation.MaxGamma, Default: "1,2,3,4,6,8",
				Help: "measured along with the target alone and the γ above",
			},
			repeatsInput(5),
			{
				Key: "rounds", Label: "Synthetic rounds", Unit: "rounds", Kind: terms.KindInt, Min: 100, Max: 200_000,
				Step: 1000, Default: "20000", Help: "rounds of the synthetic pair",
			},
		}, samplingInputs(sampling.Settings{Temperature: 0.7, TopP: 0.9})...),
		Try: []Preset{
			{
				Name: "Greedy",
				Why: "Each proposal is then right or wrong, and the text is the one the target writes " +
					"alone, token for token.",
				Values: terms.Values{"temperature": "0", "top_p": "1"},
			},
			{
				Name: "Long rounds",
				Why: "The draft guesses this text badly. From γ = 8 to 16 hardly any more passes are saved, " +
					"and most of the drafted tokens are thrown away: E levels off, the draft's work does not.",
				Values: terms.Values{"prompt": "The sea was", "gamma": "16", "gammas": "2,4,8,16"},
			},
		},
		Includes: "Both sides write the same number of tokens after the same prompt; reading the prompt is left out " +
			"of both. A time covers whole turns or rounds: passes, scores, softmax, filters and draws. c and v " +
			"are passes with their scores alone. The text of a seed need not be the same; its distribution is.",
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
	Plain  string      `json:"plain"` // the text of the target alone with the same seed
	// The two texts on one time axis: each token and the time at which it was ready.
	PlainLane  []SpecTime `json:"plain_lane"`
	SpecLane   []SpecTime `json:"spec_lane"`
	Acceptance Acceptance `json:"acceptance"`
	Costs      SpecCosts  `json:"costs"`
	Gammas     []GammaRow `json:"gammas"`
	Synthetic  Synthetic  `json:"synthetic"`
	BestGamma  int        `json:"best_gamma"` // with the lowest measured time; 0 if none beats the target alone
	Say        string     `json:"say"`
}

// SpecRound is one round of proposals and their verification.
type SpecRound struct {
	Round    int              `json:"round"`
	Judged   []SpecJudged     `json:"judged"`
	Unjudged []Token          `json:"unjudged"` // proposed after a rejected token
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
	Bonus bool     `json:"bonus"` // otherwise it is a correction, drawn from norm(max(0, p − q))
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
	Short      float64 `json:"short"`       // the part due to rounds that drafted fewer than γ tokens or ended the text
	FullRounds int     `json:"full_rounds"` // rounds that drafted γ and did not end the text
	AllRounds  int     `json:"rounds"`
	Say        string  `json:"say"`
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
	SpeedUp  float64 `json:"speed_up"`  // E / (γ·c + v) with the measured α, c and v
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
	Passes      int     `json:"passes"` // of the target, without the prompt's
	PassesSaved int     `json:"passes_saved"`
	Ms          Spread  `json:"ms"` // for the tokens, without the prompt
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
// each of the two models has one distribution, which is the same at every position.
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

func (s *Speculation) findings() []string {
	list := []string{s.Acceptance.Say}
	if s.Say != "" {
		list = append(list, s.Say)
	}
	if s.Costs.StepMs.N > 0 {
		list = append(list, fmt.Sprintf("Measured, a step of the draft costs c = %.2f steps of the target and a "+
			"verification of %d positions v = %.2f. By multiply-adds they would be %.2f and %.2f: where v is near γ "+
			"+ 1 arithmetic is the limit, where it is near 1 memory is.",
			s.Costs.C, s.Gamma+1, s.Costs.V, s.Costs.Counted.C, s.Costs.Counted.V))
	}
	if x := s.Synthetic; x.Rounds > 0 {
		list = append(
			list,
			fmt.Sprintf(
				"A synthetic pair with independent acceptance, α = %.3f, yields %.3f tokens a pass where E is %.3f: "+
					"%s%%.",
				x.Alpha, x.PerPass, x.Expected, signed(100*x.Off),
			),
		)
	}
	return list
}
