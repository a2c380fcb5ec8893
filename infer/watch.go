package infer

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/tokenbytoken/viz/infer/terms"
)

// A Watch is one pass over a text, or over one position of it, that keeps everything needed for an
// explanation: the residual stream before the first block and after each block, the vectors that
// every head and every feed-forward layer added and, on request, the attention weights. Without an
// intervention, its numbers are the same as in [Model.Forward], bit for bit.
//
// It is a separate pass with the same operations, so explanations do not slow down the generation
// of text. A finished Watch is read-only and owns its data, about 4·(2·width + heads·headDim +
// 2·kvHeads·headDim) bytes for each position and block.
type Watch struct {
	model  *Model
	tokens []int
	first  int // the position of tokens[0]; earlier positions are only in the cache
	change Intervention

	cache  *Cache
	stream [][]float32 // [layers+1][positions, width]: before each block, and after the last
	mixed  [][]float32 // [layers][positions, heads, headDim]: the input of the output matrix
	fed    [][]float32 // [layers][positions, width]: the output of the feed-forward layer
	looks  [][]float32 // [layers][positions, heads, first+positions]: attention weights; nil unless kept
	inside []BlockView // [layers]: what [Model.Inspect] shows of the last position; nil unless kept
}

// An Intervention describes what is omitted from a pass or replaced in it. The zero value changes
// nothing. Parts are switched off at every position, and everything that depends on them is
// recomputed.
type Intervention struct {
	// Off lists the heads, attention biases and feed-forward layers that are off: their output is 0
	// or, with Mean, its mean over the positions of this text.
	Off  []Part
	Mean bool
	// Positions lists the positions whose keys and values are hidden from later positions.
	Positions []int
	// Patch replaces the residual stream at one position, unless it is nil.
	Patch *Patch
}

// A Patch copies the residual stream of one position from another pass into this one.
type Patch struct {
	From     *Watch // a pass of the same model over the same number of tokens
	Height   int    // the number of the block after which to patch; 0 is before the first
	Position int    // from 0
}

// Watch runs tokens from the start of a text. With looks, it also keeps the attention weights,
// 4·heads·positions² bytes for each block.
func (m *Model) Watch(ctx context.Context, tokens []int, looks bool) (*Watch, error) {
	plain := *m
	plain.runner = nil // its passes are not part of a text
	m = &plain
	c := m.NewCache()
	if err := m.checkPass(c, tokens, make([]float32, m.config.Width)); err != nil {
		return nil, err
	}
	w := &Watch{model: m, tokens: slices.Clone(tokens), cache: c}
	w.make(nil, 0, 0, looks)
	return w, w.run(ctx, nil, 0, 0)
}

// watchOne reruns the position that follows the columns of a cache, and adds its column.
func (m *Model) watchOne(ctx context.Context, past *Cache, token int) (*Watch, error) {
	w := &Watch{
		model: m, tokens: []int{token}, first: past.positions, cache: past,
		inside: make([]BlockView, len(m.blocks)),
	}
	w.make(nil, 0, 0, true)
	return w, w.run(ctx, nil, 0, 0)
}

// Again runs the same text with a change. w itself must have been run without changes. Everything
// before the first change is reused. It returns an error for a part or a patch that does not exist
// in the model or the text, and a *[terms.Refusal] for a position that cannot be hidden.
func (w *Watch) Again(ctx context.Context, change Intervention) (*Watch, error) {
	if !w.change.None() {
		panic("infer: Again called on a pass that already has a change")
	}
	if err := w.check(change); err != nil {
		return nil, err
	}
	block, position := w.firstChange(change)
	again := &Watch{model: w.model, tokens: w.tokens, change: change, cache: w.cache.upTo(position)}
	for l := range block { // these blocks are not run again, but their columns are read
		again.cache.keys[l], again.cache.values[l] = w.cache.keys[l], w.cache.values[l]
	}
	again.make(w, block, position, w.looks != nil)
	return again, again.run(ctx, w, block, position)
}

// None reports whether the intervention is empty.
func (c Intervention) None() bool { return len(c.Off) == 0 && len(c.Positions) == 0 && c.Patch == nil }

// check returns an error if this pass cannot apply the change.
func (w *Watch) check(c Intervention) error {
	cfg, last := &w.model.config, len(w.tokens)-1
	for _, p := range c.Off {
		fits := p.Block >= 1 && p.Block <= cfg.Layers && slices.Contains(w.model.BlockParts(p.Block), p)
		if !fits {
			return fmt.Errorf(
				"%s is not a part that can be switched off: the model has L1 to L%d, each with H1 to H%d and ffn",
				p, cfg.Layers, cfg.Heads,
			)
		}
	}
	for _, at := range c.Positions {
		if at < 0 || at >= last {
			return terms.Refuse(terms.CodeRange, "explain.off.later", "n", last, "at", strconv.Itoa(at))
		}
	}
	p := c.Patch
	switch {
	case p == nil:
		return nil
	case p.From.model.hash != w.model.hash || len(p.From.tokens) != len(w.tokens):
		return fmt.Errorf(
			"the other text has %d tokens and this one has %d; they must have the same number", len(p.From.tokens),
			len(w.tokens),
		)
	case p.Height < 0 || p.Height > cfg.Layers || p.Position < 0 || p.Position > last:
		return fmt.Errorf("position %d after block %d is out of range", p.Position, p.Height)
	}
	return nil
}

