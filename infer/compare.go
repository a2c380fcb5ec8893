package infer

import (
	"context"
	"fmt"

	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

// Side is a text that is read beside another, and the temperature at which it is.
type Side struct {
	Text        string
	Temperature float64 // above 0; 1 is the model as it was trained
}

// SideRead is what the model made of a side.
type SideRead struct {
	Tokens []ReadToken // LogProb is that at the side's temperature
	Sum    Surprise
}

// Comparison is two texts, or one at two temperatures, read step by step.
type Comparison struct {
	Sides []SideRead
	// Divergence is how far apart what the model expects is at each step that both texts
	// have: Σ p·ln(p/q) in nats, of the whole vocabulary, p that of the first side
	// (Kullback and Leibler 1951). Nothing is expected at a first token, and there it is 0.
	Divergence []float64
}

// Compare reads one side, or two together: their n-th tokens face one another. A text
// that the vocabulary cannot spell or that is longer than the context, and a temperature
// out of range, is a *[terms.RangeError].
func (m *Model) Compare(ctx context.Context, sides ...Side) (*Comparison, error) {
	c := &Comparison{Sides: make([]SideRead, len(sides))}
	readers := make([]*stepReader, len(sides))
	for i, side := range sides {
		if !(side.Temperature >= minScored && side.Temperature <= maxScored) {
			return nil, terms.NewRangeError("temperature", fmt.Sprint(side.Temperature),
				fmt.Sprintf("%v to %v", minScored, maxScored))
		}
		if i > 0 && side.Text == sides[0].Text {
			readers[i] = readers[0] // one pass serves both
			continue
		}
		ids := m.Encode(side.Text)
		if err := m.checkPrompt(side.Text, ids); err != nil {
			return nil, err
		}
		readers[i] = &stepReader{m: m, ids: ids, cache: m.NewCache()}
		if m.config.BOS >= 0 { // the start token is read, not expected
			if err := readers[i].read(ctx); err != nil {
				return nil, err
			}
		}
	}
	for {
		scores, more := make([][]float32, len(sides)), false // at T, nil where nothing is expected
		for i, side := range sides {
			r := readers[i]
			if r.at == len(r.ids) {
				continue
			}
			more = true
			scores[i] = r.expects(side.Temperature)
			c.Sides[i].add(m, r.ids[r.at], scores[i])
		}
		if !more {
			return c, nil
		}
		if len(sides) == 2 && len(c.Sides[0].Tokens) == len(c.Sides[1].Tokens) {
			d := 0.0
			if scores[0] != nil && scores[1] != nil {
				d = sampling.Divergence(scores[0], scores[1])
			}
			c.Divergence = append(c.Divergence, d)
		}
		for i, r := range readers {
			if i > 0 && r == readers[0] {
				continue
			}
			if err := r.read(ctx); err != nil {
				return nil, err
			}
		}
	}
}

// The temperatures at which a text is read: none at which a probability would be 0.
const (
	minScored = 0.1
	maxScored = 10.0
)

// add counts a token under the scores z, nil where nothing was expected.
func (s *SideRead) add(m *Model, id int, z []float32) {
	t := ReadToken{Token: m.Token(id), First: z == nil}
	if z != nil {
		t.LogProb = sampling.LogProbsOf(z).Of(id)
		s.Sum.add(t.LogProb, len(m.tok.Bytes(id)))
	}
	s.Tokens = append(s.Tokens, t)
}

// stepReader reads a text one token after another.
type stepReader struct {
	m     *Model
	ids   []int
	at    int // the next token
	cache *Cache
	z     []float32 // what the model expects there; nil at the beginning
}

// read reads the next token, if there is one, and what the model expects after it, if
// anything comes there.
func (r *stepReader) read(ctx context.Context) error {
	if r.at == len(r.ids) {
		return nil
	}
	r.at++
	if r.at == len(r.ids) {
		return nil
	}
	last, _, err := r.m.Forward(ctx, r.cache, r.ids[r.at-1:r.at])
	if err != nil {
		return fmt.Errorf("reading token %d: %w", r.at, err)
	}
	if r.z, _, err = r.m.Logits(last); err != nil {
		return fmt.Errorf("scoring token %d: %w", r.at, err)
	}
	return nil
}

// expects returns the scores of the next token at a temperature.
func (r *stepReader) expects(temperature float64) []float32 {
	if r.z == nil || temperature == 1 {
		return r.z
	}
	z := make([]float32, len(r.z))
	for i, x := range r.z {
		z[i] = float32(float64(x) / temperature)
	}
	return z
}
