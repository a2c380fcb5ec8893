package lab

import (
	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

var _ = register(10, strategiesLab{})

type strategiesLab struct{}

// Info implements [Lab].
func (strategiesLab) Info(l *terms.Language) Info {
	return Info{
		Name: "strategies", Title: l.T("lab.strategies.title"),
		Claim:    l.T("lab.strategies.claim"),
		Friend:   l.T("lab.strategies.friend"),
		Question: l.T("lab.strategies.question"),
		Inputs: terms.Inputs{
			promptInput(l, story), tokensInput(l, 40, 256), seedInput(l),
			{
				Key: "lanes", Label: l.T("lab.strategies.input.lanes"),
				Kind: terms.KindText, Words: true, Min: 1, Max: 400,
				Default: "greedy,pure,top_k,top_p,common",
				Help:    l.T("lab.strategies.input.lanes.help"),
			},
			{
				Key: "runs", Label: l.T("lab.strategies.input.runs"), Unit: l.T("lab.unit.runs"),
				Kind: terms.KindInt, Min: 1, Max: 100, Step: 1,
				Default: "5",
				Help:    l.T("lab.strategies.input.runs.help"),
			},
			{
				Key: "horizon", Label: l.T("lab.strategies.input.horizon"), Unit: l.T("lab.unit.tokens"),
				Kind: terms.KindInt, Min: 0, Max: 6, Step: 1,
				Default: "3",
				Help:    l.T("lab.strategies.input.horizon.help"),
			},
			{
				Key: "passes", Label: l.T("lab.strategies.input.passes"), Unit: l.T("lab.unit.passes"),
				Kind: terms.KindInt, Min: 1, Max: 100_000, Step: 100,
				Default: "4000", Help: l.T("lab.strategies.input.passes.help"),
			},
		},
		Try: []Preset{
			{
				Name: l.T("lab.strategies.try.heat"),
				Why:  l.T("lab.strategies.try.heat.why"),
				Values: terms.Values{
					"prompt": "The king looked at his three sons and said", "tokens": "16",
					"lanes": "greedy,t=0.5,t=1,t=1.5,t=2", "runs": "4",
				},
			},
			{
				Name:   l.T("lab.strategies.try.a_sure_question"),
				Why:    l.T("lab.strategies.try.a_sure_question.why"),
				Values: terms.Values{"prompt": "User: What is the capital of France?\nAssistant:", "tokens": "24"},
			},
		},
		Includes: l.T("lab.strategies.includes"),
	}
}

// Strategies is the result of the strategies lab: several ways to choose the next token,
// side by side on one prompt.
type Strategies struct {
	Prompt   []Token   `json:"prompt"`
	Seed     uint64    `json:"seed"`
	Lanes    []Lane    `json:"lanes"`
	U        []float64 `json:"u"` // by step; the same for every lane
	Partings []Parting `json:"partings"`
	// Runs summarizes additional texts from each lane, with different seeds.
	Runs   []LaneRuns      `json:"runs"`
	Circle *CircleSearch   `json:"circle"` // a text in which greedy loops
	Best   *SequenceSearch `json:"best"`   // greedy's path and the most probable path
}

// Lane is one text, generated with one way to choose tokens.
type Lane struct {
	Name     Phrase            `json:"name"`
	Settings sampling.Settings `json:"settings"`
	Steps    []LaneStep        `json:"steps"`
	Text     string            `json:"text"`
	Stop     infer.StopReason  `json:"stop,omitempty"` // why the text ended; empty until it is complete
	Measures TextMeasures      `json:"measures"`
	Circle   *Circle           `json:"circle,omitempty"` // if the text loops
}

// LaneStep is one token of a lane.
type LaneStep struct {
	Step    int     `json:"step"`
	Token   Token   `json:"token"`
	Rank    int     `json:"rank"` // 1 is the most probable
	P       float64 `json:"p"`    // after the temperature
	Q       float64 `json:"q"`    // after the filters
	LogP    float64 `json:"log_p"`
	Entropy float64 `json:"entropy"` // bits, after the temperature and before the filters
	Kept    int     `json:"kept"`    // tokens that the filters keep
	// The token's segment among the kept tokens: From ≤ u < To. Both are 0 under greedy decoding.
	From float64 `json:"from"`
	To   float64 `json:"to"`
}

// The reasons why two lanes diverge.
const (
	PartGreedy  = "greedy"  // one lane takes the most probable token, the other draws
	PartFilter  = "filter"  // one lane's token is cut by the other's filters
	PartSegment = "segment" // both lanes keep both tokens, and u falls on different segments
)

// Parting is the first step at which two lanes, whose texts are the same so far, choose different
// tokens. At this step, both have the same logits and the same u.
type Parting struct {
	Lanes  [2]int   `json:"lanes"` // indices in Strategies.Lanes
	Step   int      `json:"step"`
	U      float64  `json:"u"`
	Why    string   `json:"why"`              // [PartGreedy], [PartFilter] or [PartSegment]
	CutBy  string   `json:"cut_by,omitempty"` // the rule that cut the token, for PartFilter
	Cut    *Token   `json:"cut,omitempty"`    // the token that was cut
	Say    Phrase   `json:"say"`              // the reason in a sentence
	Tokens [2]Token `json:"tokens"`           // each lane's token
	// Segments holds the segment of each of the two tokens in each lane, [lane][token]. A segment
	// is empty if the lane cuts the token.
	Segments [2][2]Segment `json:"segments"`
}

// Segment is the part of the strip from 0 to 1 that belongs to a token.
type Segment struct {
	From float64 `json:"from"`
	To   float64 `json:"to"`
}

// TextMeasures holds measures of one text.
type TextMeasures struct {
	Tokens int `json:"tokens"`
	// Distinct2 is the share of the text's pairs of neighboring tokens that are new (distinct-2, Li
	// et al. 2016).
	Distinct2 float64 `json:"distinct_2"`
	// Repetition is the share of the text's runs of four tokens that repeat an earlier run
	// (seq-rep-4, Welleck et al. 2020).
	Repetition float64 `json:"repetition"`
	// MeanLogP is the mean of ln p over its tokens, from the model at T = 1 without filters, in
	// nats.
	MeanLogP float64 `json:"mean_log_p"`
	Entropy  float64 `json:"entropy"` // mean over the steps, bits
}

// LaneRuns summarizes several texts from one lane, with different seeds.
type LaneRuns struct {
	Lane          int       `json:"lane"`
	Runs          int       `json:"runs"`
	DistinctTexts int       `json:"distinct_texts"`
	DistinctPairs int       `json:"distinct_pairs"` // different pairs of neighboring tokens, over all texts
	Pairs         int       `json:"pairs"`          // all such pairs
	Distinct2     float64   `json:"distinct_2"`     // DistinctPairs / Pairs
	Repetition    float64   `json:"repetition"`     // mean over the texts
	MeanLogP      float64   `json:"mean_log_p"`     // mean over all tokens, nats
	Entropy       []float64 `json:"entropy"`        // for each step, the mean over the texts that reach it, bits
	MeanEntropy   float64   `json:"mean_entropy"`   // mean over all tokens, bits
	Texts         []RunText `json:"texts"`
}

// RunText is one of the texts that [LaneRuns] summarizes.
type RunText struct {
	Seed     uint64           `json:"seed"`
	Text     string           `json:"text"`
	Stop     infer.StopReason `json:"stop"`
	Measures TextMeasures     `json:"measures"`
}

// Circle is a loop at the end of a text. Its first round starts at token Start (1 is the first
// generated token). From the second round on, every token equals the token that is Period tokens
// earlier.
type Circle struct {
	Start  int     `json:"start"`  // the first token of the first round
	Period int     `json:"period"` // tokens in a round
	Rounds float64 `json:"rounds"` // number of rounds; the last can be partial
	Tokens []Token `json:"tokens"` // one round
}

// CircleSearch is the search for a circle in greedy's text after the lab's prompt and, if that text
// has no circle, after other prompts in turn.
type CircleSearch struct {
	Prompt string  `json:"prompt"` // the last prompt tried
	Tried  int     `json:"tried"`
	Text   []Token `json:"text"`   // greedy's text
	Circle *Circle `json:"circle"` // nil if none was found
}

// SequenceSearch compares greedy's path with the most probable sequence of the same length,
// found by an exhaustive search.
type SequenceSearch struct {
	Prompt  string   `json:"prompt"`
	Tried   int      `json:"tried"`   // number of prompts tried until the two differed
	Horizon int      `json:"horizon"` // number of tokens in a sequence; an end of text ends it earlier
	Greedy  Sequence `json:"greedy"`
	Best    Sequence `json:"best"`
	Differs bool     `json:"differs"` // greedy's path is not the most probable
	// Exact means that the search was completed, so no sequence is more probable than Best. If it
	// was cut short, Best is the most probable sequence found.
	Exact    bool  `json:"exact"`
	Expanded int   `json:"expanded"` // forward passes
	Possible int64 `json:"possible"` // number of sequences of that length; math.MaxInt64 if there are more
}

// Sequence is a list of tokens with their probabilities at T = 1, without filters.
type Sequence struct {
	Tokens []Token   `json:"tokens"`
	Text   string    `json:"text"`
	Each   []float64 `json:"each"` // p of each token, given the tokens before it
	P      float64   `json:"p"`    // their product
}
