package stage

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// Work is the worked line, which shows how one row's numbers are calculated.
type Work struct {
	Name  string // shown in place of Token, if the line is not about a token
	Token Text
	Pick  bool
	Cells []WorkCell
}

// WorkCell is one calculation of a worked line.
type WorkCell struct {
	Name Rich
	Sum  Rich
	Now  bool // whether it belongs to the stage shown
}

// workLine is the worked line of a row, which is identified by its data-row.
type workLine struct {
	row  string
	work *Work
}

// workLines returns the worked lines of the table's rows or, at stage 1, of the heads.
func (p Stage) workLines() (list []workLine) {
	if p.Table != nil {
		for i, r := range p.Table.Rows {
			if r.Work != nil {
				list = append(list, workLine{strconv.Itoa(i), r.Work})
			}
		}
	}
	if p.Forward == nil || p.Forward.Look == nil {
		return list
	}
	for _, b := range p.Forward.Look.Blocks {
		for _, h := range slices.Concat(b.Groups...) {
			list = append(list, workLine{h.Row, h.Work})
		}
	}
	return list
}

// four formats a number with four decimals. All calculations use this format, including the logits,
// so that a reader who repeats a calculation gets the same result, give or take one in the last
// digit.
func four(x float64) string { return terms.Decimals(x, 4) }

func (w Words) logitWork(st infer.Logits, r infer.Row) *Work {
	z, top := float64(r.Z), float64(st.Max)
	cells := []WorkCell{
		{Name: rich("z"), Sum: w.Rich("work.products", "n", terms.Count(st.Width), "z", four(float64(r.Raw)))},
	}
	if r.Raw != r.Z {
		cells = append(cells, w.penaltyWork(*st.Penalty, r))
	}
	return &Work{Token: TokenText(r.Token), Cells: append(cells, []WorkCell{
		{Name: w.Rich("work.behind"), Sum: rich(four(top), " − ", bracket(z), " = ", bold(four(top-z))), Now: true},
		{
			Name: w.Rich("work.ahead"),
			Sum:  rich(four(z), " − ", bracket(float64(st.Min)), " = ", four(z-float64(st.Min))),
		},
	}...)}
}

// penaltyWork shows how rules have changed a score. For the repetition penalty alone, it is a
// product or a quotient. With other rules, it is the sum of all changes.
func (w Words) penaltyWork(p infer.Penalty, r infer.Row) WorkCell {
	if !onlyRepetition(p) {
		add := float64(r.Z) - float64(r.Raw)
		return WorkCell{Name: w.Rich("work.scored"), Sum: rich(
			four(float64(r.Raw)), " + ", bracket(add), " = ", four(float64(r.Z)),
		)}
	}
	sign := " / "
	if r.Raw < 0 {
		sign = " × "
	}
	return WorkCell{
		Name: w.Rich("work.penalty"),
		Sum:  rich(four(float64(r.Raw)), sign, terms.Setting(p.By.RepetitionPenalty), " = ", four(float64(r.Z))),
	}
}

// bracket puts a negative number in parentheses after a minus sign.
func bracket(x float64) string {
	if s := four(x); strings.HasPrefix(s, terms.Minus) {
		return "(" + s + ")"
	} else {
		return s
	}
}

// expName is the formula e^{z/T − max}.
func (w Words) expName() Rich { return rich("e", sup(w.T("exp"))) }

// softmaxWork shows the calculation of one row, up to p. If now is true, the last cell is marked as
// belonging to the stage shown.
func (w Words) softmaxWork(st infer.Softmax, r infer.Row, now bool) *Work {
	t := st.Temperature
	if t == 0 {
		t = 1
	}
	maxZT := st.MaxZ / t
	zt := float64(r.Z) / t
	p := rich(terms.Prob(r.E), " / ", four(st.SumExp), " = ", Span{S: terms.Prob(r.P), Style: boldIf(now)})
	return &Work{Token: TokenText(r.Token), Cells: []WorkCell{
		{Name: rich("z / T"), Sum: rich(four(float64(r.Z)), " / ", terms.Setting(t), " = ", four(zt))},
		{Name: w.expName(), Sum: rich("e", sup(four(zt)+" − "+bracket(maxZT)), " = ", terms.Prob(r.E))},
		{Name: rich("p = e / Σe"), Sum: p, Now: now},
	}}
}

func boldIf(b bool) Style {
	if b {
		return Bold
	}
	return Plain
}

func (w Words) filterWork(s *session.State, st infer.Filter, soft infer.Softmax, r infer.Row) *Work {
	work := w.softmaxWork(soft, r, false)
	if r.Kept && st.Settings.HeatsLate() {
		work.Cells = append(work.Cells, w.heatedWork(st, r))
		return work
	}
	if r.Kept {
		work.Cells = append(work.Cells, WorkCell{
			Name: w.Rich("work.rescaled"), Now: true,
			Sum: rich(terms.Prob(r.P), " / ", terms.Prob(st.Mass), " = ", bold(terms.Prob(r.Q))),
		})
		return work
	}
	work.Cells = append(
		work.Cells,
		WorkCell{Name: w.Rich("cut.by", "rule", w.Rule(r.CutBy)), Sum: w.whyCut(s, st, r), Now: true},
	)
	return work
}

