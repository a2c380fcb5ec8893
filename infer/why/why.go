// Package why explains why a model predicts a token. It reports how much each part added to the
// token's score, what the model predicts with parts switched off, what it would have predicted
// before the first block and after each block, and which positions in another text carry that
// text's answer.
//
// A [Study] is a text and a pass over it, including all intermediate results ([infer.Watch]).
// Answering a question reruns only those parts of the pass that the question changes. There are two
// different numbers for each part: how much it adds to the score (its contribution, which ignores
// how later parts use its output), and how much lower the score is without it (which is computed by
// running all later parts again). Neither number proves that the part stores a particular piece of
// knowledge.
package why

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
)

// A Study is a text and a pass of the model over it. It is read-only and safe for concurrent use.
type Study struct {
	watch *infer.Watch
}

// New runs a text, given as tokens, including the start token if the model has one.
func New(ctx context.Context, m *infer.Model, tokens []int) (*Study, error) {
	w, err := m.Watch(ctx, tokens, false)
	return &Study{w}, err
}

// Model returns the model that is studied.
func (s *Study) Model() *infer.Model { return s.watch.Model() }

// Bytes returns the amount of memory that the pass over the text uses.
func (s *Study) Bytes() int64 { return s.watch.Bytes() }

// Tokens returns the tokens of the text.
func (s *Study) Tokens() []int { return s.watch.Tokens() }

// A Question asks about the prediction of the token after the text.
type Question struct {
	Token int // the token whose score to explain; < 0 for the most probable one
	Over  int // if ≥ 0, explain Token's lead over this token instead
	infer.Intervention
	Says int // how many of the most probable tokens to list
}

// An Answer holds the outcomes of the original pass and of the changed pass.
type Answer struct {
	Token, Over int
	Base        Outcome
	// Changed is the outcome with the intervention, or nil if there is no intervention.
	Changed *Outcome
	// Moved lists how the contributions changed, with the largest change first. Parts that are off
	// are omitted.
	Moved []Move
}

// An Outcome is the result of a pass: its prediction for the token after the text.
type Outcome struct {
	Z    float64 // the token's score, or its lead
	P    float64 // the token's probability at T = 1
	Rank int     // the token's rank in the whole vocabulary, from 1
	Says []infer.Reading
	// Parts lists how much each part adds to Z. It is nil if the stream from which Z is computed
	// was carried over from another text.
	Parts []infer.Contribution
	// Looks holds, for each head, the position to which it attends most from the last position,
	// block by block.
	Looks []Attended
}

// Attended is the position to which a head gives the most weight.
type Attended struct {
	Head     infer.Part
	Position int
	Weight   float64 // 0 to 1
}

// A Move describes how one part's contribution changed.
type Move struct {
	Part     infer.Part
	From, To float64
}

// Ask answers a question. It returns errors from [infer.Watch.Again].
func (s *Study) Ask(ctx context.Context, q Question) (*Answer, error) {
	z, err := s.scores(s.watch)
	if err != nil {
		return nil, err
	}
	if q.Token < 0 {
		q.Token = int(sampling.Top(z, 1)[0])
	}
	a := &Answer{Token: q.Token, Over: q.Over}
	if a.Base, err = s.outcome(s.watch, z, q); err != nil {
		return nil, err
	}
	if q.None() {
		return a, nil
	}
	changed, err := s.watch.Again(ctx, q.Intervention)
	if err != nil {
		return nil, err
	}
	if z, err = s.scores(changed); err != nil {
		return nil, err
	}
	outcome, err := s.outcome(changed, z, q)
	if err != nil {
		return nil, err
	}
	a.Changed, a.Moved = &outcome, moved(a.Base.Parts, outcome.Parts, q.Off)
	return a, nil
}

// scores returns the logits [vocab] after the text.
func (s *Study) scores(w *infer.Watch) ([]float32, error) {
	return w.Logits(s.Model().Config().Layers, len(s.Tokens())-1)
}

