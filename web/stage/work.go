package stage

import (
	"math"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// Work is the worked line: how one row's numbers come about.
type Work struct {
	Name  string // instead of Token, where the line is not of a token
	Token Text
	Pick  bool
	Cells []WorkCell
}

// WorkCell is one sum of a worked line.
type WorkCell struct {
	Name Rich
	Sum  Rich
	Now  bool // of the stage shown
}

// Sums are written with four decimals, the logits too, so that a reader who
// works them again comes to the last digit shown, give or take one.
func four(x float64) string { return terms.Decimals(x, 4) }

func logitWork(st infer.Logits, r infer.Row) *Work {
	z, top := float64(r.Z), float64(st.Max)
	return &Work{Token: TokenText(r.Token), Cells: []WorkCell{
		{Name: say("z"), Sum: say("sum of " + terms.Count(st.Width) + " products = " + four(z))},
		{Name: say("behind the first"), Sum: say(four(top), " − ", bracket(z), " = ", bold(four(top-z))), Now: true},
		{
			Name: say("ahead of the last"),
			Sum:  say(four(z), " − ", bracket(float64(st.Min)), " = ", four(z-float64(st.Min))),
		},
	}}
}

// bracket puts a negative number in brackets after a minus sign.
func bracket(x float64) string {
	if s := four(x); strings.HasPrefix(s, terms.Minus) {
		return "(" + s + ")"
	} else {
		return s
	}
}

// expName is the formula e^{z/T − max}.
func expName() Rich { return say("e", sup("z/T − max")) }

// softmaxWork works one row up to p; now marks its last cell as the stage's.
func softmaxWork(st infer.Softmax, r infer.Row, now bool) *Work {
	t := st.Temperature
	if t == 0 {
		t = 1
	}
	maxZT := st.MaxZ / t
	zt := float64(r.Z) / t
	p := say(terms.Prob(r.E), " / ", four(st.SumExp), " = ", Span{S: terms.Prob(r.P), Style: boldIf(now)})
	return &Work{Token: TokenText(r.Token), Cells: []WorkCell{
		{Name: say("z / T"), Sum: say(four(float64(r.Z)), " / ", terms.Setting(t), " = ", four(zt))},
		{Name: expName(), Sum: say("e", sup(four(zt)+" − "+bracket(maxZT)), " = ", terms.Prob(r.E))},
		{Name: say("p = e / Σe"), Sum: p, Now: now},
	}}
}

func boldIf(b bool) Style {
	if b {
		return Bold
	}
	return Plain
}

func filterWork(s *session.State, st infer.Filter, soft infer.Softmax, r infer.Row) *Work {
	w := softmaxWork(soft, r, false)
	if r.Kept {
		w.Cells = append(w.Cells, WorkCell{
			Name: say("p′ = p / mass kept"), Now: true,
			Sum: say(terms.Prob(r.P), " / ", terms.Prob(st.Mass), " = ", bold(terms.Prob(r.Q))),
		})
		return w
	}
	w.Cells = append(w.Cells, WorkCell{Name: say("cut by " + r.CutBy.Name()), Sum: whyCut(s, st, r), Now: true})
	return w
}

// whyCut is the sum that cut a row.
func whyCut(s *session.State, st infer.Filter, r infer.Row) Rich {
	why := s.Dist.Why(r.Rank - 1)
	switch why.Rule {
	case sampling.RuleTopK:
		return say("rank ", terms.Count(r.Rank), " > ", bold(terms.Count(st.Settings.TopK)))
	case sampling.RuleTopP:
		return say("Σ p before it ", terms.Prob(why.Value), " ≥ ", bold(terms.Setting(why.Bound)))
	case sampling.RuleMinP:
		return say(
			terms.Prob(why.Value), " < ", terms.Setting(st.Settings.MinP), " × ", terms.Prob(st.Rows.Rows[0].P), " = ",
			bold(terms.Prob(why.Bound)),
		)
	case sampling.RuleTypicalP:
		if math.IsInf(why.Surprise, 1) {
			return say("p is too small to be told from 0")
		}
		return say(
			"|−ln p − average| = |", four(why.Surprise), " − ", four(why.Mean), "| = ", four(why.Value),
			"; the last one kept is ", bold(four(why.Bound)), " away",
		)
	}
	return say("not the highest score")
}

func drawWork(s *session.State, st infer.Sample, f infer.Filter, soft infer.Softmax, r infer.Row) *Work {
	if !r.Kept {
		w := filterWork(s, f, soft, r)
		w.Cells = append(w.Cells[2:], WorkCell{Name: say("in the draw"), Sum: say("no segment")})
		return w
	}
	w := &Work{Token: TokenText(r.Token), Pick: r.ID == st.Chosen.ID}
	from, to := s.Dist.Segment(r.Rank - 1)
	w.Cells = []WorkCell{
		{Name: say("starts at"), Sum: startsAt(f, place(s, r.Rank), from)},
		{Name: say("ends at"), Sum: say(terms.Prob(from), " + ", terms.Prob(r.Q), " = ", terms.Prob(to))},
	}
	if st.Greedy {
		w.Cells = append(
			w.Cells, WorkCell{Name: say("no u is drawn"), Sum: say("the only token left is taken"), Now: true},
		)
		return w
	}
	land := WorkCell{
		Name: say("u lands inside"), Sum: say(terms.Prob(from), " ≤ ", bold(terms.Prob(st.U)), " < ", terms.Prob(to)),
		Now: true,
	}
	switch {
	case st.U < from:
		land = WorkCell{Name: say("u lands before it"), Sum: say(bold(terms.Prob(st.U)), " < ", terms.Prob(from))}
	case s.Dist.Draw(st.U) != r.Rank-1:
		land = WorkCell{Name: say("u lands after it"), Sum: say(bold(terms.Prob(st.U)), " ≥ ", terms.Prob(to))}
	}
	likely := WorkCell{
		Name: say("the likeliest, ", TokenText(st.Likely.Token), ", loses"), Sum: say(draws(1 - st.Likely.Q)),
	}
	if !st.Likely.Kept {
		likely = WorkCell{
			Name: say(
				"the likeliest, ", TokenText(st.Likely.Token), ", is cut",
			), Sum: say("by ", st.Likely.CutBy.Name()),
		}
	}
	w.Cells = append(w.Cells, land, likely)
	return w
}

// startsAt adds up the segments before the one at a place among the kept tokens,
// from 1, one by one while they are few.
func startsAt(f infer.Filter, place int, from float64) Rich {
	kept := adjacent(f.Rows.Rows, true)
	switch {
	case place == 1:
		return say("0")
	case place > 3 || len(kept) < place:
		return say("Σ p′ of ", terms.Count(place-1), " before it = ", terms.Prob(from))
	}
	sum := terms.Prob(kept[0].Q)
	for _, before := range kept[1 : place-1] {
		sum += " + " + terms.Prob(before.Q)
	}
	if place == 2 {
		return say(sum)
	}
	return say(sum, " = ", terms.Prob(from))
}

// draws says how often something of probability p happens.
func draws(p float64) string {
	n := int(math.Round(p * 100))
	switch {
	case p <= 0:
		return "no draw"
	case n == 0:
		return "fewer than 1 draw in 100"
	case n == 100:
		return "more than 99 draws in 100"
	}
	return terms.Counted(n, "draw") + " in 100"
}
