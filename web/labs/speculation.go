package labs

import (
	"fmt"
	"math"

	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/plots"
	"github.com/tokenbytoken/viz/web/stage"
)

// shownRounds is the number of rounds that the page shows. The raw rows contain all rounds.
const shownRounds = 12

var _ = drawGuess(show("speculation", speculationSections, speedOfDraft, prediction{
	Ask: "With the draft, how long does the same text take on this machine?",
	Choices: []choice{
		{"slower", "longer"},
		{"same", "about as long"},
		{"faster", "a little less"},
		{"much", "less than two thirds"},
	},
}), "speculation", guessBars{
	title: "Time of the text with the draft", whole: "without it", words: terms.Percent,
	caption: "time for the same text; without the draft it is 100%",
	scale:   fixed(1, 2),
	ranges: map[string][2]float64{
		"slower": {1 / 0.95, math.Inf(1)}, "same": {1 / 1.05, 1 / 0.95}, "faster": {1 / 1.5, 1 / 1.05},
		"much": {0, 1 / 1.5},
	},
	found: func(result any) (float64, bool) {
		best := bestSpeed(result.(*lab.Speculation))
		return 1 / best, best > 0
	},
})

func speculationSections(s *lab.Speculation) []section {
	var list []section
	if len(s.Rounds) > 0 {
		rounds, verdicts := roundsOf(s)
		list = append(list, section{
			ID: "rounds", Title: "Round by round", Small: fmt.Sprintf("γ = %d", s.Gamma),
			Say: spans(
				"The draft proposes; the target checks all of a round in one pass. A proposal is accepted if u < " +
					"min(1, p / q). The first one refused is replaced by a draw from what p has more than q, and " +
					"what was proposed after it is dropped.",
			),
			Body: roundsView(rounds, verdicts),
		})
	}
	if len(s.PlainLane) > 0 && len(s.SpecLane) > 0 {
		list = append(list, section{
			ID: "race", Title: "Two lanes, one axis of time",
			Caption: "measured ms; tall light strokes are drafted tokens that were accepted",
			Say: spans(
				b(s.Target), " alone, and with ", b(s.Draft), " in front. Tokens of one round come together.",
			),
		}.charted(plots.Race(came(s.PlainLane), came(s.SpecLane))))
	}
	if len(s.Gammas) > 0 {
		list = append(list, gammaSections(s)...)
	}
	if s.Acceptance.Judged > 0 {
		list = append(list, acceptanceSections(s)...)
	}
	return list
}

func came(lane []lab.SpecTime) []plots.Came {
	list := make([]plots.Came, len(lane))
	for i, t := range lane {
		list[i] = plots.Came{At: t.At, From: t.From}
	}
	return list
}

func gammaSections(s *lab.Speculation) []section {
	var pass []plots.PerPass
	var saved []plots.Saved
	var plain lab.GammaRow
	g := grid{
		Caption: "Each γ",
		Head:    []string{"γ", "passes", "passes saved", "ms", "ms saved", "speed-up", "formula", "α", "c", "v"},
	}
	for i, row := range s.Gammas {
		if row.Gamma == 0 {
			plain = row
		} else {
			pass = append(pass, plots.PerPass{Gamma: row.Gamma, Measured: row.PerPass, Expected: row.Expected})
			saved = append(
				saved,
				plots.Saved{
					Gamma: row.Gamma, Passes: row.PassesSaved, Ms: row.MsSaved, PlainP: plain.Passes,
					PlainT: plain.Ms.Median,
				},
			)
		}
		if row.Gamma == s.BestGamma && row.Gamma > 0 {
			g.Now = i + 1
		}
		g.Rows = append(g.Rows, gammaCells(row))
	}
	return []section{
		section{
			ID: "saved", Title: "Time saved", Half: true,
			Caption: "measured ms against the target alone, for as many tokens", Say: spans(s.Say),
		}.charted(plots.TimeSaved(saved)),
		section{
			ID: "per-pass", Title: "Passes saved", Half: true,
			Caption: "tokens in each pass of the target; E(α, γ) = (1 − α^(γ+1)) / (1 − α)",
			Say: spans(
				"Passes saved and time saved are two numbers: a draft’s passes and a longer check cost time too.",
			),
		}.charted(plots.TokensPerPass(pass)),
		{ID: "gammas", Title: "Every γ", Numbers: table(g)},
	}
}

