package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/cost"
	"github.com/tokenbytoken/viz/infer/terms"
)

// loadedKey is the key of the preset for the running model.
const loadedKey = "loaded"

// The shapes of published models, from which their parameter counts are calculated.
var (
	llama7B  = cost.Shape{Layers: 32, Width: 4096, Heads: 32, KVHeads: 32, HeadDim: 128, FFN: 11008, Vocab: 32000}
	llama70B = cost.Shape{Layers: 80, Width: 8192, Heads: 64, KVHeads: 8, HeadDim: 128, FFN: 28672, Vocab: 32000}
	mistral  = cost.Shape{Layers: 32, Width: 4096, Heads: 32, KVHeads: 8, HeadDim: 128, FFN: 14336, Vocab: 32000}
	gpt2     = cost.Shape{
		Layers: 12, Width: 768, Heads: 12, KVHeads: 12, HeadDim: 64, FFN: 3072, FFNMatrices: 2, Vocab: 50257,
	}
)

// gpt2Parameters is the number of parameters of the smallest published model of Radford et al.
// 2019. It includes parameters that the formula omits: the table of 1,024 positions, the biases,
// and the norms' biases.
const gpt2Parameters = 124_439_808

// published holds the calculator's presets.
var published = []MemoryModel{
	modelOf("example-32", Text("lab.memory.example"), llama7B, llama7B.Parameters(false), 131_072, 0,
		Text("lab.memory.example.source")),
	modelOf("gpt-2", terms.Verbatim("GPT-2"), gpt2, gpt2Parameters, 1024, 2019, terms.Verbatim("Radford et al. 2019")),
	modelOf("llama-2-7b", terms.Verbatim("Llama 2 7B"), llama7B, llama7B.Parameters(false), 4096, 2023,
		terms.Verbatim("Touvron et al. 2023")),
	modelOf("llama-2-70b", terms.Verbatim("Llama 2 70B"), llama70B, llama70B.Parameters(false), 4096, 2023,
		terms.Verbatim("Touvron et al. 2023")),
	noted(modelOf("mistral-7b", terms.Verbatim("Mistral 7B"), mistral, mistral.Parameters(false), 8192, 2023,
		terms.Verbatim("Jiang et al. 2023")),
		Text("lab.memory.mistral.note")),
}

func noted(m MemoryModel, note Phrase) MemoryModel {
	m.Note = note
	return m
}

func modelOf(
	key string, name Phrase, s cost.Shape, parameters int64, context, year int, source Phrase,
) MemoryModel {
	return MemoryModel{
		Key: key, Name: name, Layers: s.Layers, Heads: s.Heads, KVHeads: s.KVHeads, HeadDim: s.HeadDim,
		Parameters: parameters, Context: context, Year: year, Source: source,
	}
}

// loadedSource names the source of the running model's numbers.
var loadedSource = Text("lab.memory.loaded.source")

func loadedModel(m *infer.Model) MemoryModel {
	return modelOf(loadedKey, terms.Verbatim(m.Name()), m.Shape(), m.Parameters(), m.Config().Context, 0, loadedSource)
}

func memoryKeys() []string {
	keys := []string{loadedKey}
	for _, m := range published {
		keys = append(keys, m.Key)
	}
	return keys
}

// windows holds published context windows, each with its year and source.
var windows = []Window{
	{Name: "GPT-2", Tokens: 1024, Year: 2019, Source: terms.Verbatim("Radford et al. 2019")},
	{Name: "GPT-3", Tokens: 2048, Year: 2020, Source: terms.Verbatim("Brown et al. 2020")},
	{Name: "GPT-4", Tokens: 8192, Year: 2023, Source: terms.Verbatim("OpenAI 2023")},
	{Name: "Claude 3", Tokens: 200_000, Year: 2024, Source: terms.Verbatim("Anthropic 2024")},
	{Name: "Gemini 1.5 Pro", Tokens: 1_000_000, Year: 2024, Source: terms.Verbatim("Gemini Team 2024")},
}

// precision is a number format.
type precision struct {
	name  string
	bytes float64 // per value
}

var precisions = []precision{{"fp32", 4}, {"fp16", 2}, {"bf16", 2}, {"int8", 1}, {"int4", 0.5}}

func precisionNames() []string {
	var names []string
	for _, p := range precisions {
		names = append(names, p.name)
	}
	return names
}

func bytesOf(name string) float64 {
	return precisions[slices.IndexFunc(precisions, func(p precision) bool { return p.name == name })].bytes
}

// memoryRun is a run of the memory lab.
type memoryRun struct {
	*running
	result Memory
}

// Estimate implements [Lab].
func (memoryLab) Estimate(env Env, v terms.Values) (Estimate, error) {
	if _, err := Calculate(env, v); err != nil {
		return Estimate{}, err
	}
	m, tokens, err := env.room(v, "tokens")
	if err != nil {
		return Estimate{}, err
	}
	s := env.Target.Shape()
	return guess(env, written(s, m, tokens), tokens, s.KVBytes(m+tokens, 4)), nil
}

