package infer

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/cost"
	"github.com/tokenbytoken/viz/infer/kernel"
)

// chunk is how many positions go through the blocks together. More would use
// the weights oftener while they are near, but scratch memory grows with it.
const chunk = 32

// Forward reads tokens after the positions that the cache holds: it runs them
// through every block and appends their keys and values to the cache. It
// returns the last position's vector [width], before the final norm, and the
// multiply-adds tallied on the way. On an error (ctx ended, window full) the
// cache is as it was.
func (m *Model) Forward(ctx context.Context, c *Cache, tokens []int) ([]float32, cost.Parts, error) {
	var tally cost.Parts
	start := c.positions
	if len(tokens) == 0 {
		return nil, tally, errors.New("no tokens to read")
	}
	if n := start + len(tokens); n > m.config.Context {
		return nil, tally, fmt.Errorf("%d positions do not fit the model's context of %d", n, m.config.Context)
	}
	for _, id := range tokens {
		if id < 0 || id >= m.config.Vocab {
			return nil, tally, fmt.Errorf("token %d is not in the vocabulary of %d", id, m.config.Vocab)
		}
	}
	s := m.scratch.Get().(*scratch)
	defer m.scratch.Put(s)
	last := make([]float32, m.config.Width)
	for len(tokens) > 0 {
		n := min(len(tokens), chunk)
		if err := m.forwardChunk(ctx, s, c, tokens[:n], &tally, nil); err != nil {
			c.Truncate(start)
			return nil, tally, err
		}
		copy(last, s.x[(n-1)*m.config.Width:])
		tokens = tokens[n:]
	}
	return last, tally, nil
}

// forwardChunk is the transformer, top to bottom, for up to chunk positions.
// look is told of the last of them; it is nil when nobody looks.
func (m *Model) forwardChunk(ctx context.Context, s *scratch, c *Cache, tokens []int, tally *cost.Parts, look *Inspection) error {
	cfg, n, start := m.config, len(tokens), c.positions
	d, heads, kv := cfg.Width, cfg.Heads*cfg.HeadDim, cfg.KVHeads*cfg.HeadDim
	c.reserve(start + n)

	x := s.x[:n*d] // [n, width]: the residual stream
	for i, id := range tokens {
		copy(x[i*d:(i+1)*d], m.embed[id*d:(id+1)*d])
	}
	for l, b := range m.blocks {
		if err := ctx.Err(); err != nil {
			return err
		}
		h := s.h[:n*d]            // [n, width]
		q := s.q[:n*heads]        // [n, heads, headDim]
		k := c.keys[l][start*kv:] // [n, kvHeads, headDim]: straight into the cache
		v := c.values[l][start*kv:]

		look.enters(l, x[(n-1)*d:])
		rmsNorm(h, x, b.attnNorm, cfg.NormEps)
		tally.Projections += b.q.Mul(q, h, n)
		tally.Projections += b.k.Mul(k, h, n)
		tally.Projections += b.v.Mul(v, h, n)
		for i := range n {
			m.rotate(q[i*heads:(i+1)*heads], start+i)
			m.rotate(k[i*kv:(i+1)*kv], start+i)
		}
		mixed := s.mixed[:n*heads] // [n, heads, headDim]
		for i := range n {
			weights := func(w []float32) {
				if i == n-1 {
					look.head(l, w)
				}
			}
			tally.Attention += m.attend(s, mixed[i*heads:(i+1)*heads], q[i*heads:(i+1)*heads],
				c.keys[l][:(start+i+1)*kv], c.values[l][:(start+i+1)*kv], weights)
		}
		tally.Projections += b.o.Mul(h, mixed, n)
		add(x, h)
		look.attended(l, q[(n-1)*heads:], x[(n-1)*d:])

		gate, up := s.gate[:n*cfg.FFN], s.up[:n*cfg.FFN] // [n, ffn]
		rmsNorm(h, x, b.ffnNorm, cfg.NormEps)
		tally.FeedForward += b.gate.Mul(gate, h, n)
		tally.FeedForward += b.up.Mul(up, h, n)
		for i, g := range gate {
			gate[i] = silu(g) * up[i]
		}
		tally.FeedForward += b.down.Mul(h, gate, n)
		add(x, h)
		look.leaves(l, gate[(n-1)*cfg.FFN:], x[(n-1)*d:])
	}
	c.positions = start + n
	return nil
}

