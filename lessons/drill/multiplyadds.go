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
			cost.Shape{Layers: 6, Width: 192, Heads: 6, KVHeads: 2, HeadDim: 32, FFN: 512, Vocab: 4096}, 19, 1000, 500,
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
		{"L, layers", terms.Count(w.Layers)},
		{"d, width", terms.Count(w.Width)},
		{"h, query heads", terms.Count(w.Heads)},
		{"g, key/value heads", terms.Count(w.KVHeads)},
		{"s, head size", terms.Count(w.HeadDim)},
		{"f, feed-forward width", terms.Count(w.FFN)},
		{"V, vocabulary", terms.Count(w.Vocab)},
		{"n, positions attended", terms.Count(w.n)},
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
		ID: "layer", Name: "One layer", Note: "one position", Title: "The matrices of one layer, for one position",
		Ask:    "A matrix of a × b numbers takes a · b multiply-adds for one vector.",
		Remark: "The same for every position, near or far.",
	},
		quantity{
			id: "projections", name: "attention's four matrices", how: "d·h·s + 2·d·g·s + h·s·d", form: Count,
			unit: "multiply-adds", want: exactly(projections),
			slips: []slip{
				wrong(
					QueryHeads, 4*int64(d*h*s), "You took h for g.",
					"Keys and values have g = "+terms.Count(g)+" heads each.",
				),
				wrong(
					KeysAlone, projections-int64(d*g*s), "Keys or values are missing.",
					"There are two matrices of d · g · s: one for keys, one for values.",
				),
				wrong(
					LeftOut, projections-int64(d*h*s), "One matrix is missing.",
					"Queries take d·h·s, and so does the matrix back to the stream, h·s·d.",
				),
			},
			hints: [3]string{
				"Which four matrices does attention have?", "Queries d·h·s, keys and values 2·d·g·s, and back h·s·d.",
				times(d, h, s) + " + " + times(2, d, g, s) + " + " + times(h, s, d) + ".",
			},
			work: []Line{
				{
					"Queries, keys and values, and back.",
					times(d, h, s) + " + " + times(2, d, g, s) + " + " + times(h, s, d), terms.Count(projections),
				},
			},
		},
		quantity{
			id: "feed", name: "the feed-forward layer's three matrices", how: "3·d·f", form: Count,
			unit: "multiply-adds", want: exactly(feed),
			slips: []slip{
				wrong(LeftOut, 2*int64(d*f), "One matrix is missing.", "This kind has three: gate, up and down."),
				wrong(LeftOut, int64(d*f), "That is one matrix.", "This kind has three: gate, up and down."),
			},
			hints: [3]string{
				"How many matrices has a gated feed-forward layer?", "Gate, up and down: three of d · f.",
				times(3, d, f) + ".",
			},
			work: []Line{{"Gate, up and down.", times(3, d, f), terms.Count(feed)}},
		})
}

