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
		{"L, layers", terms.Count(c.Layers)},
		{"h, query heads", terms.Count(c.Heads)},
		{"g, key/value heads", terms.Count(c.KVHeads)},
		{"s, head size", terms.Count(c.HeadDim)},
		{"bytes of a value", terms.Count(c.bytes) + " (" + c.number + ")"},
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
		mistake: QueryHeads, title: "You counted query heads.",
		why: "Only keys and values are kept: one for each of the " + terms.Count(c.KVHeads) + " key/value heads.",
	}
	with := func(s slip, v int) slip { s.value = float64(v); return s }
	keys := slip{
		mistake: KeysAlone, title: "That is only the keys.",
		why: "A key and a value are kept, so there is a factor of 2.",
	}
	p.list(Step{
		ID: "position", Name: "One position", Note: "2 · g · s · L", Title: "What one position leaves in the cache",
		Ask:    "Each layer keeps a key and a value for each key/value head, each as long as a head.",
		Remark: "The same for every position, whatever the text.",
	},
		quantity{
			id: "layer", name: "values in one layer", how: "2 · g · s", form: Count, unit: "values",
			want: exactly(layer),
			slips: []slip{
				with(keys, layer/2), with(queries, 2*c.Heads*c.HeadDim),
				{
					mistake: Missing, value: float64(2 * c.HeadDim), title: "The heads are missing.",
					why: "That is one head. There are " + terms.Count(c.KVHeads) + " of them.",
				},
			},
			hints: [3]string{
				"What does attention need again from an old position?",
				"A key and a value (2) for each key/value head (g), each with s numbers.",
				times(2, c.KVHeads, c.HeadDim) + ".",
			},
			work: []Line{
				{"A key and a value for every key/value head.", times(2, c.KVHeads, c.HeadDim), terms.Count(layer)},
			},
		},
		quantity{
			id: "layers", name: "values in all layers", how: "L times that", form: Count, unit: "values",
			want: exactly(all),
			slips: []slip{
				with(keys, all/2), with(queries, 2*c.Heads*c.HeadDim*c.Layers),
				{
					mistake: Missing, value: float64(layer), title: "The layers are missing.",
					why: "Every layer keeps its own keys and values.",
				},
			},
			hints: [3]string{
				"Do layers share their keys and values?", "Multiply by the number of layers.",
				times(layer, c.Layers) + ".",
			},
			work: []Line{{"Every layer keeps its own.", times(layer, c.Layers), terms.Count(all)}},
		},
		quantity{
			id: "bytes", name: "bytes", how: "bytes of a value times that", form: Bytes, unit: "bytes",
			want: exactly(per),
			slips: []slip{
				with(keys, per/2),
				{
					mistake: NoBytes, value: float64(all), title: "That counts values, not bytes.",
					why: "Each value in " + c.number + " takes " + terms.Count(c.bytes) + ".",
				},
				{mistake: Units, value: float64(8 * per), title: "That is bits.", why: "A byte has 8 of them."},
				{
					mistake: Units, value: inThousands(int64(per)), title: "KB and KiB are not the same.",
					why: "It is " + terms.BytesFull(int64(per)) + ": KiB counts in 1,024s.",
				},
			},
			hints: [3]string{
				"How many bytes does one value take in " + c.number + "?", "Multiply the values by their bytes.",
				times(all, c.bytes) + ".",
			},
			work: []Line{{"Each value takes its bytes.", times(all, c.bytes), terms.Count(per)}},
		})
}

func (c *cache) allPositions(p *Problem) {
	p.list(Step{
		ID: "cache", Name: "The cache", Note: "times positions", Title: "The whole cache", Needs: []string{"position"},
		Ask: "It grows by the same for every position, prompt and generated ones alike. Units " +
			"such as GiB are welcome.",
		Remark: "A straight line in the number of positions.",
	}, c.total("short", c.n), c.total("long", c.longer))
}

// total returns the quantity for the size of a cache of n positions.
func (c *cache) total(id string, n int) quantity {
	want, per := c.KVBytes(n, c.bytes), c.KVBytes(1, c.bytes)
	keys := slip{
		mistake: KeysAlone, value: float64(want / 2), title: "That is only the keys.",
		why: "Keys and values are kept: twice as much, " + terms.BytesFull(want) + ".",
	}
	// A widely copied text claims 1 GB for 4,096 positions, which is the size of the keys alone.
	thousands := slip{
		mistake: KeysAlone, value: inThousands(want / 2), title: "That is only the keys.",
		why: "With the values it is twice as much: " + terms.BytesFull(want) + ".",
	}
	slips := []slip{
		keys,
		{
			mistake: Units, value: inThousands(want), title: "GB and GiB are not the same.",
			why: "It is " + terms.BytesFull(want) + ", which is " + terms.Count(want) + " bytes. GB counts in " +
				"thousands, GiB in 1,024s.",
			credit: 0.5,
		},
		thousands,
		{
			mistake: Missing, value: float64(want) / float64(c.Layers), title: "The layers are missing.",
			why: "That is one layer of " + terms.Count(c.Layers) + ".",
		},
		{
			mistake: Missing, value: float64(want) / float64(c.KVHeads), title: "The heads are missing.",
			why: "That is one head of " + terms.Count(c.KVHeads) + ".",
		},
		{
			mistake: NoBytes, value: float64(want) / float64(c.bytes), title: "That counts values, not bytes.",
			why: "Each takes " + terms.Count(c.bytes) + ".",
		},
		{mistake: Units, value: float64(8 * want), title: "That is bits.", why: "A byte has 8 of them."},
		{
			mistake: Missing, value: float64(per), title: "That is one position.",
			why: "There are " + terms.Count(n) + " of them.",
		},
	}
	if c.KVHeads != c.Heads {
		slips = append(
			slips,
			slip{
				mistake: QueryHeads, value: float64(want) * float64(c.Heads) / float64(c.KVHeads),
				title: "You counted query heads.",
				why:   "Only the " + terms.Count(c.KVHeads) + " key/value heads are kept.",
			},
		)
	}
	return quantity{
		id: id, name: "bytes at " + terms.Count(n) + " positions", how: terms.Count(n) + " positions", form: Bytes,
		unit: "bytes", want: exactly(want), slips: slips,
		note: "That is " + terms.BytesFull(want) + ".",
		hints: [3]string{
			"How does it grow with the positions?", "Multiply the bytes of one position by the positions.",
			times(int(per), n) + ".",
		},
		work: []Line{
			{"Every position adds the same.", times(int(per), n), terms.Count(want)},
			{"In 1,024s of 1,024s that is " + terms.BytesFull(want) + ".", times(int(per), n), terms.Count(want)},
		},
	}
}