// attend lets one position look at itself and all before it. q [heads,
// headDim] is its query, keys and values [positions, kvHeads, headDim] all it
// may see; out [heads, headDim] receives the mix of values. Query heads share
// key/value heads in groups (Ainslie et al. 2023). weights is called with each
// head's attention in turn. Returns the multiply-adds.
func (m *Model) attend(s *scratch, out, q, keys, values []float32, weights func([]float32)) int64 {
	cfg := m.config
	size, kv := cfg.HeadDim, cfg.KVHeads*cfg.HeadDim
	positions := len(keys) / kv
	scale := float32(1 / math.Sqrt(float64(size)))
	w := s.weights[:positions]
	for h := range cfg.Heads {
		g := h / (cfg.Heads / cfg.KVHeads) * size
		head := q[h*size : (h+1)*size]
		for j := range w {
			w[j] = scale * kernel.Dot(head, keys[j*kv+g:j*kv+g+size])
		}
		softmax(w)
		weights(w)
		mix := out[h*size : (h+1)*size]
		clear(mix)
		for j, a := range w {
			kernel.AddScaled(mix, a, values[j*kv+g:j*kv+g+size])
		}
	}
	return 2 * int64(cfg.Heads) * int64(size) * int64(positions)
}

// Logits scores every token of the vocabulary as the next one: final norm,
// then a product with the output matrix. last [width] is what [Model.Forward]
// returned; the result [vocab] belongs to the caller. An error means that the
// weights lead to numbers that are not finite.
func (m *Model) Logits(last []float32) ([]float32, cost.Parts, error) {
	h := make([]float32, m.config.Width)
	rmsNorm(h, last, m.norm, m.config.NormEps)
	z := make([]float32, m.config.Vocab)
	tally := cost.Parts{Output: m.output.Mul(z, h, 1)}
	for id, v := range z {
		if v != v || math.IsInf(float64(v), 0) {
			return nil, tally, fmt.Errorf("the model gave token %d the score %v: its weights are not usable", id, v)
		}
	}
	return z, tally, nil
}

// rmsNorm divides every vector of x [n, width] by its root mean square and
// scales it by weight [width] (Zhang and Sennrich 2019).
func rmsNorm(dst, x, weight []float32, eps float32) {
	d := len(weight)
	for i := 0; i < len(x); i += d {
		row := x[i : i+d]
		ms := kernel.Dot(row, row) / float32(d)
		scale := float32(1 / math.Sqrt(float64(ms+eps)))
		for j, v := range row {
			dst[i+j] = v * scale * weight[j]
		}
	}
}

// rotate turns each pair (i, i+headDim/2) of every head in x by an angle that
// grows with the position: the half-split layout of Hugging Face's Llama.
func (m *Model) rotate(x []float32, position int) {
	size := m.config.HeadDim
	half := size / 2
	cos, sin := m.cos[position*half:(position+1)*half], m.sin[position*half:(position+1)*half]
	for at := 0; at < len(x); at += size {
		a, b := x[at:at+half], x[at+half:at+size]
		for i := range a {
			a[i], b[i] = a[i]*cos[i]-b[i]*sin[i], b[i]*cos[i]+a[i]*sin[i]
		}
	}
}

func softmax(w []float32) {
	max := w[0]
	for _, v := range w {
		if v > max {
			max = v
		}
	}
	var sum float32
	for i, v := range w {
		w[i] = float32(math.Exp(float64(v - max)))
		sum += w[i]
	}
	for i := range w {
		w[i] /= sum
	}
}

func silu(x float32) float32 { return x / (1 + float32(math.Exp(float64(-x)))) }

func add(dst, x []float32) { kernel.AddScaled(dst, 1, x) }

// scratch is the working memory of one pass; nothing in it outlives the pass.
type scratch struct {
	x, h     []float32 // [chunk, width]
	q, mixed []float32 // [chunk, heads·headDim]
	gate, up []float32 // [chunk, ffn]
	weights  []float32 // [context]
}

func newScratch(c checkpoint.Config) *scratch {
	of := func(n int) []float32 { return make([]float32, chunk*n) }
	return &scratch{
		x: of(c.Width), h: of(c.Width),
		q: of(c.Heads * c.HeadDim), mixed: of(c.Heads * c.HeadDim),
		gate: of(c.FFN), up: of(c.FFN),
		weights: make([]float32, c.Context),
	}
}
