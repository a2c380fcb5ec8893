package infer

import (
	"context"
	"fmt"
	"math"

	"github.com/tokenbytoken/viz/infer/sampling"
)

// A Contribution is the amount that one part of the model adds to a token's score.
type Contribution struct {
	Part Part
	Z    float64
}

// Contributions divides a token's score as the next token after a position (from 0) among the parts
// of the model, in the order of [Model.Parts] (direct logit attribution). Each part's output is
// multiplied by the scale that the final norm had in this pass (for LayerNorm, after subtracting
// its mean), and by the token's row of the output matrix. Norms after attention or the feed-forward
// layer are treated in the same way, so a part's contribution comes from the vector that was
// actually added to the stream. The contributions add up to the score.
//
// If over ≥ 0, Contributions instead divides the token's lead: its score minus the score of the
// token with id over. Contributions returns an error for a position whose stream was patched,
// because the parts do not add up to that stream.
func (w *Watch) Contributions(position, token, over int) ([]Contribution, error) {
	m := w.model
	d, v := m.config.Width, m.config.Vocab
	switch {
	case position < 0 || position >= len(w.tokens):
		return nil, fmt.Errorf("the text has no position %d", position)
	case token < 0 || token >= v:
		return nil, outsideVocabulary(token, v)
	case over >= v:
		return nil, outsideVocabulary(over, v)
	case w.change.Patch != nil && w.change.Patch.Position == position:
		return nil, fmt.Errorf(
			"the residual stream at position %d was patched from another text: this text's parts do not add up to it",
			position,
		)
	}
	u := m.outputRow(token)
	if over >= 0 {
		other := m.outputRow(over)
		for i, x := range other {
			u[i] -= x
		}
	}
	row := func(x []float32, size int) []float32 { return x[position*size : (position+1)*size] }
	toScore := m.norm.at(row(w.stream[len(m.blocks)], d), u)

	embedding := make([]float32, d)
	m.embed.Row(embedding, w.tokens[position])
	scale := float64(m.config.EmbeddingScale)
	if scale == 0 {
		scale = 1
	}
	all := []Contribution{{Part{Kind: PartEmbedding}, scale * toScore.of(embedding)}}
	if m.positions != nil {
		all = append(all, Contribution{Part{Kind: PartPlaces}, toScore.of(row(m.positions, d))})
	}
	for l := range m.blocks {
		heads := w.headContributions(l, row(w.mixed[l], m.config.Heads*m.config.HeadDim), toScore)
		all = append(all, heads...)
		all = append(all, Contribution{Part{Kind: PartFeedForward, Block: l + 1}, toScore.of(row(w.fed[l], d))})
	}
	if m.norm.bias != nil {
		all = append(all, Contribution{Part{Kind: PartFinalBias}, toScore.constant})
	}
	if !m.roundsVectors() {
		return all, nil
	}
	rest, err := w.remainder(position, token, over, all)
	return append(all, Contribution{Part{Kind: PartRounding}, rest}), err
}

// headContributions returns the contributions of block l's heads (l from 0) and of its attention
// bias. mixed [heads, headDim] holds the heads' results.
func (w *Watch) headContributions(l int, mixed []float32, toScore direction) []Contribution {
	b, c := &w.model.blocks[l], &w.model.config
	d, size, width := c.Width, c.HeadDim, c.Heads*c.HeadDim
	alone := make([]float32, c.Heads*width) // [heads, heads·headDim]: each head's output alone
	for h := range c.Heads {
		copy(alone[h*width+h*size:], mixed[h*size:(h+1)*size])
	}
	outs := make([]float32, c.Heads*d) // [heads, width]
	b.o.Mul(outs, alone, c.Heads)

	bias := b.oBias
	for _, p := range w.change.Off {
		if p == (Part{Kind: PartBias, Block: l + 1}) && !w.change.Mean {
			bias = nil
		}
	}
	together := make([]float32, d)
	b.o.Mul(together, mixed, 1)
	addBias(together, bias)
	through := b.attnPostNorm.at(together, toScore.weights)

	var all []Contribution
	for h := range c.Heads {
		all = append(all, Contribution{Part{PartHead, l + 1, h + 1}, through.of(outs[h*d : (h+1)*d])})
	}
	if b.oBias == nil && b.attnPostNorm.bias == nil {
		return all
	}
	return append(all, Contribution{Part{Kind: PartBias, Block: l + 1}, through.of(bias) + through.constant})
}

// remainder returns the score, or the lead, minus the contributions.
func (w *Watch) remainder(position, token, over int, all []Contribution) (float64, error) {
	z, err := w.Logits(len(w.model.blocks), position)
	if err != nil {
		return 0, err
	}
	rest := float64(z[token])
	if over >= 0 {
		rest -= float64(z[over])
	}
	for _, c := range all {
		rest -= c.Z
	}
	return rest, nil
}

// outputRow returns a token's row of the output matrix [width].
func (m *Model) outputRow(token int) []float64 {
	row := make([]float32, m.config.Width)
	m.output.Row(row, token)
	wide := make([]float64, len(row))
	for i, x := range row {
		wide[i] = float64(x)
	}
	return wide
}

// A direction computes the amount that a vector [width] adds to a score through a norm: the dot
// product of the vector and the direction's weights. The norm itself adds the constant.
type direction struct {
	weights  []float64
	constant float64
}

// of returns the amount that x [width] adds to the score, or 0 if x is nil.
func (d direction) of(x []float32) (sum float64) {
	for i, v := range x {
		sum += d.weights[i] * float64(v)
	}
	return sum
}