func (w *work) cached(p *Problem) {
	L, n, hs := int64(w.Layers), int64(w.n), int64(w.Heads*w.HeadDim)
	step, a := w.Step(w.n), w.Projections()+w.FeedForward()
	missing := func(part int64, what string) slip {
		return wrong(LeftOut, step.Total()-part, "One part is missing.", "Add "+what+": "+terms.Count(part)+".")
	}
	p.list(Step{
		ID: "cached", Name: "With the cache", Note: "one step", Title: "One step with the cache",
		Needs:  []string{"layer"},
		Ask:    "Only the new position goes through the layers. It attends to all n, itself among them.",
		Remark: "A constant part, and one that grows with the positions.",
	},
		quantity{
			id: "matrices", name: "matrices of all layers", how: "L · A", form: Count, unit: "multiply-adds",
			want: exactly(L * a),
			slips: []slip{
				wrong(LeftOut, a, "That is one layer.", "There are "+terms.Count(L)+"."),
				wrong(
					LeftOut, L*w.Projections(), "The feed-forward layers are missing.",
					"A is both parts together: "+terms.Count(a)+".",
				),
				wrong(
					LeftOut, L*w.FeedForward(), "Attention's matrices are missing.",
					"A is both parts together: "+terms.Count(a)+".",
				),
			},
			hints: [3]string{
				"How many positions go through the layers?",
				"One. A is what one layer takes: both numbers of the previous step. Multiply by L.",
				terms.Count(L) + " × " + terms.Count(a) + ".",
			},
			work: []Line{
				{
					"Both parts of a layer, in every layer.",
					terms.Count(L) + " × (" + terms.Count(w.Projections()) + " + " + terms.Count(w.FeedForward()) + ")",
					terms.Count(L * a),
				},
			},
		},
		quantity{
			id: "attention", name: "attention to n positions", how: "2·L·h·s·n", form: Count, unit: "multiply-adds",
			want: exactly(step.Attention),
			slips: []slip{
				wrong(
					KeysAlone, L*hs*n, "Half of it is missing.",
					"The query is compared with every key, and every value is weighted: a factor of 2.",
				),
				wrong(OffByOne, 2*L*hs*(n-1), "The new position attends to itself, too.", "n counts it already."),
				wrong(LeftOut, 2*hs*n, "That is one layer.", "There are "+terms.Count(L)+"."),
				wrong(
					QueryHeads, 2*L*int64(w.KVHeads*w.HeadDim)*n, "You took g for h.",
					"Every query head attends, though some share their keys.",
				),
			},
			hints: [3]string{
				"What does the new query do with each position?",
				"It is compared with the key (h·s), and the value is weighted (h·s): twice h·s for each of n " +
					"positions, in L layers.",
				times(2, w.Layers, w.Heads, w.HeadDim, w.n) + ".",
			},
			work: []Line{
				{
					"Keys and values of n positions.", times(2, w.Layers, w.Heads, w.HeadDim, w.n),
					terms.Count(step.Attention),
				},
			},
		},
		quantity{
			id: "output", name: "scores of the whole vocabulary", how: "d · V", form: Count, unit: "multiply-adds",
			want:  exactly(step.Output),
			slips: []slip{wrong(OtherOption, step.Output*n, "Only once.", "Scores are needed for one position only.")},
			hints: [3]string{
				"For how many positions are scores needed?", "For the last one: a vector of d with each row of V.",
				times(w.Width, w.Vocab) + ".",
			},
			work: []Line{{"One vector with every row.", times(w.Width, w.Vocab), terms.Count(step.Output)}},
		},
		quantity{
			id: "total", name: "the step", how: "the three together", form: Count, unit: "multiply-adds",
			want: exactly(step.Total()),
			slips: []slip{
				missing(step.Output, "the scores"), missing(step.Attention, "attention"), missing(L*a, "the matrices"),
			},
			hints: [3]string{
				"Which three parts does a step have?", "Add the three numbers above.",
				terms.Count(L*a) + " + " + terms.Count(step.Attention) + " + " + terms.Count(step.Output) + ".",
			},
			work: []Line{
				{
					"Add the three.",
					terms.Count(L*a) + " + " + terms.Count(step.Attention) + " + " + terms.Count(step.Output),
					terms.Count(step.Total()),
				},
			},
		})
}

