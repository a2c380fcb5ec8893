package infer

import (
	"cmp"
	"slices"

	"github.com/tokenbytoken/viz/infer/sampling"
)

// Stage returns one stage of a step as an independent value that lists at most `rows` tokens of the
// vocabulary (all tokens if rows is 0). d is the step's distribution, or nil to derive it here if
// the stage needs it. The result is nil if the stage has not run yet.
//
// After the draw, the rows of every stage of that step include the chosen token, which replaces the
// last row if it would not be listed otherwise.
func (m *Model) Stage(s *Step, kind Kind, d *sampling.Distribution, rows int) Stage {
	if s == nil || kind < KindForward || kind > s.Ran {
		return nil
	}
	if d == nil && kind >= KindSoftmax && kind <= KindSample {
		d = s.Distribution()
	}
	head := Head{Step: s.N, Took: s.Took[kind]}
	switch kind {
	case KindForward:
		return m.forwardStage(s, head)
	case KindLogits:
		return m.logitsStage(s, head, d, rows)
	case KindSoftmax:
		return Softmax{
			Head: head, Rows: m.rows(s, d, rows, kind), Temperature: s.Settings.ShownTemperature(),
			MaxZ: d.MaxZ, SumExp: d.SumExp, Entropy: s.Entropy,
		}
	case KindFilter:
		return Filter{
			Head: head, Rows: m.rows(s, d, rows, kind), Settings: s.Settings.Settings,
			Kept: d.Keep, Cut: len(d.Order) - d.Keep, Mass: d.Mass,
			Cuts: d.Cuts, Leading: d.Leading(), Fallback: d.Fallback,
			KeptRenormalizing: d.KeepRenormalizing(),
			KeptLlama:         d.KeepIn(sampling.OrderLlama), KeptHugging: d.KeepIn(sampling.OrderHugging),
		}
	case KindSample:
		return m.sampleStage(s, head, d, rows)
	case KindAppend:
		return Append{
			Head: head, Token: m.Token(s.Chosen), Text: s.Text, Held: slices.Clone(s.Held), Generated: s.N,
			Conditions: slices.Clone(s.Conditions), Stop: s.Stop, StopString: s.StopString,
		}
	}
	return m.cacheStage(s, head)
}

func (m *Model) forwardStage(s *Step, head Head) Forward {
	c, n := m.config, len(s.Input)
	head.MultAdds = s.Blocks.Total()
	tokens := make([]Token, n)
	for i, id := range s.Input {
		tokens[i] = m.Token(id)
	}
	return Forward{
		Head: head, Prefill: s.N == 1, Tokens: tokens, Positions: s.Positions(), Parts: s.Blocks,
		Shapes: []TensorShape{
			{"tokens", []int{n}},
			{"residual", []int{n, c.Width}},
			{"query", []int{n, c.Heads, c.HeadDim}},
			{"key", []int{n, c.KVHeads, c.HeadDim}},
			{"value", []int{n, c.KVHeads, c.HeadDim}},
			{"attention", []int{c.Heads, n, s.Positions()}},
			{"feed_forward", []int{n, c.FFN}},
			{"last", []int{c.Width}},
		},
	}
}

// logitsStage returns the logits stage. It does not need a distribution: the highest scores can be
// found without ranking all of them, so a large vocabulary is ranked only once, for the softmax.
func (m *Model) logitsStage(s *Step, head Head, d *sampling.Distribution, rows int) Logits {
	head.MultAdds = s.Output.Total()
	z := s.scores()
	l := Logits{Head: head, Width: m.config.Width, Min: lowest(z)}
	l.Vocab = len(z)
	if rows <= 0 || rows > l.Vocab {
		rows = l.Vocab
	}
	row := func(id, rank int) Row {
		return Row{Token: m.Token(id), Rank: rank, Z: z[id], Raw: s.Logits[id]}
	}
	for r, id := range leading(z, d, rows) {
		l.Rows.Rows = append(l.Rows.Rows, row(int(id), r+1))
	}
	l.Max = l.Rows.Rows[0].Z
	if s.Ran >= KindSample && s.Rank > rows {
		l.Rows.Rows[rows-1] = row(s.Chosen, s.Rank)
	}
	l.Penalty = m.penalty(s, z, rows)
	l.Rest.N = l.Vocab - rows
	return l
}

// penalty lists the tokens whose scores were changed by rules, in descending order of their changed
// scores, z. It shortens the list to rows tokens. It returns nil if no rule that changes scores is
// on.
func (m *Model) penalty(s *Step, z []float32, rows int) *Penalty {
	by := s.Settings.Scoring()
	if by == sampling.Pure {
		return nil
	}
	p := &Penalty{By: by}
	for id, zi := range z {
		if zi != s.Logits[id] { // a repetition penalty does not change a score of 0
			p.Tokens = append(p.Tokens, Penalized{Token: m.Token(id), Z: zi, Raw: s.Logits[id]})
		}
	}
	slices.SortFunc(p.Tokens, func(a, b Penalized) int {
		return cmp.Or(cmp.Compare(b.Z, a.Z), cmp.Compare(a.ID, b.ID))
	})
	p.N = len(p.Tokens)
	p.Tokens = slices.Clip(p.Tokens[:min(p.N, rows)])
	return p
}

