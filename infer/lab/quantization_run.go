package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

// quantizationRun is a run of the quantization lab.
type quantizationRun struct {
	*running
	v      terms.Values
	ways   []quantizedWay
	ids    []int // of the prompt and the text
	result Quantization
	shown  [][]float32 // logits of the step shown, by way; nil until they are compared
}

// quantizedWay is a copy of the model with its weights stored in one way.
type quantizedWay struct {
	m     *infer.Model
	meter *meter
	cache *infer.Cache
	last  []float32 // [steps, width]: the vectors from which each step's scores are computed
	kl    []float64
	kept  int
	times []time.Duration
}

// roundings holds the formats that are compared with the model's own weights.
var roundings = []struct {
	name string
	kind infer.Quant
	wide bool
}{{"int8", infer.QuantInt8, false}, {"Q4_0", infer.QuantQ4, true}}

// Estimate implements [Lab].
func (quantizationLab) Estimate(env Env, v terms.Values) (Estimate, error) {
	prompt, tokens, err := env.room(v, "tokens")
	if err != nil {
		return Estimate{}, err
	}
	s := env.Target.Shape()
	all := written(s, prompt, tokens).plus(work{
		steps:  3 * int64(v.Int("repeats")) * s.Step(prompt+tokens).Total(),
		passes: 3 * (s.Pass(prompt+tokens).Total() + int64(tokens)*s.Step(1).Output),
	})
	const rounded = 4 + 1 // bytes per weight: a copy in float32 and one in int8
	return guess(env, all, tokens, 3*s.KVBytes(prompt+tokens, 4)+rounded*env.Target.Parameters()), nil
}

// Run implements [Lab].
func (quantizationLab) Run(ctx context.Context, env Env, v terms.Values, progress func(Progress)) (*Report, error) {
	_, tokens, err := env.room(v, "tokens")
	if err != nil {
		return nil, err
	}
	if kept := env.Target.Quant(); kept != infer.QuantNone {
		return nil, terms.Refuse(terms.CodeModel, "lab.refused.rounded", "kind", string(kept))
	}
	r := &quantizationRun{running: start(ctx, "quantization", env, v, progress), v: v}
	r.fill = r.fillReport
	repeats := v.Int("repeats")
	r.of = 1 + 1 + len(roundings) + tokens + repeats
	for _, phase := range []func() error{
		func() error { return r.write(tokens) }, r.round, r.compare, func() error { return r.time(repeats) },
	} {
		if err := phase(); err != nil {
			return r.end(err)
		}
	}
	return r.end(nil)
}

// write generates the text with the model's own weights.
func (r *quantizationRun) write(tokens int) error {
	m, counter := r.env.target()
	r.add(m, counter, Text("lab.quantization.own"), false)
	loop, err := infer.NewLoop(m, r.v["prompt"], settingsOf(r.v, tokens))
	if err != nil {
		return err
	}
	for {
		if _, err := turn(r.ctx, loop); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
	}
	written := chosen(loop)
	r.ids = append(slices.Clone(loop.Prompt()), written...)
	r.result.Prompt, r.result.Text = len(loop.Prompt()), tokensOf(m, written)
	if r.result.Step = r.v.Int("step"); r.result.Step > len(written) {
		return r.env.noStep(r.result.Step, len(written))
	}
	r.of -= tokens - len(written)
	r.tell(1, Text("lab.quantization.run.own", "n", fmt.Sprint(len(written))))
	return nil
}

