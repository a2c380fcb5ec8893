package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/cost"
	"github.com/tokenbytoken/viz/infer/terms"
)

// billRun is a run of the bill lab.
type billRun struct {
	*running
	m      *infer.Model
	meter  *meter
	v      terms.Values
	result Bill
	took   float64 // the request's duration in seconds
	work   int64   // the request's multiply-adds
}

// Estimate implements [Lab].
func (billLab) Estimate(env Env, v terms.Values) (Estimate, error) {
	prompt, tokens, err := env.room(v, "max_tokens")
	if err != nil {
		return Estimate{}, err
	}
	if _, err := terser(env, v); err != nil {
		return Estimate{}, err
	}
	s := env.Target.Shape()
	why, err := prefillWork(env, whyValues(v))
	if err != nil {
		return Estimate{}, err
	}
	all := written(s, prompt, tokens).times(4).plus(why)
	return guess(env, all, 4*tokens+whyTurns, s.KVBytes(prompt+tokens, 4)), nil
}

// terser returns the values with the shorter prompt, or nil if there is none.
func terser(env Env, v terms.Values) (terms.Values, error) {
	if v["try_prompt"] == "" {
		return nil, nil
	}
	other := terms.Values{"prompt": v["try_prompt"], "max_tokens": v["max_tokens"]}
	if _, _, err := env.room(other, "max_tokens"); err != nil {
		var r *terms.RangeError
		if errors.As(err, &r) {
			return nil, terms.NewRangeError("try_prompt", r.Got, r.Want)
		}
		return nil, err
	}
	return other, nil
}

// whyValues returns values for the prefill lab that correspond to this request.
func whyValues(v terms.Values) terms.Values {
	w := prefillLab{}.Info(terms.English).Inputs.Defaults()
	l := terms.English
	for _, p := range append(samplingInputs(l, common()), promptInput(l, ""), seedInput(l)) {
		w[p.Key] = v[p.Key]
	}
	w["lengths"], w["tokens"], w["repeats"] = "1,16,32,64,128", "24", "5"
	return w
}

// whyTurns is the number of tokens that the prefill lab draws with these values.
const whyTurns = 5 * (24 + 5)

// Run implements [Lab].
func (billLab) Run(ctx context.Context, env Env, v terms.Values, progress func(Progress)) (*Report, error) {
	_, tokens, err := env.room(v, "max_tokens")
	if err != nil {
		return nil, err
	}
	if _, err := terser(env, v); err != nil {
		return nil, err
	}
	r := &billRun{running: start(ctx, "bill", env, v, progress), v: v}
	r.m, r.meter = env.target()
	r.fill = r.fillReport
	r.of = tokens + 4
	r.result = billOf(r.m, v, tokens)
	for _, part := range []func() error{r.request, r.savings, r.why} {
		if err := part(); err != nil {
			return r.end(err)
		}
	}
	return r.end(nil)
}

// billOf returns the bill of a request before it runs. It charges for the prompt and for `tokens`
// generated tokens, which is the maximum.
func billOf(m *infer.Model, v terms.Values, tokens int) Bill {
	b := Bill{Request: RequestOf(v), Prompt: tokensOf(m, m.Encode(v["prompt"]))}
	b.JSON, b.Machine.RequestsDay = b.Request.JSON(), v.Float("requests")
	b.AtMost.InputTokens, b.AtMost.OutputTokens = len(b.Prompt), tokens
	b.atPrices(pricesOf(v))
	return b
}

// atPrices computes the costs that are known before a run.
func (b *Bill) atPrices(p Prices) {
	b.Prices, b.BreakEven = p, finiteOr(p.Output/p.Input, 0)
	b.AtMost = p.cost(b.AtMost.InputTokens, b.AtMost.OutputTokens)
}

// settings returns the settings of the request.
func (r *billRun) settings() infer.Settings {
	return settingsOf(r.v, r.result.Request.MaxTokens, r.result.Request.Stop...)
}

// request runs the request itself and records its ticks.
func (r *billRun) request() error {
	loop, err := infer.NewLoop(r.m, r.v["prompt"], r.settings())
	if err != nil {
		return err
	}
	before, clock := r.meter.parts.Total(), watchOf(r.meter)
	r.result.Cost = r.result.Prices.cost(len(r.result.Prompt), 0)
	for {
		s, err := turn(r.ctx, loop)
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		took := clock.took()
		r.took, r.work = took.Seconds(), r.meter.parts.Total()-before
		r.result.Text += s.Text
		r.result.Stop = s.Stop
		r.result.Cost = r.result.Prices.cost(len(r.result.Prompt), s.N)
		r.result.Ticks = append(
			r.result.Ticks,
			Tick{Step: s.N, Token: tokenOf(r.m, s.Chosen), Cost: r.result.Cost.Total, Ms: milliseconds(took)},
		)
		r.tell(1, Text("lab.run.token", "n", fmt.Sprint(s.N)))
	}
}

