package drill

import (
	"github.com/tokenbytoken/viz/infer/cost"
	"github.com/tokenbytoken/viz/infer/terms"
)

// cache is the drill about the size of the KV cache.
type cache struct {
	cost.Shape
	bytes     int    // bytes per value
	number    string // "fp16"
	n, longer int    // positions
	gib       int    // a memory budget, for level 3
}

func newCache(p *Problem) *cache {
	if p.Seed == 0 && p.Level == 1 {
		return &cache{
			Shape: cost.Shape{Layers: 32, Heads: 32, KVHeads: 32, HeadDim: 128}, bytes: 2, number: "fp16", n: 4096,
			longer: 131072,
		}
	}
	r := newRandom(p)
	c := &cache{number: "fp16", bytes: 2}
	c.Layers, c.HeadDim = pick(r, []int{12, 16, 22, 24, 28, 32, 36, 40, 48}), pick(r, []int{64, 96, 128})
	c.Heads = pick(r, []int{8, 12, 16, 24, 32, 40})
	c.KVHeads = c.Heads
	c.n = pick(r, []int{1024, 2048, 4096, 8192})
	c.longer = c.n * pick(r, []int{4, 8, 16, 32})
	if p.Level > 1 {
		c.KVHeads = c.Heads / pick(r, []int{2, 4})
		switch r.below(3) {
		case 0:
			c.number, c.bytes = "int8", 1
		case 1:
			c.number, c.bytes = "fp32", 4
		}
	}
	// The budget must not be close to a whole number of positions, since the right answer would
	// then depend on rounding.
	c.gib = pick(r, []int{2, 3, 4, 6, 8, 12, 16})
	return c
}

func buildKVBytes(p *Problem) {
	c := newCache(p)
	p.Facts = []Fact{
		{p.lang.T("drill.fact.l_layers"), terms.Count(c.Layers)},
		{p.lang.T("drill.fact.h_query_heads"), terms.Count(c.Heads)},
		{p.lang.T("drill.fact.g_key_value_heads"), terms.Count(c.KVHeads)},
		{p.lang.T("drill.fact.head_size"), terms.Count(c.HeadDim)},
		{p.lang.T("drill.kv_bytes.fact.bytes_value"), terms.Count(c.bytes) + " (" + c.number + ")"},
	}
	c.onePosition(p)
	c.allPositions(p)
	if p.Level > 1 {
		c.sharing(p)
	}
	if p.Level > 2 {
		c.budget(p)
	}
}

