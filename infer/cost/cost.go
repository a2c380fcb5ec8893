// Package cost computes the cost of a transformer's step from the model's shape alone.
//
// Costs are counted in multiply-adds of matrix products, which account for the work that grows with
// the model. Norms, rotary positions, the softmax and activations are not counted. Sizes in bytes
// are sizes of the KV cache. A lesson derives the same formulas, and a test compares them with the
// counts of the running engine.
package cost

import "cmp"

// Shape holds the dimensions of a model that the formulas use: L layers, d width, h query
// heads, g key/value heads, s head size, f feed-forward width, V vocabulary, and n
// positions attended, including the new one.
type Shape struct {
	Layers, Width, Heads, KVHeads, HeadDim, FFN, Vocab int

	// FFNMatrices is 3 for the gated feed-forward layer of the Llama family
	// (gate, up, down) and 2 for GPT-2's; 0 means 3.
	FFNMatrices int

	// In WindowLayers layers, a token attends to at most Window positions, including its own (a
	// sliding window). Both are 0 if no layer has such a window.
	Window, WindowLayers int `json:",omitzero"`
}

// Parts is a count of multiply-adds, broken down by the part of the model that performs them.
type Parts struct {
	Projections int64 `json:"projections"`  // q, k, v and attention output matrices
	FeedForward int64 `json:"feed_forward"` // gate, up and down matrices
	Attention   int64 `json:"attention"`    // queries times keys, attention weights times values
	Output      int64 `json:"output"`       // the last vector times every token's row
}

// Total returns the sum of the parts.
func (p Parts) Total() int64 { return p.Projections + p.FeedForward + p.Attention + p.Output }

// Plus adds two counts part by part.
func (p Parts) Plus(o Parts) Parts {
	return Parts{
		p.Projections + o.Projections, p.FeedForward + o.FeedForward,
		p.Attention + o.Attention, p.Output + o.Output,
	}
}

// Projections returns d·h·s + 2·d·g·s + h·s·d, the cost of the projections for one position in one
// layer.
func (s Shape) Projections() int64 {
	return int64(s.Width) * int64(s.HeadDim) * int64(2*s.Heads+2*s.KVHeads)
}

// FeedForward returns 3·d·f (2·d·f for GPT-2), the cost of the feed-forward layer for one position
// in one layer.
func (s Shape) FeedForward() int64 {
	m := cmp.Or(s.FFNMatrices, 3)
	return int64(m) * int64(s.Width) * int64(s.FFN)
}

// Blocks returns the cost of running m new positions through all blocks after `cached` positions in
// the cache, without the output matrix: m·L·A, where A is the cost of the matrices of a layer, plus
// 2·h·s for every position that a new position attends to in a layer.
func (s Shape) Blocks(cached, m int) Parts {
	l, n, c := int64(s.Layers), int64(m), int64(cached)
	attended := n*c + n*(n+1)/2
	windowed := int64(s.WindowLayers)
	return Parts{
		Projections: l * n * s.Projections(),
		FeedForward: l * n * s.FeedForward(),
		Attention: 2 * int64(s.Heads) * int64(s.HeadDim) *
			((l-windowed)*attended + windowed*seen(c, n, int64(s.Window))),
	}
}

// seen returns the total number of positions attended to by n new positions after c earlier ones,
// if each attends to at most w: Σ min(c + i, w) for i from 1 to n.
func seen(c, n, w int64) int64 {
	whole := min(max(w-c, 0), n) // number of new positions that see all earlier ones
	return whole*c + whole*(whole+1)/2 + (n-whole)*w
}

// Output returns d·V, the cost of the scores of one position.
func (s Shape) Output() Parts { return Parts{Output: int64(s.Width) * int64(s.Vocab)} }

// Step returns the cost of one cached decode step that attends to n positions, including its own:
// L·A + 2·L·h·s·n + d·V.
func (s Shape) Step(n int) Parts { return s.Blocks(n-1, 1).Plus(s.Output()) }

// Pass returns the cost of running n positions from scratch, with scores for the last: n·L·A +
// L·h·s·n·(n+1) + d·V. Prefill is one Pass; without a cache, every step is one Pass.
func (s Shape) Pass(n int) Parts { return s.Blocks(0, n).Plus(s.Output()) }

// Generate returns the total cost of the steps that generate n tokens after a prompt of m
// positions: with a cache (one Pass over the prompt for the first token, then one Step for each
// further token), and without a cache (a Pass over the whole text for each token).
func (s Shape) Generate(m, n int) (cached, recomputed Parts) {
	for i := range n {
		if i == 0 {
			cached = s.Pass(m)
		} else {
			cached = cached.Plus(s.Step(m + i))
		}
		recomputed = recomputed.Plus(s.Pass(m + i))
	}
	return cached, recomputed
}

// KVBytes returns the size of the KV cache, 2·L·g·s·positions·bytesPerValue: a key and a value for
// every layer, key/value head and position.
func (s Shape) KVBytes(positions, bytesPerValue int) int64 {
	return 2 * int64(s.Layers) * int64(s.KVHeads) * int64(s.HeadDim) * int64(positions) * int64(bytesPerValue)
}

// Parameters returns the number of weights, including 2·L+1 norms of width d. With tied embeddings,
// it counts the token table once.
func (s Shape) Parameters(tied bool) int64 {
	n := int64(s.Layers)*(s.Projections()+s.FeedForward()) + int64(2*s.Layers+1)*int64(s.Width)
	tables := int64(2)
	if tied {
		tables = 1
	}
	return n + tables*int64(s.Width)*int64(s.Vocab)
}