// firstChange returns the first block, from 0, and the first position at which anything changes. If
// no block changes, it returns the number of blocks.
func (w *Watch) firstChange(c Intervention) (block, position int) {
	block, position = len(w.model.blocks), len(w.tokens)
	for _, p := range c.Off {
		block, position = min(block, p.Block-1), 0
	}
	for _, at := range c.Positions {
		block, position = 0, min(position, at+1)
	}
	if c.Patch != nil {
		block, position = min(block, c.Patch.Height), min(position, c.Patch.Position)
	}
	return block, position
}

// make allocates the pass's data, starting at the given block and position; everything earlier is
// shared with base.
func (w *Watch) make(base *Watch, block, position int, looks bool) {
	c, n := &w.model.config, len(w.tokens)
	of := func(size, l int, from func(*Watch) [][]float32) []float32 {
		if base != nil && l < block {
			return from(base)[l]
		}
		kept := make([]float32, n*size)
		if base != nil {
			copy(kept, from(base)[l][:position*size])
		}
		return kept
	}
	for l := range c.Layers + 1 {
		w.stream = append(w.stream, of(c.Width, l, func(b *Watch) [][]float32 { return b.stream }))
	}
	for l := range c.Layers {
		w.mixed = append(w.mixed, of(c.Heads*c.HeadDim, l, func(b *Watch) [][]float32 { return b.mixed }))
		w.fed = append(w.fed, of(c.Width, l, func(b *Watch) [][]float32 { return b.fed }))
		if looks {
			w.looks = append(w.looks, of(c.Heads*(w.first+n), l, func(b *Watch) [][]float32 { return b.looks }))
		}
	}
}

// run computes the pass, starting at the given block and position. The stream that enters the block
// comes from base, or is the embedding if base is nil.
func (w *Watch) run(ctx context.Context, base *Watch, block, position int) error {
	m, d := w.model, w.model.config.Width
	s := m.scratch.Get().(*scratch)
	defer m.scratch.Put(s)
	off := w.switched(base)
	w.cache.reserve(w.first + len(w.tokens))
	for from := position; from < len(w.tokens); from += chunk {
		n := min(chunk, len(w.tokens)-from)
		s.inputs = s.inputs[:0]
		for i, id := range w.tokens[from : from+n] {
			s.inputs = append(s.inputs, passInput{cache: w.cache, at: w.first + from + i, token: id})
		}
		x := s.x[:n*d]
		if base == nil {
			m.enter(s, s.inputs)
		} else {
			copy(x, base.stream[block][from*d:])
		}
		for l := block; l <= len(m.blocks); l++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			w.patch(l, from, x)
			copy(w.stream[l][from*d:], x)
			if l < len(m.blocks) {
				w.block(s, l, off)
			}
		}
	}
	w.cache.positions = w.first + len(w.tokens)
	return nil
}

// patch replaces the stream x [n, width] of the positions from `from` on if the change
// has a patch there.
func (w *Watch) patch(height, from int, x []float32) {
	p, d := w.change.Patch, w.model.config.Width
	if p == nil || p.Height != height {
		return
	}
	if at := (p.Position - from) * d; at >= 0 && at < len(x) {
		copy(x[at:at+d], p.From.stream[height][p.Position*d:])
	}
}

// block is like [Model.block], but with parts off, for the inputs in s.
func (w *Watch) block(s *scratch, l int, off *switched) {
	m, n, b := w.model, len(s.inputs), &w.model.blocks[l]
	d, heads := m.config.Width, m.config.Heads*m.config.HeadDim
	from := s.inputs[0].at - w.first
	x, h, mixed := s.x[:n*d], s.h[:n*d], s.mixed[:n*heads]

	m.project(s, b, s.inputs)
	if w.inside != nil {
		w.inside[l].Query = slices.Clone(s.q[(n-1)*heads : n*heads])
	}
	w.attendAll(s, l)
	off.heads(l, mixed)
	copy(w.mixed[l][from*heads:], mixed)
	if off.bias[l] {
		without := *b
		without.oBias, b = nil, &without
	}
	b.attention(h, mixed, n)
	add(x, h)
	if w.inside != nil {
		w.inside[l].NormMid = norm(x[(n-1)*d:])
	}

	if value, is := off.fed[l]; is {
		for i := range n {
			copy(h[i*d:], value)
		}
	} else {
		hidden, _ := m.hidden(s, b, b.ffnNorm.of(h, x), n)
		if w.inside != nil {
			w.inside[l].Hidden = slices.Clone(hidden[(n-1)*len(hidden)/n:])
		}
		b.feedForward(h, hidden, n)
	}
	copy(w.fed[l][from*d:], h)
	add(x, h)
}

