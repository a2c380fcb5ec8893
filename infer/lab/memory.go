package lab

import (
	"fmt"

	"github.com/tokenbytoken/viz/infer/terms"
)

var _ = register(40, memoryLab{})

type memoryLab struct{}

// Info implements [Lab].
func (memoryLab) Info() Info {
	return Info{
		Name: "memory", Title: "Memory and context",
		Claim:    "Eight long chats weigh more than the model.",
		Friend:   "What fills the card isn’t only the model. It’s everybody’s open conversations.",
		Question: "How large does a cache grow, and how many people can one machine serve?",
		Inputs: terms.Inputs{
			{
				Key: "preset", Label: "Model", Kind: terms.KindChoice, Options: memoryKeys(), Default: "llama-2-7b",
				Help: "the model to calculate with",
			},
			{
				Key: "layers", Label: "Layers", Kind: terms.KindInt, Min: 1, Max: 1000, Step: 1, Own: true,
				Help: "the model's own unless you say otherwise",
			},
			{
				Key: "heads", Label: "Query heads", Kind: terms.KindInt, Min: 1, Max: 1024, Step: 1, Own: true,
				Help: "the model's own unless you say otherwise",
			},
			{
				Key: "kv_heads", Label: "KV heads", Kind: terms.KindInt, Min: 1, Max: 1024, Step: 1, Own: true,
				Help: "a divisor of the query heads",
			},
			{
				Key: "head_dim", Label: "Head size", Kind: terms.KindInt, Min: 1, Max: 4096, Step: 8, Own: true,
				Help: "numbers in each key and in each value",
			},
			{
				Key: "precision", Label: "Bytes each", Kind: terms.KindChoice, Options: precisionNames(),
				Default: "fp16",
				Help:    "how keys and values are kept",
			},
			{
				Key: "weights", Label: "Weight precision", Kind: terms.KindChoice, Options: precisionNames(),
				Default: "fp16",
				Help:    "how weights are kept",
			},
			{
				Key: "positions", Label: "Tokens", Kind: terms.KindInt, Min: 1, Max: 10_000_000, Step: 1,
				Default: "4096", Help: "in each chat, prompt and answer together",
			},
			{
				Key: "batch", Label: "Chats at once", Kind: terms.KindInt, Min: 1, Max: 100_000, Step: 1,
				Default: "8", Help: "each has its own cache",
			},
			{
				Key: "memory", Label: "The card’s memory", Unit: "GiB", Kind: terms.KindFloat, Min: 0.001,
				Max: 100_000, Step: 1,
				Default: "24", Help: "that weights and caches share",
			},
			promptInput(story), tokensInput(64, 2048), seedInput(),
		},
		Try: []Preset{
			{
				Name:   "The 32-layer example",
				Why:    "At 131,072 tokens the cache is some five times as large as the weights.",
				Values: terms.Values{"preset": "example-32", "positions": "131072", "batch": "1", "memory": "80"},
			},
			{
				Name:   "Shared heads",
				Why:    "70 billion weights, and yet a smaller cache than a 7B model without shared heads: GQA.",
				Values: terms.Values{"preset": "llama-2-70b", "batch": "1", "memory": "160"},
			},
		},
		Includes: "The calculator is the formula 2 × layers × KV heads × head size × positions × bytes, and " +
			"parameters × bytes for the weights; what a server needs besides is left out. The engine's bytes are " +
			"those that its cache holds while it writes: used are the filled columns, reserved " +
			"is what was allocated.",
	}
}

// Memory is the result of the memory lab: the size of a KV cache, calculated for a model and
// measured in the running engine.
type Memory struct {
	Model            MemoryModel     `json:"model"` // the model that the calculation is for
	Precision        string          `json:"precision"`
	BytesPerValue    float64         `json:"bytes_per_value"` // of keys and values
	Positions        int             `json:"positions"`
	Batch            int             `json:"batch"`
	BytesPerPosition float64         `json:"bytes_per_position"`
	Bytes            float64         `json:"bytes"` // for all texts of the batch
	WeightBytes      float64         `json:"weight_bytes"`
	WeightPrecision  string          `json:"weight_precision"`
	Overtakes        float64         `json:"overtakes"` // positions at which one cache is as large as the weights
	MemoryBytes      float64         `json:"memory_bytes"`
	FreeBytes        float64         `json:"free_bytes"` // memory left next to the weights; negative if they do not fit
	Users            int64           `json:"users"`      // texts of that length that fit next to the weights
	Variants         []MemoryVariant `json:"variants"`
	Windows          []Window        `json:"windows"`
	Models           []MemoryModel   `json:"models"` // the presets
	Engine           Engine          `json:"engine"`
}

