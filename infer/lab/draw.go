package lab

import (
	"fmt"

	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

var _ = register(20, drawLab{})

type drawLab struct{}

// Info implements [Lab].
func (drawLab) Info(l *terms.Language) Info {
	return Info{
		Name: "draw", Title: l.T("lab.draw.title"),
		Claim:    l.T("lab.draw.claim"),
		Friend:   l.T("lab.draw.friend"),
		Question: l.T("lab.draw.question"),
		Inputs: append(terms.Inputs{
			promptInput(l, story),
			{
				Key: "step", Label: l.T("lab.draw.input.step"), Unit: l.T("lab.unit.tokens"),
				Kind: terms.KindInt, Min: 1, Max: 64, Step: 1, Default: "1",
				Help: l.T("lab.draw.input.step.help"),
			},
			seedInput(l),
			{
				Key: "draws", Label: l.T("lab.draw.input.draws"), Unit: l.T("lab.unit.draws"),
				Kind: terms.KindInt, Min: 10, Max: 100_000, Step: 1000,
				Default: "10000", Help: l.T("lab.draw.input.draws.help"),
			},
			{
				Key: "repeats", Label: l.T("lab.draw.input.repeats"), Unit: l.T("lab.unit.times"),
				Kind: terms.KindInt, Min: 1, Max: 200, Step: 1,
				Default: "50",
				Help:    l.T("lab.draw.input.repeats.help"),
			},
			{
				Key: "rows", Label: l.T("lab.draw.input.rows"), Unit: l.T("lab.unit.tokens"),
				Kind: terms.KindInt, Min: 1, Max: 100, Step: 1,
				Default: "12",
				Help:    l.T("lab.draw.input.rows.help"),
			},
		}, samplingInputs(l, common())...),
		Try: []Preset{
			{
				Name: l.T("lab.draw.try.a_sure_step"), Why: l.T("lab.draw.try.a_sure_step.why"),
				Values: terms.Values{"prompt": "User: Hello\nAssistant:"},
			},
			{
				Name:   l.T("lab.draw.try.nothing_cut"),
				Why:    l.T("lab.draw.try.nothing_cut.why"),
				Values: terms.Values{"temperature": "1", "top_p": "1"},
			},
		},
		Includes: l.T("lab.draw.includes"),
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
	// Tokens holds the most probable of the tokens that can be drawn. Rest is the total for the
	// others, with the rank of the first of them.
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

// DrawToken holds a token's probability and how often it was drawn.
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
	counts []int       // counts of the repeat in progress, by index among the kept tokens
	kept   [][]int     // counts of the shown repeat, by histogram size
}

func (d *Draw) findings() []Phrase {
	if d.Kept == 1 {
		return []Phrase{
			Text("lab.draw.found.single", "token", shown(d.Tokens[0].Token.Text)), Text("lab.draw.found.single.try"),
		}
	}
	first, last := d.Distances[0], d.Distances[len(d.Distances)-1]
	return []Phrase{
		Text("lab.draw.found", "few", fmt.Sprintf("%.3f", first.Mean), "n", terms.Count(first.N),
			"many", fmt.Sprintf("%.4f", last.Mean), "all", terms.Count(last.N),
			"expect_few", fmt.Sprintf("%.3f", first.Expected), "expect_many", fmt.Sprintf("%.4f", last.Expected)),
		Text("lab.draw.found.slope", "slope", signed(d.Slope), "expected", signed(d.SlopeExpected)),
	}
}
