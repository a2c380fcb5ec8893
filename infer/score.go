package infer

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/tokenbytoken/viz/infer/chat"
	"github.com/tokenbytoken/viz/infer/sampling"
)

// ReadToken is a token of a text that the model has read, with the model's prediction for it.
type ReadToken struct {
	Token Token
	// First is true for the first token, which has no prediction. LogProb and Top are meaningless
	// then.
	First   bool
	LogProb float64       // ln p at T = 1 over the whole vocabulary, before any rule
	Top     []TokenChance // the most probable tokens at that position, best first
}

// TokenChance is a token with the logarithm of its probability.
type TokenChance struct {
	Token   Token
	LogProb float64
}

// Chances returns ln p of the token with the given id, where z [vocab] are the logits at the
// position before it. It also returns a list of the `top` most probable tokens, followed by the
// named tokens.
func (m *Model) Chances(z []float32, id, top int, named ...int) (logProb float64, list []TokenChance) {
	l := sampling.LogProbsOf(z)
	likely := l.Top(top)
	for _, other := range likely {
		list = append(list, TokenChance{m.Token(int(other)), l.Of(int(other))})
	}
	for _, other := range named {
		if !slices.Contains(likely, int32(other)) {
			list = append(list, TokenChance{m.Token(other), l.Of(other)})
		}
	}
	return l.Of(id), list
}

// Score reads a text and returns the probability of each of its tokens given the tokens before it,
// together with the `top` most probable tokens at that position. The start token, if the model has
// one, comes before the text and is not listed. If the vocabulary cannot spell the text or the text
// is longer than the context, Score returns a *[terms.RangeError].
func (m *Model) Score(ctx context.Context, text string, top int) ([]ReadToken, error) {
	return m.ScorePrompt(ctx, chat.Text{Text: text}, top)
}

// ScorePrompt is like [Model.Score], but for a prompt of any kind. After the most probable tokens,
// it also lists the named tokens.
func (m *Model) ScorePrompt(ctx context.Context, text chat.Text, top int, named ...int) ([]ReadToken, error) {
	ids, err := m.Fit(text)
	if err != nil {
		return nil, err
	}
	return m.scoreFrom(ctx, m.NewCache(), ids, 0, top, named...)
}

// scoredBytes limits the size of the logits in memory at one time.
const scoredBytes = 8 << 20

// scoreFrom reads ids, which must fit in the context, into an empty cache. It returns the tokens
// from index first on, with their predictions. A start token is not returned. Several positions are
// read and scored together; the results are the same, bit for bit, as for one position at a time.
func (m *Model) scoreFrom(
	ctx context.Context, c *Cache, ids []int, first, top int, named ...int,
) ([]ReadToken, error) {
	list := make([]ReadToken, 0, len(ids)-first)
	if first == 0 && m.config.BOS < 0 {
		list = append(list, ReadToken{Token: m.Token(ids[0]), First: true})
	}
	d, v := m.config.Width, m.config.Vocab
	last := make([]float32, min(chunk, len(ids))*d)
	at := max(first, 1) - 1 // the first position after which a token is predicted
	if at > 0 {
		if _, err := m.ForwardTo(ctx, c, ids[:at], last[:d]); err != nil {
			return list, fmt.Errorf("reading token %d: %w", at, err)
		}
	}
	z := make([]float32, max(1, min(len(last)/d, scoredBytes/(4*v)))*v) // [rows, vocab]
	for at < len(ids)-1 {
		n := min(len(last)/d, len(ids)-1-at)
		if _, err := m.ForwardTo(ctx, c, ids[at:at+n], last[:n*d]); err != nil {
			return list, fmt.Errorf("reading token %d: %w", at+1, err)
		}
		for read := last[:n*d]; len(read) > 0; {
			rows := min(len(read)/d, len(z)/v)
			if _, err := m.LogitsTo(ctx, read[:rows*d], z[:rows*v]); err != nil {
				return list, fmt.Errorf("scoring token %d: %w", at+1, err)
			}
			for row := range rows {
				at++
				t := ReadToken{Token: m.Token(ids[at])}
				t.LogProb, t.Top = m.Chances(z[row*v:(row+1)*v], ids[at], top, named...)
				list = append(list, t)
			}
			read = read[rows*d:]
		}
	}
	return list, nil
}

// Surprise measures how well a model predicted a text.
type Surprise struct {
	Tokens int     // number of predicted tokens: all except a first token without a prediction
	Bytes  int     // number of bytes of text that these tokens cover
	Nats   float64 // Σ −ln p of these tokens, at T = 1 over the whole vocabulary
}

// add adds a token to the totals, given its ln p and the number of bytes of the text that it
// covers.
func (r *Surprise) add(logProb float64, bytes int) {
	r.Tokens++
	r.Nats -= logProb
	r.Bytes += bytes
}

// Bits returns the number of bits needed to encode the text with the model's probabilities.
func (r Surprise) Bits() float64 { return r.Nats / math.Ln2 }

// BitsPerToken returns the average surprise of a token, −log₂ p.
func (r Surprise) BitsPerToken() float64 { return r.Bits() / float64(r.Tokens) }

// Perplexity returns e to the power of the average −ln p: a choice among that many equally likely
// tokens would be equally uncertain (Jelinek et al. 1977).
func (r Surprise) Perplexity() float64 { return math.Exp(r.Nats / float64(r.Tokens)) }

// BitsPerByte returns the bits per byte of text, which can be compared between models with
// different vocabularies.
func (r Surprise) BitsPerByte() float64 { return r.Bits() / float64(r.Bytes) }