// attendAll is like [Model.attendAll], but with positions hidden.
func (w *Watch) attendAll(s *scratch, l int) {
	c := &w.model.config
	w.model.store(s, l, s.inputs)
	for i, p := range s.inputs {
		w.attend(s, l, i, func(head int, seen []int, weights []float32) {
			if w.looks == nil {
				return
			}
			row := w.looks[l][((p.at-w.first)*c.Heads+head)*(w.first+len(w.tokens)):]
			for j, at := range seen {
				row[at] = weights[j]
			}
		})
	}
}

// attend computes the attention of the queries s.q of input i of s to its cache, which already
// holds everything that the input sees. It calls looks with each head's weights on the positions
// that it sees.
func (w *Watch) attend(s *scratch, l, i int, looks func(head int, seen []int, weights []float32)) {
	c, p := &w.model.config, s.inputs[i]
	heads, kv := c.Heads*c.HeadDim, c.KVHeads*c.HeadDim
	seen := w.seen(p.at, w.model.blocks[l].seesFrom(p.at))
	k, v := p.cache.keys[l], p.cache.values[l]
	if from := seen[0]; len(seen) == p.at+1-from {
		k, v = k[from*kv:(p.at+1)*kv], v[from*kv:(p.at+1)*kv]
	} else {
		keys, values := make([]float32, 0, len(seen)*kv), make([]float32, 0, len(seen)*kv) // [seen, kvHeads, headDim]
		for _, at := range seen {
			keys = append(keys, k[at*kv:(at+1)*kv]...)
			values = append(values, v[at*kv:(at+1)*kv]...)
		}
		k, v = keys, values
	}
	head := 0
	q, mixed := s.q[i*heads:(i+1)*heads], s.mixed[i*heads:(i+1)*heads]
	w.model.attend(s, mixed, q, k, v, func(weights []float32) {
		looks(head, seen, weights)
		head++
	})
}

// seen lists the positions that a position sees: itself, and the earlier positions from `from` on
// that are not hidden.
func (w *Watch) seen(position, from int) []int {
	var seen []int
	for at := from; at <= position; at++ {
		if at == position || !slices.Contains(w.change.Positions, at) {
			seen = append(seen, at)
		}
	}
	return seen
}

// switched holds the replacements for the outputs of the parts that are off.
type switched struct {
	size, stride int                       // headDim, heads·headDim
	head         map[int]map[int][]float32 // by block and head, from 0: [headDim]
	bias         map[int]bool
	fed          map[int][]float32 // by block: [width]
}

// switched computes the replacements for the outputs of the parts that are off in this pass. Means
// are computed from base.
func (w *Watch) switched(base *Watch) *switched {
	c := &w.model.config
	s := &switched{c.HeadDim, c.Heads * c.HeadDim, map[int]map[int][]float32{}, map[int]bool{}, map[int][]float32{}}
	instead := func(values func() []float32, stride, from, size int) []float32 {
		if !w.change.Mean {
			return make([]float32, size)
		}
		return mean(values(), stride, from, size)
	}
	for _, p := range w.change.Off {
		l := p.Block - 1
		switch p.Kind {
		case PartHead:
			if s.head[l] == nil {
				s.head[l] = map[int][]float32{}
			}
			h := p.Head - 1
			s.head[l][h] = instead(func() []float32 { return base.mixed[l] }, c.Heads*c.HeadDim, h*c.HeadDim, c.HeadDim)
		case PartFeedForward:
			s.fed[l] = instead(func() []float32 { return base.fed[l] }, c.Width, 0, c.Width)
		case PartBias:
			s.bias[l] = !w.change.Mean // a bias is its own mean
		}
	}
	return s
}

// heads replaces the outputs, in mixed [n, heads, headDim], of the heads that are off.
func (s *switched) heads(l int, mixed []float32) {
	for h, value := range s.head[l] {
		for at := h * s.size; at < len(mixed); at += s.stride {
			copy(mixed[at:], value)
		}
	}
}

// mean averages the size values at `from` of every row of x [n, stride].
func mean(x []float32, stride, from, size int) []float32 {
	sums := make([]float64, size)
	for row := from; row < len(x); row += stride {
		for i := range sums {
			sums[i] += float64(x[row+i])
		}
	}
	out, n := make([]float32, size), float64(len(x)/stride)
	for i, sum := range sums {
		out[i] = float32(sum / n)
	}
	return out
}