func (c *cache) onePosition(p *Problem) {
	layer := 2 * c.KVHeads * c.HeadDim
	all := layer * c.Layers
	per := int(c.KVBytes(1, c.bytes))
	queries := slip{
		mistake: QueryHeads, title: p.lang.T("drill.kv_bytes.slip.counted_query_heads"),
		why: p.lang.T("drill.kv_bytes.position.slip.counted_query_heads.why", "kvheads", c.KVHeads),
	}
	with := func(s slip, v int) slip { s.value = float64(v); return s }
	keys := slip{
		mistake: KeysAlone, title: p.lang.T("drill.kv_bytes.slip.only_keys"),
		why: p.lang.T("drill.kv_bytes.position.slip.only_keys.why"),
	}
	p.list(Step{
		ID: "position", Name: p.lang.T("drill.kv_bytes.position.name"), Note: "2 · g · s · L",
		Title:  p.lang.T("drill.kv_bytes.position.title"),
		Ask:    p.lang.T("drill.kv_bytes.position.ask"),
		Remark: p.lang.T("drill.kv_bytes.position.remark"),
	},
		quantity{
			id: "layer", name: p.lang.T("drill.kv_bytes.position.layer.name"), how: "2 · g · s", form: Count,
			unit: p.lang.T("drill.unit.values"),
			want: exactly(layer),
			slips: []slip{
				with(keys, layer/2), with(queries, 2*c.Heads*c.HeadDim),
				{
					mistake: Missing, value: float64(2 * c.HeadDim),
					title: p.lang.T("drill.kv_bytes.slip.heads_missing"),
					why:   p.lang.T("drill.kv_bytes.position.layer.slip.heads_missing.why", "kvheads", c.KVHeads),
				},
			},
			question: p.lang.T("drill.kv_bytes.position.layer.hint.question"),
			rule:     p.lang.T("drill.kv_bytes.position.layer.hint.rule"),
			work: []Line{{
				Say: p.lang.T("drill.kv_bytes.position.layer.work.key_and_value_for"),
				Eq:  times(2, c.KVHeads, c.HeadDim),
			}},
		},
		quantity{
			id: "layers", name: p.lang.T("drill.kv_bytes.position.layers.name"),
			how: p.lang.T("drill.kv_bytes.position.layers.how"), form: Count, unit: p.lang.T("drill.unit.values"),
			want: exactly(all),
			slips: []slip{
				with(keys, all/2), with(queries, 2*c.Heads*c.HeadDim*c.Layers),
				{
					mistake: Missing, value: float64(layer), title: p.lang.T("drill.kv_bytes.slip.layers_missing"),
					why: p.lang.T("drill.kv_bytes.position.layers.slip.layers_missing.why"),
				},
			},
			question: p.lang.T("drill.kv_bytes.position.layers.hint.question"),
			rule:     p.lang.T("drill.kv_bytes.position.layers.hint.rule"),
			work: []Line{{
				Say: p.lang.T("drill.kv_bytes.position.layers.work.every_layer_keeps_own"),
				Eq:  times(layer, c.Layers),
			}},
		},
		quantity{
			id: "bytes", name: p.lang.T("drill.kv_bytes.position.bytes.name"),
			how: p.lang.T("drill.kv_bytes.position.bytes.how"), form: Bytes, unit: p.lang.T("drill.unit.bytes"),
			want: exactly(per),
			slips: []slip{
				with(keys, per/2),
				{
					mistake: NoBytes, value: float64(all),
					title: p.lang.T("drill.kv_bytes.slip.counts_values_not_bytes"),
					why: p.lang.T("drill.kv_bytes.position.bytes.slip.counts_values_not_bytes.why", "format",
						c.number, "bytes", c.bytes),
				},
				{
					mistake: Units, value: float64(8 * per), title: p.lang.T("drill.kv_bytes.slip.bits"),
					why: p.lang.T("drill.kv_bytes.slip.bits.why"),
				},
				{
					mistake: Units, value: inThousands(int64(per)),
					title: p.lang.T("drill.kv_bytes.position.bytes.slip.kb_and_kib_not"),
					why: p.lang.T("drill.kv_bytes.position.bytes.slip.kb_and_kib_not.why", "size",
						p.lang.BytesFull(int64(per))),
					credit: 0.5,
				},
			},
			question: p.lang.T("drill.kv_bytes.position.bytes.hint.question", "format", c.number),
			rule:     p.lang.T("drill.kv_bytes.position.bytes.hint.rule"),
			work: []Line{{
				Say: p.lang.T("drill.kv_bytes.position.bytes.work.each_value_takes_bytes"),
				Eq:  times(all, c.bytes),
			}},
		})
}

func (c *cache) allPositions(p *Problem) {
	p.list(Step{
		ID: "cache", Name: p.lang.T("drill.kv_bytes.cache.name"), Note: p.lang.T("drill.kv_bytes.cache.note"),
		Title: p.lang.T("drill.kv_bytes.cache.title"), Needs: []string{"position"},
		Ask:    p.lang.T("drill.kv_bytes.cache.ask"),
		Remark: p.lang.T("drill.kv_bytes.cache.remark"),
	}, c.total(p, "short", c.n), c.total(p, "long", c.longer))
}