// at converts the direction u [width], which applies after a norm, to a direction that applies
// before the norm. The norm uses its scale for x [width].
func (v normalization) at(x []float32, u []float64) direction {
	if v.weight == nil {
		return direction{weights: u}
	}
	n := float64(len(x))
	var average, squares float64
	if v.bias != nil {
		for _, value := range x {
			average += float64(value) / n
		}
	}
	for _, value := range x {
		squares += (float64(value) - average) * (float64(value) - average)
	}
	scale := 1 / math.Sqrt(squares/n+float64(v.eps))
	d := direction{weights: make([]float64, len(u))}
	var sum float64
	for i, weight := range v.weight {
		d.weights[i] = scale * float64(weight) * u[i]
		sum += d.weights[i]
	}
	if v.bias == nil {
		return d
	}
	for i, bias := range v.bias {
		d.weights[i] -= sum / n // a LayerNorm subtracts the mean of every vector
		d.constant += float64(bias) * u[i]
	}
	return d
}

// Tokens returns the tokens of the text.
func (w *Watch) Tokens() []int { return w.tokens }

// Bytes returns the amount of memory that the pass holds, including its cache.
func (w *Watch) Bytes() int64 {
	n := w.cache.Bytes()
	for _, all := range [][][]float32{w.stream, w.mixed, w.fed, w.looks} {
		for _, x := range all {
			n += 4 * int64(len(x))
		}
	}
	return n
}

// Model returns the model that was watched.
func (w *Watch) Model() *Model { return w.model }

// Logits returns the score of every token of the vocabulary as the next token after a position
// (from 0), as if the stack of blocks stopped at the given height. Height 0 is before the first
// block; at a height equal to the number of blocks, the scores are the model's own output. The
// caller owns the result [vocab].
func (w *Watch) Logits(height, position int) ([]float32, error) {
	z := make([]float32, w.model.config.Vocab)
	d := w.model.config.Width
	return z, w.score(w.stream[height][position*d:(position+1)*d], z)
}

// score computes the logits z [n, vocab] of streams x [n, width], n ≤ chunk.
func (w *Watch) score(x, z []float32) error {
	s := w.model.scratch.Get().(*scratch)
	defer w.model.scratch.Put(s)
	w.model.score(s, x, z, len(x)/w.model.config.Width)
	return finite(z, w.model.config.Vocab)
}

// Attention returns the attention weights of a head at a position (block and head from 1): one
// weight for each position of the text, 0 for positions that it cannot see. The pass must have kept
// the weights.
func (w *Watch) Attention(block, head, position int) []float32 {
	n := len(w.tokens)
	at := (position*w.model.config.Heads + head - 1) * n
	return w.looks[block-1][at : at+n]
}

// Looks returns the attention weights of every head of a block (from 1) at a position: one weight
// for each position of the text, 0 for positions that the head cannot see. Unlike
// [Watch.Attention], it recomputes the weights, so the pass need not have kept them.
func (w *Watch) Looks(block, position int) [][]float32 {
	m, l, d := w.model, block-1, w.model.config.Width
	s := m.scratch.Get().(*scratch)
	defer m.scratch.Put(s)
	s.inputs = append(s.inputs[:0], passInput{cache: w.cache, at: position, token: w.tokens[position]})
	copy(s.x[:d], w.stream[l][position*d:(position+1)*d])
	m.project(s, &m.blocks[l], s.inputs)
	all := make([][]float32, m.config.Heads)
	w.attend(s, l, 0, func(head int, seen []int, weights []float32) {
		all[head] = make([]float32, len(w.tokens))
		for j, at := range seen {
			all[head][at] = weights[j]
		}
	})
	return all
}

// A LensCell is the prediction that the model would make at a given position, at T = 1, if its
// stack of blocks stopped at a given height.
type LensCell struct {
	Says []Reading // the most probable tokens
	// Came is the probability of the token that actually came next, and Rank its rank,
	// from 1. Both are 0 after the last position.
	Came float64
	Rank int
	Bits float64 // the entropy of the distribution
}

// Surprise returns −log₂ of the probability of the token that actually came next. It is at most
// 1,074 bits, since even smaller probabilities are 0 in a float64.
func (c LensCell) Surprise() float64 { return -math.Log2(max(c.Came, math.SmallestNonzeroFloat64)) }

// Lens decodes the stream at a height with the final norm and the output matrix, over the whole
// vocabulary ('logit lens', nostalgebraist 2020). It returns one cell for every position, each with
// the `top` most probable tokens; the cells of positions before `first` are empty. If ctx ends,
// Lens returns its error.
func (w *Watch) Lens(ctx context.Context, height, first, top int) ([]LensCell, error) {
	n, d, v := len(w.tokens), w.model.config.Width, w.model.config.Vocab
	cells := make([]LensCell, first, n)
	z := make([]float32, min(n-first, chunk)*v)
	for from := first; from < n; from += chunk {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rows := min(chunk, n-from)
		if err := w.score(w.stream[height][from*d:(from+rows)*d], z[:rows*v]); err != nil {
			return nil, err
		}
		for i := range rows {
			next := -1
			if at := from + i + 1; at < n {
				next = w.tokens[at]
			}
			cells = append(cells, w.cell(z[i*v:(i+1)*v], next, top))
		}
	}
	return cells, nil
}

// cell summarizes the scores of one position. next is the token that followed it.
func (w *Watch) cell(z []float32, next, top int) LensCell {
	p, max, sum := sampling.Softmax(z, 1)
	cell := LensCell{Bits: sampling.SoftmaxEntropy(z, 1, p, max, sum)}
	for _, id := range sampling.Top(z, min(top, len(z))) {
		cell.Says = append(cell.Says, Reading{w.model.Token(int(id)), p[id]})
	}
	if next < 0 {
		return cell
	}
	cell.Came, cell.Rank = p[next], sampling.RankIn(z, next)
	return cell
}