// lowest returns the lowest of the scores, which must be finite. It is four times as fast as
// slices.Min, which has to handle NaN.
func lowest(z []float32) float32 {
	low := z[0]
	for _, zi := range z {
		if zi < low {
			low = zi
		}
	}
	return low
}

// leading returns the ids of the n highest scores, best first.
func leading(z []float32, d *sampling.Distribution, n int) []int32 {
	const few = 100 // up to this number, picking the highest scores is faster than ranking all
	switch {
	case d != nil:
		return d.Order[:n]
	case n <= few:
		return sampling.Top(z, n)
	}
	return sampling.Rank(z)[:n]
}

func (m *Model) sampleStage(s *Step, head Head, d *sampling.Distribution, rows int) Sample {
	st := Sample{
		Head: head, Greedy: s.Settings.Greedy(), Seed: s.Settings.Seed, U: s.U,
		Chosen: m.row(s, d, s.Rank-1, KindSample), Likely: m.row(s, d, 0, KindSample),
	}
	if st.Chosen.Kept {
		st.From, st.To = d.Segment(s.Rank - 1)
	}
	if st.Forced = s.Forced; s.Forced {
		st.Drawn = m.row(s, d, d.RankOf(int32(s.Drawn)), KindSample)
	} else {
		st.Drawn = st.Chosen
	}
	chosen := -1
	if st.Chosen.Kept {
		chosen, _, _ = d.KeptIn(0, s.Rank-1)
	}
	for _, i := range shorten(d.Keep, rows, chosen) {
		st.Lanes = append(st.Lanes, m.row(s, d, d.KeptRank(i), KindSample))
	}
	st.LanesRest = restOf(d, st.Lanes, true)
	return st
}

func (m *Model) cacheStage(s *Step, head Head) CacheGrowth {
	c, shape := m.config, m.Shape()
	return CacheGrowth{
		Head: head, Positions: s.Positions(), Grew: len(s.Input),
		Bytes:     shape.KVBytes(s.Positions(), bytesPerValue),
		GrewBytes: shape.KVBytes(len(s.Input), bytesPerValue),
		Layers:    c.Layers, KVHeads: c.KVHeads, HeadDim: c.HeadDim, BytesPerValue: bytesPerValue,
		Context: c.Context,
		Cached:  s.Blocks.Plus(s.Output), Recomputed: shape.Pass(s.Positions()),
		TotalCached: s.TotalCached, TotalRecomputed: s.TotalRecomputed,
	}
}

// rows lists the tokens that a stage shows, with the values known at that stage.
func (m *Model) rows(s *Step, d *sampling.Distribution, n int, kind Kind) Rows {
	chosen := -1
	if s.Ran >= KindSample {
		chosen = s.Rank - 1
	}
	out := Rows{Vocab: len(d.Order)}
	for _, r := range shorten(len(d.Order), n, chosen) {
		out.Rows = append(out.Rows, m.row(s, d, r, kind))
	}
	out.Rest = restOf(d, out.Rows, false)
	return out
}

// shorten picks n of the ranks 0 to total−1, or all of them if n is 0. It picks the first n, but
// replaces the last of them with chosen if chosen is not among them.
func shorten(total, n, chosen int) []int {
	if n <= 0 || n > total {
		n = total
	}
	ranks := make([]int, n)
	for i := range ranks {
		ranks[i] = i
	}
	if chosen >= n && n > 0 {
		ranks[n-1] = chosen
	}
	return ranks
}

// row describes the token at a rank with the fields known at a stage.
func (m *Model) row(s *Step, d *sampling.Distribution, rank int, kind Kind) Row {
	id := int(d.Order[rank])
	r := Row{Token: m.Token(id), Rank: rank + 1, Z: d.Score(id), Raw: s.Logits[id]}
	if kind >= KindSoftmax {
		t := cmp.Or(s.Settings.ShownTemperature(), 1) // greedy shows the probabilities at T = 1
		r.ZT, r.P, r.Cum = float64(r.Z)/t, d.P[id], d.Cum[rank]
		r.E = d.P[id] * d.SumExp
	}
	if kind >= KindFilter {
		r.CutBy, r.Q = d.CutBy(rank), d.Q(rank)
		r.Kept = r.CutBy == sampling.RuleNone
	}
	return r
}

// restOf returns the totals for the tokens that are not in rows or, with keptAlone, for only those
// of them that are kept. The rows must be in ascending order of rank. The sum over the tokens
// between two rows is the difference of two tail sums, so the time does not grow with the
// vocabulary.
func restOf(d *sampling.Distribution, rows []Row, keptAlone bool) Rest {
	var rest Rest
	between := func(from, to int) { // adds the ranks from `from` to `to`−1, counted from 0
		kept, p, q := d.KeptIn(from, to)
		rest.Kept += kept
		rest.Q += q
		if keptAlone {
			rest.N += kept
			rest.P += p
			return
		}
		rest.N += to - from
		rest.P += d.Tail[from] - d.Tail[to]
	}
	from := 0
	for _, r := range rows {
		between(from, r.Rank-1)
		from = r.Rank
	}
	between(from, len(d.Order))
	rest.E = rest.P * d.SumExp
	return rest
}
