package lab

import (
	"github.com/tokenbytoken/viz/infer/terms"
)

var _ = register(40, memoryLab{})

type memoryLab struct{}

// Info implements [Lab].
func (memoryLab) Info(l *terms.Language) Info {
	return Info{
		Name: "memory", Title: l.T("lab.memory.title"),
		Claim:    l.T("lab.memory.claim"),
		Friend:   l.T("lab.memory.friend"),
		Question: l.T("lab.memory.question"),
		Inputs: terms.Inputs{
			{
				Key: "preset", Label: l.T("lab.memory.input.preset"),
				Kind: terms.KindChoice, Options: memoryKeys(), Default: "llama-2-7b",
				Help: l.T("lab.memory.input.preset.help"),
			},
			{
				Key: "layers", Label: l.T("lab.memory.input.layers"),
				Kind: terms.KindInt, Min: 1, Max: 1000, Step: 1, Own: true,
				Help: l.T("lab.memory.input.layers.help"),
			},
			{
				Key: "heads", Label: l.T("lab.memory.input.heads"),
				Kind: terms.KindInt, Min: 1, Max: 1024, Step: 1, Own: true,
				Help: l.T("lab.memory.input.heads.help"),
			},
			{
				Key: "kv_heads", Label: l.T("lab.memory.input.kv_heads"),
				Kind: terms.KindInt, Min: 1, Max: 1024, Step: 1, Own: true,
				Help: l.T("lab.memory.input.kv_heads.help"),
			},
			{
				Key: "head_dim", Label: l.T("lab.memory.input.head_dim"),
				Kind: terms.KindInt, Min: 1, Max: 4096, Step: 8, Own: true,
				Help: l.T("lab.memory.input.head_dim.help"),
			},
			{
				Key: "precision", Label: l.T("lab.memory.input.precision"),
				Kind: terms.KindChoice, Options: precisionNames(),
				Default: "fp16",
				Help:    l.T("lab.memory.input.precision.help"),
			},
			{
				Key: "weights", Label: l.T("lab.memory.input.weights"),
				Kind: terms.KindChoice, Options: precisionNames(),
				Default: "fp16",
				Help:    l.T("lab.memory.input.weights.help"),
			},
			{
				Key: "positions", Label: l.T("lab.memory.input.positions"),
				Kind: terms.KindInt, Min: 1, Max: 10_000_000, Step: 1,
				Default: "4096", Help: l.T("lab.memory.input.positions.help"),
			},
			{
				Key: "batch", Label: l.T("lab.memory.input.batch"),
				Kind: terms.KindInt, Min: 1, Max: 100_000, Step: 1,
				Default: "8", Help: l.T("lab.memory.input.batch.help"),
			},
			{
				Key: "memory", Label: l.T("lab.memory.input.memory"), Unit: l.T("lab.unit.gib"),
				Kind: terms.KindFloat, Min: 0.001,
				Max: 100_000, Step: 1,
				Default: "24", Help: l.T("lab.memory.input.memory.help"),
			},
			promptInput(l, story), tokensInput(l, 64, 2048), seedInput(l),
		},
		Try: []Preset{
			{
				Name:   l.T("lab.memory.try.the_32_layer_example"),
				Why:    l.T("lab.memory.try.the_32_layer_example.why"),
				Values: terms.Values{"preset": "example-32", "positions": "131072", "batch": "1", "memory": "80"},
			},
			{
				Name:   l.T("lab.memory.try.shared_heads"),
				Why:    l.T("lab.memory.try.shared_heads.why"),
				Values: terms.Values{"preset": "llama-2-70b", "batch": "1", "memory": "160"},
			},
		},
		Includes: l.T("lab.memory.includes"),
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
	Overtakes        float64         `json:"overtakes"` // position at which one cache is as large as the weights
	MemoryBytes      float64         `json:"memory_bytes"`
	FreeBytes        float64         `json:"free_bytes"` // left after loading the weights; negative if they do not fit
	Users            int64           `json:"users"`      // texts of that length that fit in the free memory
	Variants         []MemoryVariant `json:"variants"`
	Windows          []Window        `json:"windows"`
	Models           []MemoryModel   `json:"models"` // the presets
	Engine           Engine          `json:"engine"`
}

// MemoryModel holds the numbers of a model that the calculator needs.
type MemoryModel struct {
	Key        string `json:"key"`
	Name       Phrase `json:"name"`
	Layers     int    `json:"layers"`
	Heads      int    `json:"heads"`
	KVHeads    int    `json:"kv_heads"`
	HeadDim    int    `json:"head_dim"`
	Parameters int64  `json:"parameters"`
	Context    int    `json:"context"` // its context window
	Year       int    `json:"year,omitempty"`
	Source     Phrase `json:"source"`
	Note       Phrase `json:"note,omitzero"` // what the formula leaves out
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
	Say              Phrase  `json:"say"`
}

// Window is a published context window.
type Window struct {
	Name   string  `json:"name"`
	Tokens int     `json:"tokens"`
	Year   int     `json:"year"` // 0 for the loaded model
	Source Phrase  `json:"source"`
	Bytes  float64 `json:"bytes"` // of a cache of that length for the calculated model
	Loaded bool    `json:"loaded"`
}

// Engine describes the running engine's cache as a text grows.
type Engine struct {
	Prompt  int          `json:"prompt"` // positions
	Formula Phrase       `json:"formula"`
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

func (c *Memory) findings() []Phrase {
	list := []Phrase{
		Text("lab.memory.found", "model", c.Model.Name, "each", size(c.BytesPerPosition), "all", size(c.Bytes),
			"positions", terms.Count(c.Positions), "n", c.Batch, "weights", size(c.WeightBytes)),
		Text("lab.memory.found.overtakes", "positions", terms.Count(int64(c.Overtakes+0.5))),
	}
	if c.FreeBytes < 0 {
		list = append(list, Text("lab.memory.found.full", "memory", size(c.MemoryBytes)))
	} else {
		list = append(list, Text("lab.memory.found.room", "memory", size(c.MemoryBytes), "n", int(c.Users),
			"positions", terms.Count(c.Positions)))
	}
	if n := len(c.Engine.Steps); n > 0 {
		last := c.Engine.Steps[n-1]
		list = append(list, Text("lab.memory.found.engine", "used", size(float64(last.Used)),
			"positions", terms.Count(last.Positions), "reserved", size(float64(last.Reserved)),
			"room", terms.Count(last.Room)))
	}
	return list
}
