package infer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/cost"
	"github.com/tokenbytoken/viz/infer/kernel"
)

// chunk is the maximum number of positions that go through the blocks together. With a larger
// chunk, each weight would be used more often while it is in the processor's cache, but the pass
// would need more scratch memory.
const chunk = 32

// Forward reads tokens after the positions that are in the cache: it runs them through every block
// and appends their keys and values to the cache. It returns the last position's vector [width],
// before the final norm, and the number of multiply-adds performed. On an error, for example
// because ctx ended or the context window is full, the cache is unchanged.
func (m *Model) Forward(ctx context.Context, c *Cache, tokens []int) ([]float32, cost.Parts, error) {
	last := make([]float32, m.config.Width)
	tally, err := m.ForwardTo(ctx, c, tokens, last)
	if err != nil {
		return nil, tally, err
	}
	return last, tally, nil
}

// ForwardTo is like Forward, but writes the vectors of the last n tokens to out [n, width]. n must
// be at most the number of tokens. It does not allocate if the cache has room.
func (m *Model) ForwardTo(ctx context.Context, c *Cache, tokens []int, out []float32) (cost.Parts, error) {
	if err := m.checkPass(c, tokens, out); err != nil {
		return cost.Parts{}, err
	}
	if m.runner != nil {
		return m.runner.ForwardTo(ctx, c, tokens, out)
	}
	var tally cost.Parts
	start, d := c.positions, m.config.Width
	s := m.scratch.Get().(*scratch)
	defer m.scratch.Put(s)
	for len(tokens) > 0 {
		n := min(len(tokens), chunk)
		if err := m.forwardChunk(ctx, s, c, tokens[:n], &tally); err != nil {
			c.Truncate(start)
			return cost.Parts{}, err
		}
		tokens = tokens[n:]
		if wanted := len(out) - len(tokens)*d; wanted > 0 { // the chunk contains some of the last n tokens
			copy(out, s.x[n*d-wanted:n*d])
			out = out[wanted:]
		}
	}
	return tally, nil
}

// checkPass returns an error if tokens cannot be read after the tokens in the cache.
func (m *Model) checkPass(c *Cache, tokens []int, out []float32) error {
	if len(tokens) == 0 {
		return errors.New("no tokens to read")
	}
	if n := c.positions + len(tokens); n > m.config.Context {
		return fmt.Errorf("%d positions exceed the model's context of %d", n, m.config.Context)
	}
	for _, id := range tokens {
		if id < 0 || id >= m.config.Vocab {
			return outsideVocabulary(id, m.config.Vocab)
		}
	}
	if d := m.config.Width; len(out) == 0 || len(out)%d != 0 || len(out) > len(tokens)*d {
		panic(
			fmt.Sprintf(
				"infer: ForwardTo of %d tokens into %d values of width %d", len(tokens), len(out), d,
			),
		)
	}
	return nil
}

func outsideVocabulary(id, size int) error {
	return fmt.Errorf("token %d is outside the vocabulary of %d tokens", id, size)
}

// passInput is one input of a pass: a token and its position in a text's cache. The inputs of a
// pass may belong to different texts.
type passInput struct {
	cache *Cache
	at    int // the position, from 0; all earlier ones are in the cache or in this pass
	token int
	tally cost.Parts // the multiply-adds of this input so far
}

// forwardChunk runs the whole transformer for up to chunk positions of one text.
func (m *Model) forwardChunk(ctx context.Context, s *scratch, c *Cache, tokens []int, tally *cost.Parts) error {
	s.inputs = s.inputs[:0]
	for i, id := range tokens {
		s.inputs = append(s.inputs, passInput{cache: c, at: c.positions + i, token: id})
	}
	c.reserve(c.positions + len(tokens))
	m.enter(s, s.inputs)
	for l := range m.blocks {
		if err := ctx.Err(); err != nil {
			return err
		}
		m.block(s, l, s.inputs)
	}
	for _, p := range s.inputs {
		*tally = tally.Plus(p.tally)
	}
	c.positions += len(tokens)
	return nil
}

var positionsRead atomic.Int64

// PositionsRead returns the total number of positions that all models in this process have read.
// Tests use it to check their budget.
func PositionsRead() int64 { return positionsRead.Load() }

// enter initializes the residual stream of every input with its token's row of the embedding table.
func (m *Model) enter(s *scratch, inputs []passInput) {
	positionsRead.Add(int64(len(inputs)))
	d := m.config.Width
	for i, p := range inputs {
		x := s.x[i*d : (i+1)*d]
		m.embed.Row(x, p.token)
		if scale := m.config.EmbeddingScale; scale != 0 {
			for j := range x {
				x[j] *= scale
			}
		}
		if m.positions != nil {
			add(x, m.positions[p.at*d:(p.at+1)*d])
		}
	}
}