// MemoryModel holds the numbers of a model that the calculator needs.
type MemoryModel struct {
	Key        string `json:"key"`
	Name       string `json:"name"`
	Layers     int    `json:"layers"`
	Heads      int    `json:"heads"`
	KVHeads    int    `json:"kv_heads"`
	HeadDim    int    `json:"head_dim"`
	Parameters int64  `json:"parameters"`
	Context    int    `json:"context"` // its context window
	Year       int    `json:"year,omitempty"`
	Source     string `json:"source"`
	Note       string `json:"note,omitempty"` // what the formula leaves out
}

// MemoryVariant is a way to share keys and values among the query heads.
type MemoryVariant struct {
	Name             string  `json:"name"` // "MHA", "GQA" or "MQA"
	KVHeads          int     `json:"kv_heads"`
	BytesPerPosition float64 `json:"bytes_per_position"`
	Bytes            float64 `json:"bytes"`
	Saving           float64 `json:"saving"` // heads / KV heads: the factor by which the cache is smaller than with MHA
	Users            int64   `json:"users"`
	Now              bool    `json:"now"` // the calculated model uses this variant
	Say              string  `json:"say"`
}

// Window is a published context window.
type Window struct {
	Name   string  `json:"name"`
	Tokens int     `json:"tokens"`
	Year   int     `json:"year"` // 0 for the loaded model
	Source string  `json:"source"`
	Bytes  float64 `json:"bytes"` // of a cache of that length for the calculated model
	Loaded bool    `json:"loaded"`
}

// Engine describes the running engine's cache as a text grows.
type Engine struct {
	Prompt  int          `json:"prompt"` // positions
	Formula string       `json:"formula"`
	Steps   []EngineStep `json:"steps"`
	Agree   bool         `json:"agree"` // used and reserved bytes equal the formulas at every step
}

// EngineStep describes the cache after one step's pass.
type EngineStep struct {
	Step            int   `json:"step"`
	Positions       int   `json:"positions"`
	Used            int64 `json:"used"`         // bytes of filled columns, as reported by the engine
	UsedFormula     int64 `json:"used_formula"` // 2·L·g·s·positions·4
	Reserved        int64 `json:"reserved"`     // bytes allocated, filled or not
	ReservedFormula int64 `json:"reserved_formula"`
	Room            int   `json:"room"` // positions that fit into the reserved memory
}

func (c *Memory) findings() []string {
	list := []string{
		fmt.Sprintf("%s keeps %s a position: %s for %s positions of %s together, plus %s of weights.",
			c.Model.Name, terms.BytesShort(c.BytesPerPosition), terms.BytesShort(c.Bytes),
			terms.Count(c.Positions), terms.Counted(c.Batch, "text"), terms.BytesShort(c.WeightBytes)),
		fmt.Sprintf("One cache is as large as the weights at %s positions.", terms.Count(int64(c.Overtakes+0.5))),
	}
	if c.FreeBytes < 0 {
		list = append(list, fmt.Sprintf("The weights alone do not fit into %s.", terms.BytesShort(c.MemoryBytes)))
	} else {
		list = append(
			list,
			fmt.Sprintf(
				"Next to the weights, %s has room for %s of %s positions.", terms.BytesShort(c.MemoryBytes),
				terms.Counted(int(c.Users), "text"), terms.Count(c.Positions),
			),
		)
	}
	if n := len(c.Engine.Steps); n > 0 {
		last := c.Engine.Steps[n-1]
		list = append(
			list,
			fmt.Sprintf(
				"The engine's own cache uses %s for %s positions and has reserved %s, room for %s.",
				terms.BytesShort(float64(last.Used)), terms.Count(last.Positions),
				terms.BytesShort(float64(last.Reserved)), terms.Count(last.Room),
			),
		)
	}
	return list
}