// cost returns the cost of a number of tokens.
func (p Prices) cost(input, output int) Cost {
	const million = 1e6
	c := Cost{
		InputTokens: input, OutputTokens: output, Input: float64(input) * p.Input / million,
		Output: float64(output) * p.Output / million,
	}
	c.Total = c.Input + c.Output
	return c
}

// savings runs the request several more times, each time with one change.
func (r *billRun) savings() error {
	base := r.settings()
	type change struct {
		name     string
		title    Phrase
		prompt   string
		settings infer.Settings
	}
	var changes []change
	if stops := r.v.Lines("try_stop"); len(stops) > 0 {
		s := base
		s.Stop.Strings = append(slices.Clone(base.Stop.Strings), stops...)
		s.Stop.Strings = s.Stop.Strings[max(0, len(s.Stop.Strings)-infer.MaxStopStrings):]
		changes = append(
			changes,
			change{"stop", stopTitle(stops), r.v["prompt"], s},
		)
	}
	s := base
	s.Stop.MaxTokens = r.v.Int("try_max_tokens")
	changes = append(
		changes, change{"max_tokens", maxTokensTitle(s.Stop.MaxTokens), r.v["prompt"], s},
	)
	if r.v["try_prompt"] != "" {
		changes = append(
			changes, change{"prompt", promptTitle(r.v["try_prompt"]), r.v["try_prompt"], base},
		)
	}
	for _, c := range changes {
		loop, err := infer.NewLoop(r.m, c.prompt, c.settings)
		if err != nil {
			return err
		}
		text, err := write(r.ctx, loop)
		if err != nil {
			return err
		}
		steps := loop.Steps()
		row := Saving{
			Name: c.name, Title: c.title, Text: text, Stop: steps[len(steps)-1].Stop,
			Cost: r.result.Prices.cost(len(loop.Prompt()), len(steps)),
		}
		row.Same = strings.HasPrefix(r.result.Text, text)
		r.result.Savings = append(slices.Clip(r.result.Savings), row)
		r.tell(1, Text("lab.bill.run.change", "change", c.title))
	}
	return nil
}

func stopTitle(stops []string) Phrase {
	return Text("lab.bill.change.stop", "stops", func(l *terms.Language) string {
		all := stops[0]
		for _, stop := range stops[1:] {
			all = l.T("lab.bill.change.stop.or", "stops", all, "stop", stop)
		}
		return terms.Quoted(all)
	})
}

func maxTokensTitle(n int) Phrase { return Text("lab.bill.change.max_tokens", "n", fmt.Sprint(n)) }

func promptTitle(prompt string) Phrase {
	return Text("lab.bill.change.prompt", "prompt", terms.Quoted(prompt))
}

// why measures the time to read a token and the time to generate a token, as the prefill lab does.
func (r *billRun) why() error {
	report, err := prefillLab{}.Run(r.ctx, r.env, whyValues(r.v), nil)
	if err != nil {
		return err
	}
	if report.Canceled {
		return r.ctx.Err()
	}
	p := report.Result.(*Prefill)
	w := Why{InputMs: p.Input.Ms, OutputMs: p.Output.Ms, Ratio: p.Ratio, WorkRatio: p.WorkRatio}
	w.Say = w.sentence()
	r.result.Why = w
	r.tell(1, Text("lab.bill.run.why"))
	return nil
}

// sentence returns a sentence that compares the times of an input token and an output token.
func (w Why) sentence() Phrase {
	return Text(
		"lab.bill.why", "ratio", fmt.Sprintf("%.2g", w.Ratio), "work", fmt.Sprintf("%.2g", w.WorkRatio),
		"because", w.Because(),
	)
}

// Because explains why output costs more than input. If the two measured times are too close to
// show it, the text says so.
func (w Why) Because() Phrase {
	if w.Ratio < 1.2 {
		return Text("lab.bill.why.because.hidden")
	}
	return Text("lab.bill.why.because")
}

func (r *billRun) fillReport(to *Report) {
	if len(r.result.Ticks) == 0 {
		return
	}
	result := r.result
	result.Machine.SecondsEach, result.Training.RequestMultAdds = r.took, float64(r.work)
	result.price(r.m, r.v)
	to.Result = &result
	to.Noise = Text("lab.bill.noise")
}

func pricesOf(v terms.Values) Prices { return Prices{v.Float("input_price"), v.Float("output_price")} }

// price computes everything that depends on prices and on the measured tokens, seconds and
// multiply-adds.
func (b *Bill) price(m *infer.Model, v terms.Values) {
	p := pricesOf(v)
	b.atPrices(p)
	b.Cost = p.cost(b.Cost.InputTokens, b.Cost.OutputTokens)
	b.OutputShare = finiteOr(b.Cost.Output/b.Cost.Total, 0)
	b.Ticks, b.Savings = slices.Clone(b.Ticks), slices.Clone(b.Savings)
	for i := range b.Ticks {
		b.Ticks[i].Cost = p.cost(b.Cost.InputTokens, b.Ticks[i].Step).Total
	}
	for i := range b.Savings {
		s := &b.Savings[i]
		s.Cost = p.cost(s.Cost.InputTokens, s.Cost.OutputTokens)
		s.Saved = b.Cost.Total - s.Cost.Total
		s.Share, s.ADay = finiteOr(s.Saved/b.Cost.Total, 0), s.Saved*v.Float("requests")
	}
	b.Machine = machineUse(v, b.Cost.Total, b.Machine.SecondsEach)
	b.Training = training(
		v, m.Shape(), m.Parameters(), m.Config().Context, b.Training.RequestMultAdds, b.Cost.OutputTokens,
	)
}

