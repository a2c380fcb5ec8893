package drill

import (
	"github.com/tokenbytoken/viz/infer/cost"
	"github.com/tokenbytoken/viz/infer/terms"
)

// work is the drill about the number of multiply-adds with and without the cache.
type work struct {
	cost.Shape
	n              int // number of positions attended to in the step
	prompt, tokens int // number of tokens in a whole run
}

func newWork(p *Problem) *work {
	if p.Seed == 0 && p.Level == 1 {
		return &work{
			cost.Shape{Layers: 10, Width: 100, Heads: 10, KVHeads: 5, HeadDim: 10, FFN: 200, Vocab: 1000},
			20, 1000, 100,
		}
	}
	r := newRandom(p)
	w := &work{}
	w.KVHeads = pick(r, []int{1, 2, 3, 4})
	w.Heads = w.KVHeads * pick(r, []int{2, 3, 4})
	w.HeadDim = pick(r, []int{16, 32})
	w.Layers, w.Vocab, w.n = r.between(2, 8), pick(r, []int{1024, 2048, 4096, 8192}), r.between(11, 60)
	if p.Level > 1 {
		w.HeadDim = pick(r, []int{64, 128})
		w.Layers, w.Vocab, w.n = r.between(10, 32), pick(r, []int{32000, 50257, 128256}), r.between(100, 900)
	}
	w.Width = w.Heads * w.HeadDim
	w.FFN = w.Width * pick(r, []int{2, 3, 4})
	w.prompt, w.tokens = 100*r.between(2, 20), 50*r.between(2, 10)
	return w
}

func buildMultiplyAdds(p *Problem) {
	w := newWork(p)
	p.Facts = []Fact{
		{p.lang.T("drill.fact.l_layers"), terms.Count(w.Layers)},
		{p.lang.T("drill.multiply_adds.fact.d_width"), terms.Count(w.Width)},
		{p.lang.T("drill.fact.h_query_heads"), terms.Count(w.Heads)},
		{p.lang.T("drill.fact.g_key_value_heads"), terms.Count(w.KVHeads)},
		{p.lang.T("drill.fact.head_size"), terms.Count(w.HeadDim)},
		{p.lang.T("drill.multiply_adds.fact.f_feed_forward_width"), terms.Count(w.FFN)},
		{p.lang.T("drill.multiply_adds.fact.v_vocabulary"), terms.Count(w.Vocab)},
		{p.lang.T("drill.multiply_adds.fact.n_positions_attended"), terms.Count(w.n)},
	}
	w.layer(p)
	w.cached(p)
	w.scratch(p)
	w.run(p)
	if p.Level > 2 {
		w.crossing(p)
	}
}

// wrong returns a slip with an int64 value.
func wrong(m Mistake, v int64, title, why string) slip {
	return slip{mistake: m, value: float64(v), title: title, why: why}
}

func (w *work) layer(p *Problem) {
	d, h, g, s, f := w.Width, w.Heads, w.KVHeads, w.HeadDim, w.FFN
	projections, feed := w.Projections(), w.FeedForward()
	p.list(Step{
		ID: "layer", Name: p.lang.T("drill.multiply_adds.layer.name"),
		Note: p.lang.T("drill.multiply_adds.layer.note"), Title: p.lang.T("drill.multiply_adds.layer.title"),
		Ask:    p.lang.T("drill.multiply_adds.layer.ask"),
		Remark: p.lang.T("drill.multiply_adds.layer.remark"),
	},
		quantity{
			id: "projections", name: p.lang.T("drill.multiply_adds.layer.projections.name"),
			how: "d·h·s + 2·d·g·s + h·s·d", form: Count,
			unit: p.lang.T("drill.unit.multiply_adds"), want: exactly(projections),
			slips: []slip{
				wrong(
					QueryHeads, 4*int64(d*h*s), p.lang.T("drill.multiply_adds.layer.projections.slip.took_h_for_g"),
					p.lang.T("drill.multiply_adds.layer.projections.slip.took_h_for_g.why", "g", g),
				),
				wrong(
					KeysAlone, projections-int64(d*g*s),
					p.lang.T("drill.multiply_adds.layer.projections.slip.keys_or_values_missing"),
					p.lang.T("drill.multiply_adds.layer.projections.slip.keys_or_values_missing.why"),
				),
				wrong(
					LeftOut, projections-int64(d*h*s), p.lang.T("drill.multiply_adds.layer.slip.one_matrix_missing"),
					p.lang.T("drill.multiply_adds.layer.projections.slip.one_matrix_missing.why"),
				),
			},
			question: p.lang.T("drill.multiply_adds.layer.projections.hint.question"),
			rule:     p.lang.T("drill.multiply_adds.layer.projections.hint.rule"),
			work: []Line{{
				Say: p.lang.T("drill.multiply_adds.layer.projections.work.queries_keys_and_values"),
				Eq:  times(d, h, s) + " + " + times(2, d, g, s) + " + " + times(h, s, d),
			}},
		},
		quantity{
			id: "feed", name: p.lang.T("drill.multiply_adds.layer.feed.name"), how: "3·d·f", form: Count,
			unit: p.lang.T("drill.unit.multiply_adds"), want: exactly(feed),
			slips: []slip{
				wrong(LeftOut, 2*int64(d*f), p.lang.T("drill.multiply_adds.layer.slip.one_matrix_missing"),
					p.lang.T("drill.multiply_adds.layer.feed.slip.one_matrix_missing.why")),
				wrong(LeftOut, int64(d*f), p.lang.T("drill.multiply_adds.layer.feed.slip.one_matrix"),
					p.lang.T("drill.multiply_adds.layer.feed.slip.one_matrix_missing.why")),
			},
			question: p.lang.T("drill.multiply_adds.layer.feed.hint.question"),
			rule:     p.lang.T("drill.multiply_adds.layer.feed.hint.rule"),
			work: []Line{{
				Say: p.lang.T("drill.multiply_adds.layer.feed.work.gate_up_and_down"),
				Eq:  times(3, d, f),
			}},
		})
}