func gammaCells(r lab.GammaRow) []string {
	if r.Gamma == 0 {
		return []string{"no draft", terms.Count(r.Passes), "", spreadText(r.Ms), "", "", "", "", "", ""}
	}
	return []string{
		terms.Count(r.Gamma), terms.Count(r.Passes), terms.Count(r.PassesSaved), spreadText(r.Ms),
		terms.Measured(r.MsSaved),
		terms.Decimals(r.SpeedUp, 2) + "×", terms.Decimals(r.Predicted, 2) + "×", terms.Decimals(r.Alpha, 2),
		terms.Decimals(r.C, 2), terms.Decimals(r.V, 2),
	}
}

func acceptanceSections(s *lab.Speculation) []section {
	a := s.Acceptance
	places := grid{Caption: "Acceptance by place", Head: []string{"place in the round", "judged", "accepted", "share"}}
	for _, p := range a.ByPlace {
		places.Rows = append(
			places.Rows,
			[]string{
				terms.Count(p.Position), terms.Count(p.Judged), terms.Count(p.Accepted), terms.Decimals(p.Rate, 2),
			},
		)
	}
	gap := grid{Caption: "Tokens in each pass", Head: []string{"", "tokens"}, Rows: [][]string{
		{"E(α, γ), if acceptance were independent", terms.Decimals(a.Expected, 3)},
		{"acceptance differs from place to place", terms.Decimals(a.Dependence, 3)},
		{"rounds cut short by the end", terms.Decimals(a.Short, 3)},
		{"measured", terms.Decimals(a.PerPass, 3)},
	}, Now: 4}
	list := []section{
		{
			ID: "acceptance", Title: "Where the gap comes from", Half: true,
			Say: spans(
				"α = ", x(terms.Decimals(a.Alpha, 3)), ": ", b(terms.Count(a.Accepted)), " of ",
				b(terms.Count(a.Judged)),
				" judged were accepted. "+a.Say,
			),
			Numbers: tables(gap, places),
		},
	}
	if c := s.Costs; c.StepMs.Median > 0 {
		list = append(list, section{
			ID: "costs", Title: "What a draft costs", Half: true,
			Say: spans(
				"c is a draft’s step and v a check of γ + 1 positions, both in steps of the target. With the "+
					"measured α, c and v the formula E / (γ·c + v) gives ",
				x(terms.Decimals(c.SpeedUp, 2)+"×"), ".",
			),
			Numbers: table(grid{Caption: "Measured costs", Head: []string{
				"", "ms", "in target steps", "by multiply-adds",
			}, Rows: [][]string{
				{"target, one step", spreadText(c.StepMs), "1", "1"},
				{"draft, one step: c", spreadText(c.DraftMs), terms.Decimals(c.C, 3), terms.Decimals(c.Counted.C, 3)},
				{
					"target, one check: v", spreadText(c.VerifyMs), terms.Decimals(c.V, 3),
					terms.Decimals(c.Counted.V, 3),
				},
			}}),
		})
	}
	if y := s.Synthetic; y.Rounds > 0 {
		list = append(list, section{
			ID: "synthetic", Title: "A pair whose acceptance is independent",
			Say: spans("What the two models say after the prompt, at T = 1 with nothing cut, taken for every "+
				"position: acceptance is independent then. α must be ", b(terms.Decimals(y.Alpha, 4)),
				" and is ", b(terms.Decimals(y.Measured, 4)), " over ", b(terms.Count(y.Rounds)),
				" rounds. A pass brings ", b(terms.Decimals(y.PerPass, 4)), " tokens; E(α, γ) is ",
				b(terms.Decimals(y.Expected, 4)), ": ", x(terms.PercentTo(y.Off, 2)+" off."),
				" The tokens that come out lie "+terms.Decimals(y.Distance, 4)+" from the target’s distribution; "+
					"as many plain draws would lie "+terms.Decimals(y.DistanceExpected, 4)+" away."),
		})
	}
	return list
}

