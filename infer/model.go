package infer

import (
	"fmt"
	"math"
	"sync"

	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/cost"
	"github.com/tokenbytoken/viz/infer/kernel"
	"github.com/tokenbytoken/viz/infer/tokenizer"
)

// Model is a transformer, of the Llama family or a GPT-2. It is read-only after [Load] and safe for any number of goroutines.
type Model struct {
	config checkpoint.Config
	hash   string
	params int64
	tok    *tokenizer.Tokenizer
	eos    map[int]bool

	quant Quant

	embed  kernel.Matrix // [vocab, width]
	blocks []block
	places []float32     // [context, width], added to the embedding by position; nil where positions are rotations
	norm   []float32     // [width], before the output matrix
	output kernel.Matrix // [vocab, width]; the embedding table itself where they are tied

	normBias []float32  // [width], GPT-2 alone
	cos, sin []float32  // rotary tables, [context, headDim/2]
	scratch  *sync.Pool // *scratch
	runner   Runner     // who runs the passes; nil for this model itself
}

// block holds the weights of one transformer block.
type block struct {
	attnNorm       []float32     // [width]
	q              kernel.Matrix // [heads·headDim, width]
	k, v           kernel.Matrix // [kvHeads·headDim, width]
	o              kernel.Matrix // [width, heads·headDim]
	ffnNorm        []float32     // [width]
	gate, up, down kernel.Matrix // [ffn, width], [ffn, width], [width, ffn]; GPT-2 has no gate

	// What is added to the products above; nil where the architecture has none.
	qBias, kBias, vBias       []float32 // Qwen2 and GPT-2
	oBias, upBias, downBias   []float32 // GPT-2
	attnNormBias, ffnNormBias []float32 // GPT-2
}

// Load widens a checkpoint's weights to float32 and makes a model of them.
// The checkpoint may be closed afterwards. Errors name the tensor at fault.
func Load(c *checkpoint.Checkpoint) (*Model, error) { return LoadQuantized(c, QuantNone) }

// LoadQuantized is [Load] with the weights kept as quant says.
func LoadQuantized(c *checkpoint.Checkpoint, quant Quant) (*Model, error) {
	cfg := c.Config
	m := &Model{config: cfg, quant: quant, hash: quant.hash(c.Hash), params: c.Parameters(), tok: c.Tokenizer, eos: map[int]bool{}}
	for _, id := range cfg.EOS {
		m.eos[id] = true
	}
	if cfg.Architecture == "gpt2" {
		return m.loadGPT2(c)
	}
	var err error
	vector := func(name string, n int) []float32 {
		var v []float32
		if err == nil {
			v, err = c.Float32(name, n)
		}
		return v
	}
	matrix := func(name string, rows, cols int) kernel.Matrix {
		var data []float32
		if err == nil {
			data, err = c.Float32(name, rows, cols)
		}
		if err != nil {
			return kernel.Matrix{}
		}
		return quant.pack(rows, cols, data)
	}
	heads, kv := cfg.Heads*cfg.HeadDim, cfg.KVHeads*cfg.HeadDim
	m.embed = table(c, "model.embed_tokens.weight", cfg, &err)
	m.output = m.embed
	for i := range cfg.Layers {
		at := fmt.Sprintf("model.layers.%d.", i)
		m.blocks = append(m.blocks, block{
			attnNorm: vector(at+"input_layernorm.weight", cfg.Width),
			q:        matrix(at+"self_attn.q_proj.weight", heads, cfg.Width),
			k:        matrix(at+"self_attn.k_proj.weight", kv, cfg.Width),
			v:        matrix(at+"self_attn.v_proj.weight", kv, cfg.Width),
			o:        matrix(at+"self_attn.o_proj.weight", cfg.Width, heads),
			ffnNorm:  vector(at+"post_attention_layernorm.weight", cfg.Width),
			gate:     matrix(at+"mlp.gate_proj.weight", cfg.FFN, cfg.Width),
			up:       matrix(at+"mlp.up_proj.weight", cfg.FFN, cfg.Width),
			down:     matrix(at+"mlp.down_proj.weight", cfg.Width, cfg.FFN),
		})
		if b := &m.blocks[i]; cfg.QKVBias {
			b.qBias = vector(at+"self_attn.q_proj.bias", heads)
			b.kBias = vector(at+"self_attn.k_proj.bias", kv)
			b.vBias = vector(at+"self_attn.v_proj.bias", kv)
		}
	}
	m.norm = vector("model.norm.weight", cfg.Width)
	if !cfg.TieEmbeddings {
		m.output = table(c, "lm_head.weight", cfg, &err)
	}
	if err != nil {
		return nil, err
	}
	m.cos, m.sin = rotaryTables(cfg.Context, cfg.RotaryFrequencies())
	m.scratch = &sync.Pool{New: func() any { return newScratch(cfg) }}
	return m, nil
}

// rotaryTables returns cos and sin of position × frequency for every position
// and pair of a head (Su et al. 2021), each [context, headDim/2]. Frequency
// and angle are rounded to float32 first, as the models' training code does;
// at long contexts the difference would show.
func rotaryTables(context int, frequencies []float32) (cos, sin []float32) {
	half := len(frequencies)
	cos, sin = make([]float32, context*half), make([]float32, context*half)
	for i, freq := range frequencies {
		for pos := range context {
			angle := float64(float32(pos) * freq)
			cos[pos*half+i], sin[pos*half+i] = float32(math.Cos(angle)), float32(math.Sin(angle))
		}
	}
	return cos, sin
}

// Config returns the model's configuration.
func (m *Model) Config() checkpoint.Config { return m.config }

// Name is what people call the model, such as "tiny-5M".
func (m *Model) Name() string { return m.config.Name }

// Hash identifies the model's files: hex SHA-256.
func (m *Model) Hash() string { return m.hash }

// Parameters counts the weights.
func (m *Model) Parameters() int64 { return m.params }

// Shape is what the cost formulas need.
func (m *Model) Shape() cost.Shape {
	c := m.config
	matrices := 3
	if c.Architecture == "gpt2" {
		matrices = 2
	}
	return cost.Shape{
		Layers: c.Layers, Width: c.Width, Heads: c.Heads, KVHeads: c.KVHeads,
		HeadDim: c.HeadDim, FFN: c.FFN, Vocab: c.Vocab, FFNMatrices: matrices,
	}
}

// Token describes one entry of the vocabulary.
func (m *Model) Token(id int) Token { return describe(m.tok, id) }

// Encode turns plain text into token ids, with the start mark in front where
// the model was trained with one. Text that looks like a special token stays
// text. Bytes that the vocabulary has no token for are left out; [NewLoop],
// [NewSpeculator] and [Model.CheckText] refuse such a text.
func (m *Model) Encode(prompt string) []int {
	ids := m.tok.Encode(prompt)
	if m.config.BOS >= 0 {
		ids = append([]int{m.config.BOS}, ids...)
	}
	return ids
}

// EOS reports whether a token ends the text.
func (m *Model) EOS(id int) bool { return m.eos[id] }