// Run implements [Lab].
func (memoryLab) Run(ctx context.Context, env Env, v terms.Values, progress func(Progress)) (*Report, error) {
	prompt, tokens, err := env.room(v, "tokens")
	if err != nil {
		return nil, err
	}
	r := &memoryRun{running: start(ctx, "memory", env, v, progress)}
	r.fill = r.fillReport
	r.of = tokens
	if r.result, err = Calculate(env, v); err != nil {
		return nil, err
	}
	r.result.Engine = Engine{
		Prompt: prompt, Formula: Text("lab.memory.formula"), Agree: true,
	}
	return r.end(r.engine(env.Target, v, tokens))
}

// Calculate computes the memory lab's result except for the engine's bytes. v must come from
// [terms.Inputs.Read]. If the heads cannot share keys and values as requested, it returns a
// *[terms.RangeError].
func Calculate(env Env, v terms.Values) (Memory, error) {
	m := env.Target
	all := memoryModels(m)
	model := modelIn(all, v)
	for _, change := range []struct {
		name string
		to   *int
	}{{"layers", &model.Layers}, {"heads", &model.Heads}, {"kv_heads", &model.KVHeads}, {"head_dim", &model.HeadDim}} {
		if n := v.Int(change.name); n > 0 {
			*change.to = n
		}
	}
	if model.KVHeads > model.Heads || model.Heads%model.KVHeads != 0 {
		return Memory{}, terms.NewRangeError(
			"kv_heads", model.KVHeads, env.words().T("lab.refused.kv_heads", "heads", fmt.Sprint(model.Heads)),
		)
	}
	c := Memory{
		Model: model, Models: all, Precision: v["precision"], BytesPerValue: bytesOf(v["precision"]),
		WeightPrecision: v["weights"], Positions: v.Int("positions"), Batch: v.Int("batch"),
		WeightBytes: float64(model.Parameters) * bytesOf(v["weights"]), MemoryBytes: v.Float("memory") * (1 << 30),
	}
	c.BytesPerPosition = model.perPosition(model.KVHeads, c.BytesPerValue)
	c.Bytes = c.BytesPerPosition * float64(c.Positions) * float64(c.Batch)
	c.Overtakes = c.WeightBytes / c.BytesPerPosition
	c.FreeBytes = c.MemoryBytes - c.WeightBytes
	c.Users = c.users(c.BytesPerPosition)
	c.Variants = c.variants()
	loaded := Window{Name: m.Name(), Tokens: m.Config().Context, Source: loadedSource, Loaded: true}
	c.Windows = append([]Window{loaded}, windows...)
	for i := range c.Windows {
		c.Windows[i].Bytes = c.BytesPerPosition * float64(c.Windows[i].Tokens)
	}
	return c, nil
}

// memoryModels returns the models to calculate with, the loaded one first.
func memoryModels(m *infer.Model) []MemoryModel {
	return append([]MemoryModel{loadedModel(m)}, published...)
}

func modelIn(all []MemoryModel, v terms.Values) MemoryModel {
	return all[slices.IndexFunc(all, func(x MemoryModel) bool { return x.Key == v["preset"] })]
}

// perPosition returns 2 × layers × KV heads × head size × bytes.
func (m MemoryModel) perPosition(kvHeads int, bytes float64) float64 {
	return 2 * float64(m.Layers) * float64(kvHeads) * float64(m.HeadDim) * bytes
}

// users returns how many texts fit into memory alongside the weights.
func (c *Memory) users(perPosition float64) int64 {
	return int64(max(0, math.Floor(c.FreeBytes/(perPosition*float64(c.Positions)))))
}

// variants returns the ways to share keys and values: one pair per head, one per group of heads,
// and one for all heads.
func (c *Memory) variants() []MemoryVariant {
	h, g := c.Model.Heads, c.Model.KVHeads
	if g == h || g == 1 {
		for g = 8; h%g != 0 || g >= h; g-- { // a plausible group size for this number of heads
			if g <= 1 {
				break
			}
		}
	}
	list := []MemoryVariant{{Name: "MHA", KVHeads: h, Say: Text("lab.memory.mha")}}
	if g > 1 && g < h {
		say := Text("lab.memory.gqa", "n", h/g)
		list = append(list, MemoryVariant{Name: "GQA", KVHeads: g, Say: say})
	}
	if h > 1 {
		list = append(list, MemoryVariant{Name: "MQA", KVHeads: 1, Say: Text("lab.memory.mqa")})
	}
	for i := range list {
		x := &list[i]
		x.BytesPerPosition = c.Model.perPosition(x.KVHeads, c.BytesPerValue)
		x.Bytes = x.BytesPerPosition * float64(c.Positions) * float64(c.Batch)
		x.Saving = float64(h) / float64(x.KVHeads)
		x.Users = c.users(x.BytesPerPosition)
		x.Now = x.KVHeads == c.Model.KVHeads
	}
	return list
}