// A roundView is one round in the form of a table.
type roundView struct {
	N      int
	Say    string
	Judged []judgedView
	Times  string
}

// A judgedView shows a proposal and its verdict.
type judgedView struct {
	Token           stage.Text
	Q, P, Chance, U string
	ChanceW, UAt    string // as SVG lengths
	Verdict         string // "taken", "refused", "dropped", "correction", "bonus"
	N               int    // number among all verdicts shown, from 1
	Say             string
}

// roundsOf returns the rounds to show and the total number of verdicts in them.
func roundsOf(s *lab.Speculation) (list []roundView, verdicts int) {
	for _, r := range s.Rounds[:min(shownRounds, len(s.Rounds))] {
		v := roundView{N: r.Round, Times: fmt.Sprintf("draft %s, check %s", ms(r.DraftMs), ms(r.VerifyMs))}
		taken := 0
		for _, j := range r.Judged {
			row := judgedView{
				Token: marked(j.Token), Q: terms.Prob(j.Q), P: terms.Prob(j.P), Chance: terms.Prob(j.Chance), U: "–",
				ChanceW: stage.Share(j.Chance), Verdict: "refused",
			}
			if j.U != nil {
				row.U, row.UAt = terms.Decimals(*j.U, 4), stage.Share(*j.U)
			}
			if j.Accepted {
				row.Verdict = "taken"
				taken++
			}
			v.Judged = append(v.Judged, row)
		}
		for _, t := range r.Unjudged {
			v.Judged = append(v.Judged, judgedView{Token: marked(t), Verdict: "dropped"})
		}
		if l := r.Last; l != nil {
			v.Judged = append(v.Judged, lastView(l))
		}
		v.Say = fmt.Sprintf("%d of %d accepted", taken, len(r.Judged)+len(r.Unjudged))
		for i := range v.Judged {
			verdicts++
			v.Judged[i].N, v.Judged[i].Say = verdicts, v.Judged[i].sentence()
		}
		list = append(list, v)
	}
	return list, verdicts
}

// sentence returns a verdict as a sentence.
func (j judgedView) sentence() string {
	token := "“" + j.Token.String() + "”"
	switch j.Verdict {
	case "taken", "refused":
		less := map[string]string{"taken": "is below", "refused": "is not below"}[j.Verdict]
		if j.UAt == "" { // greedy does not draw a u
			return fmt.Sprintf("%s: q %s, p %s, min(1, p/q) = %s, so it is %s.", token, j.Q, j.P, j.Chance, j.Verdict)
		}
		return fmt.Sprintf(
			"%s: q %s, p %s. u = %s %s min(1, p/q) = %s, so it is %s.", token, j.Q, j.P, j.U, less, j.Chance, j.Verdict,
		)
	case "dropped":
		return token + ": proposed after a refused one, and dropped."
	case "correction":
		return token + ": drawn from what p has more than q, instead of the refused one."
	}
	return token + ": all were accepted, so the same pass gives one more, drawn from p."
}

func lastView(l *lab.SpecDrawn) judgedView {
	row := judgedView{Token: marked(l.Token), Q: terms.Prob(l.Q), P: terms.Prob(l.P), Verdict: "correction"}
	if l.Bonus {
		row.Verdict, row.Q = "bonus", ""
	}
	if l.U != nil {
		row.U = terms.Decimals(*l.U, 4)
	}
	return row
}

// bestSpeed returns the speedup from the draft at the best γ, or 0 if none was tried.
func bestSpeed(s *lab.Speculation) float64 {
	best := 0.0
	for _, g := range s.Gammas {
		if g.Gamma > 0 {
			best = max(best, g.SpeedUp)
		}
	}
	return best
}

func speedOfDraft(s *lab.Speculation) (string, string, bool) {
	best := bestSpeed(s)
	if best == 0 {
		return "", "", false
	}
	key := among(best, []float64{0.95, 1.05, 1.5}, "slower", "same", "faster", "much")
	return key, fmt.Sprintf("At the best γ the draft makes it %s times as fast.", terms.Decimals(best, 2)), true
}
