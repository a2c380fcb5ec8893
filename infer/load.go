package infer

import (
	"math"
	"sync"

	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/kernel"
)

// Load builds a model with a checkpoint's weights. The checkpoint may be closed afterwards. Errors name the
// tensor. Matrices in Q8_0, Q5_0, Q4_0 and IQ4_NL are multiplied as [kernel.PackLevels] describes. All other
// weights are widened to float32.
func Load(c *checkpoint.Checkpoint) (*Model, error) { return LoadQuantized(c, QuantNone) }

// LoadQuantized is like [Load], but stores the weights in the given format.
func LoadQuantized(c *checkpoint.Checkpoint, quant Quant) (*Model, error) {
	cfg := c.Config
	m := &Model{
		words:  &vocabulary{},
		config: cfg, quant: quant, hash: quant.hash(c.Hash), params: c.Parameters(), tok: c.Tokenizer,
		eos: map[int]bool{}, warnings: c.Warnings,
	}
	for _, id := range cfg.EOS {
		m.eos[id] = true
	}
	l := &loader{Checkpoint: c, quant: quant}
	m.embed = l.table(checkpoint.Embedding)
	m.output = m.embed
	if cfg.Has(checkpoint.Positions) {
		m.positions = l.vector(checkpoint.Positions, 0, cfg.Context, cfg.Width)
	}
	turns := map[*checkpoint.Rope]*rotary{}
	for _, r := range cfg.Ropes() {
		turns[r] = newRotary(cfg.Context, r.Frequencies(cfg.HeadDim))
	}
	for i, a := range cfg.Attention {
		b := l.block(i)
		b.rotary, b.window = turns[a.Rope], a.Window
		m.blocks = append(m.blocks, b)
	}
	m.norm = l.norm(checkpoint.FinalNorm, 0, cfg.Width)
	if !cfg.TieEmbeddings {
		m.output = l.table(checkpoint.Output)
	}
	if l.err != nil {
		return nil, l.err
	}
	scalar := float64(cfg.HeadDim)
	if cfg.QueryScalar > 0 {
		scalar = cfg.QueryScalar
	}
	m.scoreScale = float32(1 / math.Sqrt(scalar))
	m.readTemplate(c)
	m.longest = m.tok.Longest() * cfg.Context
	m.scratch = &sync.Pool{New: func() any { return newScratch(cfg) }}
	return m, nil
}

// A loader reads the parts of a model. It stops at the first error and keeps it in err.
type loader struct {
	*checkpoint.Checkpoint
	quant Quant
	err   error
}

// vector reads a part's weight vector, or returns nil if the architecture does not have the part.
func (l *loader) vector(p checkpoint.Role, layer int, shape ...int) (v []float32) {
	if l.err == nil {
		v, l.err = l.Weight(p, layer, shape...)
	}
	return v
}

// bias reads a part's bias, or returns nil if the architecture does not have this bias.
func (l *loader) bias(p checkpoint.Role, layer, n int) (v []float32) {
	if l.err == nil {
		v, l.err = l.Bias(p, layer, n)
	}
	return v
}

// norm reads a norm for vectors of n values.
func (l *loader) norm(p checkpoint.Role, layer, n int) normalization {
	return normalization{l.vector(p, layer, n), l.bias(p, layer, n), l.Config.NormEps}
}

// matrix reads one of a block's matrices.
func (l *loader) matrix(p checkpoint.Role, layer, rows, cols int) kernel.Matrix {
	if l.quant == QuantNone {
		if v := l.levels(p, layer, rows, cols); v != nil {
			return kernel.PackLevels(rows, cols, v.Values, v.Scales)
		}
	}
	data := l.vector(p, layer, rows, cols)
	if data == nil {
		return kernel.Matrix{}
	}
	return l.quant.pack(rows, cols, data)
}

// levels reads a matrix that the file stores in levels. It returns nil if the file does not.
func (l *loader) levels(p checkpoint.Role, layer, rows, cols int) (v *checkpoint.Levels) {
	if l.err == nil {
		v, l.err = l.Levels(p, layer, rows, cols)
	}
	return v
}

// table reads the embedding table or the output matrix, [vocab, width]. Neither is ever rounded: an
// error in a token's embedding would pass through all blocks, and an error in the output matrix
// would change the order of close logits.
func (l *loader) table(p checkpoint.Role) kernel.Matrix {
	if v := l.levels(p, 0, l.Config.Vocab, l.Config.Width); v != nil {
		return kernel.PackLevels(l.Config.Vocab, l.Config.Width, v.Values, v.Scales)
	}
	data := l.vector(p, 0, l.Config.Vocab, l.Config.Width)
	if l.err != nil {
		return kernel.Matrix{}
	}
	return kernel.Pack(l.Config.Vocab, l.Config.Width, data)
}

// block reads the weights of a block.
func (l *loader) block(i int) block {
	c := l.Config
	d, heads, kv := c.Width, c.Heads*c.HeadDim, c.KVHeads*c.HeadDim
	queryNorm, keyNorm := c.HeadDim, c.HeadDim
	if c.Block.WideQKNorm {
		queryNorm, keyNorm = heads, kv
	}
	b := block{
		attnNorm: l.norm(checkpoint.AttentionNorm, i, d),
		q:        l.matrix(checkpoint.Query, i, heads, d), qBias: l.bias(checkpoint.Query, i, heads),
		k: l.matrix(checkpoint.Key, i, kv, d), kBias: l.bias(checkpoint.Key, i, kv),
		v: l.matrix(checkpoint.Value, i, kv, d), vBias: l.bias(checkpoint.Value, i, kv),
		qNorm: l.norm(checkpoint.QueryNorm, i, queryNorm), kNorm: l.norm(checkpoint.KeyNorm, i, keyNorm),
		o: l.matrix(checkpoint.AttentionOut, i, d, heads), oBias: l.bias(checkpoint.AttentionOut, i, d),
		attnPostNorm: l.norm(checkpoint.AttentionPostNorm, i, d),

		ffnNorm: l.norm(checkpoint.FFNNorm, i, d),
		gate:    l.matrix(checkpoint.Gate, i, c.FFN, d),
		up:      l.matrix(checkpoint.Up, i, c.FFN, d), upBias: l.bias(checkpoint.Up, i, c.FFN),
		down: l.matrix(checkpoint.Down, i, d, c.FFN), downBias: l.bias(checkpoint.Down, i, d),
		ffnPostNorm: l.norm(checkpoint.FFNPostNorm, i, d),
	}
	if c.Has(checkpoint.QueryKeyValue) {
		l.divide(&b, i, d)
	}
	return b
}

// divide splits block i's combined matrix for queries, keys and values into three matrices, which
// produce the same results.
func (l *loader) divide(b *block, i, d int) {
	fused, bias := l.vector(checkpoint.QueryKeyValue, i, 3*d, d), l.bias(checkpoint.QueryKeyValue, i, 3*d)
	if l.err != nil {
		return
	}
	b.q, b.qBias = l.quant.pack(d, d, fused[:d*d]), bias[:d]
	b.k, b.kBias = l.quant.pack(d, d, fused[d*d:2*d*d]), bias[d:2*d]
	b.v, b.vBias = l.quant.pack(d, d, fused[2*d*d:]), bias[2*d:]
}