// add adds a way of storing the weights to the comparison.
func (r *quantizationRun) add(m *infer.Model, counter *meter, name Phrase, wide bool) {
	r.ways = append(r.ways, quantizedWay{m: m, meter: counter, cache: m.NewCache()})
	r.result.Ways = append(r.result.Ways, QuantWay{Name: name, Kind: m.Quant(), Wide: wide})
	way := &r.result.Ways[len(r.result.Ways)-1]
	own, weights := r.ways[0].m, int64(0)
	way.Bytes = own.WeightBytes()
	for i, w := range own.BlockMatrices() {
		n := int64(w.Rows) * int64(w.Cols)
		weights += n
		switch m.Quant() {
		case infer.QuantInt8:
			way.Bytes += m.BlockMatrices()[i].Bytes() - w.Bytes()
		case infer.QuantQ4: // 32 weights in 18 bytes
			way.Bytes += n*18/32 - w.Bytes()
		}
	}
	kept := way.Bytes - own.WeightBytes()
	for _, w := range own.BlockMatrices() {
		kept += w.Bytes()
	}
	way.BitsEach = 8 * float64(kept) / float64(weights)
}

// round makes the rounded copies of the model and runs all of them on the text.
func (r *quantizationRun) round() error {
	for _, kind := range roundings {
		m, err := r.ways[0].m.Rounded(kind.kind)
		if err != nil {
			r.result.LeftOut = terms.Verbatim(fmt.Sprintf("%s: %v", kind.name, err))
			continue
		}
		counted, counter := metered(m, nil)
		r.add(counted, counter, terms.Verbatim(kind.name), kind.wide)
	}
	r.of -= 1 + len(roundings) - len(r.ways)
	for i := range r.ways {
		w := &r.ways[i]
		w.last = make([]float32, len(r.result.Text)*w.m.Config().Width)
		if _, err := w.m.ForwardTo(r.ctx, w.cache, r.ids[:len(r.ids)-1], w.last); err != nil {
			return err
		}
		r.tell(1, Text("lab.quantization.run.read", "way", r.result.Ways[i].Name))
	}
	return nil
}

// compare computes the scores at every step of the text in every way.
func (r *quantizationRun) compare() error {
	width, vocab := r.ways[0].m.Config().Width, r.ways[0].m.Config().Vocab
	for n := range r.result.Text {
		z := make([][]float32, len(r.ways))
		for i, w := range r.ways {
			z[i] = make([]float32, vocab)
			if _, err := w.m.LogitsTo(r.ctx, w.last[n*width:(n+1)*width], z[i]); err != nil {
				return err
			}
		}
		step := QuantStep{Step: n + 1, Token: r.result.Text[n]}
		for i := range r.ways {
			d, same := 0.0, sampling.Top(z[i], 1)[0] == sampling.Top(z[0], 1)[0]
			if i > 0 {
				d = sampling.Divergence(z[0], z[i])
			}
			step.KL, step.Same = append(step.KL, d), append(step.Same, same)
			r.ways[i].kl = append(r.ways[i].kl, d)
			if same {
				r.ways[i].kept++
			}
		}
		r.result.Steps = append(r.result.Steps, step)
		if n+1 == r.result.Step {
			r.shown = z
		}
		r.tell(1, Text("lab.quantization.run.step", "n", fmt.Sprint(n+1), "all", fmt.Sprint(len(r.result.Text))))
	}
	return nil
}

// time measures how long each way takes to reread the last token after the same text, alternating
// between the ways.
func (r *quantizationRun) time(repeats int) error {
	for i := range repeats {
		for at := range r.ways {
			w := &r.ways[at]
			w.cache.Truncate(len(r.ids) - 2)
			out, z := make([]float32, w.m.Config().Width), make([]float32, w.m.Config().Vocab)
			clock := watchOf(w.meter)
			if _, err := w.m.ForwardTo(r.ctx, w.cache, r.ids[len(r.ids)-2:len(r.ids)-1], out); err != nil {
				return err
			}
			if _, err := w.m.LogitsTo(r.ctx, out, z); err != nil {
				return err
			}
			w.times = append(w.times, clock.took())
		}
		r.result.Repeats = i + 1
		r.tell(1, Text("lab.quantization.run.times", "n", fmt.Sprint(i+1), "all", fmt.Sprint(repeats)))
	}
	return nil
}