func (w *work) cached(p *Problem) {
	L, n, hs := int64(w.Layers), int64(w.n), int64(w.Heads*w.HeadDim)
	step, a := w.Step(w.n), w.Projections()+w.FeedForward()
	missing := func(part int64, why string) slip {
		return wrong(LeftOut, step.Total()-part, p.lang.T("drill.multiply_adds.cached.slip.one_part_missing"), why)
	}
	p.list(Step{
		ID: "cached", Name: p.lang.T("drill.multiply_adds.cached.name"),
		Note: p.lang.T("drill.multiply_adds.cached.note"), Title: p.lang.T("drill.multiply_adds.cached.title"),
		Needs:  []string{"layer"},
		Ask:    p.lang.T("drill.multiply_adds.cached.ask"),
		Remark: p.lang.T("drill.multiply_adds.cached.remark"),
	},
		quantity{
			id: "matrices", name: p.lang.T("drill.multiply_adds.name.matrices_all_layers"), how: "L · A",
			form: Count, unit: p.lang.T("drill.unit.multiply_adds"),
			want: exactly(L * a),
			slips: []slip{
				wrong(LeftOut, a, p.lang.T("drill.multiply_adds.cached.slip.one_layer"),
					p.lang.T("drill.multiply_adds.cached.slip.one_layer.why", "layers", terms.Count(L))),
				wrong(
					LeftOut, L*w.Projections(),
					p.lang.T("drill.multiply_adds.cached.matrices.slip.feed_forward_layers_missing"),
					p.lang.T("drill.multiply_adds.cached.matrices.slip.feed_forward_layers_missing.why", "a",
						terms.Count(a)),
				),
				wrong(
					LeftOut, L*w.FeedForward(),
					p.lang.T("drill.multiply_adds.cached.matrices.slip.attention_matrices_missing"),
					p.lang.T("drill.multiply_adds.cached.matrices.slip.feed_forward_layers_missing.why", "a",
						terms.Count(a)),
				),
			},
			question: p.lang.T("drill.multiply_adds.cached.matrices.hint.question"),
			rule:     p.lang.T("drill.multiply_adds.cached.matrices.hint.rule"),
			numbers:  terms.Count(L) + " × " + terms.Count(a) + ".",
			work: []Line{{
				Say: p.lang.T("drill.multiply_adds.cached.matrices.work.both_parts_layer_in"),
				Eq: terms.Count(L) + " × (" +
					terms.Count(w.Projections()) + " + " + terms.Count(w.FeedForward()) + ")",
			}},
		},
		quantity{
			id: "attention", name: p.lang.T("drill.multiply_adds.cached.attention.name"), how: "2·L·h·s·n",
			form: Count, unit: p.lang.T("drill.unit.multiply_adds"),
			want: exactly(step.Attention),
			slips: []slip{
				wrong(
					KeysAlone, L*hs*n, p.lang.T("drill.multiply_adds.slip.half_missing"),
					p.lang.T("drill.multiply_adds.cached.attention.slip.half_missing.why"),
				),
				wrong(OffByOne, 2*L*hs*(n-1),
					p.lang.T("drill.multiply_adds.cached.attention.slip.new_position_attends_itself"),
					p.lang.T("drill.multiply_adds.cached.attention.slip.new_position_attends_itself.why")),
				wrong(LeftOut, 2*hs*n, p.lang.T("drill.multiply_adds.cached.slip.one_layer"),
					p.lang.T("drill.multiply_adds.cached.slip.one_layer.why", "layers", terms.Count(L))),
				wrong(
					QueryHeads, 2*L*int64(w.KVHeads*w.HeadDim)*n,
					p.lang.T("drill.multiply_adds.cached.attention.slip.took_g_for_h"),
					p.lang.T("drill.multiply_adds.cached.attention.slip.took_g_for_h.why"),
				),
			},
			question: p.lang.T("drill.multiply_adds.cached.attention.hint.question"),
			rule:     p.lang.T("drill.multiply_adds.cached.attention.hint.rule"),
			work: []Line{{
				Say: p.lang.T("drill.multiply_adds.cached.attention.work.keys_and_values_n"),
				Eq:  times(2, w.Layers, w.Heads, w.HeadDim, w.n),
			}},
		},
		quantity{
			id: "output", name: p.lang.T("drill.multiply_adds.cached.output.name"), how: "d · V", form: Count,
			unit: p.lang.T("drill.unit.multiply_adds"),
			want: exactly(step.Output),
			slips: []slip{wrong(OtherOption, step.Output*n,
				p.lang.T("drill.multiply_adds.cached.output.slip.only_once"),
				p.lang.T("drill.multiply_adds.cached.output.slip.only_once.why"))},
			question: p.lang.T("drill.multiply_adds.hint.question.for_how_many_positions"),
			rule:     p.lang.T("drill.multiply_adds.cached.output.hint.rule"),
			work: []Line{{
				Say: p.lang.T("drill.multiply_adds.cached.output.work.one_vector_with_every"),
				Eq:  times(w.Width, w.Vocab),
			}},
		},
		quantity{
			id: "total", name: p.lang.T("drill.multiply_adds.cached.total.name"),
			how: p.lang.T("drill.multiply_adds.cached.total.how"), form: Count,
			unit: p.lang.T("drill.unit.multiply_adds"),
			want: exactly(step.Total()),
			slips: []slip{
				missing(step.Output, p.lang.T("drill.multiply_adds.cached.total.add_scores", "output",
					terms.Count(step.Output))),
				missing(step.Attention, p.lang.T("drill.multiply_adds.cached.total.add_attention", "attention",
					terms.Count(step.Attention))),
				missing(L*a, p.lang.T("drill.multiply_adds.cached.total.add_matrices", "layers", terms.Count(L*a))),
			},
			question: p.lang.T("drill.multiply_adds.cached.total.hint.question"),
			rule:     p.lang.T("drill.multiply_adds.cached.total.hint.rule"),
			work: []Line{{
				Say: p.lang.T("drill.multiply_adds.work.add_three"),
				Eq:  terms.Count(L*a) + " + " + terms.Count(step.Attention) + " + " + terms.Count(step.Output),
			}},
		})
}

