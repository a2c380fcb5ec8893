package lessons

import (
	"github.com/tokenbytoken/viz/infer/cost"
)

// costFunctions holds the functions for figures about computation, memory and price.
var costFunctions = map[string]func(a *arguments) value{
	"shape":       figureShape,
	"step":        func(a *arguments) value { return parts(shapeOf(a).Step(positions(a, "n"))) },
	"pass":        func(a *arguments) value { return parts(shapeOf(a).Pass(positions(a, "n"))) },
	"generate":    figureGenerate,
	"breakeven":   figureBreakeven,
	"kvbytes":     figureKVBytes,
	"parameters":  func(a *arguments) value { s, tied := shapeAndTie(a); return number(float64(s.Parameters(tied))) },
	"weightbytes": figureWeightBytes,
	"bill":        figureBill,
	"expected":    figureExpected,
	"speedup":     figureSpeedUp,
	"bestspeedup": figureBestSpeedUp,
	"chat":        func(*arguments) value { return figureChat() },
}

// shapes holds the model shapes for figures. A test compares the first one with the bundled model.
var shapes = map[string]struct {
	cost.Shape
	context int
	tied    bool // whether the output matrix is also the token table
}{
	"bundled": {
		cost.Shape{Layers: 6, Width: 192, Heads: 6, KVHeads: 2, HeadDim: 32, FFN: 1024, Vocab: 4096}, 512, true,
	},
	"7b": {
		cost.Shape{Layers: 32, Width: 4096, Heads: 32, KVHeads: 32, HeadDim: 128, FFN: 11008, Vocab: 32000},
		4096,
		false,
	},
}

// The tokens of the first request of the example chat, with its template's marks and the bundled
// tokenizer: read, thought out of sight, and written. A test in web/learn compares them with the
// experiment.
const chatRead, chatThought, chatWrote = 45, 22, 14

// figureChat returns the token counts of the first request of the example chat.
func figureChat() value {
	return value{bare: true, fields: map[string]value{
		"read": number(chatRead), "thought": number(chatThought), "wrote": number(chatWrote),
		"billed": number(chatRead + chatThought + chatWrote),
	}}
}

func shapeAndTie(a *arguments) (cost.Shape, bool) {
	name := a.word("shape", "bundled")
	s, ok := shapes[name]
	if !ok {
		a.fail("unknown shape %q; want bundled or 7b", name)
		s = shapes["bundled"]
	}
	return s.Shape, s.tied
}

func shapeOf(a *arguments) cost.Shape {
	s, _ := shapeAndTie(a)
	return s
}

func positions(a *arguments, name string) int { return a.whole(name, must, 1, 1e6) }

// figureShape returns the dimensions of a model.
func figureShape(a *arguments) value {
	s, tied := shapeAndTie(a)
	context := shapes[a.word("shape", "bundled")].context
	whole := func(n int) value { return number(float64(n)) }
	return value{bare: true, fields: map[string]value{
		"layers": whole(s.Layers), "width": whole(s.Width), "heads": whole(s.Heads), "kv_heads": whole(s.KVHeads),
		"head": whole(s.HeadDim), "ffn": whole(s.FFN), "vocab": whole(s.Vocab), "context": whole(context),
		"parameters": number(float64(s.Parameters(tied))),
	}}
}

// parts returns a count of multiply-adds as a record: the total, with a field for each part of the
// model.
func parts(p cost.Parts) value {
	return value{num: float64(p.Total()), fields: map[string]value{
		"total": number(float64(p.Total())), "projections": number(float64(p.Projections)),
		"feed_forward": number(float64(p.FeedForward)), "attention": number(float64(p.Attention)),
		"output": number(float64(p.Output)),
	}}
}

// figureGenerate returns the multiply-adds needed to generate n tokens after a prompt of m tokens,
// with and without a cache, and the number of positions that the blocks process.
func figureGenerate(a *arguments) value {
	s := shapeOf(a)
	m, n := positions(a, "m"), a.whole("n", must, 1, 1e5)
	if a.bad != nil {
		return value{}
	}
	if float64(s.Pass(m+n).Total())*float64(n) > 1<<62 {
		a.fail("m = %d and n = %d give counts too large to add up", m, n)
		return value{}
	}
	cached, recomputed := s.Generate(m, n)
	per := float64(s.Layers) * float64(s.Projections()) // for one position
	f := map[string]value{
		"cached": number(float64(cached.Total())), "recomputed": number(float64(recomputed.Total())),
		"ratio":                  number(float64(recomputed.Total()) / float64(cached.Total())),
		"attention_share":        number(float64(recomputed.Attention) / float64(recomputed.Total())),
		"cached_attention_share": number(float64(cached.Attention) / float64(cached.Total())),
		"positions_cached":       number(float64(cached.Projections) / per),
		"positions_recomputed":   number(float64(recomputed.Projections) / per),
		"positions_ratio":        number(float64(recomputed.Projections) / float64(cached.Projections)),
	}
	return value{fields: f, bare: true}
}

// figureBreakeven returns the n at which attention costs as much as the constant part of a cached
// step: 2·L·h·s·n = L·A + d·V.
func figureBreakeven(a *arguments) value {
	one := shapeOf(a).Step(1)
	return number(float64(one.Total()-one.Attention) / float64(one.Attention))
}

// figureKVBytes returns 2·L·g·s·positions·bytes for a model shape or for the given numbers.
func figureKVBytes(a *arguments) value {
	s := shapeOf(a)
	s.Layers = a.whole("L", float64(s.Layers), 1, 1e4)
	s.KVHeads = a.whole("g", float64(s.KVHeads), 1, 1e4)
	s.HeadDim = a.whole("s", float64(s.HeadDim), 1, 1e4)
	return number(float64(s.KVBytes(positions(a, "positions"), a.whole("bytes", must, 1, 8))))
}

func figureWeightBytes(a *arguments) value {
	return number(a.float("params", must, 1, 1e13) * a.float("bytes", must, 0.25, 8))
}

// figureBill returns input·a + output·b, with prices per million tokens.
func figureBill(a *arguments) value {
	in, out := a.float("input", must, 0, 1e15), a.float("output", must, 0, 1e15)
	return number((in*a.float("a", must, 0, 1e6) + out*a.float("b", must, 0, 1e6)) / 1e6)
}

func figureExpected(a *arguments) value {
	alpha, gamma := a.float("alpha", must, 0, 1), a.whole("gamma", must, 0, 64)
	return number(cost.ExpectedTokens(alpha, gamma))
}

func figureSpeedUp(a *arguments) value {
	alpha, gamma := a.float("alpha", must, 0, 1), a.whole("gamma", must, 0, 64)
	return number(cost.SpeedUp(alpha, gamma, a.float("c", must, 0, 10), a.float("v", 1, 0.1, 100)))
}

// figureBestSpeedUp returns the largest speed-up and the number of drafted tokens that achieves it.
func figureBestSpeedUp(a *arguments) value {
	alpha, c, v := a.float("alpha", must, 0, 1), a.float("c", must, 0, 10), a.float("v", 1, 0.1, 100)
	best, at := 0.0, 0
	for gamma := range 64 {
		if s := cost.SpeedUp(alpha, gamma, c, v); s > best {
			best, at = s, gamma
		}
	}
	return value{bare: true, fields: map[string]value{"times": number(best), "gamma": number(float64(at))}}
}