// machineUse compares the price of requests with the cost of running your own machine.
func machineUse(v terms.Values, each, seconds float64) MachineUse {
	const day = 24 * 3600
	u := MachineUse{PerHour: v.Float("machine"), SecondsEach: seconds, RequestsDay: v.Float("requests")}
	u.CostEach = u.PerHour / 3600 * seconds
	u.MostADay = finiteOr(day/seconds, 0)
	u.APIDay, u.MachineDay = each*u.RequestsDay, 24*u.PerHour
	if n := u.MachineDay / each; n <= u.MostADay { // also false if n is NaN because both costs are 0
		u.BreakEvenDay = n
	}
	return u
}

// training compares the multiply-adds of a request with those of training: three forward passes per
// token, for texts that fill the context, with scores at every position.
func training(v terms.Values, s cost.Shape, parameters int64, context int, request float64, written int) Training {
	t := Training{Tokens: v.Float("trained_tokens"), RequestMultAdds: request}
	if t.Tokens == 0 {
		t.Tokens, t.Assumed = 20*float64(parameters), true
	}
	position := float64(s.Blocks(0, context).Total())/float64(context) + float64(s.Output().Total())
	t.MultAdds = 3 * t.Tokens * position
	t.Requests = finiteOr(t.MultAdds/t.RequestMultAdds, 0)
	t.Days = finiteOr(t.Requests/v.Float("requests"), 0)
	t.Answered = t.Requests * float64(written)
	return t
}

// tables returns the raw rows.
func (b *Bill) tables() []Table {
	ticks := Table{
		Name: "ticks", Title: Text("lab.bill.ticks"),
		Columns: columns("step", "", "token", "", "so_far", "$", "at", "ms"),
	}
	for _, t := range b.Ticks {
		ticks.add(t.Step, t.Token.Text, t.Cost, t.Ms)
	}
	costs := Table{
		Name: "requests", Title: Text("lab.bill.requests"),
		Columns: columns(
			"request", "", "input", "tokens", "output", "tokens", "input", "$", "output", "$", "total", "$", "saved",
			"$", "saved_a_day", "$", "stop", "",
		),
	}
	row := func(name Phrase, c Cost, saved, day any, stop infer.StopReason) {
		costs.add(name, c.InputTokens, c.OutputTokens, c.Input, c.Output, c.Total, saved, day, string(stop))
	}
	row(Text("lab.bill.requests.this"), b.Cost, nil, nil, b.Stop)
	for _, s := range b.Savings {
		row(s.Title, s.Cost, s.Saved, s.ADay, s.Stop)
	}
	even := Table{
		Name: "break_even", Title: Text("lab.bill.even"),
		Columns: columns("what", "", "value", "", "unit", ""),
	}
	for _, row := range []struct {
		what  Phrase
		value float64
		unit  string
	}{
		{Text("lab.bill.even.tokens"), b.BreakEven, "tokens"},
		{Text("lab.bill.even.share"), b.OutputShare, ""},
		{Text("lab.bill.even.machine"), b.Machine.CostEach, "$"},
		{Text("lab.bill.even.requests"), b.Machine.BreakEvenDay, "a_day"},
		{Text("lab.bill.even.most"), b.Machine.MostADay, "a_day"},
		{Text("lab.bill.even.trained"), b.Training.Tokens, "tokens"},
		{Text("lab.bill.even.training"), b.Training.MultAdds, ""},
		{Text("lab.bill.even.request"), b.Training.RequestMultAdds, ""},
		{Text("lab.bill.even.answers"), b.Training.Requests, ""},
		{Text("lab.bill.even.days"), b.Training.Days, "days"},
		{Text("lab.bill.even.read"), b.Why.InputMs, "ms"},
		{Text("lab.bill.even.written"), b.Why.OutputMs, "ms"},
	} {
		even.add(row.what, row.value, named("lab.unit.", row.unit))
	}
	return []Table{costs, even, ticks}
}

func (billLab) free() []string {
	return []string{"input_price", "output_price", "requests", "machine", "trained_tokens"}
}

// calculate implements [calculator]. The bill is an upper bound, since only a run shows how many of
// the max_tokens tokens are generated.
func (billLab) calculate(env Env, v terms.Values) (outcome, error) {
	m, _ := env.target()
	_, tokens, err := env.room(v, "max_tokens")
	if err != nil {
		return nil, err
	}
	b := billOf(m, v, tokens)
	return &b, nil
}

func (billLab) reckon(env Env, measured any, v terms.Values) outcome {
	b := *measured.(*Bill)
	b.price(env.Target, v)
	return &b
}