// outcome returns the outcome of pass w for a question. z holds the scores from the pass.
func (s *Study) outcome(w *infer.Watch, z []float32, q Question) (Outcome, error) {
	o := Outcome{Z: float64(z[q.Token])}
	if q.Over >= 0 {
		o.Z -= float64(z[q.Over])
	}
	p, _, _ := sampling.Softmax(z, 1)
	o.P, o.Rank = p[q.Token], sampling.RankIn(z, q.Token)
	for _, id := range sampling.Top(z, min(q.Says, len(z))) {
		o.Says = append(o.Says, infer.Reading{Token: s.Model().Token(int(id)), P: p[id]})
	}
	last := len(s.Tokens()) - 1
	for block := 1; block <= s.Model().Config().Layers; block++ {
		for h, weights := range w.Looks(block, last) {
			look := Attended{Head: infer.Part{Kind: infer.PartHead, Block: block, Head: h + 1}}
			for at, weight := range weights {
				if float64(weight) > look.Weight {
					look.Position, look.Weight = at, float64(weight)
				}
			}
			o.Looks = append(o.Looks, look)
		}
	}
	if q.Patch != nil && q.Patch.Position == last {
		return o, nil
	}
	parts, err := w.Contributions(last, q.Token, q.Over)
	o.Parts = parts
	return o, err
}

// moved compares contributions, omitting the parts that are off.
func moved(from, to []infer.Contribution, off []infer.Part) (moves []Move) {
	for i := range min(len(from), len(to)) {
		if !slices.Contains(off, from[i].Part) {
			moves = append(moves, Move{from[i].Part, from[i].Z, to[i].Z})
		}
	}
	slices.SortStableFunc(moves, func(a, b Move) int {
		return cmp.Compare(math.Abs(b.To-b.From), math.Abs(a.To-a.From))
	})
	return moves
}

// Lens returns the readings of the logit lens, with or without a change, at every height and
// position. Only those at the last height are the model's predictions. There is one row for each
// height, from 0 (before the first block) up, and one cell for each position. In all rows except the
// last, the cells before position first are empty, which saves most of the work if only part of a
// long text is shown. Lens returns errors from [infer.Watch.Again].
func (s *Study) Lens(ctx context.Context, change infer.Intervention, first, top int) ([][]infer.LensCell, error) {
	w := s.watch
	if !change.None() {
		var err error
		if w, err = s.watch.Again(ctx, change); err != nil {
			return nil, err
		}
	}
	var rows [][]infer.LensCell
	layers := s.Model().Config().Layers
	for height := range layers + 1 {
		if height == layers {
			first = 0
		}
		row, err := w.Lens(ctx, height, first, top)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// A Grid shows how far the answer moves toward another text's answer when the other text's stream
// at one height and position is carried into this text.
type Grid struct {
	// Here and There are the most probable tokens after the two texts. If they are the same token,
	// the answer cannot change.
	Here, There int
	// LeadHere and LeadThere are the score of There minus the score of Here, after this text and
	// after the other text.
	LeadHere, LeadThere float64
	// Cells holds the results, [heights][positions], from height 0 (before the first block) up.
	Cells [][]GridCell
}

// A GridCell is the result of carrying one stream over.
type GridCell struct {
	// Follows is how far the lead moved from LeadHere toward LeadThere: 0 means not at all, 1 means
	// all the way. It can be outside this range.
	Follows float64
	P       float64 // the probability of the other text's answer
}

// Patch carries the streams of another text into this one, at each height and position in turn. The
// texts must have the same number of tokens.
func (s *Study) Patch(ctx context.Context, other *Study) (*Grid, error) {
	here, err := s.scores(s.watch)
	if err != nil {
		return nil, err
	}
	there, err := other.scores(other.watch)
	if err != nil {
		return nil, err
	}
	g := &Grid{Here: int(sampling.Top(here, 1)[0]), There: int(sampling.Top(there, 1)[0])}
	lead := func(z []float32) float64 { return float64(z[g.There]) - float64(z[g.Here]) }
	g.LeadHere, g.LeadThere = lead(here), lead(there)
	for height := range s.Model().Config().Layers + 1 {
		var row []GridCell
		for position := range s.Tokens() {
			w, err := s.watch.Again(ctx, infer.Intervention{
				Patch: &infer.Patch{From: other.watch, Height: height, Position: position},
			})
			if err != nil {
				return nil, err
			}
			z, err := s.scores(w)
			if err != nil {
				return nil, err
			}
			p, _, _ := sampling.Softmax(z, 1)
			cell := GridCell{P: p[g.There]}
			if g.LeadThere != g.LeadHere {
				cell.Follows = (lead(z) - g.LeadHere) / (g.LeadThere - g.LeadHere)
			}
			row = append(row, cell)
		}
		g.Cells = append(g.Cells, row)
	}
	return g, nil
}