// total returns the quantity for the size of a cache of n positions.
func (c *cache) total(p *Problem, id string, n int) quantity {
	want, per := c.KVBytes(n, c.bytes), c.KVBytes(1, c.bytes)
	keys := slip{
		mistake: KeysAlone, value: float64(want / 2), title: p.lang.T("drill.kv_bytes.slip.only_keys"),
		why: p.lang.T("drill.kv_bytes.total.slip.only_keys.why", "size", p.lang.BytesFull(want)),
	}
	// A widely copied text claims 1 GB for 4,096 positions, which is the size of the keys alone.
	thousands := slip{
		mistake: KeysAlone, value: inThousands(want / 2), title: p.lang.T("drill.kv_bytes.slip.only_keys"),
		why: p.lang.T("drill.kv_bytes.total.slip.only_keys.why.with_values_twice_much", "size",
			p.lang.BytesFull(want)),
	}
	slips := []slip{
		keys,
		{
			mistake: Units, value: inThousands(want), title: p.lang.T("drill.kv_bytes.slip.gb_and_gib_not"),
			why: p.lang.T("drill.kv_bytes.total.slip.gb_and_gib_not.why", "size", p.lang.BytesFull(want), "want",
				terms.Count(want)),
			credit: 0.5,
		},
		thousands,
		{
			mistake: Missing, value: float64(want) / float64(c.Layers),
			title: p.lang.T("drill.kv_bytes.slip.layers_missing"),
			why:   p.lang.T("drill.kv_bytes.total.slip.layers_missing.why", "layers", c.Layers),
		},
		{
			mistake: Missing, value: float64(want) / float64(c.KVHeads),
			title: p.lang.T("drill.kv_bytes.slip.heads_missing"),
			why:   p.lang.T("drill.kv_bytes.total.slip.heads_missing.why", "kvheads", c.KVHeads),
		},
		{
			mistake: NoBytes, value: float64(want) / float64(c.bytes),
			title: p.lang.T("drill.kv_bytes.slip.counts_values_not_bytes"),
			why:   p.lang.T("drill.kv_bytes.total.slip.counts_values_not_bytes.why", "bytes", c.bytes),
		},
		{
			mistake: Units, value: float64(8 * want), title: p.lang.T("drill.kv_bytes.slip.bits"),
			why: p.lang.T("drill.kv_bytes.slip.bits.why"),
		},
		{
			mistake: Missing, value: float64(per), title: p.lang.T("drill.slip.one_position"),
			why: p.lang.T("drill.kv_bytes.total.slip.one_position.why", "n", n),
		},
	}
	if c.KVHeads != c.Heads {
		slips = append(
			slips,
			slip{
				mistake: QueryHeads, value: float64(want) * float64(c.Heads) / float64(c.KVHeads),
				title: p.lang.T("drill.kv_bytes.slip.counted_query_heads"),
				why:   p.lang.T("drill.kv_bytes.total.slip.counted_query_heads.why", "kvheads", c.KVHeads),
			},
		)
	}
	return quantity{
		id: id, name: p.lang.T("drill.kv_bytes.total.name", "n", n),
		how: p.lang.T("drill.kv_bytes.total.how", "n", n), form: Bytes,
		unit: p.lang.T("drill.unit.bytes"), want: exactly(want), slips: slips,
		note:     p.lang.T("drill.kv_bytes.note.size", "size", p.lang.BytesFull(want)),
		question: p.lang.T("drill.kv_bytes.total.hint.question"),
		rule:     p.lang.T("drill.kv_bytes.total.hint.rule"),
		work: []Line{{
			Say:    p.lang.T("drill.kv_bytes.total.work.every_position_adds_same"),
			Eq:     times(int(per), n),
			Result: terms.Count(want),
		}, {
			Say: p.lang.T("drill.kv_bytes.total.work.in_1_024s_1", "size", p.lang.BytesFull(want)),
			Eq:  times(int(per), n),
		}},
	}
}

func (c *cache) sharing(p *Problem) {
	full := cost.Shape{Layers: c.Layers, KVHeads: c.Heads, HeadDim: c.HeadDim}.KVBytes(c.n, c.bytes)
	factor := c.Heads / c.KVHeads
	p.list(Step{
		ID: "sharing", Name: p.lang.T("drill.kv_bytes.sharing.name"), Note: "h / g",
		Title:  p.lang.T("drill.kv_bytes.sharing.title"),
		Needs:  []string{"cache"},
		Ask:    p.lang.T("drill.kv_bytes.sharing.ask"),
		Remark: p.lang.T("drill.kv_bytes.sharing.remark"),
	},
		quantity{
			id: "full", name: p.lang.T("drill.kv_bytes.sharing.full.name"),
			how: p.lang.T("drill.kv_bytes.sharing.full.how", "n", c.n), form: Bytes,
			unit: p.lang.T("drill.unit.bytes"), want: exactly(full),
			slips: []slip{
				{
					mistake: KeysAlone, value: float64(full) / 2, title: p.lang.T("drill.kv_bytes.slip.only_keys"),
					why: p.lang.T("drill.kv_bytes.sharing.full.slip.only_keys.why"),
				},
				{
					mistake: QueryHeads, value: float64(c.KVBytes(c.n, c.bytes)),
					title: p.lang.T("drill.kv_bytes.sharing.full.slip.with_shared_heads"),
					why:   p.lang.T("drill.kv_bytes.sharing.full.slip.with_shared_heads.why", "heads", c.Heads),
				},
				{
					mistake: Units, value: inThousands(full), title: p.lang.T("drill.kv_bytes.slip.gb_and_gib_not"),
					why: p.lang.T("drill.kv_bytes.sharing.full.slip.gb_and_gib_not.why", "size",
						p.lang.BytesFull(full)), credit: 0.5,
				},
			},
			note:     p.lang.T("drill.kv_bytes.note.size", "size", p.lang.BytesFull(full)),
			question: p.lang.T("drill.kv_bytes.sharing.full.hint.question"),
			rule:     p.lang.T("drill.kv_bytes.sharing.full.hint.rule"),
			work: []Line{{
				Say: p.lang.T("drill.kv_bytes.sharing.full.work.same_with_h_in"),
				Eq:  times(2, c.Layers, c.Heads, c.HeadDim, c.n, c.bytes),
			}},
		},
		quantity{
			id: "factor", name: p.lang.T("drill.kv_bytes.sharing.factor.name"), how: "h / g", form: Ratio,
			unit: p.lang.T("drill.unit.times"),
			want: exactly(factor),
			slips: []slip{
				{
					mistake: Swapped, value: 1 / float64(factor), title: p.lang.T("drill.slip.upside_down"),
					why: p.lang.T("drill.kv_bytes.sharing.factor.slip.upside_down.why"),
				},
				{
					mistake: OffByOne, value: float64(c.Heads - c.KVHeads),
					title: p.lang.T("drill.kv_bytes.sharing.factor.slip.difference"),
					why:   p.lang.T("drill.kv_bytes.sharing.factor.slip.difference.why"),
				},
			},
			question: p.lang.T("drill.kv_bytes.sharing.factor.hint.question"),
			rule:     p.lang.T("drill.kv_bytes.sharing.factor.hint.rule.divide_h_by_g"),
			work: []Line{{
				Say: p.lang.T("drill.kv_bytes.sharing.factor.hint.rule.divide_h_by_g"),
				Eq:  terms.Count(c.Heads) + " / " + terms.Count(c.KVHeads),
			}},
		})
}

