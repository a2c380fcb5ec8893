package speculation

import (
	"context"
	"slices"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
)

// This file contains the stages of a round, in the order in which they run. Between rounds, neither
// cache contains the text's last token, because a token is read only when the next one is needed.

// prefill runs all tokens of the prompt except the last through both models, so every verification,
// including the first, reads γ + 1 positions.
func (s *Speculator) prefill(ctx context.Context) (Stage, error) {
	st := Prefill{Tokens: s.prompt - 1}
	var err error
	if st.Target, err = read(ctx, s.target, s.caches.target, s.text[:s.prompt-1]); err != nil {
		return nil, err
	}
	if s.prompt-1 <= s.draft.Config().Context {
		if st.Draft, err = read(ctx, s.draft, s.caches.draft, s.text[:s.prompt-1]); err != nil {
			s.caches.target.Truncate(0)
			return nil, err
		}
	}
	s.totals.PrefillDraft, s.totals.PrefillTarget = st.Draft, st.Target
	s.next = KindPropose
	return st, nil
}

// read runs tokens through a model to fill its cache.
func read(ctx context.Context, m *infer.Model, c *infer.Cache, tokens []int) (Cost, error) {
	start := time.Now()
	parts, err := m.ForwardTo(ctx, c, tokens, make([]float32, m.Config().Width))
	return Cost{Passes: 1, Positions: len(tokens), Parts: parts, Took: time.Since(start) - m.Waited()}, err
}

// predictions holds a model's predictions at the positions of a round.
type predictions struct {
	out     []float32          // [positions, width]
	z       []float32          // [positions, vocab]
	samples []sampling.Sampler // by position
}

func newPredictions(m *infer.Model, positions int) predictions {
	return predictions{
		make([]float32, positions*m.Config().Width), make([]float32, positions*m.Config().Vocab),
		make([]sampling.Sampler, positions),
	}
}

// score runs tokens through a model and writes the predictions after the last n tokens to `to`,
// starting at position `at`. On an error, the cache is unchanged.
func score(
	ctx context.Context, m *infer.Model, c *infer.Cache, tokens []int, to *predictions, at, n int,
) (Cost, error) {
	d, v, from := m.Config().Width, m.Config().Vocab, c.Positions()
	out, z := to.out[at*d:(at+n)*d], to.z[at*v:(at+n)*v]
	start := time.Now()
	parts, err := m.ForwardTo(ctx, c, tokens, out)
	if err != nil {
		return Cost{}, err
	}
	waited := m.Waited()
	output, err := m.LogitsTo(ctx, out, z)
	if err != nil {
		c.Truncate(from)
		return Cost{}, err
	}
	return Cost{
		Passes: 1, Positions: len(tokens), Parts: parts.Plus(output), Took: time.Since(start) - waited - m.Waited(),
	}, nil
}

// logits returns the scores at position i.
func (d *predictions) logits(i int) []float32 {
	v := len(d.z) / len(d.samples)
	return d.z[i*v : (i+1)*v]
}

// decide converts a model's scores at positions `from` to `to`−1 into distributions to draw from,
// and returns the distributions of all positions before `to`.
func (s *Speculator) decide(r *round, by *predictions, from, to int) []sampling.Sampler {
	for i := from; i < to; i++ {
		by.samples[i].DecideIn(s.context(r, i), by.logits(i), s.settings.Settings)
	}
	return by.samples[:to]
}

// context returns the rules' context at position i of a round: the text before the round, and the i
// tokens drafted since. It is the same for both models.
func (s *Speculator) context(r *round, i int) sampling.Context {
	c := sampling.Context{Seed: s.settings.Seed, Step: r.start - s.prompt + i + 1}
	if s.settings.ReadsText() {
		c.Breaks = s.target.Breaks
		c.Text = slices.Clone(s.text[:r.start])
		for _, d := range r.drafted[:i] {
			c.Text = append(c.Text, d.token)
		}
	}
	return c
}

// needs computes the target's distribution at position i of the round, unless it has already been
// computed. Distributions after a rejection are never used, so they are not computed.
func (s *Speculator) needs(i int) {
	r := s.round
	r.p = s.decide(r, &s.predictions.target, len(r.p), max(len(r.p), i+1))
}

// draftable returns the number of tokens that a round may draft after n tokens of text: γ, or fewer
// if the token limit or a context window leaves less room. There must be room for all drafted
// tokens and the one that the target adds.
func (s *Speculator) draftable(n int) int {
	left := s.settings.Stop.MaxTokens - (n - s.prompt)
	return max(0, min(s.gamma, left-1, s.target.Config().Context-n, s.draft.Config().Context-n+1))
}

// propose generates tokens with the draft model. It stops early after an end of text, since no
// token after it could be accepted.
func (s *Speculator) propose(ctx context.Context) (Stage, error) {
	n := len(s.text)
	r := &round{n: s.totals.Rounds + 1, start: n}
	st := Propose{Round: r.n, Greedy: s.settings.Greedy(), Seed: s.settings.Seed}
	from := s.caches.draft.Positions()
	for i := range s.draftable(n) {
		unread := s.text[from:]
		if i > 0 {
			unread = []int{r.drafted[i-1].token}
		}
		spent, err := score(ctx, s.draft, s.caches.draft, unread, &s.predictions.draft, i, 1)
		if err != nil {
			s.caches.draft.Truncate(from)
			return nil, err
		}
		r.q = s.decide(r, &s.predictions.draft, i, i+1)
		q := &r.q[i]
		rank, u := s.draw(q, n-s.prompt+i+1, sampling.ForDraft)
		id := q.Token(rank)
		r.drafted = append(r.drafted, drafted{id, rank, u})
		r.draft = r.draft.plus(spent)
		st.Drafted = append(st.Drafted, s.proposal(r, i))
		if s.target.EOS(id) {
			break
		}
	}
	st.Cost = r.draft
	s.round, s.next = r, KindVerify
	return st, nil
}

