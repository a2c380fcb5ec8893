package lab

// Memory is what the memory lab found: the size of a KV cache, as calculated
// for a model and as held by the running engine.
type Memory struct {
	Model            MemoryModel     `json:"model"` // as calculated with
	Precision        string          `json:"precision"`
	BytesPerValue    float64         `json:"bytes_per_value"` // of keys and values
	Positions        int             `json:"positions"`
	Batch            int             `json:"batch"`
	BytesPerPosition float64         `json:"bytes_per_position"`
	Bytes            float64         `json:"bytes"` // all texts of the batch
	WeightBytes      float64         `json:"weight_bytes"`
	WeightPrecision  string          `json:"weight_precision"`
	Overtakes        float64         `json:"overtakes"` // positions at which one cache is as large as the weights
	MemoryBytes      float64         `json:"memory_bytes"`
	FreeBytes        float64         `json:"free_bytes"` // beside the weights; below 0 if they do not fit
	Users            int64           `json:"users"`      // texts of that length that fit beside the weights
	Variants         []MemoryVariant `json:"variants"`
	Windows          []Window        `json:"windows"`
	Models           []MemoryModel   `json:"models"` // the presets
	Engine           Engine          `json:"engine"`
}

// MemoryModel is what the calculator needs of a model.
type MemoryModel struct {
	Key        string `json:"key"`
	Name       string `json:"name"`
	Layers     int    `json:"layers"`
	Heads      int    `json:"heads"`
	KVHeads    int    `json:"kv_heads"`
	HeadDim    int    `json:"head_dim"`
	Parameters int64  `json:"parameters"`
	Context    int    `json:"context"` // its window
	Year       int    `json:"year,omitempty"`
	Source     string `json:"source"`
	Note       string `json:"note,omitempty"` // what the formula leaves out, in a sentence
}

// MemoryVariant is a way to share keys and values among the query heads.
type MemoryVariant struct {
	Name             string  `json:"name"` // "MHA", "GQA" or "MQA"
	KVHeads          int     `json:"kv_heads"`
	BytesPerPosition float64 `json:"bytes_per_position"`
	Bytes            float64 `json:"bytes"`
	Saving           float64 `json:"saving"` // heads / KV heads: how many times smaller than MHA
	Users            int64   `json:"users"`
	Now              bool    `json:"now"` // the model calculated with does so
	Say              string  `json:"say"`
}

// Window is a published context window.
type Window struct {
	Name   string  `json:"name"`
	Tokens int     `json:"tokens"`
	Year   int     `json:"year"` // 0 for the loaded model
	Source string  `json:"source"`
	Bytes  float64 `json:"bytes"` // of a cache that long for the model calculated with
	Loaded bool    `json:"loaded"`
}

// Engine is the cache of the running engine as a text grows.
type Engine struct {
	Prompt  int          `json:"prompt"` // positions
	Formula string       `json:"formula"`
	Steps   []EngineStep `json:"steps"`
	Agree   bool         `json:"agree"` // used and reserved bytes equal the formulas at every step
}

// EngineStep is the cache after one step's pass.
type EngineStep struct {
	Step            int   `json:"step"`
	Positions       int   `json:"positions"`
	Used            int64 `json:"used"`         // bytes of filled columns, as the engine tells
	UsedFormula     int64 `json:"used_formula"` // 2·L·g·s·positions·4
	Reserved        int64 `json:"reserved"`     // bytes held, filled or not
	ReservedFormula int64 `json:"reserved_formula"`
	Room            int   `json:"room"` // positions that fit into what is reserved
}