func (c *cache) sharing(p *Problem) {
	full := cost.Shape{Layers: c.Layers, KVHeads: c.Heads, HeadDim: c.HeadDim}.KVBytes(c.n, c.bytes)
	factor := c.Heads / c.KVHeads
	p.list(Step{
		ID: "sharing", Name: "Shared heads", Note: "h / g", Title: "What sharing keys and values saves",
		Needs: []string{"cache"},
		Ask: "Here several query heads read the same keys and values. Compare with a model in " +
			"which each has its own.",
		Remark: "Grouped-query attention saves h / g.",
	},
		quantity{
			id: "full", name: "bytes if every query head had its own",
			how: "h instead of g, " + terms.Count(c.n) + " positions", form: Bytes, unit: "bytes", want: exactly(full),
			slips: []slip{
				{
					mistake: KeysAlone, value: float64(full) / 2, title: "That is only the keys.",
					why: "Keys and values are kept.",
				},
				{
					mistake: QueryHeads, value: float64(c.KVBytes(c.n, c.bytes)), title: "That is with shared heads.",
					why: "Put h = " + terms.Count(c.Heads) + " in the place of g.",
				},
				{
					mistake: Units, value: inThousands(full), title: "GB and GiB are not the same.",
					why: "It is " + terms.BytesFull(full) + ": GiB counts in 1,024s.", credit: 0.5,
				},
			},
			note: "That is " + terms.BytesFull(full) + ".",
			hints: [3]string{
				"How many key/value heads would there be?", "The same formula with h in the place of g.",
				times(2, c.Layers, c.Heads, c.HeadDim, c.n, c.bytes) + ".",
			},
			work: []Line{
				{
					"The same with h in the place of g.", times(2, c.Layers, c.Heads, c.HeadDim, c.n, c.bytes),
					terms.Count(full),
				},
			},
		},
		quantity{
			id: "factor", name: "how many times smaller", how: "h / g", form: Ratio, unit: "times",
			want: exactly(factor),
			slips: []slip{
				{
					mistake: Swapped, value: 1 / float64(factor), title: "Upside down.",
					why: "How many times smaller: the large one divided by the small one.",
				},
				{
					mistake: OffByOne, value: float64(c.Heads - c.KVHeads), title: "That is the difference.",
					why: "The question asks for a ratio: h / g.",
				},
			},
			hints: [3]string{
				"How many query heads share one key/value head?", "Divide h by g.",
				terms.Count(c.Heads) + " / " + terms.Count(c.KVHeads) + ".",
			},
			work: []Line{
				{"Divide h by g.", terms.Count(c.Heads) + " / " + terms.Count(c.KVHeads), terms.Count(factor)},
			},
		})
}

func (c *cache) budget(p *Problem) {
	room, per := int64(c.gib)<<30, c.KVBytes(1, c.bytes)
	fit := room / per
	slips := []slip{
		{
			mistake: Units, value: float64(int64(c.gib) * 1e9 / per), title: "GB and GiB are not the same.",
			why: terms.Count(c.gib) + " GiB are " + terms.Count(room) + " bytes.",
		},
		{
			mistake: KeysAlone, value: float64(2 * room / per), title: "You counted only the keys.",
			why: "Each position takes a key and a value: " + terms.Count(per) + " bytes.",
		},
		{
			mistake: QueryHeads, value: float64(room / (per * int64(c.Heads/c.KVHeads))),
			title: "You counted query heads.", why: "One position takes " + terms.Count(per) + " bytes.",
		},
		{
			mistake: NoBytes, value: float64(room / (per / int64(c.bytes))), title: "You counted values, not bytes.",
			why: "One position takes " + terms.Count(per) + " bytes.",
		},
	}
	if room%per != 0 {
		slips = append(
			slips,
			slip{
				mistake: OffByOne, value: float64(fit + 1), title: "The last one doesn’t fit whole.",
				why: "Round down.",
			},
		)
	}
	p.list(Step{
		ID: "budget", Name: "What fits", Note: terms.Count(c.gib) + " GiB",
		Title: "How much text fits into " + terms.Count(c.gib) + " GiB", Needs: []string{"position"},
		Ask: "Only whole positions count.", Remark: "Memory, not just the model, limits how long a text can be.",
	}, quantity{
		id: "fit", name: "positions that fit", how: terms.Count(c.gib) + " GiB / bytes of one position", form: Count,
		unit: "positions", want: exactly(fit), slips: slips,
		hints: [3]string{
			"How many bytes does one position take?", "Divide the room by the bytes of one position, and round down.",
			terms.Count(room) + " / " + terms.Count(per) + ".",
		},
		work: []Line{
			{
				"Divide the room by one position, rounded down.", terms.Count(room) + " / " + terms.Count(per),
				terms.Count(fit),
			},
		},
	})
}
