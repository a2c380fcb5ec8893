package lab

import (
	"fmt"
	"strings"

	"github.com/tokenbytoken/viz/infer/cost"
	"github.com/tokenbytoken/viz/infer/terms"
)

var _ = register(30, cacheLab{})

type cacheLab struct{}

// Info implements [Lab].
func (cacheLab) Info() Info {
	return Info{
		Name: "cache", Title: "The KV cache",
		Claim: "Reading everything again gets slower with every token.",
		Friend: "A model that keeps what it has read only has to read the newest word. Without that, " +
			"every word means reading everything again.",
		Question: "What does a token cost with a cache, and without one? And are the numbers the same?",
		Inputs: append(terms.Inputs{
			promptInput("The capital of France is"), tokensInput(32, 2048), seedInput(), repeatsInput(7),
			{
				Key: "block", Label: "Block", Kind: terms.KindInt, Min: 1, Max: 1000, Step: 1, Typed: true,
				Default: "1",
				Help:    "the block whose keys and values are shown; from 1",
			},
			{
				Key: "position", Label: "Position", Kind: terms.KindInt, Min: 0, Max: 1_000_000, Step: 1, Typed: true,
				Default: "1",
				Help:    "the position whose keys and values are shown; from 0",
			},
		}, samplingInputs(greedy())...),
		Try: []Preset{
			{
				Name: "A longer text",
				Why: "The recomputed curve bends: its quadratic part comes from running the matrices over the whole " +
					"text again, not from attention.",
				Values: terms.Values{"tokens": "128", "repeats": "3"},
			},
			{
				Name: "A long prompt", Why: "The first token costs the same both ways: that is prefill.",
				Values: terms.Values{"prompt": longPrompt, "tokens": "16"},
			},
		},
		Includes: "A time covers the pass over the blocks and the scores; choosing the token is left out, and " +
			"an end of text does not stop the run. Multiply-adds of matrix products are counted where they are " +
			"done; norms, rotary positions, softmax and activations are not counted.",
	}
}

// Cache is the result of the cache lab: one continuation, generated in two ways in lockstep, with a
// KV cache and by running the whole text again for every token.
type Cache struct {
	Shape      cost.Shape  `json:"shape"`
	Prompt     []Token     `json:"prompt"`
	Tokens     []Token     `json:"tokens"` // generated
	Steps      []CacheStep `json:"steps"`
	Repeats    int         `json:"repeats"`
	SameLogits bool        `json:"same_logits"` // the logits of every step are equal, bit for bit
	Compared   int64       `json:"compared"`    // logits compared
	Logits     []SameLogit `json:"logits"`      // the largest of the last step, in descending order
	Columns    Columns     `json:"columns"`
	Fits       []Fit       `json:"fits"`
	// BreakEven is the number of positions at which cached attention costs as much as everything
	// else in a step. It is 0 if a sliding window always keeps the cost of attention lower.
	BreakEven float64 `json:"break_even"`
	// Attention lists attention's share of the total cost without a cache for several text lengths,
	// starting with this run's. These shares show that the cubic part matters only in long texts.
	Attention []Share `json:"attention"`
}

// CacheStep holds the cost of one token, with and without the cache.
type CacheStep struct {
	Step       int       `json:"step"`
	Positions  int       `json:"positions"` // attended to, including the new one
	Token      Token     `json:"token"`     // chosen
	Cached     CacheSide `json:"cached"`
	Recomputed CacheSide `json:"recomputed"`
	SameLogits bool      `json:"same_logits"`
	Different  int       `json:"different"` // number of logits whose bits differ
}

// CacheSide is the cost of computing a token in one of the two ways.
type CacheSide struct {
	Read     int        `json:"read"`      // positions processed by the blocks
	Parts    cost.Parts `json:"parts"`     // counted during the run
	MultAdds int64      `json:"mult_adds"` // their sum
	Formula  int64      `json:"formula"`   // from infer/cost's formula
	Ms       Spread     `json:"ms"`
	// The sums over the tokens up to this one.
	TotalParts    cost.Parts `json:"total_parts"`
	TotalMultAdds int64      `json:"total_mult_adds"`
	TotalMs       Spread     `json:"total_ms"` // over the sums of the repeats
}