// draw draws a rank with the dice, except under greedy decoding, which does not draw.
func (s *Speculator) draw(from strip, step int, purpose sampling.Purpose) (rank int, u float64) {
	if s.settings.Greedy() {
		return 0, 0
	}
	return s.dice.draw(from, step, purpose)
}

// verify runs one pass of the target over the last token of the text and all drafted tokens.
func (s *Speculator) verify(ctx context.Context) (Stage, error) {
	r := s.round
	tokens := append([]int(nil), s.text[s.caches.target.Positions():]...)
	for _, d := range r.drafted {
		tokens = append(tokens, d.token)
	}
	spent, err := score(ctx, s.target, s.caches.target, tokens, &s.predictions.target, 0, len(r.drafted)+1)
	if err != nil {
		return nil, err
	}
	r.target = spent
	st := Verify{Round: r.n, Cost: spent}
	if s.Rows >= 0 {
		s.needs(len(r.drafted))
		for i := range r.p {
			st.Scored = append(st.Scored, s.scored(r, i))
		}
	}
	s.next = KindAccept
	if len(r.drafted) == 0 {
		s.next = KindBonus
	}
	return st, nil
}

// judge accepts or rejects the next proposal.
func (s *Speculator) judge() Stage {
	r := s.round
	i := r.accepted
	x := r.drafted[i].token
	s.needs(i)
	p, q := r.p[i].Q(x), r.q[i].Q(x)
	st := Accept{
		Round: r.n, Step: s.step(), Token: s.target.Token(x), P: p, Q: q, Ratio: p / q, Probability: s.accept(p, q),
		Greedy: s.settings.Greedy(), Seed: s.settings.Seed,
	}
	if st.Greedy {
		// Under greedy decoding, each model is certain of one token, so the probability is 1 or 0.
		st.Accepted = st.Probability == 1
	} else {
		st.Accepted, st.U = s.dice.take(st.Probability, st.Step)
	}
	if !st.Accepted {
		r.refused, s.next = true, KindCorrect
		return st
	}
	r.accepted++
	s.write(x)
	switch {
	case s.stop != infer.StopNone:
		s.next = KindExtend
	case r.accepted == len(r.drafted):
		s.next = KindBonus
	}
	return st
}

// correct draws a token to replace the rejected one.
func (s *Speculator) correct() Stage {
	r := s.round
	i := r.accepted
	s.rest.Decide(&r.p[i], &r.q[i], s.excess)
	v := s.rest.Vector()
	rank, u := s.draw(&s.rest, s.step(), sampling.ForDraw)
	st := Correct{
		Round: r.n, Refused: s.candidate(r, i, r.drafted[i].token, v), Mass: s.rest.Mass(),
		Drawn: s.drawn(r, i, &s.rest, v, rank, u),
	}
	s.write(s.rest.Token(rank))
	s.next = KindExtend
	return st
}

// bonus draws one more token, from the target's distribution after the last proposal. The
// verification pass has already computed the scores for it.
func (s *Speculator) bonus() Stage {
	r := s.round
	i := len(r.drafted)
	s.needs(i)
	from := &r.p[i]
	rank, u := s.draw(from, s.step(), sampling.ForDraw)
	st := Bonus{Round: r.n, Drawn: s.drawn(r, i, from, nil, rank, u)}
	s.write(from.Token(rank))
	s.next = KindExtend
	return st
}

// step returns the number of the next token, from 1.
func (s *Speculator) step() int { return len(s.text) - s.prompt + 1 }

// write appends a token to the text and checks the stop conditions.
func (s *Speculator) write(id int) {
	step, positions := s.step(), len(s.text)
	fresh := s.target.TokenBytes(id)
	s.text, s.bytes = append(s.text, id), append(s.bytes, fresh...)
	var safe int
	s.stop, s.stopString, safe = infer.Ending(
		s.target.EOS(id), step, positions, s.target.Config().Context, s.bytes, len(fresh), s.settings.Stop,
	)
	s.round.safe = safe
}

// extend releases the round's text. From both caches, it drops the columns of proposals that did
// not become part of the text.
func (s *Speculator) extend() Stage {
	r := s.round
	start := time.Now()
	s.caches.target.Truncate(len(s.text) - 1)
	s.caches.draft.Truncate(len(s.text) - 1)
	st := Extend{
		Round: r.n, Drafted: len(r.drafted), Accepted: r.accepted,
		Generated: len(s.text) - s.prompt, Stop: s.stop, StopString: s.stopString,
		TargetPositions: s.caches.target.Positions(), DraftPositions: s.caches.draft.Positions(),
	}
	for _, id := range s.text[r.start:] {
		st.Tokens = append(st.Tokens, s.target.Token(id))
	}
	st.Text = infer.ValidText(s.bytes[s.shown:r.safe])
	st.Held = append(st.Held, s.bytes[r.safe:]...)
	s.shown = r.safe
	st.Took = time.Since(start)

	t := &s.totals
	t.Rounds++
	t.Drafted += len(r.drafted)
	t.Accepted += r.accepted
	if t.Judged += r.accepted; r.refused {
		t.Judged++
	}
	t.Generated = st.Generated
	t.Draft, t.Target = t.Draft.plus(r.draft), t.Target.plus(r.target)
	st.Totals = *t
	s.round, s.next = nil, KindPropose
	return st
}
