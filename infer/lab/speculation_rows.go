package lab

import (
	"fmt"
	"slices"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/cost"
)

func (r *speculationRun) fillReport(to *Report) {
	if r.shown == nil || len(r.shown.rounds) == 0 {
		return
	}
	t := r.shown
	result := &Speculation{
		Target: r.target.Name(), Draft: r.draft.Name(), Gamma: t.gamma, Rounds: slices.Clip(t.rounds), Text: t.text,
		SpecLane: slices.Clip(t.lane), Acceptance: acceptance(t), Synthetic: r.synthetic,
	}
	timed := r.timed()
	result.spec(timed)
	var spreads []Spread
	if len(r.plain) > 0 {
		result.plain(r.plain, r.target)
		result.Costs = costs(timed, r.plain, r.target.Shape(), r.draft.Shape(), len(r.target.Encode(r.v["prompt"])))
		result.Costs.SpeedUp = cost.SpeedUp(result.Acceptance.Alpha, t.gamma, result.Costs.C, result.Costs.V)
		alone := aloneRow(r.plain)
		result.Gammas, spreads = []GammaRow{alone}, []Spread{alone.Ms}
		for i, gamma := range r.gammas {
			if len(r.texts[i]) > 0 {
				row := gammaRow(gamma, r.texts[i], alone, result.Costs.StepMs.Median)
				result.Gammas, spreads = append(result.Gammas, row), append(spreads, row.Ms)
			}
		}
	}
	result.sum()
	to.Result, to.Noise = result, noise(spreads)
}

// plain fills in the text that the target alone generates, with each token at its median time.
func (s *Speculation) plain(texts []plainText, m *infer.Model) {
	for i, id := range texts[0].ids {
		var at []time.Duration
		for _, t := range texts {
			at = append(at, t.at[i])
		}
		token := tokenOf(m, id)
		s.PlainLane = append(
			s.PlainLane, SpecTime{Step: i + 1, Token: token, At: spreadOfTimes(at).Median, From: "target"},
		)
		if !token.Special {
			s.Plain += token.Text
		}
	}
}

// timed returns the texts whose times are used for the text shown: its repeats, which were
// interleaved with the other measurements, or the text itself if there are no repeats yet. The
// times of the text itself are less typical, because it was generated first, with cold memory.
func (r *speculationRun) timed() []*specText {
	if at := slices.Index(r.gammas, r.shown.gamma); at >= 0 && len(r.texts[at]) > 0 {
		return r.texts[at]
	}
	return []*specText{r.shown}
}

// spec sets the times of each token and each round of the text shown to their medians.
func (s *Speculation) spec(texts []*specText) {
	median := func(of func(*specText) float64) float64 {
		var list []float64
		for _, t := range texts {
			list = append(list, of(t))
		}
		return spreadOf(list).Median
	}
	s.SpecLane, s.Rounds = slices.Clone(s.SpecLane), slices.Clone(s.Rounds)
	for i := range s.SpecLane {
		s.SpecLane[i].At = median(func(t *specText) float64 { return t.lane[i].At })
	}
	for i := range s.Rounds {
		s.Rounds[i].DraftMs = median(func(t *specText) float64 { return t.rounds[i].DraftMs })
		s.Rounds[i].VerifyMs = median(func(t *specText) float64 { return t.rounds[i].VerifyMs })
	}
}

// acceptance summarizes a text's verdicts, and splits the gap between PerPass and E(α, γ) by cause.
func acceptance(t *specText) Acceptance {
	a := Acceptance{
		Proposed: t.totals.Drafted, Judged: t.totals.Judged, Accepted: t.totals.Accepted, Alpha: t.totals.Acceptance(),
		PerPass: t.totals.TokensPerPass(), AllRounds: len(t.rounds),
	}
	places := make([]PlaceRate, t.gamma)
	inFull := 0
	for i, r := range t.rounds {
		for place, j := range r.Judged {
			places[place].Judged++
			if j.Accepted {
				places[place].Accepted++
			}
		}
		if t.full[i] {
			a.FullRounds++
			inFull++ // the correction or bonus
			for _, j := range r.Judged {
				if j.Accepted {
					inFull++
				}
			}
		}
	}
	for i := range places {
		places[i].Position, places[i].Rate = i+1, ratio(places[i].Accepted, places[i].Judged)
	}
	a.ByPlace = places
	a.Expected = cost.ExpectedTokens(a.Alpha, t.gamma)
	a.Gap = a.PerPass - a.Expected
	if a.FullRounds > 0 {
		whole := ratio(inFull, a.FullRounds)
		a.Dependence, a.Short = whole-a.Expected, a.PerPass-whole
	} else {
		a.Short = a.Gap
	}
	a.Say = a.sentence()
	return a
}