// SameLogit is a token's logit computed in both ways, with its IEEE 754 bits in hexadecimal.
type SameLogit struct {
	Token          Token   `json:"token"`
	Cached         float32 `json:"cached"`
	Recomputed     float32 `json:"recomputed"`
	CachedBits     string  `json:"cached_bits"`
	RecomputedBits string  `json:"recomputed_bits"`
}

// Columns compares the cached keys and values of past positions with the recomputed keys and
// values.
type Columns struct {
	Block     int       `json:"block"`    // the block shown, from 1
	Position  int       `json:"position"` // the position shown, from 0
	Token     Token     `json:"token"`    // at this position
	KeyA      []float32 `json:"key_cached"`
	KeyB      []float32 `json:"key_recomputed"`
	ValueA    []float32 `json:"value_cached"`
	ValueB    []float32 `json:"value_recomputed"`
	WrittenAt int       `json:"written_at"` // the step that cached it
	MadeAt    int       `json:"made_at"`    // the step that recomputed it
	// For all blocks and positions of the last step:
	Compared  int64 `json:"compared"` // numbers
	Different int64 `json:"different"`
}

// Share is attention's share of the total cost at a given text length.
type Share struct {
	Tokens int     `json:"tokens"`
	Share  float64 `json:"share"`
}

// Fit is a least-squares polynomial fitted to measured rows, together with the polynomial derived
// from the formulas.
type Fit struct {
	Name     string  `json:"name"`     // "recomputed, in all"
	Of       string  `json:"of"`       // "multiply-adds" or "ms"
	Variable string  `json:"variable"` // "n" (positions of a step) or "N" (tokens generated)
	From     int     `json:"from"`     // range of the variable
	To       int     `json:"to"`
	Parts    []Power `json:"parts"` // from the constant term up
	R2       float64 `json:"r2"`    // 1 if the polynomial goes through every row
	Say      string  `json:"say"`
}

// Power is one term of a polynomial.
type Power struct {
	Power   int      `json:"power"`
	Fitted  float64  `json:"fitted"`
	Formula *float64 `json:"formula"`        // nil for times, which have no formula
	Term    string   `json:"term,omitempty"` // the formula in symbols
	Share   float64  `json:"share"`          // of the fit's value at the end of the range
}

func (c *Cache) findings() []string {
	last := c.Steps[len(c.Steps)-1]
	list := []string{
		fmt.Sprintf("Token %d takes %s multiply-adds with the cache and %s without, %.1f times as many; all %d "+
			"together %.1f times as many.",
			last.Step, terms.Count(last.Cached.MultAdds), terms.Count(last.Recomputed.MultAdds),
			float64(last.Recomputed.MultAdds)/float64(last.Cached.MultAdds),
			last.Step, float64(last.Recomputed.TotalMultAdds)/float64(last.Cached.TotalMultAdds)),
	}
	if c.SameLogits && c.Columns.Different == 0 {
		list = append(
			list,
			fmt.Sprintf(
				"All %s logits of the two ways are the same bit for bit, and so are all %s numbers of their keys and "+
					"values.",
				terms.Count(c.Compared), terms.Count(c.Columns.Compared),
			),
		)
	} else {
		list = append(list, "The two ways do not agree bit for bit.")
	}
	for _, f := range c.Fits {
		if f.Of != "ms" {
			list = append(list, strings.ToUpper(f.Name[:1])+f.Name[1:]+". "+f.Say)
		}
	}
	return append(
		list,
		fmt.Sprintf(
			"Cached attention would cost as much as all matrices at %s positions.", terms.Count(int64(c.BreakEven+0.5)),
		),
	)
}