func (c *cache) budget(p *Problem) {
	room, per := int64(c.gib)<<30, c.KVBytes(1, c.bytes)
	fit := room / per
	slips := []slip{
		{
			mistake: Units, value: float64(int64(c.gib) * 1e9 / per),
			title:  p.lang.T("drill.kv_bytes.slip.gb_and_gib_not"),
			why:    p.lang.T("drill.kv_bytes.budget.slip.gb_and_gib_not.why", "gib", c.gib, "room", terms.Count(room)),
			credit: 0.5,
		},
		{
			mistake: KeysAlone, value: float64(2 * room / per),
			title: p.lang.T("drill.kv_bytes.budget.slip.counted_only_keys"),
			why:   p.lang.T("drill.kv_bytes.budget.slip.counted_only_keys.why", "per", terms.Count(per)),
		},
		{
			mistake: QueryHeads, value: float64(room / (per * int64(c.Heads/c.KVHeads))),
			title: p.lang.T("drill.kv_bytes.slip.counted_query_heads"),
			why:   p.lang.T("drill.kv_bytes.budget.slip.counted_query_heads.why", "per", terms.Count(per)),
		},
		{
			mistake: NoBytes, value: float64(room / (per / int64(c.bytes))),
			title: p.lang.T("drill.kv_bytes.budget.slip.counted_values_not_bytes"),
			why:   p.lang.T("drill.kv_bytes.budget.slip.counted_query_heads.why", "per", terms.Count(per)),
		},
	}
	if room%per != 0 {
		slips = append(
			slips,
			slip{
				mistake: OffByOne, value: float64(fit + 1),
				title: p.lang.T("drill.kv_bytes.budget.slip.last_one_doesnt_fit"),
				why:   p.lang.T("drill.kv_bytes.budget.slip.last_one_doesnt_fit.why"),
			},
			slip{
				mistake: Rounding, value: float64(room) / float64(per),
				title:  p.lang.T("drill.kv_bytes.budget.slip.last_one_doesnt_fit"),
				why:    p.lang.T("drill.kv_bytes.budget.slip.last_one_doesnt_fit.why"),
				credit: 0.75,
			},
		)
	}
	p.list(Step{
		ID: "budget", Name: p.lang.T("drill.kv_bytes.budget.name"),
		Note:  p.lang.T("drill.kv_bytes.budget.note", "gib", c.gib),
		Title: p.lang.T("drill.kv_bytes.budget.title", "gib", c.gib), Needs: []string{"position"},
		Ask: p.lang.T("drill.kv_bytes.budget.ask"), Remark: p.lang.T("drill.kv_bytes.budget.remark"),
	}, quantity{
		id: "fit", name: p.lang.T("drill.kv_bytes.budget.fit.name"),
		how: p.lang.T("drill.kv_bytes.budget.fit.how", "gib", c.gib), form: Count,
		unit: p.lang.T("drill.unit.positions"), want: exactly(fit), slips: slips,
		question: p.lang.T("drill.kv_bytes.budget.fit.hint.question"),
		rule:     p.lang.T("drill.kv_bytes.budget.fit.hint.rule"),
		work: []Line{{
			Say: p.lang.T("drill.kv_bytes.budget.fit.work.divide_room_by_one"),
			Eq:  terms.Count(room) + " / " + terms.Count(per),
		}},
	})
}
