package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

// Estimate implements [Lab].
func (drawLab) Estimate(env Env, v terms.Values) (Estimate, error) {
	m, _, err := env.room(v, "step")
	if err != nil {
		return Estimate{}, err
	}
	all := written(env.Target.Shape(), m, v.Int("step"))
	e := guess(env, all, v.Int("step"), int64(env.Target.Config().Vocab)*8*4)
	const aDraw = 100 // nanoseconds, a rough estimate: a draw searches the kept tokens
	e.Took += time.Duration(aDraw * v.Int("draws") * v.Int("repeats"))
	e.judge()
	return e, nil
}

// Run implements [Lab].
func (drawLab) Run(ctx context.Context, env Env, v terms.Values, progress func(Progress)) (*Report, error) {
	if _, _, err := env.room(v, "step"); err != nil {
		return nil, err
	}
	r := &drawRun{running: start(ctx, "draw", env, v, progress)}
	r.fill = r.fillReport
	r.of = v.Int("repeats")
	r.result = Draw{Step: v.Int("step"), Settings: samplingOf(v), Seed: uint64(v.Float("seed"))}
	if err := r.distribution(env.Target, v); err != nil {
		return r.end(err)
	}
	r.sizes = ladder(v.Int("draws"))
	r.result.Sizes = histogramSizes(v.Int("draws"))
	r.found = make([][]float64, len(r.sizes))
	for i := range v.Int("repeats") {
		if err := r.once((r.result.Seed + uint64(i)) % (infer.MaxSeed + 1)); err != nil {
			return r.end(err)
		}
		r.result.Repeats = i + 1
		r.tell(1, Text("lab.run.repeat", "n", fmt.Sprint(i+1), "all", v["repeats"]))
	}
	return r.end(nil)
}

// distribution runs the loop up to the filter of the step to draw from.
func (r *drawRun) distribution(m *infer.Model, v terms.Values) error {
	loop, err := infer.NewLoop(m, v["prompt"], settingsOf(v, r.result.Step))
	if err != nil {
		return err
	}
	for n := 1; n < r.result.Step; n++ {
		_, err := turn(r.ctx, loop)
		if errors.Is(err, io.EOF) {
			return r.env.noStep(r.result.Step, len(loop.Steps()))
		} else if err != nil {
			return err
		}
	}
	for {
		kind, err := loop.Advance(r.ctx)
		if errors.Is(err, io.EOF) {
			return r.env.noStep(r.result.Step, len(loop.Steps()))
		} else if err != nil {
			return err
		}
		if kind == infer.KindFilter {
			break
		}
	}
	r.d = loop.Distribution()
	r.result.Kept = r.d.Keep
	r.result.Prompt = tokensOf(m, loop.Prompt())
	r.result.Before = tokensOf(m, chosen(loop))
	for i := range min(v.Int("rows"), r.d.Keep) {
		rank := r.d.KeptRank(i)
		id := int(r.d.Order[rank])
		r.result.Tokens = append(
			r.result.Tokens, DrawToken{Token: tokenOf(m, id), Rank: rank + 1, P: r.d.P[id], Q: r.d.Q(rank)},
		)
	}
	return nil
}

// noStep returns the error for a step past the end of a text of n tokens.
func (e Env) noStep(step, n int) error {
	return terms.NewRangeError("step", step, e.words().T("lab.refused.step", "n", fmt.Sprint(n)))
}

// ladder returns 10, 20, 50, 100 and so on, up to and including most.
func ladder(most int) []int {
	var list []int
	for ten := 10; ; ten *= 10 {
		for _, n := range []int{ten, 2 * ten, 5 * ten} {
			if n >= most {
				return append(list, most)
			}
			list = append(list, n)
		}
	}
}

// histogramSizes returns the largest size, preceded by 10 and 100 if they are smaller.
func histogramSizes(most int) []int {
	var list []int
	for _, n := range []int{10, 100} {
		if n < most {
			list = append(list, n)
		}
	}
	return append(list, most)
}

// once makes all draws of one repeat, with u derived from a seed, and measures the distance at
// every size.
func (r *drawRun) once(seed uint64) error {
	first := r.result.Repeats == 0
	r.counts = make([]int, r.d.Keep)
	distances := make([]float64, 0, len(r.sizes))
	for n := 1; n <= r.sizes[len(r.sizes)-1]; n++ {
		if n%1024 == 1 && r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		r.counts[r.d.DrawKept(sampling.U(seed, n))]++
		if len(distances) < len(r.sizes) && n == r.sizes[len(distances)] {
			distances = append(distances, distance(r.counts, n, r.d.KeptQ))
		}
		if first && slices.Contains(r.result.Sizes, n) {
			r.kept = append(r.kept, slices.Clone(r.counts))
		}
	}
	for i, x := range distances { // add complete repeats only
		r.found[i] = append(r.found[i], x)
	}
	return nil
}

// distance returns the total variation between counts of n draws, by index among the kept
// tokens, and their probabilities: ½ Σ|count/n − q|.
func distance(counts []int, n int, q func(place int) float64) float64 {
	sum := 0.0
	for place, c := range counts {
		sum += math.Abs(float64(c)/float64(n) - q(place))
	}
	return sum / 2
}

