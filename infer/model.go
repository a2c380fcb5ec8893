package infer

import (
	"sync"

	"github.com/tokenbytoken/viz/infer/chat"
	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/cost"
	"github.com/tokenbytoken/viz/infer/kernel"
	"github.com/tokenbytoken/viz/infer/tokenizer"
)

// Model is a transformer of any architecture that package checkpoint can read. It is read-only
// after [Load] and safe for concurrent use.
type Model struct {
	config checkpoint.Config
	hash   string
	params int64
	tok    *tokenizer.Tokenizer
	eos    map[int]bool

	warnings []string

	quant Quant

	embed     kernel.Matrix // [vocab, width]
	positions []float32     // [context, width], added to the embedding by position; nil if positions are rotary
	blocks    []block
	norm      normalization // before the output matrix
	output    kernel.Matrix // [vocab, width]; if tied, the embedding table itself

	scoreScale float32    // factor by which attention scores are multiplied
	scratch    *sync.Pool // *scratch
	runner     Runner     // runs the passes; nil if the model runs them itself

	words *vocabulary // for grammars

	longest int // maximum length in bytes of a text that can fit in the context

	chat      *chat.Template // nil if there is no usable template
	chatFault error          // the reason, if the template is unusable
	// chatTok is the tokenizer for the template's output, if the template inserts tokens that are
	// not flagged as special. These tokens are special only where the template inserted them.
	chatTok *tokenizer.Tokenizer
}

// block holds the weights of one transformer block. Fields that an architecture lacks are
// zero: no norm, no bias, no gate.
type block struct {
	attnNorm     normalization // of [width]
	q            kernel.Matrix // [heads·headDim, width]
	k, v         kernel.Matrix // [kvHeads·headDim, width]
	qNorm, kNorm normalization // of [headDim] each, or of all heads together
	rotary       *rotary       // rotates queries and keys
	window       int           // number of positions that a token sees, including its own; 0 for all positions
	o            kernel.Matrix // [width, heads·headDim]
	attnPostNorm normalization // of [width]

	ffnNorm        normalization // of [width]
	gate, up, down kernel.Matrix // [ffn, width], [ffn, width], [width, ffn]
	ffnPostNorm    normalization // of [width]

	// Biases of the products above.
	qBias, kBias, vBias, oBias, upBias, downBias []float32
}

// Config returns the model's configuration.
func (m *Model) Config() checkpoint.Config { return m.config }

// Name returns the model's name, such as "tiny-5M".
func (m *Model) Name() string { return m.config.Name }

// Hash returns the SHA-256 hash of the model's files, in hex. It identifies the model.
func (m *Model) Hash() string { return m.hash }

// Warnings returns sentences about ignored parts of the model's files, as in
// [checkpoint.Checkpoint].
func (m *Model) Warnings() []string { return m.warnings }

// Parameters returns the number of weights.
func (m *Model) Parameters() int64 { return m.params }

// Shape returns the dimensions that the cost formulas need.
func (m *Model) Shape() cost.Shape {
	c := m.config
	matrices := 2
	if c.Has(checkpoint.Gate) {
		matrices = 3
	}
	window, windowed := c.Window()
	return cost.Shape{
		Layers: c.Layers, Width: c.Width, Heads: c.Heads, KVHeads: c.KVHeads,
		HeadDim: c.HeadDim, FFN: c.FFN, Vocab: c.Vocab, FFNMatrices: matrices,
		Window: window, WindowLayers: windowed,
	}
}

// ScoreScale returns the factor by which the product of a query and a key is multiplied before the
// softmax: 1/√headDim unless the model specifies another factor (Vaswani et al. 2017).
func (m *Model) ScoreScale() float32 { return m.scoreScale }

// Token returns a description of one entry of the vocabulary.
func (m *Model) Token(id int) Token { return describe(m.tok, id) }

// TokenBytes returns the bytes that a token adds to a text, which may be only part of a character.
func (m *Model) TokenBytes(id int) []byte { return m.tok.Bytes(id) }

// Encode converts plain text to token ids, starting with the start token if the model was trained
// with one. Text that looks like a special token is treated as plain text. Bytes without a token
// are dropped; [NewLoop], [NewSpeculator] and [Model.CheckText] reject text with such bytes.
func (m *Model) Encode(prompt string) []int { return m.started(m.tok.Encode(prompt), m.config.BOS) }

// encodeSized is like Encode, but also returns how many bytes of the text each token covers: 0 for
// the start token, and the sizes from [tokenizer.Tokenizer.EncodeSized] for the others.
func (m *Model) encodeSized(text string) (ids, sizes []int) {
	ids, sizes = m.tok.EncodeSized(text)
	return m.started(ids, m.config.BOS), m.started(sizes, 0)
}

// started returns list, preceded by start if the model has a start token.
func (m *Model) started(list []int, start int) []int {
	if m.config.BOS < 0 {
		return list
	}
	return append([]int{start}, list...)
}

// EOS reports whether a token ends the text.
func (m *Model) EOS(id int) bool { return m.eos[id] }
