package infer

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

// Side is a text and the sampling settings to read it with. Penalties and DRY consider all of the
// text before a token, as if the model had generated it.
type Side struct {
	Text     string
	Settings sampling.Settings // [sampling.Pure] is the model as it was trained
}

// SideRead is the result of reading a side.
type SideRead struct {
	Tokens []ReadToken // LogProb is ln p under the side's settings: −Inf for tokens that the settings cut
	Sum    Surprise    // over the tokens that are not cut
	Cut    int         // number of the text's tokens that the settings cut; such tokens would never be drawn
}

// Comparison is the result of reading two texts, or one text with two settings, step by step.
type Comparison struct {
	Sides []SideRead
	// Apart holds the divergence at each step, up to the end of the shorter text.
	Apart []Divergence
}

// Divergence measures how far apart two distributions over the vocabulary are (Kullback and Leibler
// 1951). All fields are 0 for a first token, which has no prediction.
type Divergence struct {
	// Nats is Σ p·ln(p/q), where p is the first side and q the second; Back is Σ q·ln(q/p). Nats is
	// +Inf if q is 0 for a token that p keeps, and Back is +Inf if p is 0 for a token that q keeps.
	Nats, Back float64
	// Lost is the total probability that the first side gives to the tokens that the second side
	// cuts. Gained is the reverse.
	Lost, Gained float64
}

// Compare reads one side, or two sides together, step by step: it compares the n-th token of one
// side with the n-th token of the other. It returns a *[terms.RangeError] if the vocabulary cannot
// spell a text, a text is longer than the context, or settings are out of range. It also rejects
// rules under which the text does not determine the distribution at a step, because they draw
// random numbers (XTC) or adapt to earlier draws (mirostat).
func (m *Model) Compare(ctx context.Context, sides ...Side) (*Comparison, error) {
	c := &Comparison{Sides: make([]SideRead, len(sides))}
	readers := make([]*stepReader, len(sides))
	for i, side := range sides {
		if err := cmp.Or(checkScored(side.Settings), m.CheckBias(side.Settings.LogitBias)); err != nil {
			return nil, err
		}
		if i > 0 && side.Text == sides[0].Text {
			readers[i] = readers[0] // one pass serves both
			continue
		}
		ids, sizes := m.encodeSized(side.Text)
		if err := m.CheckEncoded(side.Text, ids); err != nil {
			return nil, err
		}
		readers[i] = &stepReader{m: m, ids: ids, sizes: sizes, cache: m.NewCache()}
		if m.config.BOS >= 0 { // the start token is read, not predicted
			if err := readers[i].read(ctx); err != nil {
				return nil, err
			}
		}
	}
	for {
		expect, more := make([]*drawable, len(sides)), false // nil if there is no prediction
		for i, side := range sides {
			r := readers[i]
			if r.at == len(r.ids) {
				continue
			}
			more = true
			expect[i] = r.expects(side.Settings)
			c.Sides[i].add(m.Token(r.ids[r.at]), r.sizes[r.at], expect[i])
		}
		if !more {
			return c, nil
		}
		if len(sides) == 2 && len(c.Sides[0].Tokens) == len(c.Sides[1].Tokens) {
			var d Divergence
			if expect[0] != nil && expect[1] != nil {
				d = apart(expect[0], expect[1])
			}
			c.Apart = append(c.Apart, d)
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

// The range of temperatures for reading a text. Outside this range, a probability could be 0.
const (
	minScored = 0.1
	maxScored = 10.0
)

// checkScored rejects settings that cannot be used to read a text.
func checkScored(s sampling.Settings) error {
	if t := s.Temperature; !(t >= minScored && t <= maxScored) {
		return terms.NewRangeError(
			"temperature", fmt.Sprint(t),
			terms.PhraseOf("want.between", "min", fmt.Sprint(minScored), "max", fmt.Sprint(maxScored)),
		)
	}
	if rule := s.Unread(); rule != sampling.RuleNone {
		x, _ := s.Value(rule.Knob())
		return terms.NewRangeError(rule.Knob(), fmt.Sprint(x), terms.PhraseOf("want.unread."+string(rule)))
	}
	return s.Check()
}

// drawable is the distribution from which a step's token would be drawn.
type drawable struct {
	z []float32 // [vocab] the scores divided by the temperature, if no other rule is on
	q []float64 // [vocab] otherwise, the probabilities: 0 for tokens that are cut
}

// of returns the natural logarithm of the probability of token id.
func (e *drawable) of(id int) float64 {
	if e.q == nil {
		return sampling.LogProbsOf(e.z).Of(id)
	}
	return math.Log(e.q[id])
}

// vector returns the probabilities [vocab].
func (e *drawable) vector() []float64 {
	if e.q == nil {
		p, _, _ := sampling.Softmax(e.z, 1)
		return p
	}
	return e.q
}

// apart measures how far b is from a.
func apart(a, b *drawable) (d Divergence) {
	if a.q == nil && b.q == nil {
		return Divergence{Nats: sampling.Divergence(a.z, b.z), Back: sampling.Divergence(b.z, a.z)}
	}
	p, q := a.vector(), b.vector()
	d.Nats, d.Lost = divergence(p, q)
	d.Back, d.Gained = divergence(q, p)
	return d
}

// divergence returns Σ p·ln(p/q) in nats, and the sum of p over the tokens for which q is 0 and p
// is not. If there are such tokens, the divergence is +Inf.
func divergence(p, q []float64) (nats, lost float64) {
	for i, x := range p {
		switch {
		case x == 0: // adds nothing for any q
		case q[i] == 0:
			lost += x
		default:
			nats += x * math.Log(x/q[i])
		}
	}
	if lost > 0 {
		return math.Inf(1), lost
	}
	return max(nats, 0), 0 // rounding can make it slightly negative
}

// add adds a token, which covers the given number of bytes of the text, to the result. e is the
// distribution that predicted the token, or nil if there was no prediction.
func (s *SideRead) add(token Token, bytes int, e *drawable) {
	t := ReadToken{Token: token, First: e == nil}
	if e != nil {
		if t.LogProb = e.of(token.ID); math.IsInf(t.LogProb, -1) {
			s.Cut++
		} else {
			s.Sum.add(t.LogProb, bytes)
		}
	}
	s.Tokens = append(s.Tokens, t)
}

// stepReader reads a text one token after another.
type stepReader struct {
	m     *Model
	ids   []int
	sizes []int // number of bytes of the text that each token covers
	at    int   // the next token
	cache *Cache
	z     []float32 // scores for the next token; initially nil
}

// read reads the next token, if there is one. Unless that is the last token, read also computes the
// scores for the token after it.
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

// expects returns the distribution for the next token under s, or nil if there is no prediction.
func (r *stepReader) expects(s sampling.Settings) *drawable {
	plain := sampling.Pure
	plain.Temperature = s.Temperature
	switch {
	case r.z == nil:
		return nil
	case s != plain:
		return &drawable{q: r.context().Decide(r.z, s).Vector()}
	case s.Temperature == 1:
		return &drawable{z: r.z}
	}
	z := make([]float32, len(r.z))
	for i, x := range r.z {
		z[i] = float32(float64(x) / s.Temperature)
	}
	return &drawable{z: z}
}

// context returns what the rules use besides the scores: the text so far, as if the model had
// generated all of it except the start token.
func (r *stepReader) context() sampling.Context {
	c := sampling.Context{Step: r.at + 1, Text: r.ids[:r.at], Breaks: r.m.Breaks}
	if r.m.config.BOS >= 0 {
		c.Step--
	}
	return c
}