// expectedDistance returns the mean of distance over all possible draws: half the sum of the mean
// deviations of binomial shares. De Moivre's closed form of E|X − nq| is 2·m·C(n, m)·q^m·(1 −
// q)^(n−m+1) with m = ⌊nq⌋ + 1.
func expectedDistance(n int, q func(place int) float64, places int) float64 {
	sum := 0.0
	for place := range places {
		sum += meanDeviation(n, q(place))
	}
	return sum / (2 * float64(n))
}

// meanDeviation returns E|X − nq| for X binomial with n draws of probability q.
func meanDeviation(n int, q float64) float64 {
	if q <= 0 || q >= 1 {
		return 0
	}
	m := math.Floor(float64(n)*q) + 1
	a, _ := math.Lgamma(float64(n) + 1)
	b, _ := math.Lgamma(m + 1)
	c, _ := math.Lgamma(float64(n) - m + 1)
	return 2 * m * math.Exp(a-b-c+m*math.Log(q)+(float64(n)-m+1)*math.Log1p(-q))
}

// rootLaw returns the limit of expectedDistance for large n: ½ Σ √(2q(1−q)/πn), which falls
// as 1/√n.
func rootLaw(n int, q func(place int) float64, places int) float64 {
	sum := 0.0
	for place := range places {
		sum += math.Sqrt(2 * q(place) * (1 - q(place)) / (math.Pi * float64(n)))
	}
	return sum / 2
}

// slope returns the least-squares slope of ln y against ln x, or 0 if fewer than two points
// have a logarithm.
func slope(x []int, y []float64) float64 {
	var lx, ly []float64
	for i := range x {
		if y[i] > 0 {
			lx, ly = append(lx, math.Log(float64(x[i]))), append(ly, math.Log(y[i]))
		}
	}
	if len(lx) < 2 {
		return 0
	}
	_, b := stat.LinearRegression(lx, ly, nil, false)
	return finiteOr(b, 0)
}

func (r *drawRun) fillReport(to *Report) {
	if r.result.Repeats == 0 {
		return
	}
	result := r.result
	var means, expected []float64
	for i, n := range r.sizes {
		row := Distance{
			N: n, Shown: r.found[i][0], Measured: spreadOf(r.found[i]), Mean: mean(r.found[i]),
			Expected: expectedDistance(n, r.d.KeptQ, r.d.Keep), Law: rootLaw(n, r.d.KeptQ, r.d.Keep),
		}
		result.Distances = append(result.Distances, row)
		means, expected = append(means, row.Mean), append(expected, row.Expected)
	}
	result.Slope, result.SlopeExpected = slope(r.sizes, means), slope(r.sizes, expected)
	result.Tokens = slices.Clone(r.result.Tokens)
	result.RestTokens = result.Kept - len(result.Tokens)
	for i := range result.Tokens {
		for _, counts := range r.kept {
			result.Tokens[i].Counts = append(result.Tokens[i].Counts, counts[i])
		}
	}
	result.Rest = r.rest(len(result.Tokens))
	to.Result = &result
	to.Noise = drawNoise(&result)
}

// rest returns the total for the kept tokens from the given index on.
func (r *drawRun) rest(from int) DrawToken {
	rest := DrawToken{Rank: from + 1, Counts: make([]int, len(r.kept))}
	if from < r.d.Keep {
		rest.Rank = r.d.KeptRank(from) + 1
	}
	for at := from; at < r.d.Keep; at++ {
		rest.P += r.d.P[r.d.Order[r.d.KeptRank(at)]]
		rest.Q += r.d.KeptQ(at)
		for i, counts := range r.kept {
			rest.Counts[i] += counts[at]
		}
	}
	return rest
}

func drawNoise(d *Draw) Phrase {
	if d.Repeats < 2 {
		return Text("lab.draw.noise.once")
	}
	last := d.Distances[len(d.Distances)-1]
	four := func(x float64) string { return fmt.Sprintf("%.4f", x) }
	return Text("lab.draw.noise", "n", fmt.Sprint(last.N), "low", four(last.Measured.Q1), "high",
		four(last.Measured.Q3),
		"repeats", fmt.Sprint(d.Repeats), "expected", four(last.Expected))
}

// tables returns the raw rows.
func (d *Draw) tables() []Table {
	names := []any{"token", "", "id", "", "rank", "", "p", "", "q", ""}
	for _, n := range d.Sizes {
		names = append(names, Text("lab.column.drawn_of", "n", fmt.Sprint(n)), "")
	}
	counts := Table{Name: "histogram", Title: Text("lab.draw.histogram"), Columns: columns(names...)}
	row := func(name, id any, t DrawToken) {
		cells := []any{name, id, t.Rank, t.P, t.Q}
		for _, c := range t.Counts {
			cells = append(cells, c)
		}
		counts.add(cells...)
	}
	for _, t := range d.Tokens {
		row(t.Token.Text, t.Token.ID, t)
	}
	if d.RestTokens > 0 {
		row(Text("lab.row.others", "n", fmt.Sprint(d.RestTokens)), nil, d.Rest)
	}
	distances := Table{
		Name: "distance", Title: Text("lab.draw.distance"),
		Columns: columns(
			"draws", "", "shown", "", "mean", "", "median", "", "lower", "", "upper", "", "expected", "", "law", "",
			"scaled_mean", "",
		),
	}
	for _, x := range d.Distances {
		distances.add(
			x.N, x.Shown, x.Mean, x.Measured.Median, x.Measured.Q1, x.Measured.Q3, x.Expected, x.Law,
			x.Mean*math.Sqrt(float64(x.N)),
		)
	}
	return []Table{counts, distances}
}
