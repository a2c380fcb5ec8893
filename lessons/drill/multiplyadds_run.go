package drill

import (
	"github.com/tokenbytoken/viz/infer/terms"
)

func (w *work) run(p *Problem) {
	m, n := int64(w.prompt), int64(w.tokens)
	again, once := n*m+n*(n-1)/2, m+n-1
	ratio := float64(again) / float64(once)
	p.list(Step{
		ID: "run", Name: p.lang.T("drill.multiply_adds.run.name"),
		Note:   p.lang.T("drill.multiply_adds.run.note", "n", terms.Count(n)),
		Title:  p.lang.T("drill.multiply_adds.run.title", "n", terms.Count(n), "m", terms.Count(m)),
		Ask:    p.lang.T("drill.multiply_adds.run.ask"),
		Remark: p.lang.T("drill.multiply_adds.run.remark"),
	},
		quantity{
			id: "again", name: p.lang.T("drill.multiply_adds.run.again.name"), how: "M + (M+1) + … + (M+N−1)",
			form: Count,
			unit: p.lang.T("drill.unit.positions"), want: exactly(again),
			slips: []slip{
				wrong(
					OffByOne, n*m+n*(n+1)/2, p.lang.T("drill.multiply_adds.run.again.slip.one_step_too_far"),
					p.lang.T("drill.multiply_adds.run.again.slip.one_step_too_far.why"),
				),
				wrong(Missing, n*m, p.lang.T("drill.multiply_adds.run.again.slip.text_grows"),
					p.lang.T("drill.multiply_adds.run.again.slip.text_grows.why")),
				wrong(
					Missing, n*(m+n), p.lang.T("drill.multiply_adds.run.again.slip.text_not_long_from"),
					p.lang.T("drill.multiply_adds.run.again.slip.text_not_long_from.why"),
				),
				wrong(OffByOne, n*m+n*n/2, p.lang.T("drill.multiply_adds.run.again.slip.nearly_n_n_1"),
					"0 + 1 + … + (N−1) = N·(N−1)/2."),
			},
			question: p.lang.T("drill.multiply_adds.run.again.hint.question"),
			rule:     p.lang.T("drill.multiply_adds.run.again.hint.rule"),
			work: []Line{{
				Say: p.lang.T("drill.multiply_adds.run.again.work.n_passes_each_one"),
				Eq: terms.Count(n) + " × " + terms.Count(m) + " + " +
					terms.Count(n) + " × " + terms.Count(n-1) + " / 2",
			}},
		},
		quantity{
			id: "once", name: p.lang.T("drill.multiply_adds.run.once.name"), how: "M + N − 1", form: Count,
			unit: p.lang.T("drill.unit.positions"),
			want: exactly(once),
			slips: []slip{
				wrong(
					OffByOne, m+n, p.lang.T("drill.multiply_adds.run.once.slip.last_token_not_read"),
					p.lang.T("drill.multiply_adds.run.once.slip.last_token_not_read.why"),
				),
				wrong(Missing, n, p.lang.T("drill.multiply_adds.run.once.slip.prompt_missing"),
					p.lang.T("drill.multiply_adds.run.once.slip.prompt_missing.why")),
				wrong(Missing, n-1, p.lang.T("drill.multiply_adds.run.once.slip.prompt_missing"),
					p.lang.T("drill.multiply_adds.run.once.slip.prompt_missing.why")),
				wrong(OffByOne, m+n+1, p.lang.T("drill.multiply_adds.run.once.slip.two_too_many"),
					p.lang.T("drill.multiply_adds.run.once.slip.two_too_many.why")),
			},
			question: p.lang.T("drill.multiply_adds.run.once.hint.question"),
			rule:     p.lang.T("drill.multiply_adds.run.once.hint.rule"),
			work: []Line{{
				Say: p.lang.T("drill.multiply_adds.run.once.work.each_position_once_last"),
				Eq:  terms.Count(m) + " + " + terms.Count(n) + " − 1",
			}},
		},
		quantity{
			id: "ratio", name: p.lang.T("drill.multiply_adds.run.ratio.name"),
			how: p.lang.T("drill.multiply_adds.how.without_with"), form: Ratio, unit: p.lang.T("drill.unit.times"),
			want: exactly(ratio),
			slips: []slip{
				{
					mistake: Swapped, value: 1 / ratio, title: p.lang.T("drill.slip.upside_down"),
					why: p.lang.T("drill.multiply_adds.slip.upside_down.why"),
				},
			},
			question: p.lang.T("drill.multiply_adds.run.ratio.hint.question"),
			rule:     p.lang.T("drill.multiply_adds.hint.rule.divide_one_without_by"),
			work: []Line{{
				Say: p.lang.T("drill.multiply_adds.run.ratio.work.divide"),
				Eq:  terms.Count(again) + " / " + terms.Count(once),
			}},
		})
}

func (w *work) crossing(p *Problem) {
	fixed := w.Blocks(0, 1)
	constant := fixed.Projections + fixed.FeedForward + w.Output().Output
	slope := 2 * int64(w.Layers) * int64(w.Heads*w.HeadDim)
	at := float64(constant) / float64(slope)
	p.list(Step{
		ID: "crossing", Name: p.lang.T("drill.multiply_adds.crossing.name"),
		Note:  p.lang.T("drill.multiply_adds.crossing.note"),
		Title: p.lang.T("drill.multiply_adds.crossing.title"), Needs: []string{"cached"},
		Ask:    p.lang.T("drill.multiply_adds.crossing.ask"),
		Remark: p.lang.T("drill.multiply_adds.crossing.remark"),
	}, quantity{
		id: "n", name: p.lang.T("drill.multiply_adds.crossing.n.name"), how: "(L·A + d·V) / (2·L·h·s)", form: Ratio,
		unit: p.lang.T("drill.unit.positions"), want: exactly(at),
		slips: []slip{
			{
				mistake: KeysAlone, value: 2 * at,
				title: p.lang.T("drill.multiply_adds.crossing.n.slip.half_attention_missing"),
				why:   p.lang.T("drill.multiply_adds.crossing.n.slip.half_attention_missing.why"),
			},
			{
				mistake: LeftOut, value: float64(fixed.Projections+fixed.FeedForward) / float64(slope),
				title: p.lang.T("drill.multiply_adds.slip.scores_missing"),
				why: p.lang.T("drill.multiply_adds.crossing.n.slip.scores_missing.why", "constant",
					terms.Count(constant)),
			},
			{
				mistake: Swapped, value: 1 / at, title: p.lang.T("drill.slip.upside_down"),
				why: p.lang.T("drill.multiply_adds.crossing.n.slip.upside_down.why"),
			},
		},
		question: p.lang.T("drill.multiply_adds.crossing.n.hint.question"),
		rule:     p.lang.T("drill.multiply_adds.crossing.n.hint.rule"),
		work: []Line{{
			Say: p.lang.T("drill.multiply_adds.crossing.n.slip.upside_down.why"),
			Eq:  terms.Count(constant) + " / " + terms.Count(slope),
		}},
	})
}