func (a Acceptance) sentence() Phrase {
	short := a.AllRounds - a.FullRounds
	with := []any{
		"tokens", fmt.Sprintf("%.2f", a.PerPass), "alpha", fmt.Sprintf("%.3f", a.Alpha),
		"expected", fmt.Sprintf("%.2f", a.Expected), "gap", signed(a.Gap), "dependence", signed(a.Dependence),
		"short", signed(a.Short), "rounds", fmt.Sprint(short), "all", fmt.Sprint(a.AllRounds),
	}
	switch {
	case a.FullRounds > 0 && short > 0:
		return Text("lab.speculation.acceptance.both", with...)
	case a.FullRounds > 0:
		return Text("lab.speculation.acceptance.dependence", with...)
	case short > 0:
		return Text("lab.speculation.acceptance.short", with...)
	}
	return Text("lab.speculation.acceptance", with...)
}

// costs returns c and v as measured, and as they would be if time were proportional to
// multiply-adds, with the target attending to `at` positions.
func costs(texts []*specText, plain []plainText, target, draft cost.Shape, at int) SpecCosts {
	var steps []time.Duration
	for _, p := range plain {
		steps = append(steps, p.steps...)
	}
	var drafting, verifying []time.Duration
	for _, t := range texts {
		drafting, verifying = append(drafting, t.draft...), append(verifying, t.verify...)
	}
	c := SpecCosts{StepMs: spreadOfTimes(steps), DraftMs: spreadOfTimes(drafting), VerifyMs: spreadOfTimes(verifying)}
	c.C, c.V = finiteOr(c.DraftMs.Median/c.StepMs.Median, 0), finiteOr(c.VerifyMs.Median/c.StepMs.Median, 0)
	step := float64(target.Step(at).Total())
	verify := target.Blocks(at-1, texts[0].gamma+1)
	verify.Output = int64(texts[0].gamma+1) * target.Output().Total()
	c.Counted = Counted{C: float64(draft.Step(at).Total()) / step, V: float64(verify.Total()) / step}
	return c
}

// aloneRow returns the row for the target without a draft.
func aloneRow(texts []plainText) GammaRow {
	var took, passes []time.Duration
	for _, t := range texts {
		took = append(took, t.took)
		sum := time.Duration(0)
		for _, s := range t.steps {
			sum += s
		}
		passes = append(passes, sum)
	}
	n := len(texts[0].ids)
	row := GammaRow{
		Tokens: n, Passes: n, Ms: spreadOfTimes(took), SpeedUp: 1, Predicted: 1, PerPass: 1, Expected: 1, V: 1,
	}
	row.PerToken = row.Ms.Median / float64(n)
	row.VerifyMs = spreadOfTimes(passes).Median
	row.OtherMs = row.Ms.Median - row.VerifyMs
	return row
}

// gammaRow summarizes the repeats for one γ, all of which generate the same text.
func gammaRow(gamma int, texts []*specText, alone GammaRow, step float64) GammaRow {
	var took, drafting, verifying []time.Duration
	for _, t := range texts {
		took = append(took, t.took)
		drafting, verifying = append(drafting, t.totals.Draft.Took), append(verifying, t.totals.Target.Took)
	}
	totals := texts[0].totals
	row := GammaRow{
		Gamma: gamma, Tokens: totals.Generated, Passes: totals.Rounds, PassesSaved: totals.Generated - totals.Rounds,
		Ms: spreadOfTimes(took), Alpha: totals.Acceptance(), PerPass: totals.TokensPerPass(),
		DraftMs: spreadOfTimes(drafting).Median, VerifyMs: spreadOfTimes(verifying).Median,
	}
	row.Expected = cost.ExpectedTokens(row.Alpha, gamma)
	row.PerToken = row.Ms.Median / float64(row.Tokens)
	row.OtherMs = row.Ms.Median - row.DraftMs - row.VerifyMs
	row.MsSaved = (alone.PerToken - row.PerToken) * float64(row.Tokens)
	row.SpeedUp = finiteOr(alone.PerToken/row.PerToken, 0)
	if totals.Draft.Passes > 0 {
		row.C = finiteOr(row.DraftMs/float64(totals.Draft.Passes)/step, 0)
	}
	row.V = finiteOr(row.VerifyMs/float64(row.Passes)/step, 0)
	row.Predicted = finiteOr(cost.SpeedUp(row.Alpha, gamma, row.C, row.V), 0)
	return row
}