func (r *quantizationRun) fillReport(to *Report) {
	if len(r.result.Steps) == 0 {
		return
	}
	result := r.result
	result.Steps, result.Ways = slices.Clone(result.Steps), slices.Clone(result.Ways)
	var spreads []Spread
	for i, w := range r.ways {
		way := &result.Ways[i]
		way.Kept, way.MeanKL, way.MaxKL = w.kept, mean(w.kl), slices.Max(w.kl)
		if n := min(len(w.times), result.Repeats); n > 0 {
			way.Ms = spreadOfTimes(w.times[:n])
			spreads = append(spreads, way.Ms)
		}
	}
	if r.shown != nil {
		result.show(r.ways[0].m, r.shown, r.v.Int("rows"))
	}
	to.Result = &result
	if len(spreads) > 0 {
		to.Noise = noise(spreads)
	}
}

// show fills in the results for the step shown from each way's logits. There are bars for up to
// `rows` of the most probable tokens with the model's own weights, and for the most probable token
// of every other way.
func (q *Quantization) show(m *infer.Model, z [][]float32, rows int) {
	var list []int32
	list = append(list, sampling.Top(z[0], rows)...)
	p := make([][]float64, len(z))
	for i := range z {
		top := sampling.Top(z[i], 1)[0]
		if !slices.Contains(list, top) {
			list = append(list, top)
		}
		p[i], _, _ = sampling.Softmax(z[i], 1)
		way := &q.Ways[i]
		way.Top, way.Same, way.KL = tokenOf(m, int(top)), q.Steps[q.Step-1].Same[i], q.Steps[q.Step-1].KL[i]
		q.Rest.P = append(q.Rest.P, 1)
	}
	for _, id := range list {
		bar := QuantBar{Token: tokenOf(m, int(id))}
		for i := range z {
			bar.P = append(bar.P, p[i][id])
			q.Rest.P[i] = max(0, q.Rest.P[i]-p[i][id])
		}
		q.Bars = append(q.Bars, bar)
	}
	q.Others = m.Config().Vocab - len(list)
}

// tables returns the raw rows.
func (q *Quantization) tables() []Table {
	ways := Table{
		Name: "ways", Title: Text("lab.quantization.ways"),
		Columns: columns(
			"weights", "", "size", "bytes", "a_weight", "bits", "top_token", "", "stays", "", "kl_here", "nats",
			"top_token_stays", "steps", "of", "steps", "mean_kl", "nats", "largest_kl", "nats", "a_token", "ms",
		),
	}
	for _, w := range q.Ways {
		var took any
		if w.Ms.N > 0 {
			took = w.Ms.Median
		}
		ways.add(w.Name, w.Bytes, w.BitsEach, w.Top.Text, w.Same, w.KL, w.Kept, len(q.Steps), w.MeanKL, w.MaxKL, took)
	}
	names := []any{"token", "", "id", ""}
	perStep := []any{"step", "", "token", ""}
	for _, w := range q.Ways {
		names = append(names, Text("lab.column.p_with", "way", w.Name), "")
		if w.Kind != infer.QuantNone {
			perStep = append(perStep, Text("lab.column.kl_with", "way", w.Name), "nats",
				Text("lab.column.stays_with", "way", w.Name), "")
		}
	}
	bars := Table{
		Name: "bars", Title: Text("lab.quantization.bars", "n", fmt.Sprint(q.Step)), Columns: columns(names...),
	}
	row := func(name, id any, p []float64) {
		cells := []any{name, id}
		for _, x := range p {
			cells = append(cells, x)
		}
		bars.add(cells...)
	}
	for _, b := range q.Bars {
		row(b.Token.Text, b.Token.ID, b.P)
	}
	if q.Others > 0 {
		row(Text("lab.row.others", "n", fmt.Sprint(q.Others)), nil, q.Rest.P)
	}
	steps := Table{Name: "steps", Title: Text("lab.quantization.steps"), Columns: columns(perStep...)}
	for _, s := range q.Steps {
		cells := []any{s.Step, s.Token.Text}
		for i := 1; i < len(q.Ways); i++ {
			cells = append(cells, s.KL[i], s.Same[i])
		}
		steps.add(cells...)
	}
	return []Table{ways, bars, steps}
}
