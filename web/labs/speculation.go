package labs

import (
	"fmt"
	"math"

	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/plots"
	"github.com/tokenbytoken/viz/web/guess"
	"github.com/tokenbytoken/viz/web/stage"
)

// shownRounds is the number of rounds that the page shows. The raw rows contain all rounds.
const shownRounds = 12

var _ = drawGuess(show("speculation", speculationSections, speedOfDraft, guess.Question{
	Ask: "labs.speculation.ask",
	Choices: []guess.Choice{
		{Key: "slower", Text: "labs.speculation.choice.longer"},
		{Key: "same", Text: "labs.speculation.choice.same"},
		{Key: "faster", Text: "labs.speculation.choice.less"},
		{Key: "much", Text: "labs.speculation.choice.much"},
	},
}), "speculation", guessBars{
	title: "labs.speculation.guess", whole: "labs.speculation.guess.whole", words: inPercent,
	caption: "labs.speculation.guess.caption",
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

func speculationSections(w stage.Words, s *lab.Speculation) []section {
	var list []section
	if len(s.Rounds) > 0 {
		rounds, verdicts := roundsOf(w, s)
		list = append(list, section{
			ID: "rounds", Title: w.T("labs.speculation.rounds"),
			Small: w.T("labs.speculation.rounds.small", "n", fmt.Sprint(s.Gamma)),
			Say:   w.Rich("labs.speculation.rounds.say"),
			Body:  roundsView(rounds, verdicts),
		})
	}
	if len(s.PlainLane) > 0 && len(s.SpecLane) > 0 {
		list = append(list, section{
			ID: "race", Title: w.T("labs.speculation.race"), Caption: w.T("labs.speculation.race.caption"),
			Say: w.Rich("labs.speculation.race.say", "target", s.Target, "draft", s.Draft),
		}.charted(plots.Race(w.Language, came(s.PlainLane), came(s.SpecLane))))
	}
	if len(s.Gammas) > 0 {
		list = append(list, gammaSections(w, s)...)
	}
	if s.Acceptance.Judged > 0 {
		list = append(list, acceptanceSections(w, s)...)
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

func gammaSections(w stage.Words, s *lab.Speculation) []section {
	var pass []plots.PerPass
	var saved []plots.Saved
	var plain lab.GammaRow
	g := newGrid(
		w, "labs.speculation.gammas.grid.", "gamma", "passes", "passes_saved", "ms", "ms_saved", "speed", "formula",
		"alpha",
		"c", "v",
	)
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
		g.Rows = append(g.Rows, gammaCells(w, row))
	}
	return []section{
		section{
			ID: "saved", Title: w.T("labs.speculation.saved"), Half: true,
			Caption: w.T("labs.speculation.saved.caption"), Say: stage.Rich{{S: s.Say.In(w.Language)}},
		}.charted(plots.TimeSaved(w.Language, saved)),
		section{
			ID: "per-pass", Title: w.T("labs.speculation.per_pass"), Half: true,
			Caption: w.T("labs.speculation.per_pass.caption"), Say: w.Rich("labs.speculation.per_pass.say"),
		}.charted(plots.TokensPerPass(w.Language, pass)),
		{ID: "gammas", Title: w.T("labs.speculation.gammas"), Numbers: table(g)},
	}
}

func gammaCells(w stage.Words, r lab.GammaRow) []string {
	if r.Gamma == 0 {
		return []string{
			w.T("labs.speculation.gammas.none"), terms.Count(r.Passes), "", spreadText(w, r.Ms), "", "",
			"", "", "", "",
		}
	}
	return []string{
		terms.Count(r.Gamma), terms.Count(r.Passes), terms.Count(r.PassesSaved), spreadText(w, r.Ms),
		terms.Measured(r.MsSaved),
		terms.Decimals(r.SpeedUp, 2) + "×", terms.Decimals(r.Predicted, 2) + "×", terms.Decimals(r.Alpha, 2),
		terms.Decimals(r.C, 2), terms.Decimals(r.V, 2),
	}
}

func acceptanceSections(w stage.Words, s *lab.Speculation) []section {
	a := s.Acceptance
	places := newGrid(w, "labs.speculation.places.", "place", "judged", "accepted", "share")
	for _, p := range a.ByPlace {
		places.Rows = append(
			places.Rows,
			[]string{
				terms.Count(p.Position), terms.Count(p.Judged), terms.Count(p.Accepted), terms.Decimals(p.Rate, 2),
			},
		)
	}
	gap := newGrid(w, "labs.speculation.gap.", "", "tokens")
	gap.Rows = [][]string{
		{w.T("labs.speculation.gap.independent"), terms.Decimals(a.Expected, 3)},
		{w.T("labs.speculation.gap.dependent"), terms.Decimals(a.Dependence, 3)},
		{w.T("labs.speculation.gap.short"), terms.Decimals(a.Short, 3)},
		{w.T("labs.speculation.gap.measured"), terms.Decimals(a.PerPass, 3)},
	}
	gap.Now = len(gap.Rows)
	list := []section{
		{
			ID: "acceptance", Title: w.T("labs.speculation.acceptance"), Half: true,
			Say: w.Rich("labs.speculation.acceptance.say", "alpha", terms.Decimals(a.Alpha, 3),
				"accepted", terms.Count(a.Accepted), "judged", terms.Count(a.Judged), "why", a.Say.In(w.Language),
				"x", accent),
			Numbers: tables(gap, places),
		},
	}
	if c := s.Costs; c.StepMs.Median > 0 {
		list = append(list, section{
			ID: "costs", Title: w.T("labs.speculation.costs"), Half: true,
			Say:     w.Rich("labs.speculation.costs.say", "times", terms.Decimals(c.SpeedUp, 2), "x", accent),
			Numbers: table(costsGrid(w, c)),
		})
	}
	if y := s.Synthetic; y.Rounds > 0 {
		list = append(list, section{
			ID: "synthetic", Title: w.T("labs.speculation.synthetic"),
			Say: w.Rich("labs.speculation.synthetic.say", "alpha", terms.Decimals(y.Alpha, 4),
				"measured", terms.Decimals(y.Measured, 4), "rounds", terms.Count(y.Rounds),
				"tokens", terms.Decimals(y.PerPass, 4), "expected", terms.Decimals(y.Expected, 4),
				"off", terms.PercentTo(y.Off, 2), "distance", terms.Decimals(y.Distance, 4),
				"plain", terms.Decimals(y.DistanceExpected, 4), "x", accent),
		})
	}
	return list
}

// costsGrid returns the table of the costs from which c and v are computed.
func costsGrid(w stage.Words, c lab.SpecCosts) grid {
	g := newGrid(w, "labs.speculation.costs.grid.", "", "ms", "steps", "work")
	g.Rows = [][]string{
		{w.T("labs.speculation.costs.target"), spreadText(w, c.StepMs), "1", "1"},
		{
			w.T("labs.speculation.costs.draft"), spreadText(w, c.DraftMs), terms.Decimals(c.C, 3),
			terms.Decimals(c.Counted.C, 3),
		},
		{
			w.T("labs.speculation.costs.check"), spreadText(w, c.VerifyMs), terms.Decimals(c.V, 3),
			terms.Decimals(c.Counted.V, 3),
		},
	}
	return g
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
func roundsOf(w stage.Words, s *lab.Speculation) (list []roundView, verdicts int) {
	for _, r := range s.Rounds[:min(shownRounds, len(s.Rounds))] {
		v := roundView{
			N: r.Round, Times: w.T("labs.round.times", "draft", ms(w, r.DraftMs), "check", ms(w, r.VerifyMs)),
		}
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
		v.Say = w.T("labs.round.accepted", "n", fmt.Sprint(taken), "all", fmt.Sprint(len(r.Judged)+len(r.Unjudged)))
		for i := range v.Judged {
			verdicts++
			v.Judged[i].N, v.Judged[i].Say = verdicts, v.Judged[i].sentence(w)
		}
		list = append(list, v)
	}
	return list, verdicts
}

// sentence returns a verdict as a sentence.
func (j judgedView) sentence(w stage.Words) string {
	key := "labs.round.say." + j.Verdict
	if j.UAt == "" && (j.Verdict == "taken" || j.Verdict == "refused") { // greedy does not draw a u
		key += ".greedy"
	}
	return w.T(key, "token", j.Token.String(), "q", j.Q, "p", j.P, "u", j.U, "chance", j.Chance)
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

// bestSpeed returns the speedup that the draft achieves at the best γ, or 0 if none was tried.
func bestSpeed(s *lab.Speculation) float64 {
	best := 0.0
	for _, g := range s.Gammas {
		if g.Gamma > 0 {
			best = max(best, g.SpeedUp)
		}
	}
	return best
}

func speedOfDraft(w stage.Words, s *lab.Speculation) (string, string, bool) {
	best := bestSpeed(s)
	if best == 0 {
		return "", "", false
	}
	key := guess.Among(best, []float64{0.95, 1.05, 1.5}, "slower", "same", "faster", "much")
	return key, w.T("labs.speculation.found", "times", terms.Decimals(best, 2)), true
}
