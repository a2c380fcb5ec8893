package infer

import (
	"fmt"
	"math"
	"sync"

	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/kernel"
)

// GPT-2 (Radford et al. 2019) differs from Llama in these points: positions
// are learned vectors, added to the embedding once, instead of rotations in
// every block; LayerNorm stands for RMSNorm; every product has a bias; the
// feed-forward layer has two matrices with a GELU between, and no gate.

// loadGPT2 widens the weights of a GPT-2. Its queries, keys and values come
// out of one matrix, which is kept in three: the same products.
func (m *Model) loadGPT2(c *checkpoint.Checkpoint) (*Model, error) {
	cfg := m.config
	d := cfg.Width
	var err error
	vector := func(name string, n ...int) []float32 {
		var v []float32
		if err == nil {
			v, err = c.Float32(name, n...)
		}
		return v
	}
	matrix := func(name string, rows, cols int) kernel.Matrix {
		data := vector(name, rows, cols)
		if err != nil {
			return kernel.Matrix{}
		}
		return m.quant.pack(rows, cols, data)
	}
	m.embed = table(c, "wte.weight", cfg, &err)
	m.output = m.embed
	m.places = vector("wpe.weight", cfg.Context, d)
	for i := range cfg.Layers {
		at := fmt.Sprintf("h.%d.", i)
		fused, bias := vector(at+"attn.c_attn.weight", 3*d, d), vector(at+"attn.c_attn.bias", 3*d)
		if err != nil {
			return nil, err
		}
		m.blocks = append(m.blocks, block{
			attnNorm: vector(at+"ln_1.weight", d), attnNormBias: vector(at+"ln_1.bias", d),
			q: m.quant.pack(d, d, fused[:d*d]), qBias: bias[:d],
			k: m.quant.pack(d, d, fused[d*d:2*d*d]), kBias: bias[d : 2*d],
			v: m.quant.pack(d, d, fused[2*d*d:]), vBias: bias[2*d:],
			o: matrix(at+"attn.c_proj.weight", d, d), oBias: vector(at+"attn.c_proj.bias", d),
			ffnNorm: vector(at+"ln_2.weight", d), ffnNormBias: vector(at+"ln_2.bias", d),
			up: matrix(at+"mlp.c_fc.weight", cfg.FFN, d), upBias: vector(at+"mlp.c_fc.bias", cfg.FFN),
			down: matrix(at+"mlp.c_proj.weight", d, cfg.FFN), downBias: vector(at+"mlp.c_proj.bias", d),
		})
	}
	m.norm, m.normBias = vector("ln_f.weight", d), vector("ln_f.bias", d)
	if !cfg.TieEmbeddings {
		m.output = table(c, "lm_head.weight", cfg, &err)
	}
	if err != nil {
		return nil, err
	}
	m.scratch = &sync.Pool{New: func() any { return newScratch(cfg) }}
	return m, nil
}

// gpt2Block is [Model.block] for a GPT-2.
func (m *Model) gpt2Block(s *scratch, l int, places []place, look *Inspection) {
	cfg, n, b := m.config, len(places), m.blocks[l]
	d, last := cfg.Width, len(places)-1
	x, h := s.x[:n*d], s.h[:n*d]                     // [n, width]
	q, k, v := s.q[:n*d], s.k[:n*d], s.v[:n*d]       // [n, heads, headDim]
	mixed, hidden := s.mixed[:n*d], s.up[:n*cfg.FFN] // [n, heads, headDim], [n, ffn]

	look.enters(l, x[last*d:])
	layerNorm(h, x, b.attnNorm, b.attnNormBias, cfg.NormEps)
	projections := kernel.MulEach(h, n, kernel.Product{Matrix: b.q, Dst: q}, kernel.Product{Matrix: b.k, Dst: k}, kernel.Product{Matrix: b.v, Dst: v})
	addBias(q, b.qBias)
	addBias(k, b.kBias)
	addBias(v, b.vBias)
	m.attendAll(s, l, places, look)
	projections += b.o.Mul(h, mixed, n)
	addBias(h, b.oBias)
	add(x, h)
	look.attended(l, q[last*d:], x[last*d:])

	layerNorm(h, x, b.ffnNorm, b.ffnNormBias, cfg.NormEps)
	feedForward := b.up.Mul(hidden, h, n)
	addBias(hidden, b.upBias)
	gelu(hidden)
	feedForward += b.down.Mul(h, hidden, n)
	addBias(h, b.downBias)
	add(x, h)
	look.leaves(l, hidden[last*cfg.FFN:], x[last*d:])
	share(places, projections, feedForward)
}

// layerNorm shifts every vector of x [n, width] to mean 0 and divides it by
// its standard deviation, then scales it by weight and shifts it by bias, both
// [width] (Ba et al. 2016).
func layerNorm(dst, x, weight, bias []float32, eps float32) {
	d := len(weight)
	for i := 0; i < len(x); i += d {
		var sum, squares float64
		for _, v := range x[i : i+d] {
			sum += float64(v)
		}
		mean := float32(sum / float64(d))
		for _, v := range x[i : i+d] {
			squares += float64(v-mean) * float64(v-mean)
		}
		scale := float32(1 / math.Sqrt(squares/float64(d)+float64(eps)))
		for j, v := range x[i : i+d] {
			dst[i+j] = (v-mean)*scale*weight[j] + bias[j]
		}
	}
}

// gelu replaces every x by x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³))), the form
// of the Gaussian error linear unit that GPT-2 uses (Hendrycks and Gimpel 2016).
func gelu(x []float32) {
	slope := math.Sqrt(2 / math.Pi)
	for i, v := range x {
		v := float64(v)
		x[i] = float32(v / 2 * (1 + math.Tanh(slope*(v+0.044715*v*v*v))))
	}
}

// addBias adds bias to every vector of x [n, len(bias)]; nil adds nothing.
func addBias(x, bias []float32) {
	if bias == nil {
		return
	}
	for i := 0; i < len(x); i += len(bias) {
		add(x[i:i+len(bias)], bias)
	}
}
