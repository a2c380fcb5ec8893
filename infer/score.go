package infer

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/tokenbytoken/viz/infer/chat"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

// ReadToken is one token of a text that the model has read, with what the model expected
// in its place.
type ReadToken struct {
	Token Token
	// First is set where nothing stands before the token, so that nothing was expected.
	// LogProb and Top mean nothing there.
	First   bool
	LogProb float64       // ln p at T = 1 over the whole vocabulary, before any rule
	Top     []TokenChance // the most probable tokens in its place, best first
}

// TokenChance is a token with ln of its probability.
type TokenChance struct {
	Token   Token
	LogProb float64
}

// Chances returns ln p of a token, of the top most probable ones and after them of those that
// are named, under the logits z [vocab] of the position before it.
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

// Score reads a text and says how probable each of its tokens was after those before
// it, with the top most probable ones in its place. The start token, if the model has
// one, stands before the text and is not listed. A text that the vocabulary cannot
// spell or that is longer than the context is a *[terms.RangeError].
func (m *Model) Score(ctx context.Context, text string, top int) ([]ReadToken, error) {
	return m.ScorePrompt(ctx, chat.Text{Text: text}, top)
}

// ScorePrompt is [Model.Score] for a prompt of any kind, with the tokens that are named listed
// after the most probable ones.
func (m *Model) ScorePrompt(ctx context.Context, text chat.Text, top int, named ...int) ([]ReadToken, error) {
	ids, err := m.Fit(text)
	if err != nil {
		return nil, err
	}
	var list []ReadToken
	err = m.scoreFrom(ctx, ids, 0, top, named, func(t ReadToken) { list = append(list, t) })
	return list, err
}

// scoreFrom reads ids, which fit the context, and gives those from the first on to each,
// with what the ones before made the model expect. A start token is not given.
func (m *Model) scoreFrom(
	ctx context.Context, ids []int, first, top int, named []int, each func(ReadToken),
) error {
	cache := m.NewCache()
	var z []float32 // after the token before
	for i := 0; i < len(ids); i++ {
		read := ids[i : i+1]
		if i < first-1 { // all that nobody asks for, at once
			read, i = ids[i:first], first-1
		}
		id := ids[i]
		switch {
		case z != nil && i >= first:
			s := ReadToken{Token: m.Token(id)}
			s.LogProb, s.Top = m.Chances(z, id, top, named...)
			each(s)
		case i == 0 && first == 0 && m.config.BOS < 0:
			each(ReadToken{Token: m.Token(id), First: true})
		}
		if i == len(ids)-1 {
			break
		}
		last, _, err := m.Forward(ctx, cache, read)
		if err != nil {
			return fmt.Errorf("reading token %d: %w", i+1, err)
		}
		if z, _, err = m.Logits(last); err != nil {
			return fmt.Errorf("scoring token %d: %w", i+1, err)
		}
	}
	return nil
}

// Surprise sums up how well a model expected a text.
type Surprise struct {
	Tokens int     // that were expected: all but a first one before which nothing stands
	Bytes  int     // of the text that these tokens stand for
	Nats   float64 // Σ −ln p of them, at T = 1 over the whole vocabulary
}

// add counts a token with ln p and the bytes of the text that it stands for.
func (r *Surprise) add(logProb float64, bytes int) {
	r.Tokens++
	r.Nats -= logProb
	r.Bytes += bytes
}

// Bits is how many bits it takes to write the text down with the model's probabilities.
func (r Surprise) Bits() float64 { return r.Nats / math.Ln2 }

// BitsPerToken is the average surprise of a token, −log₂ p.
func (r Surprise) BitsPerToken() float64 { return r.Bits() / float64(r.Tokens) }

// Perplexity is e to the average of −ln p: among how many equally likely tokens a choice
// would be as hard (Jelinek et al. 1977).
func (r Surprise) Perplexity() float64 { return math.Exp(r.Nats / float64(r.Tokens)) }

// BitsPerByte lets models be compared whose tokens differ.
func (r Surprise) BitsPerByte() float64 { return r.Bits() / float64(r.Bytes) }

// ScoreAll is [Model.Score] for a text of any length: each token is given to each, which
// may be nil, and summed up. Where a text is longer than the context, it is read in
// windows that overlap by half, so that every token but those of the first window has
// half a context before it at least, and each is counted once. A text of fewer than two
// tokens is a *[terms.RangeError], where the model has no start token.
func (m *Model) ScoreAll(ctx context.Context, text string, each func(ReadToken)) (Surprise, error) {
	var sum Surprise
	if err := m.CheckText(text); err != nil {
		return sum, err
	}
	ids, sizes := m.encodeSized(text)
	if len(ids) < 2 {
		return sum, terms.NewRangeError("text", "too short", "at least one token long, after a first one")
	}
	at := 0 // of the token that is given next
	if m.config.BOS >= 0 {
		at = 1
	}
	count := func(t ReadToken) {
		if !t.First {
			sum.add(t.LogProb, sizes[at])
		}
		at++
		if each != nil {
			each(t)
		}
	}
	for done := 0; done < len(ids); {
		from := max(0, done-m.config.Context/2)
		to := min(from+m.config.Context, len(ids))
		window := ids[from:to]
		if from > 0 && m.config.BOS >= 0 { // the start token stands before every window
			window = append([]int{ids[0]}, ids[from+1:to]...)
		}
		if err := m.scoreFrom(ctx, window, done-from, 0, nil, count); err != nil {
			return sum, err
		}
		done = to
	}
	return sum, nil
}
