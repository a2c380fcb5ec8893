package infer

import (
	"context"
	"math"
	"slices"

	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/cost"
	"github.com/tokenbytoken/viz/infer/kernel"
	"github.com/tokenbytoken/viz/infer/sampling"
)

// ReadOut is the number of tokens in a block's early read-out.
const ReadOut = 5

// Inspection holds the inner values of one forward pass at its newest position. To compute it, that
// position is run again on the cached columns before it. This gives the same numbers, bit for bit,
// and is not counted in the steps or their times. An Inspection owns its data.
type Inspection struct {
	Position  int     // the inspected column, from 0
	Token     Token   // the token read there
	Embedding float64 // Euclidean norm of its row of the embedding table
	Blocks    []BlockView
}

// BlockView holds the values inside one block at that position.
type BlockView struct {
	// Euclidean norms of the residual stream: before the block, between its
	// two halves, after it.
	NormIn, NormMid, NormOut float64
	// [heads][positions]: the weights of every head, summing to 1; 0 for
	// positions outside a sliding window
	Attention  [][]float32
	Query      []float32 // [heads, headDim], normalized and rotated
	Key, Value []float32 // [kvHeads, headDim]; the key rotated
	Mixes      []Mix     // [heads]: the output of every head
	Hidden     []float32 // [ffn]: the last matrix's input, such as silu(gate) · up
	Residual   []float32 // [width]: the stream after the block
	// Says is the prediction that the model would make if it ended after this block, at T = 1 (the
	// 'logit lens'): the final norm and the output matrix are applied to the stream.
	Says []Reading
}

// Mix is the output of one head: the sum of the values that it attends to, each multiplied by its
// weight.
type Mix struct {
	Terms []Term    // the positions with the largest weights, largest first, at most [MixTerms]
	Sum   []float32 // [headDim]: the sum over all positions
}

// Term is one position's part of a [Mix].
type Term struct {
	Position int
	Value    []float32 // [headDim]
}

// MixTerms is the maximum number of terms of a head's sum in an [Inspection].
const MixTerms = 4

// Reading is one row of an early read-out.
type Reading struct {
	Token Token
	P     float64
}

// Inspect returns the inner values of the pass that read token and wrote column `position` (from 0)
// of c. It does not change c, which may also hold later columns.
func (m *Model) Inspect(ctx context.Context, c *Cache, token, position int) (*Inspection, error) {
	in := &Inspection{
		Position: position, Token: m.Token(token), Blocks: make([]BlockView, len(m.blocks)),
		Embedding: m.embeddingNorm(token),
	}
	past := c.upTo(position)
	s := m.scratch.Get().(*scratch)
	defer m.scratch.Put(s)
	if err := m.forwardChunk(ctx, s, past, []int{token}, new(cost.Parts), in); err != nil {
		return nil, err
	}
	for i := range in.Blocks {
		b := &in.Blocks[i]
		b.Key, b.Value = past.Column(i, position)
	}
	for blocks := range slices.Chunk(in.Blocks, max(1, readOutScores/m.config.Vocab)) {
		if err := m.readOut(ctx, blocks); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// readOutScores is the number of scores computed for read-outs at a time: 4 MiB.
const readOutScores = 1 << 20

// readOut lists the most probable next tokens for the residual streams of some blocks. It waits for
// the model only once for all of them.
func (m *Model) readOut(ctx context.Context, blocks []BlockView) error {
	d, v := m.config.Width, m.config.Vocab
	last, scores := make([]float32, 0, len(blocks)*d), make([]float32, len(blocks)*v)
	for i := range blocks {
		last = append(last, blocks[i].Residual...)
	}
	if _, err := m.LogitsTo(ctx, last, scores); err != nil {
		return err
	}
	for i := range blocks {
		z := scores[i*v : (i+1)*v]
		_, max, sum := sampling.Softmax(z, 1)
		for _, id := range sampling.Top(z, ReadOut) {
			blocks[i].Says = append(blocks[i].Says, Reading{m.Token(int(id)), math.Exp(float64(z[id])-max) / sum})
		}
	}
	return nil
}

// The pass calls the methods below as it runs. On a nil Inspection they do
// nothing.

// enters records the stream [width] before block l.
func (in *Inspection) enters(l int, x []float32) {
	if in != nil {
		in.Blocks[l].NormIn = norm(x)
	}
}

// attended records the queries [heads, headDim] of block l and the stream
// [width] after its attention.
func (in *Inspection) attended(l int, q, x []float32) {
	if in != nil {
		in.Blocks[l].Query, in.Blocks[l].NormMid = slices.Clone(q), norm(x)
	}
}

// head records one head's attention weights in block l: the weights of the positions from `from`
// on; earlier positions are outside its window.
func (in *Inspection) head(l, from int, w []float32) {
	if in != nil {
		in.Blocks[l].Attention = append(in.Blocks[l].Attention, append(make([]float32, from), w...))
	}
}

// mixes records the outputs of the heads of block l, mixed [heads, headDim], and the values of the
// positions with the largest weights, from values [positions, kvHeads, headDim]. The weights must
// have been recorded already.
func (in *Inspection) mixes(l int, c *checkpoint.Config, mixed, values []float32) {
	if in == nil {
		return
	}
	b, size := &in.Blocks[l], c.HeadDim
	for h, w := range b.Attention {
		mix := Mix{Sum: slices.Clone(mixed[h*size : (h+1)*size])}
		for _, at := range sampling.Top(w, min(MixTerms, len(w))) {
			if w[at] == 0 {
				break // outside of the window
			}
			from := (int(at)*c.KVHeads + h*c.KVHeads/c.Heads) * size
			mix.Terms = append(mix.Terms, Term{int(at), slices.Clone(values[from : from+size])})
		}
		b.Mixes = append(b.Mixes, mix)
	}
}

// leaves records the feed-forward activations [ffn] of block l and the stream
// [width] after it.
func (in *Inspection) leaves(l int, hidden, x []float32) {
	if in != nil {
		b := &in.Blocks[l]
		b.Hidden, b.Residual, b.NormOut = slices.Clone(hidden), slices.Clone(x), norm(x)
	}
}

func norm(x []float32) float64 { return math.Sqrt(float64(kernel.Dot(x, x))) }