func (w *work) scratch(p *Problem) {
	L, n, hs := int64(w.Layers), int64(w.n), int64(w.Heads*w.HeadDim)
	pass, step := w.Pass(w.n), w.Step(w.n)
	matrices := pass.Projections + pass.FeedForward
	ratio := float64(pass.Total()) / float64(step.Total())
	p.list(Step{
		ID: "scratch", Name: p.lang.T("drill.multiply_adds.scratch.name"),
		Note: p.lang.T("drill.multiply_adds.scratch.note"), Title: p.lang.T("drill.multiply_adds.scratch.title"),
		Needs:  []string{"cached"},
		Ask:    p.lang.T("drill.multiply_adds.scratch.ask"),
		Remark: p.lang.T("drill.multiply_adds.scratch.remark"),
	},
		quantity{
			id: "matrices", name: p.lang.T("drill.multiply_adds.name.matrices_all_layers"), how: "n · L · A",
			form: Count, unit: p.lang.T("drill.unit.multiply_adds"),
			want: exactly(matrices),
			slips: []slip{
				wrong(Missing, matrices/n, p.lang.T("drill.slip.one_position"),
					p.lang.T("drill.multiply_adds.scratch.matrices.slip.one_position.why", "n", terms.Count(n))),
				wrong(OffByOne, matrices/n*(n-1),
					p.lang.T("drill.multiply_adds.scratch.matrices.slip.new_position_runs"),
					p.lang.T("drill.multiply_adds.scratch.matrices.slip.new_position_runs.why", "n", terms.Count(n))),
			},
			question: p.lang.T("drill.multiply_adds.scratch.matrices.hint.question"),
			rule:     p.lang.T("drill.multiply_adds.scratch.matrices.hint.rule"),
			work: []Line{{
				Say: p.lang.T("drill.multiply_adds.scratch.matrices.work.all_positions_run"),
				Eq:  terms.Count(n) + " × " + terms.Count(matrices/n),
			}},
		},
		quantity{
			id: "attention", name: p.lang.T("drill.multiply_adds.scratch.attention.name"), how: "L·h·s·n·(n+1)",
			form: Count, unit: p.lang.T("drill.unit.multiply_adds"),
			want: exactly(pass.Attention),
			slips: []slip{
				wrong(
					Missing, 2*L*hs*n*n,
					p.lang.T("drill.multiply_adds.scratch.attention.slip.counted_pairs_mask_leaves"),
					p.lang.T("drill.multiply_adds.scratch.attention.slip.counted_pairs_mask_leaves.why"),
				),
				wrong(OffByOne, L*hs*n*(n-1),
					p.lang.T("drill.multiply_adds.scratch.attention.slip.each_position_attends_itself"),
					"1 + 2 + … + n = n·(n+1)/2."),
				wrong(
					KeysAlone, pass.Attention/2, p.lang.T("drill.multiply_adds.slip.half_missing"),
					p.lang.T("drill.multiply_adds.scratch.attention.slip.half_missing.why"),
				),
				wrong(
					OffByOne, L*hs*n*n, p.lang.T("drill.multiply_adds.scratch.attention.slip.n_not_n_n"),
					p.lang.T("drill.multiply_adds.scratch.attention.slip.n_not_n_n.why"),
				),
				wrong(Missing, step.Attention,
					p.lang.T("drill.multiply_adds.scratch.attention.slip.only_new_position"),
					p.lang.T("drill.multiply_adds.scratch.attention.slip.only_new_position.why")),
			},
			question: p.lang.T("drill.multiply_adds.scratch.attention.hint.question"),
			rule:     p.lang.T("drill.multiply_adds.scratch.attention.hint.rule"),
			work: []Line{{
				Say: p.lang.T("drill.multiply_adds.scratch.attention.work.n_n_1_2"),
				Eq:  times(w.Layers, w.Heads, w.HeadDim, w.n, w.n+1),
			}},
		},
		quantity{
			id: "total", name: p.lang.T("drill.multiply_adds.scratch.total.name"),
			how: p.lang.T("drill.multiply_adds.scratch.total.how"), form: Count,
			unit: p.lang.T("drill.unit.multiply_adds"), want: exactly(pass.Total()),
			slips: []slip{
				wrong(
					OtherOption, pass.Total()+(n-1)*pass.Output,
					p.lang.T("drill.multiply_adds.scratch.total.slip.scores_for_all_positions"),
					p.lang.T("drill.multiply_adds.scratch.total.slip.scores_for_all_positions.why"),
				),
				wrong(
					LeftOut, pass.Total()-pass.Output, p.lang.T("drill.multiply_adds.slip.scores_missing"),
					p.lang.T("drill.multiply_adds.scratch.total.slip.scores_missing.why", "output",
						terms.Count(pass.Output)),
				),
				wrong(
					LeftOut, pass.Total()-pass.Attention,
					p.lang.T("drill.multiply_adds.scratch.total.slip.attention_missing"),
					p.lang.T("drill.multiply_adds.scratch.total.slip.attention_missing.why", "attention",
						terms.Count(pass.Attention)),
				),
				wrong(
					Missing, n*step.Total(), p.lang.T("drill.multiply_adds.scratch.total.slip.took_n_times_cached"),
					p.lang.T("drill.multiply_adds.scratch.total.slip.took_n_times_cached.why"),
				),
			},
			question: p.lang.T("drill.multiply_adds.hint.question.for_how_many_positions"),
			rule:     p.lang.T("drill.multiply_adds.scratch.total.hint.rule"),
			work: []Line{{
				Say: p.lang.T("drill.multiply_adds.work.add_three"),
				Eq:  terms.Count(matrices) + " + " + terms.Count(pass.Attention) + " + " + terms.Count(pass.Output),
			}},
		},
		quantity{
			id: "ratio", name: p.lang.T("drill.multiply_adds.scratch.ratio.name"),
			how: p.lang.T("drill.multiply_adds.how.without_with"), form: Ratio, unit: p.lang.T("drill.unit.times"),
			want: exactly(ratio),
			slips: []slip{
				{
					mistake: Swapped, value: 1 / ratio, title: p.lang.T("drill.slip.upside_down"),
					why: p.lang.T("drill.multiply_adds.slip.upside_down.why"),
				},
				wrong(
					OtherOption, n, p.lang.T("drill.multiply_adds.scratch.ratio.slip.not_quite_n"),
					p.lang.T("drill.multiply_adds.scratch.ratio.slip.not_quite_n.why"),
				),
			},
			question: p.lang.T("drill.multiply_adds.scratch.ratio.hint.question"),
			rule:     p.lang.T("drill.multiply_adds.hint.rule.divide_one_without_by"),
			work: []Line{{
				Say: p.lang.T("drill.multiply_adds.scratch.ratio.work.divide_two_totals"),
				Eq:  terms.Count(pass.Total()) + " / " + terms.Count(step.Total()),
			}},
		})
}
