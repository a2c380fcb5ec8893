package drill

import (
	"fmt"

	"github.com/tokenbytoken/viz/infer/terms"
)

func (w *work) run(p *Problem) {
	m, n := int64(w.prompt), int64(w.tokens)
	again, once := n*m+n*(n-1)/2, m+n-1
	ratio := float64(again) / float64(once)
	p.list(Step{
		ID: "run", Name: "A whole run", Note: terms.Count(n) + " tokens",
		Title: fmt.Sprintf("%s tokens after a prompt of %s", terms.Count(n), terms.Count(m)),
		Ask: "Count the positions that go through the layers, over the whole run. The last token is drawn and never " +
			"read.",
		Remark: "This, and not attention, is the larger part of what the cache saves.",
	},
		quantity{
			id: "again", name: "positions without the cache", how: "M + (M+1) + … + (M+N−1)", form: Count,
			unit: "positions", want: exactly(again),
			slips: []slip{
				wrong(
					OffByOne, n*m+n*(n+1)/2, "One step too far.",
					"The first pass reads M positions, the last M + N − 1: the last token is not read.",
				),
				wrong(Missing, n*m, "The text grows.", "Each pass reads one position more than the one before."),
				wrong(
					Missing, n*(m+n), "The text is not that long from the start.",
					"The first pass reads M positions, the last M + N − 1.",
				),
				wrong(OffByOne, n*m+n*n/2, "Nearly: n·(n−1)/2, not n²/2.", "0 + 1 + … + (N−1) = N·(N−1)/2."),
			},
			hints: [3]string{
				"How many positions does the first pass read? And the last?",
				"N passes of M positions, and 0 + 1 + … + (N−1) more: N·M + N·(N−1)/2.",
				terms.Count(n) + " × " + terms.Count(m) + " + " + terms.Count(n) + " × " + terms.Count(n-1) + " / 2.",
			},
			work: []Line{
				{
					"N passes, each one position longer.",
					terms.Count(n) + " × " + terms.Count(m) + " + " + terms.Count(n) + " × " + terms.Count(n-1) +
						" / 2",
					terms.Count(again),
				},
			},
		},
		quantity{
			id: "once", name: "positions with the cache", how: "M + N − 1", form: Count, unit: "positions",
			want: exactly(once),
			slips: []slip{
				wrong(
					OffByOne, m+n, "The last token is not read.", "It is drawn, and the run ends: one position less.",
				),
				wrong(Missing, n, "The prompt is missing.", "It goes through once."),
				wrong(Missing, n-1, "The prompt is missing.", "It goes through once."),
				wrong(OffByOne, m+n+1, "Two too many.", "The prompt once, then every token but the last."),
			},
			hints: [3]string{
				"How often does each position run?", "Once: the prompt, then every token but the last.",
				terms.Count(m) + " + " + terms.Count(n) + " − 1.",
			},
			work: []Line{
				{
					"Each position once, the last token not at all.", terms.Count(m) + " + " + terms.Count(n) + " − 1",
					terms.Count(once),
				},
			},
		},
		quantity{
			id: "ratio", name: "how many times as many", how: "without / with", form: Ratio, unit: "times",
			want: exactly(ratio),
			slips: []slip{
				{mistake: Swapped, value: 1 / ratio, title: "Upside down.", why: "The larger number goes on top."},
			},
			hints: [3]string{
				"Which is larger?", "Divide the one without by the one with.",
				terms.Count(again) + " / " + terms.Count(once) + ".",
			},
			work: []Line{{"Divide.", terms.Count(again) + " / " + terms.Count(once), Ratio.show(ratio)}},
		})
}

func (w *work) crossing(p *Problem) {
	fixed := w.Blocks(0, 1)
	constant := fixed.Projections + fixed.FeedForward + w.Output().Output
	slope := 2 * int64(w.Layers) * int64(w.Heads*w.HeadDim)
	at := float64(constant) / float64(slope)
	p.list(Step{
		ID: "crossing", Name: "Where they meet", Note: "attention = the rest",
		Title: "At how many positions does attention cost as much as all the rest?", Needs: []string{"cached"},
		Ask:    "Of one cached step: the part that grows with n against the constant part.",
		Remark: "Up to there a cached step looks nearly constant.",
	}, quantity{
		id: "n", name: "positions", how: "(L·A + d·V) / (2·L·h·s)", form: Ratio, unit: "positions", want: exactly(at),
		slips: []slip{
			{
				mistake: KeysAlone, value: 2 * at, title: "Half of attention is missing.",
				why: "It takes 2·L·h·s for each position.",
			},
			{
				mistake: LeftOut, value: float64(fixed.Projections+fixed.FeedForward) / float64(slope),
				title: "The scores are missing.",
				why:   "The constant part is L·A + d·V = " + terms.Count(constant) + ".",
			},
			{
				mistake: Swapped, value: 1 / at, title: "Upside down.",
				why: "Divide the constant part by what one position adds.",
			},
		},
		hints: [3]string{
			"By how much does the step grow for each position?", "Divide the constant part by 2·L·h·s.",
			terms.Count(constant) + " / " + terms.Count(slope) + ".",
		},
		work: []Line{
			{
				"Divide the constant part by what one position adds.",
				terms.Count(constant) + " / " + terms.Count(slope), Ratio.show(at),
			},
		},
	})
}