// block runs one transformer block for up to chunk inputs, whose residual streams are the first
// vectors of s.x. Each input's key and value are written to the input's own cache, which must have
// room for them, and the input attends to that cache. The matrices are read once for all inputs,
// and the results for an input do not depend on the other inputs. Norms and biases that an
// architecture lacks have no effect.
func (m *Model) block(s *scratch, l int, inputs []passInput) {
	cfg, n, b := &m.config, len(inputs), &m.blocks[l]
	d := cfg.Width
	x, h := s.x[:n*d], s.h[:n*d]               // [n, width]: the residual stream, and the vector added to it
	mixed := s.mixed[:n*cfg.Heads*cfg.HeadDim] // [n, heads, headDim]

	projections := m.project(s, b, inputs)
	m.attendAll(s, l, inputs)
	projections += b.attention(h, mixed, n)
	add(x, h)

	hidden, feedForward := m.hidden(s, b, b.ffnNorm.of(h, x), n)
	feedForward += b.feedForward(h, hidden, n)
	add(x, h)

	share(inputs, projections, feedForward)
}

// project computes the queries, keys and values of the inputs, whose streams are the first vectors
// of s.x. It stores them in s.q, s.k and s.v, and returns the number of multiply-adds.
func (m *Model) project(s *scratch, b *block, inputs []passInput) int64 {
	cfg, n := &m.config, len(inputs)
	d, heads, kv := cfg.Width, cfg.Heads*cfg.HeadDim, cfg.KVHeads*cfg.HeadDim
	q := s.q[:n*heads]             // [n, heads, headDim]
	k, v := s.k[:n*kv], s.v[:n*kv] // [n, kvHeads, headDim]
	in := b.attnNorm.of(s.h[:n*d], s.x[:n*d])
	spent := kernel.MulEach(
		in, n, kernel.Product{Matrix: b.q, Dst: q}, kernel.Product{Matrix: b.k, Dst: k},
		kernel.Product{Matrix: b.v, Dst: v},
	)
	addBias(q, b.qBias)
	addBias(k, b.kBias)
	addBias(v, b.vBias)
	b.qNorm.of(q, q)
	b.kNorm.of(k, k)
	for i, p := range inputs {
		b.rotary.turn(q[i*heads:(i+1)*heads], cfg.HeadDim, p.at)
		b.rotary.turn(k[i*kv:(i+1)*kv], cfg.HeadDim, p.at)
	}
	return spent
}

// attention computes the vectors h [n, width] that attention adds to the stream from the heads'
// results mixed [n, heads, headDim]. It returns the number of multiply-adds.
func (b *block) attention(h, mixed []float32, n int) int64 {
	spent := b.o.Mul(h, mixed, n)
	addBias(h, b.oBias)
	b.attnPostNorm.of(h, h)
	return spent
}

// feedForward computes the vectors h [n, width] that the feed-forward layer adds to the stream from
// its activations hidden [n, ffn]. It returns the number of multiply-adds.
func (b *block) feedForward(h, hidden []float32, n int) int64 {
	spent := b.down.Mul(h, hidden, n)
	addBias(h, b.downBias)
	b.ffnPostNorm.of(h, h)
	return spent
}

// hidden returns the activations [n, ffn] of a feed-forward layer for its input in [n, width], and
// the number of multiply-adds.
func (m *Model) hidden(s *scratch, b *block, in []float32, n int) ([]float32, int64) {
	cfg := &m.config
	gate, up := s.gate[:n*cfg.FFN], s.up[:n*cfg.FFN] // [n, ffn]
	if b.gate.Rows == 0 {
		spent := b.up.Mul(up, in, n)
		addBias(up, b.upBias)
		activate(cfg.Block.Activation, up)
		return up, spent
	}
	spent := kernel.MulEach(in, n, kernel.Product{Matrix: b.gate, Dst: gate}, kernel.Product{Matrix: b.up, Dst: up})
	addBias(up, b.upBias)
	activateGate(cfg.Block.Activation, gate, up)
	return gate, spent
}

// share divides the multiply-adds of matrices equally among the inputs.
func share(inputs []passInput, projections, feedForward int64) {
	n := int64(len(inputs))
	for i := range inputs {
		inputs[i].tally.Projections += projections / n
		inputs[i].tally.FeedForward += feedForward / n
	}
}

// attendAll writes the keys and values of every input (s.k and s.v) to its cache and computes the
// attention of its queries (s.q) to that cache. The result goes to s.mixed [n, heads, headDim].
func (m *Model) attendAll(s *scratch, l int, inputs []passInput) {
	heads, kv := m.config.Heads*m.config.HeadDim, m.config.KVHeads*m.config.HeadDim
	m.store(s, l, inputs)
	for i := range inputs {
		p := &inputs[i]
		from := m.blocks[l].seesFrom(p.at)
		p.tally.Attention += m.attend(s, s.mixed[i*heads:(i+1)*heads], s.q[i*heads:(i+1)*heads],
			p.cache.keys[l][from*kv:(p.at+1)*kv], p.cache.values[l][from*kv:(p.at+1)*kv], nil)
	}
}

