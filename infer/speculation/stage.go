package speculation

import (
	"slices"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/cost"
	"github.com/tokenbytoken/viz/infer/sampling"
)

// Kind numbers the stages of speculative decoding.
type Kind int

// The stages. A round has a correction or a bonus, unless the text ended at an accepted token.
const (
	KindPrefill Kind = iota + 1
	KindPropose
	KindVerify
	KindAccept
	KindCorrect
	KindBonus
	KindExtend
)

var names = [...]string{"", "prefill", "propose", "verify", "accept", "correct", "bonus", "extend"}

// String returns the name used in JSON: "prefill", "propose", and so on.
func (k Kind) String() string {
	if k < KindPrefill || k > KindExtend {
		return "none"
	}
	return names[k]
}

// Stage is one stage of speculative decoding: [Prefill], [Propose], [Verify], [Accept],
// [Correct], [Bonus] or [Extend]. A stage owns all its data. MarshalJSON returns an object with
// "stage" and, except for the prefill, "round".
type Stage interface {
	Kind() Kind
	MarshalJSON() ([]byte, error)
}

// Cost is the cost of one model's passes, including their scores, but not of deriving values from
// the scores or collecting values for display.
type Cost struct {
	Passes    int
	Positions int           // number of positions that went through the blocks
	Parts     cost.Parts    // multiply-adds, counted where they were done
	Took      time.Duration // measured
}

func (c Cost) plus(o Cost) Cost {
	return Cost{c.Passes + o.Passes, c.Positions + o.Positions, c.Parts.Plus(o.Parts), c.Took + o.Took}
}

// Candidate is one token as both models see it at one position. The stage determines which fields
// are set.
type Candidate struct {
	infer.Token
	Q float64 // from the draft, after temperature and filters; 0 if the filters cut the token
	P float64 // from the target, after the same temperature and filters
	R float64 // norm(max(0, p − q))
}

// Candidates lists the most probable tokens that can be drawn at one position, and the totals for
// the tokens that are not listed.
type Candidates struct {
	Rows []Candidate
	Rest CandidateRest
}

// CandidateRest holds the totals for the tokens that have no row.
type CandidateRest struct {
	N       int
	Q, P, R float64
}

// Prefill runs once, before the first round: both models read all tokens of the prompt except the
// last.
type Prefill struct {
	Tokens        int // read by each model; the draft reads none if its window is too small
	Draft, Target Cost
}

// Propose is the draft's part of a round: the draft generated up to γ tokens. It drafts fewer
// tokens, or none, if the token limit or a context window does not leave room for more, or if it
// drafts an end of text.
type Propose struct {
	Round   int
	Greedy  bool
	Seed    uint64
	Drafted []Proposal
	Cost    Cost
}

// Proposal is one drafted token.
type Proposal struct {
	Step   int // the number of the generated token that it would become, from 1
	Chosen Candidate
	U      float64 // for seed, step and [sampling.ForDraft]; meaningless under greedy decoding
	// The chosen token's segment when the kept tokens are laid out by q: From ≤ U < To.
	From, To   float64
	Candidates // by q
}

// Verify is the target's single pass over the text's last token and all drafted tokens. It computes
// p at the position of every proposal and at the position after the last one. Scored is empty if
// stages do not list rows.
type Verify struct {
	Round  int
	Scored []Scored
	Cost   Cost
}

// Scored is the target's prediction at one position of a verification.
type Scored struct {
	Step    int
	Drafted *Candidate // the token proposed here; nil at the last position
	Candidates
}

// Accept is the verdict on one proposal.
type Accept struct {
	Round, Step int
	Token       infer.Token
	P, Q        float64
	Ratio       float64 // p / q
	Probability float64 // min(1, p/q)
	Greedy      bool
	Seed        uint64
	U           float64 // for seed, step and [sampling.ForAccept]; meaningless under greedy decoding
	Accepted    bool    // U < Probability
}

// Drawn is a draw by the target.
type Drawn struct {
	Step   int
	Greedy bool
	Seed   uint64
	U      float64 // for seed, step and [sampling.ForDraw]; meaningless under greedy decoding
	Chosen Candidate
	// The chosen token's segment among the tokens that could be drawn: From ≤ U < To.
	From, To float64
	Candidates
}

// Correct is a draw from the residual norm(max(0, p − q)) in place of a rejected proposal. Tokens
// are ordered by R.
type Correct struct {
	Round   int
	Refused Candidate
	Mass    float64 // Σ max(0, p − q), which is also the probability that a proposal is rejected here
	Drawn
}

// Bonus is a draw of one more token from p, after all proposals were accepted.
type Bonus struct {
	Round int
	Drawn
}

// Extend ends a round: its tokens are now part of the text, and both caches have dropped the other
// proposals.
type Extend struct {
	Round      int
	Drafted    int
	Accepted   int           // number of proposals that became text
	Tokens     []infer.Token // of the round: the accepted ones, and the correction or bonus
	Text       string        // released by this round; "" while it is held back
	Held       []byte        // not released yet: an incomplete character or a possible stop string
	Generated  int           // tokens so far
	Stop       infer.StopReason
	StopString string
	// Filled columns of the caches.
	DraftPositions, TargetPositions int
	Took                            time.Duration
	Totals                          Totals
}

// Totals holds totals over the rounds.
type Totals struct {
	Rounds    int // passes of the target
	Drafted   int // proposals
	Judged    int // judged proposals: all except those after a rejected one or after the end of the text
	Accepted  int
	Generated int
	// The cost of the prefill, and the cost of the rounds excluding the prefill.
	PrefillDraft, PrefillTarget Cost
	Draft, Target               Cost
}

