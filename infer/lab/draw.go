package lab

import (
	"fmt"

	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

var _ = register(20, drawLab{})

type drawLab struct{}

// Info implements [Lab].
func (drawLab) Info() Info {
	return Info{
		Name: "draw", Title: "The draw",
		Claim:  "Draw often enough, and chance draws the model’s own bars.",
		Friend: "A model only gives odds. Throw its dice often enough, and the results come to match them.",
		Question: "Draw from one step's distribution 10, 100, 10,000 times: how close does the histogram " +
			"come to the model's bars?",
		Inputs: append(terms.Inputs{
			promptInput(story),
			{
				Key: "step", Label: "Step", Unit: "tokens", Kind: terms.KindInt, Min: 1, Max: 64, Step: 1, Default: "1",
				Help: "the generated token whose distribution is drawn from; those before it are drawn with the seed",
			},
			seedInput(),
			{
				Key: "draws", Label: "Draws", Unit: "draws", Kind: terms.KindInt, Min: 10, Max: 100_000, Step: 1000,
				Default: "10000", Help: "the largest number of draws",
			},
			{
				Key: "repeats", Label: "Repeats", Unit: "times", Kind: terms.KindInt, Min: 1, Max: 200, Step: 1,
				Default: "50",
				Help:    "repeat the whole experiment, each time with new random numbers",
			},
			{
				Key: "rows", Label: "Bars", Unit: "tokens", Kind: terms.KindInt, Min: 1, Max: 100, Step: 1,
				Default: "12",
				Help:    "how many tokens have a bar of their own",
			},
		}, samplingInputs(common())...),
		Try: []Preset{
			{
				Name: "A sure step", Why: "With few tokens to fall on, ten draws already look much like the bars.",
				Values: terms.Values{"prompt": "User: Hello\nAssistant:"},
			},
			{
				Name: "Nothing cut",
				Why: "With thousands of tokens to fall on, 1/√N sets in late: until then, most tokens " +
					"were never drawn at all.",
				Values: terms.Values{"temperature": "1", "top_p": "1"},
			},
		},
		Includes: "u follows from the seed and the number of the draw, as in the loop. Distance is total variation: " +
			"half the sum of |count/N − q| over all tokens. The expectation is exact, not a rule of thumb. " +
			"Nothing here is timed.",
	}
}

// Draw is the result of the draw lab: the distribution of one step and many draws from it.
type Draw struct {
	Prompt   []Token           `json:"prompt"`
	Before   []Token           `json:"before"` // generated before the step
	Step     int               `json:"step"`
	Settings sampling.Settings `json:"settings"`
	Seed     uint64            `json:"seed"`
	Kept     int               `json:"kept"` // tokens that can be drawn
	Repeats  int               `json:"repeats"`
	// Tokens holds the most probable tokens that can be drawn. Rest is the total of all other
	// tokens that can be drawn. Its rank is the rank of the first of them.
	Tokens     []DrawToken `json:"tokens"`
	Rest       DrawToken   `json:"rest"`
	RestTokens int         `json:"rest_tokens"`
	Sizes      []int       `json:"sizes"` // of the histograms; DrawToken.Counts has one count for each size
	Distances  []Distance  `json:"distances"`
	// Slope is the measured slope of ln(distance) against ln(n) by least squares, and SlopeExpected
	// is the expected slope. The 1/√n law predicts −½.
	Slope         float64 `json:"slope"`
	SlopeExpected float64 `json:"slope_expected"`
}

// DrawToken is a token's probability and how often it was drawn.
type DrawToken struct {
	Token  Token   `json:"token"`
	Rank   int     `json:"rank"`
	P      float64 `json:"p"` // after the temperature
	Q      float64 `json:"q"` // after the filters: the probability of drawing the token
	Counts []int   `json:"counts"`
}

// Distance is the total variation distance ½ Σ|count/n − q| between n draws and their
// distribution: the share of draws that would have to change.
type Distance struct {
	N        int     `json:"n"`
	Shown    float64 `json:"shown"`    // of the histogram shown
	Measured Spread  `json:"measured"` // over the repeats (no unit)
	Mean     float64 `json:"mean"`     // the mean over the repeats
	// Expected is the exact mean over all possible draws (De Moivre 1730).
	Expected float64 `json:"expected"`
	// Law is ½ Σ √(2q(1−q)/πn), the limit of Expected: the 1/√n law.
	Law float64 `json:"law"`
}

// drawRun is a run of the draw lab.
type drawRun struct {
	*running
	result Draw
	d      *sampling.Distribution
	sizes  []int       // numbers of draws after which the distance is measured
	found  [][]float64 // by size, one distance for each repeat
	counts []int       // of the repeat in progress, by index among the kept tokens
	kept   [][]int     // counts of the shown repeat, by histogram size
}

func (d *Draw) findings() []string {
	if d.Kept == 1 {
		return []string{
			fmt.Sprintf(
				"The filters keep only %s, so every draw falls on it and there is no distance to shrink.",
				shown(d.Tokens[0].Token.Text),
			),
			"Raise the temperature, or switch the filters off, to see more tokens drawn.",
		}
	}
	first, last := d.Distances[0], d.Distances[len(d.Distances)-1]
	return []string{
		fmt.Sprintf("The distance falls from %.3f at %s draws to %.4f at %s, on average; %.3f and %.4f are expected.",
			first.Mean, terms.Count(first.N), last.Mean, terms.Count(last.N), first.Expected, last.Expected),
		fmt.Sprintf(
			"It falls as N to the power of %s; %s is expected, and −½ is the law for many draws.", signed(d.Slope),
			signed(d.SlopeExpected),
		),
	}
}