// store writes the keys and values of every input (s.k and s.v) to its cache.
func (m *Model) store(s *scratch, l int, inputs []passInput) {
	kv := m.config.KVHeads * m.config.HeadDim
	for i, p := range inputs {
		copy(p.cache.keys[l][p.at*kv:], s.k[i*kv:(i+1)*kv])
		copy(p.cache.values[l][p.at*kv:], s.v[i*kv:(i+1)*kv])
	}
}

// seesFrom returns the first position that a position attends to.
func (b *block) seesFrom(position int) int {
	if b.window == 0 {
		return 0
	}
	return max(0, position+1-b.window)
}

// attend computes one position's attention to itself and the positions before it. q [heads,
// headDim] is its query. keys and values [positions, kvHeads, headDim] cover all positions that it
// may see. out [heads, headDim] receives the weighted sum of the values. Query heads share
// key/value heads in groups (Ainslie et al. 2023). attend returns the number of multiply-adds. If
// weights is not nil, attend calls it with each head's attention weights in turn.
func (m *Model) attend(s *scratch, out, q, keys, values []float32, weights func([]float32)) int64 {
	cfg := &m.config
	size, kv := cfg.HeadDim, cfg.KVHeads*cfg.HeadDim
	positions := len(keys) / kv
	group := cfg.Heads / cfg.KVHeads // query heads that share keys and values
	w := s.weights[:group*positions]
	for g := range cfg.KVHeads {
		from, to := g*group*size, (g+1)*group*size
		kernel.ScoresEach(w, q[from:to], keys[g*size:], group, kv, m.scoreScale)
		for h := range group {
			row := w[h*positions : (h+1)*positions]
			kernel.Softmax(row)
			if weights != nil {
				weights(row)
			}
		}
		kernel.MixEach(out[from:to], w, values[g*size:], group, kv)
	}
	return 2 * int64(cfg.Heads) * int64(size) * int64(positions)
}

// Logits computes the score of every token of the vocabulary as the next token: it applies the
// final norm and multiplies by the output matrix. last [width] is a result of [Model.Forward]. The
// caller owns the result [vocab]. It returns an error if any score is not finite.
func (m *Model) Logits(last []float32) ([]float32, cost.Parts, error) {
	z := make([]float32, m.config.Vocab)
	tally, err := m.LogitsTo(context.Background(), last, z)
	if err != nil {
		return nil, tally, err
	}
	return z, tally, nil
}

// LogitsTo is like Logits, but for one or more positions: it reads last [n, width] and writes the
// result to z [n, vocab]. It does not allocate. It can return ctx's error only if a [Runner] runs
// the model's passes ([Model.Through]), since a pass never waits otherwise.
func (m *Model) LogitsTo(ctx context.Context, last, z []float32) (cost.Parts, error) {
	if m.runner != nil {
		return m.runner.LogitsTo(ctx, last, z)
	}
	s := m.scratch.Get().(*scratch)
	defer m.scratch.Put(s)
	var tally cost.Parts
	d, v := m.config.Width, m.config.Vocab
	for len(last) > 0 {
		n := min(len(last)/d, chunk)
		tally.Output += m.score(s, last[:n*d], z[:n*v], n)
		if err := finite(z[:n*v], v); err != nil {
			return tally, err
		}
		last, z = last[n*d:], z[n*v:]
	}
	return tally, nil
}

// score computes the logits z [n, vocab] of n ≤ chunk vectors last [n, width].
func (m *Model) score(s *scratch, last, z []float32, n int) int64 {
	return m.output.Mul(z, m.norm.of(s.h[:n*m.config.Width], last), n)
}

// finite returns an error unless all scores z [n, vocab] are finite.
func finite(z []float32, vocab int) error {
	if kernel.Finite(z) {
		return nil
	}
	for i, v := range z {
		if v != v || math.IsInf(float64(v), 0) {
			return fmt.Errorf("the model's weights are unusable: the score of token %d is %v", i%vocab, v)
		}
	}
	return nil
}

// scratch is the working memory of one pass. Its contents do not outlive the pass.
type scratch struct {
	x, h     []float32   // [chunk, width]
	q, mixed []float32   // [chunk, heads·headDim]
	k, v     []float32   // [chunk, kvHeads·headDim]
	gate, up []float32   // [chunk, ffn]
	weights  []float32   // [heads/kvHeads, context]
	inputs   []passInput // the inputs of a pass, up to chunk
}

func newScratch(c checkpoint.Config) *scratch {
	of := func(n int) []float32 { return make([]float32, chunk*n) }
	return &scratch{
		x: of(c.Width), h: of(c.Width),
		q: of(c.Heads * c.HeadDim), mixed: of(c.Heads * c.HeadDim),
		k: of(c.KVHeads * c.HeadDim), v: of(c.KVHeads * c.HeadDim),
		gate: of(c.FFN), up: of(c.FFN),
		weights: make([]float32, c.Heads/c.KVHeads*c.Context), inputs: make([]passInput, 0, chunk),
	}
}
