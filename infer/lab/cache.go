package lab

import (
	"fmt"

	"github.com/tokenbytoken/viz/infer/cost"
	"github.com/tokenbytoken/viz/infer/terms"
)

var _ = register(30, cacheLab{})

type cacheLab struct{}

// Info implements [Lab].
func (cacheLab) Info(l *terms.Language) Info {
	return Info{
		Name: "cache", Title: l.T("lab.cache.title"),
		Claim:    l.T("lab.cache.claim"),
		Friend:   l.T("lab.cache.friend"),
		Question: l.T("lab.cache.question"),
		Inputs: append(terms.Inputs{
			promptInput(l, "The capital of France is"), tokensInput(l, 32, 2048), seedInput(l), repeatsInput(l, 7),
			{
				Key: "block", Label: l.T("lab.cache.input.block"),
				Kind: terms.KindInt, Min: 1, Max: 1000, Step: 1, Typed: true,
				Default: "1",
				Help:    l.T("lab.cache.input.block.help"),
			},
			{
				Key: "position", Label: l.T("lab.cache.input.position"),
				Kind: terms.KindInt, Min: 0, Max: 1_000_000, Step: 1, Typed: true,
				Default: "1",
				Help:    l.T("lab.cache.input.position.help"),
			},
		}, samplingInputs(l, greedy())...),
		Try: []Preset{
			{
				Name:   l.T("lab.cache.try.a_longer_text"),
				Why:    l.T("lab.cache.try.a_longer_text.why"),
				Values: terms.Values{"tokens": "128", "repeats": "3"},
			},
			{
				Name: l.T("lab.cache.try.a_long_prompt"), Why: l.T("lab.cache.try.a_long_prompt.why"),
				Values: terms.Values{"prompt": longPrompt, "tokens": "16"},
			},
		},
		Includes: l.T("lab.cache.includes"),
	}
}

// Cache is the result of the cache lab. The lab generates one continuation in two ways, in
// lockstep: with a KV cache, and by running the whole text again for every token.
type Cache struct {
	Shape      cost.Shape  `json:"shape"`
	Prompt     []Token     `json:"prompt"`
	Tokens     []Token     `json:"tokens"` // generated
	Steps      []CacheStep `json:"steps"`
	Repeats    int         `json:"repeats"`
	SameLogits bool        `json:"same_logits"` // the logits of every step are equal, bit for bit
	Compared   int64       `json:"compared"`    // number of logits compared
	Logits     []SameLogit `json:"logits"`      // the largest logits of the last step, in descending order
	Columns    Columns     `json:"columns"`
	Fits       []Fit       `json:"fits"`
	// BreakEven is the number of positions at which cached attention costs as much as everything
	// else in a step. It is 0 if sliding windows always keep attention cheaper than that.
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
	TotalMs       Spread     `json:"total_ms"` // of the total times of the repeats
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
	Token     Token     `json:"token"`    // the token at this position
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

// Share is attention's share of the total cost for a given text length.
type Share struct {
	Tokens int     `json:"tokens"`
	Share  float64 `json:"share"`
}

// Fit is a least-squares polynomial fitted to measured rows, together with the polynomial derived
// from the formulas.
type Fit struct {
	Name     Phrase  `json:"name"`     // "recomputed, in all"
	Of       Phrase  `json:"of"`       // "multiply-adds" or "ms"
	Times    bool    `json:"-"`        // the polynomial is fitted to times rather than counts
	Variable string  `json:"variable"` // "n" (positions of a step) or "N" (tokens generated)
	From     int     `json:"from"`     // range of the variable
	To       int     `json:"to"`
	Parts    []Power `json:"parts"` // from the constant term up
	R2       float64 `json:"r2"`    // 1 if the polynomial goes through every row
	Say      Phrase  `json:"say"`
}

// Power is one term of a polynomial.
type Power struct {
	Power   int      `json:"power"`
	Fitted  float64  `json:"fitted"`
	Formula *float64 `json:"formula"`        // nil for times, which have no formula
	Term    string   `json:"term,omitempty"` // the formula in symbols
	Share   float64  `json:"share"`          // of the fit's value at the end of the range
}

func (c *Cache) findings() []Phrase {
	last := c.Steps[len(c.Steps)-1]
	ratio := func(a, b int64) string { return fmt.Sprintf("%.1f", float64(a)/float64(b)) }
	list := []Phrase{Text("lab.cache.found", "n", fmt.Sprint(last.Step), "cached", terms.Count(last.Cached.MultAdds),
		"recomputed", terms.Count(last.Recomputed.MultAdds),
		"times", ratio(last.Recomputed.MultAdds, last.Cached.MultAdds),
		"total", ratio(last.Recomputed.TotalMultAdds, last.Cached.TotalMultAdds))}
	if c.SameLogits && c.Columns.Different == 0 {
		list = append(list, Text("lab.cache.found.same", "logits", terms.Count(c.Compared),
			"numbers", terms.Count(c.Columns.Compared)))
	} else {
		list = append(list, Text("lab.cache.found.differ"))
	}
	for _, f := range c.Fits {
		if !f.Times {
			list = append(list, Text("lab.cache.found.fit", "say", f.Say, "curve", func(l *terms.Language) string {
				return terms.Capital(f.Name.In(l))
			}))
		}
	}
	return append(list, Text("lab.cache.found.even", "n", terms.Count(int64(c.BreakEven+0.5))))
}