// sum summarizes the result in words.
func (s *Speculation) sum() {
	if len(s.Gammas) < 2 {
		return
	}
	best := s.Gammas[0]
	for _, g := range s.Gammas[1:] {
		if g.PerToken < best.PerToken {
			best = g
		}
	}
	most := slices.MaxFunc(s.Gammas, func(a, b GammaRow) int { return a.PassesSaved - b.PassesSaved })
	s.BestGamma = best.Gamma
	three := func(x float64) string { return fmt.Sprintf("%.3f", x) }
	with := []any{
		"most", fmt.Sprint(most.Gamma), "saved", fmt.Sprint(most.PassesSaved), "of", fmt.Sprint(most.Tokens),
		"alone", three(s.Gammas[0].PerToken),
	}
	if best.Gamma == 0 {
		near := slices.MinFunc(s.Gammas[1:], func(a, b GammaRow) int {
			if a.PerToken < b.PerToken {
				return -1
			}
			return 1
		})
		with = append(with, "near", fmt.Sprint(near.Gamma), "ms", three(near.PerToken))
		s.Say = Text("lab.speculation.say.slower", with...)
		return
	}
	with = append(with, "best", fmt.Sprint(best.Gamma), "ms", three(best.PerToken),
		"times", fmt.Sprintf("%.2f", best.SpeedUp))
	s.Say = Text("lab.speculation.say", with...)
}

// tables returns the raw rows.
func (s *Speculation) tables() []Table {
	gammas := Table{
		Name: "gammas", Title: Text("lab.speculation.gammas"),
		Columns: columns("γ", "", "tokens", "", "passes", "", "passes_saved", "", "time", "ms", "lower", "ms",
			"upper", "ms", "a_token", "ms", "time_saved", "ms",
			"speed_up", "", "E/(γc + v)", "", "α", "", "tokens_a_pass", "", "E(α, γ)", "", "c", "", "v", "", "draft",
			"ms", "verify", "ms", "rest", "ms"),
	}
	for _, g := range s.Gammas {
		gammas.add(
			g.Gamma, g.Tokens, g.Passes, g.PassesSaved, g.Ms.Median, g.Ms.Q1, g.Ms.Q3, g.PerToken, g.MsSaved, g.SpeedUp,
			g.Predicted, g.Alpha, g.PerPass, g.Expected, g.C, g.V, g.DraftMs, g.VerifyMs, g.OtherMs,
		)
	}
	judged := Table{
		Name: "proposals", Title: Text("lab.speculation.proposals", "n", fmt.Sprint(s.Gamma)),
		Columns: columns(
			"round", "", "step", "", "token", "", "by", "", "q", "", "p", "", "min(1, p/q)", "", "u", "", "outcome", "",
		),
	}
	outcome := func(is bool, yes, no string) Phrase {
		if is {
			return Text("lab.speculation.outcome." + yes)
		}
		return Text("lab.speculation.outcome." + no)
	}
	for _, r := range s.Rounds {
		for _, j := range r.Judged {
			judged.add(
				r.Round, j.Step, j.Token.Text, Text("lab.speculation.from.draft"), j.Q, j.P, j.Chance, uCell(j.U),
				outcome(j.Accepted, "accepted", "refused"),
			)
		}
		if d := r.Last; d != nil {
			judged.add(
				r.Round, d.Step, d.Token.Text, Text("lab.speculation.from.target"), d.Q, d.P, nil, uCell(d.U),
				outcome(d.Bonus, "bonus", "correction"),
			)
		}
	}
	places := Table{
		Name: "places", Title: Text("lab.speculation.places"),
		Columns: columns("place", "", "judged", "", "accepted", "", "share_accepted", ""),
	}
	for _, p := range s.Acceptance.ByPlace {
		places.add(p.Position, p.Judged, p.Accepted, p.Rate)
	}
	lanes := Table{
		Name: "lanes", Title: Text("lab.speculation.lanes"),
		Columns: columns("lane", "", "step", "", "token", "", "at", "ms", "origin", ""),
	}
	for _, x := range s.PlainLane {
		from := Text("lab.speculation.from." + x.From)
		lanes.add(Text("lab.speculation.lanes.alone"), x.Step, x.Token.Text, x.At, from)
	}
	for _, x := range s.SpecLane {
		from := Text("lab.speculation.from." + x.From)
		lanes.add(Text("lab.speculation.lanes.draft"), x.Step, x.Token.Text, x.At, from)
	}
	synthetic := Table{
		Name: "synthetic", Title: Text("lab.speculation.synthetic"),
		Columns: columns(
			"γ", "", "α", "", "measured_alpha", "", "rounds", "", "tokens_a_pass", "", "E(α, γ)", "", "off_by", "",
			"distance_to_p", "", "expected_distance", "",
		),
	}
	if x := s.Synthetic; x.Rounds > 0 {
		synthetic.add(
			x.Gamma, x.Alpha, x.Measured, x.Rounds, x.PerPass, x.Expected, x.Off, x.Distance, x.DistanceExpected,
		)
	}
	return []Table{gammas, judged, places, lanes, synthetic}
}

func uCell(u *float64) any {
	if u == nil {
		return nil
	}
	return *u
}