// Acceptance returns the share of the judged proposals that were accepted, which is the measured
// value of α in the formulas. It is 0 before the first proposal is judged.
func (t Totals) Acceptance() float64 {
	if t.Judged == 0 {
		return 0
	}
	return float64(t.Accepted) / float64(t.Judged)
}

// TokensPerPass returns the average number of tokens generated per pass of the target.
func (t Totals) TokensPerPass() float64 {
	if t.Rounds == 0 {
		return 0
	}
	return float64(t.Generated) / float64(t.Rounds)
}

// Kind implements [Stage].
func (Prefill) Kind() Kind { return KindPrefill }

// Kind implements [Stage].
func (Propose) Kind() Kind { return KindPropose }

// Kind implements [Stage].
func (Verify) Kind() Kind { return KindVerify }

// Kind implements [Stage].
func (Accept) Kind() Kind { return KindAccept }

// Kind implements [Stage].
func (Correct) Kind() Kind { return KindCorrect }

// Kind implements [Stage].
func (Bonus) Kind() Kind { return KindBonus }

// Kind implements [Stage].
func (Extend) Kind() Kind { return KindExtend }

// candidate returns a token with its known values at position i of a round. residual is nil except
// for a correction.
func (s *Speculator) candidate(r *round, i, id int, residual []float64) Candidate {
	c := Candidate{Token: s.target.Token(id)}
	if i < len(r.q) {
		c.Q = r.q[i].Q(id)
	}
	if i < len(r.p) {
		c.P = r.p[i].Q(id)
	}
	if residual != nil {
		c.R = residual[id]
	}
	return c
}

// candidates lists the first n tokens of order, but at most s.Rows of them. Token `must`, unless it
// is negative, is always listed, if necessary at the end.
func (s *Speculator) candidates(r *round, i, n int, order []int32, residual []float64, must int) Candidates {
	if s.Rows > 0 {
		n = min(n, s.Rows)
	}
	ids := append([]int32(nil), order[:n]...)
	if must >= 0 && !slices.Contains(ids, int32(must)) {
		if n == s.Rows {
			ids = ids[:n-1]
		}
		ids = append(ids, int32(must))
	}
	var c Candidates
	for _, id := range ids {
		c.Rows, s.listed[id] = append(c.Rows, s.candidate(r, i, int(id), residual)), true
	}
	for rank := len(order) - 1; rank >= 0; rank-- { // least probable first, so rounding does not lose small terms
		id := order[rank]
		if s.listed[id] {
			s.listed[id] = false
			continue
		}
		c.Rest.N++
		if i < len(r.q) {
			c.Rest.Q += r.q[i].Q(int(id))
		}
		if i < len(r.p) {
			c.Rest.P += r.p[i].Q(int(id))
		}
		if residual != nil {
			c.Rest.R += residual[id]
		}
	}
	return c
}

// ranking returns all tokens in the order of a strip: first the tokens on the strip, then the
// others by id.
func ranking(by strip, vocab int) []int32 {
	order, on := make([]int32, 0, vocab), make([]bool, vocab)
	for r := range by.Len() {
		order, on[by.Token(r)] = append(order, int32(by.Token(r))), true
	}
	for id, is := range on {
		if !is {
			order = append(order, int32(id))
		}
	}
	return order
}

// keptFirst returns all tokens: first those that the sampler can draw, then the others, each group
// by rank. The last kept tokens may be too improbable to be drawn.
func keptFirst(by *sampling.Sampler) []int32 {
	z := by.Scores()
	kept, cut := make([]int32, 0, len(z)), []int32(nil)
	for _, id := range sampling.Rank(z) {
		if by.Q(int(id)) > 0 {
			kept = append(kept, id)
		} else {
			cut = append(cut, id)
		}
	}
	return append(kept, cut...)
}

// proposal describes the i-th drafted token of a round.
func (s *Speculator) proposal(r *round, i int) Proposal {
	d, by := r.drafted[i], &r.q[i]
	from, to := by.Segment(d.rank)
	p := Proposal{Step: r.start - s.prompt + i + 1, Chosen: s.candidate(r, i, d.token, nil), U: d.u, From: from, To: to}
	if s.Rows >= 0 {
		p.Candidates = s.candidates(r, i, by.Possible(), keptFirst(by), nil, d.token)
	}
	return p
}

// scored describes the target's prediction at the i-th position of a round.
func (s *Speculator) scored(r *round, i int) Scored {
	st := Scored{Step: r.start - s.prompt + i + 1}
	must := -1
	if i < len(r.drafted) {
		must = r.drafted[i].token
		c := s.candidate(r, i, must, nil)
		st.Drafted = &c
	}
	st.Candidates = s.candidates(r, i, r.p[i].Possible(), keptFirst(&r.p[i]), nil, must)
	return st
}

// drawn describes a draw by the target at the i-th position of a round: from the residual or, if
// that is nil, from the target's prediction.
func (s *Speculator) drawn(r *round, i int, by strip, residual []float64, rank int, u float64) Drawn {
	id := by.Token(rank)
	from, to := by.Segment(rank)
	d := Drawn{
		Step: s.step(), Greedy: s.settings.Greedy(), Seed: s.settings.Seed, U: u,
		Chosen: s.candidate(r, i, id, residual), From: from, To: to,
	}
	if s.Rows < 0 {
		return d
	}
	n, order := by.Len(), []int32(nil)
	if residual != nil {
		order = ranking(by, len(residual))
	} else {
		n, order = r.p[i].Possible(), keptFirst(&r.p[i])
	}
	d.Candidates = s.candidates(r, i, n, order, residual, id)
	return d
}