// heatedWork shows the probability of drawing a kept token if the temperature comes after a rule
// that cuts. It is p to the power 1/T, rescaled.
func (w Words) heatedWork(st infer.Filter, r infer.Row) WorkCell {
	t := st.Settings.Temperature
	power := math.Pow(r.P, 1/t)
	sum := ""
	if r.Q > 0 {
		sum = terms.Prob(power / r.Q)
	}
	return WorkCell{Name: w.Rich("work.heated", "t", terms.Setting(t)), Now: true, Sum: rich(
		terms.Prob(r.P), sup("1/"+terms.Setting(t)), " / ", sum, " = ", bold(terms.Prob(r.Q)),
	)}
}

// whyCut returns the calculation by which a row was cut.
func (w Words) whyCut(s *session.State, st infer.Filter, r infer.Row) Rich {
	why := s.Dist.Why(r.Rank - 1)
	key := "why." + string(why.Rule)
	switch {
	case why.Rule == sampling.RuleNone:
		key = "why.greedy"
	case math.IsInf(why.Value, 1), math.IsInf(why.Surprise, 1):
		key = "why.zero"
	}
	x, _ := st.Settings.Value(why.Rule.Knob())
	first := ""
	if x > 0 {
		first = terms.Prob(why.Bound / x) // probability of the first token, for min-p
	}
	return w.Rich(
		key, "value", measured(why.Unit, why.Value), "bound", bold(measured(why.Unit, why.Bound)),
		"x", terms.Setting(x), "limit", bold(terms.Setting(why.Bound)), "first", first,
		"surprise", four(why.Surprise), "mean", four(why.Mean),
	)
}

// measured formats the value that a rule measured.
func measured(unit sampling.Unit, x float64) string {
	switch unit {
	case sampling.UnitRank:
		return terms.Count(int(x))
	case sampling.UnitProbability:
		return terms.Prob(x)
	}
	return four(x)
}

// laidWork shows the position of a row's segment, which does not depend on u.
func (w Words) laidWork(s *session.State, f infer.Filter, soft infer.Softmax, r infer.Row) *Work {
	if !r.Kept {
		work := w.filterWork(s, f, soft, r)
		work.Cells = append(work.Cells[2:], WorkCell{Name: w.Rich("work.draw"), Sum: w.Rich("work.draw.none")})
		return work
	}
	from, to := s.Dist.Segment(r.Rank - 1)
	return &Work{Token: TokenText(r.Token), Cells: []WorkCell{
		{Name: w.Rich("work.starts"), Sum: w.startsAt(f, place(s, r.Rank), from)},
		{
			Name: w.Rich("work.ends"), Sum: rich(terms.Prob(from), " + ", terms.Prob(r.Q), " = ", terms.Prob(to)),
			Now: true,
		},
	}}
}

func (w Words) drawWork(s *session.State, st infer.Sample, f infer.Filter, soft infer.Softmax, r infer.Row) *Work {
	work := w.laidWork(s, f, soft, r)
	if !r.Kept {
		return work
	}
	work.Pick, work.Cells[1].Now = r.ID == st.Chosen.ID, false
	from, to := s.Dist.Segment(r.Rank - 1)
	if st.Greedy {
		work.Cells = append(
			work.Cells, WorkCell{Name: w.Rich("work.nodraw"), Sum: w.Rich("work.nodraw.sum"), Now: true},
		)
		return work
	}
	land := WorkCell{
		Name: w.Rich("work.inside"), Sum: rich(terms.Prob(from), " ≤ ", bold(terms.Prob(st.U)), " < ", terms.Prob(to)),
		Now: true,
	}
	switch {
	case st.U < from:
		land = WorkCell{Name: w.Rich("work.before"), Sum: rich(bold(terms.Prob(st.U)), " < ", terms.Prob(from))}
	case s.Dist.Draw(st.U) != r.Rank-1:
		land = WorkCell{Name: w.Rich("work.after"), Sum: rich(bold(terms.Prob(st.U)), " ≥ ", terms.Prob(to))}
	}
	likely := WorkCell{
		Name: w.Rich("work.loses", "token", TokenText(st.Likely.Token)), Sum: rich(w.draws(1 - st.Likely.Q)),
	}
	if !st.Likely.Kept {
		likely = WorkCell{
			Name: w.Rich("work.likeliest.cut", "token", TokenText(st.Likely.Token)),
			Sum:  w.Rich("by", "rule", w.Rule(st.Likely.CutBy)),
		}
	}
	work.Cells = append(work.Cells, land, likely)
	return work
}

// startsAt shows the sum of the segments before the one at the given position, counted from 1 among
// the kept tokens. If there are only a few, it lists each of them.
func (w Words) startsAt(f infer.Filter, place int, from float64) Rich {
	kept := adjacent(f.Rows.Rows, true)
	switch {
	case place == 1:
		return rich("0")
	case place > 3 || len(kept) < place:
		return w.Rich("work.sum", "n", terms.Count(place-1), "sum", terms.Prob(from))
	}
	sum := terms.Prob(kept[0].Q)
	for _, before := range kept[1 : place-1] {
		sum += " + " + terms.Prob(before.Q)
	}
	if place == 2 {
		return rich(sum)
	}
	return rich(sum, " = ", terms.Prob(from))
}

// draws describes how often something with probability p happens.
func (w Words) draws(p float64) string {
	n := int(math.Round(p * 100))
	switch {
	case p <= 0:
		return w.T("draws.none")
	case n == 0:
		return w.T("draws.fewer")
	case n == 100:
		return w.T("draws.more")
	}
	return w.T("draws", "draws", w.Counted(n, "draw"))
}