func (w *work) scratch(p *Problem) {
	L, n, hs := int64(w.Layers), int64(w.n), int64(w.Heads*w.HeadDim)
	pass, step := w.Pass(w.n), w.Step(w.n)
	matrices := pass.Projections + pass.FeedForward
	ratio := float64(pass.Total()) / float64(step.Total())
	p.list(Step{
		ID: "scratch", Name: "From scratch", Note: "no cache", Title: "The same step without a cache",
		Needs:  []string{"cached"},
		Ask:    "All n positions go through the layers again. Position i attends to the first i.",
		Remark: "Running the matrices over the whole text again is what costs.",
	},
		quantity{
			id: "matrices", name: "matrices of all layers", how: "n · L · A", form: Count, unit: "multiply-adds",
			want: exactly(matrices),
			slips: []slip{
				wrong(Missing, matrices/n, "That is one position.", "All "+terms.Count(n)+" run again."),
				wrong(OffByOne, matrices/n*(n-1), "The new position runs, too.", "All "+terms.Count(n)+" do."),
			},
			hints: [3]string{
				"How many positions run through the layers now?", "All n: n times L · A.",
				terms.Count(n) + " × " + terms.Count(matrices/n) + ".",
			},
			work: []Line{
				{"All positions run.", terms.Count(n) + " × " + terms.Count(matrices/n), terms.Count(matrices)},
			},
		},
		quantity{
			id: "attention", name: "attention of all of them", how: "L·h·s·n·(n+1)", form: Count, unit: "multiply-adds",
			want: exactly(pass.Attention),
			slips: []slip{
				wrong(
					Missing, 2*L*hs*n*n, "You counted pairs that the mask leaves out.",
					"A position attends to those before it and itself: 1 + 2 + … + n = n·(n+1)/2, not n².",
				),
				wrong(OffByOne, L*hs*n*(n-1), "Each position attends to itself, too.", "1 + 2 + … + n = n·(n+1)/2."),
				wrong(
					KeysAlone, pass.Attention/2, "Half of it is missing.",
					"Keys and values: 2·L·h·s for each of the n·(n+1)/2 pairs.",
				),
				wrong(
					OffByOne, L*hs*n*n, "n², not n·(n+1).",
					"1 + 2 + … + n is n·(n+1)/2: every position attends to itself, too.",
				),
				wrong(Missing, step.Attention, "That is only the new position.", "All n attend again."),
			},
			hints: [3]string{
				"How many positions does the first one attend to? The second? The last?",
				"1 + 2 + … + n = n·(n+1)/2 pairs, 2·L·h·s for each.",
				times(w.Layers, w.Heads, w.HeadDim, w.n, w.n+1) + ".",
			},
			work: []Line{
				{
					"n·(n+1)/2 pairs, twice h·s each.", times(w.Layers, w.Heads, w.HeadDim, w.n, w.n+1),
					terms.Count(pass.Attention),
				},
			},
		},
		quantity{
			id: "total", name: "the pass, with scores for the last", how: "both, and d · V", form: Count,
			unit: "multiply-adds", want: exactly(pass.Total()),
			slips: []slip{
				wrong(
					OtherOption, pass.Total()+(n-1)*pass.Output, "Scores for all positions are not needed.",
					"Only the last one predicts the next token: d · V once.",
				),
				wrong(
					LeftOut, pass.Total()-pass.Output, "The scores are missing.",
					"Add d · V = "+terms.Count(pass.Output)+".",
				),
				wrong(
					LeftOut, pass.Total()-pass.Attention, "Attention is missing.",
					"Add "+terms.Count(pass.Attention)+".",
				),
				wrong(
					Missing, n*step.Total(), "You took n times the cached step.",
					"Earlier positions attend to fewer, and need no scores.",
				),
			},
			hints: [3]string{
				"For how many positions are scores needed?", "Add the two numbers above, and d · V once.",
				terms.Count(matrices) + " + " + terms.Count(pass.Attention) + " + " + terms.Count(pass.Output) + ".",
			},
			work: []Line{
				{
					"Add the three.",
					terms.Count(matrices) + " + " + terms.Count(pass.Attention) + " + " + terms.Count(pass.Output),
					terms.Count(pass.Total()),
				},
			},
		},
		quantity{
			id: "ratio", name: "how many times the cached step", how: "without / with", form: Ratio, unit: "times",
			want: exactly(ratio),
			slips: []slip{
				{mistake: Swapped, value: 1 / ratio, title: "Upside down.", why: "The larger number goes on top."},
				wrong(
					OtherOption, n, "Not quite n.",
					"The scores are computed once either way, and attention differs: divide the two totals.",
				),
			},
			hints: [3]string{
				"Which of the two totals is larger?", "Divide the one without by the one with.",
				terms.Count(pass.Total()) + " / " + terms.Count(step.Total()) + ".",
			},
			work: []Line{
				{
					"Divide the two totals.", terms.Count(pass.Total()) + " / " + terms.Count(step.Total()),
					Ratio.show(ratio),
				},
			},
		})
}
