package infer

import (
	"context"
	"math"
	"slices"

	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/kernel"
	"github.com/tokenbytoken/viz/infer/sampling"
)

// ReadOut is the number of tokens in a block's early read-out.
const ReadOut = 5

// Inspection holds the values inside one forward pass at its newest position. To compute it,
// [Model.Inspect] runs a [Watch] of that position on the cached columns before it. The numbers are
// the same as in the original pass, bit for bit. The rerun does not count toward the steps or their
// times. An Inspection owns its data.
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
	// Says is how the logit lens (nostalgebraist 2020) reads the stream after this block, at T = 1:
	// the final norm and the output matrix are applied to the stream. Only after the last block is
	// it the model's prediction.
	Says []Reading
}

// Mix is the output of one head: the sum of the values that it attends to, each multiplied by its
// weight.
type Mix struct {
	Terms []Term    // the positions with the largest weights, largest first, at most [MixTerms]
	Sum   []float32 // [headDim]: the sum over all positions
}

// Term is the contribution of one position to a [Mix].
type Term struct {
	Position int
	Value    []float32 // [headDim]
}

// MixTerms is the maximum number of terms in a [Mix].
const MixTerms = 4

// Reading is one row of an early read-out.
type Reading struct {
	Token Token
	P     float64
}

// Inspect returns the values inside the pass that read token and wrote column `position` (from 0)
// of c. It does not change c, which may also contain later columns.
func (m *Model) Inspect(ctx context.Context, c *Cache, token, position int) (*Inspection, error) {
	w, err := m.watchOne(ctx, c.upTo(position), token)
	if err != nil {
		return nil, err
	}
	in := &Inspection{
		Position: position, Token: m.Token(token), Blocks: w.inside, Embedding: m.embeddingNorm(token),
	}
	for l := range in.Blocks {
		b := &in.Blocks[l]
		b.NormIn, b.NormOut, b.Residual = norm(w.stream[l]), norm(w.stream[l+1]), w.stream[l+1]
		b.Key, b.Value = w.cache.Column(l, position)
		b.Attention = slices.Collect(slices.Chunk(w.looks[l], position+1))
		b.Mixes = mixesOf(&m.config, b.Attention, w.mixed[l], w.cache.values[l])
	}
	for blocks := range slices.Chunk(in.Blocks, max(1, readOutScores/m.config.Vocab)) {
		if err := m.readOut(ctx, blocks); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// readOutScores is the maximum number of scores (4 MiB) to compute together for read-outs.
const readOutScores = 1 << 20

// readOut lists the most probable next tokens for the residual streams of some blocks. It scores
// all blocks in one call, so it waits for the model only once.
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

// mixesOf returns, for each head, its output (a row of mixed [heads, headDim]) and its values (from
// values [positions, kvHeads, headDim]) at the positions with the largest weights.
func mixesOf(c *checkpoint.Config, weights [][]float32, mixed, values []float32) (list []Mix) {
	size := c.HeadDim
	for h, w := range weights {
		mix := Mix{Sum: slices.Clone(mixed[h*size : (h+1)*size])}
		for _, at := range sampling.Top(w, min(MixTerms, len(w))) {
			if w[at] == 0 {
				break // outside of the window
			}
			from := (int(at)*c.KVHeads + h*c.KVHeads/c.Heads) * size
			mix.Terms = append(mix.Terms, Term{int(at), slices.Clone(values[from : from+size])})
		}
		list = append(list, mix)
	}
	return list
}

func norm(x []float32) float64 { return math.Sqrt(float64(kernel.Dot(x, x))) }