// engine generates a text and records the cache's size after every step.
func (r *memoryRun) engine(m *infer.Model, v terms.Values, tokens int) error {
	loop, err := infer.NewLoop(
		m, v["prompt"],
		infer.Settings{Settings: common(), Seed: uint64(v.Float("seed")), Stop: infer.Stop{MaxTokens: tokens}},
	)
	if err != nil {
		return err
	}
	e := &r.result.Engine
	shape := m.Shape()
	column := shape.KVBytes(1, 4)
	for {
		s, err := turn(r.ctx, loop)
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		row := EngineStep{
			Step: s.N, Positions: loop.Cache().Positions(), Used: loop.Cache().Bytes(),
			Reserved:    loop.Cache().Reserved(),
			UsedFormula: shape.KVBytes(s.Positions(), 4),
		}
		row.Room = int(row.Reserved / column)
		room := row.Room
		if len(e.Steps) > 0 {
			room = roomAfter(e.Steps[len(e.Steps)-1].Room, row.Positions, m.Config().Context)
		}
		row.ReservedFormula = shape.KVBytes(room, 4)
		e.Agree = e.Agree && row.Used == row.UsedFormula && row.Reserved == row.ReservedFormula &&
			row.Room >= row.Positions
		e.Steps = append(e.Steps, row)
		r.tell(1, Text("lab.memory.run", "n", fmt.Sprint(s.N), "all", fmt.Sprint(tokens)))
	}
}

// roomAfter returns a cache's capacity, in positions, after a position has been added. If the
// position does not fit, the capacity is doubled, up to the context.
func roomAfter(room, positions, context int) int {
	if positions <= room {
		return room
	}
	return min(max(positions, 2*room), context)
}

func (r *memoryRun) fillReport(to *Report) {
	result := r.result
	result.Engine.Steps = slices.Clip(result.Engine.Steps)
	to.Result = &result
}

// tables returns the raw rows.
func (c *Memory) tables() []Table {
	variants := Table{
		Name: "variants", Title: Text("lab.memory.variants", "model", c.Model.Name, "n", fmt.Sprint(c.Positions),
			"texts", fmt.Sprint(c.Batch), "precision", c.Precision),
		Columns: columns(
			"sharing", "", "kv_heads", "", "a_position", "bytes", "all", "bytes", "times_smaller", "", "users", "",
			"this_model", "",
		),
	}
	for _, x := range c.Variants {
		variants.add(x.Name, x.KVHeads, x.BytesPerPosition, x.Bytes, x.Saving, x.Users, x.Now)
	}
	models := Table{
		Name: "models", Title: Text("lab.memory.models"),
		Columns: columns(
			"model", "", "layers", "", "heads", "", "kv_heads", "", "head_size", "", "parameters", "", "context",
			"tokens", "a_position_fp16", "bytes", "weights_fp16", "bytes", "year", "", "source", "",
		),
	}
	for _, m := range c.Models {
		models.add(
			m.Name, m.Layers, m.Heads, m.KVHeads, m.HeadDim, m.Parameters, m.Context, m.perPosition(m.KVHeads, 2),
			2*float64(m.Parameters), year(m.Year), m.Source,
		)
	}
	window := Table{
		Name: "windows", Title: Text("lab.memory.windows"),
		Columns: columns("model", "", "window", "tokens", "year", "",
			Text("lab.column.cache_of", "model", c.Model.Name), "bytes", "source", ""),
	}
	for _, w := range c.Windows {
		window.add(w.Name, w.Tokens, year(w.Year), w.Bytes, w.Source)
	}
	engine := Table{
		Name: "engine", Title: Text("lab.memory.engine"),
		Columns: columns(
			"step", "", "positions", "", "used", "bytes", "used_formula", "bytes", "reserved", "bytes",
			"reserved_formula", "bytes", "room", "positions",
		),
	}
	for _, s := range c.Engine.Steps {
		engine.add(s.Step, s.Positions, s.Used, s.UsedFormula, s.Reserved, s.ReservedFormula, s.Room)
	}
	return []Table{variants, models, window, engine}
}

// year returns a year as a string, so it is formatted without a comma, or nil if the year is
// unknown.
func year(n int) any {
	if n == 0 {
		return nil
	}
	return fmt.Sprint(n)
}

func (memoryLab) free() []string {
	return []string{
		"preset", "layers", "heads", "kv_heads", "head_dim", "precision", "weights", "positions", "batch", "memory",
	}
}

func (memoryLab) reckon(env Env, measured any, v terms.Values) outcome {
	c, err := Calculate(env, v)
	if err != nil {
		return nil
	}
	c.Engine = measured.(*Memory).Engine
	return &c
}

func (memoryLab) calculate(env Env, v terms.Values) (outcome, error) {
	c, err := Calculate(env, v)
	if err != nil {
		return nil, err
	}
	return &c, nil
}

func (memoryLab) own(env Env, v terms.Values) terms.Values {
	m := modelIn(memoryModels(env.Target), v)
	return terms.Values{
		"layers": fmt.Sprint(m.Layers), "heads": fmt.Sprint(m.Heads), "kv_heads": fmt.Sprint(m.KVHeads),
		"head_dim": fmt.Sprint(m.HeadDim),
	}
}
