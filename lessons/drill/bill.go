package drill

import (
	"fmt"
	"math"

	"github.com/tokenbytoken/viz/infer/terms"
)

// bill is the drill about the price of an API call. Prices are in dollars per million tokens, and
// they are invented.
type bill struct {
	input, output   int // number of tokens in one call
	in, out         float64
	calls           int // calls per day, for level 2
	turns, question int // number of turns in a conversation, for level 3
}

func newBill(p *Problem) *bill {
	if p.Seed == 0 && p.Level == 1 {
		return &bill{input: 1000, output: 500, in: 3, out: 15} // from the lesson “Calling an API”
	}
	r := newRandom(p)
	for {
		b := &bill{
			input: 100 * r.between(2, 60), output: 50 * r.between(2, 30),
			in: pick(r, []float64{0.5, 1, 2, 2.5, 3, 5}),
		}
		b.out = b.in * pick(r, []float64{3, 4, 5})
		b.calls, b.turns, b.question = 100*r.between(2, 90), r.between(4, 9), 10*r.between(3, 12)
		a, o := b.cost()
		// The costs of input and output must not be nearly equal, and neither may be negligible.
		if share := o / (a + o); math.Abs(share-0.5) > 0.08 && share > 0.15 && share < 0.9 {
			return b
		}
	}
}

// cost returns the costs of the input and the output of a call.
func (b *bill) cost() (in, out float64) {
	return float64(b.input) * b.in / 1e6, float64(b.output) * b.out / 1e6
}

func buildBill(p *Problem) {
	b := newBill(p)
	dollars := func(x float64) string { return p.lang.T("drill.bill.dollars.for_million", "x", Money.show(x)) }
	p.Facts = []Fact{
		{p.lang.T("drill.bill.fact.tokens_in"), terms.Count(b.input)},
		{p.lang.T("drill.bill.fact.tokens_out"), terms.Count(b.output)},
		{p.lang.T("drill.bill.fact.price_in"), dollars(b.in)},
		{p.lang.T("drill.bill.fact.price_out"), dollars(b.out)},
	}
	b.call(p)
	b.saving(p)
	if p.Level > 1 {
		b.month(p)
	}
	if p.Level > 2 {
		b.talk(p)
	}
}

// priced returns a quantity whose answer is the cost of the given number of tokens.
func (b *bill) priced(p *Problem, id, name string, tokens int, price, other float64) quantity {
	want := float64(tokens) * price / 1e6
	return quantity{
		id: id, name: name, how: p.lang.T("drill.bill.priced.how"), form: Money,
		unit: p.lang.T("drill.unit.dollars"), want: exactly(want),
		slips: []slip{
			{
				mistake: Swapped, value: float64(tokens) * other / 1e6,
				title: p.lang.T("drill.bill.priced.slip.took_other_price"),
				why:   p.lang.T("drill.bill.priced.slip.took_other_price.why", "price", Money.show(price)),
			},
			{
				mistake: Units, value: 1000 * want, title: p.lang.T("drill.bill.slip.price_for_million_tokens"),
				why: p.lang.T("drill.bill.slip.price_for_million_tokens.why"),
			},
			{
				mistake: Missing, value: float64(tokens) * price,
				title: p.lang.T("drill.bill.slip.price_for_million_tokens"),
				why:   p.lang.T("drill.bill.priced.slip.price_for_million_tokens.why"),
			},
			{
				mistake: Units, value: 100 * want, title: p.lang.T("drill.bill.slip.cents"),
				why: p.lang.T("drill.bill.slip.cents.why"),
			},
		},
		question: p.lang.T("drill.bill.priced.hint.question"),
		rule:     p.lang.T("drill.bill.priced.hint.rule"),
		work: []Line{{
			Say: p.lang.T("drill.bill.priced.work.tokens_times_price_for"),
			Eq:  fmt.Sprintf("%s × %s / 1,000,000", terms.Count(tokens), canonical(price, Real)),
		}},
	}
}

func (b *bill) call(p *Problem) {
	in, out := b.cost()
	total, share := in+out, out/(in+out)
	one := float64(b.input+b.output) / 1e6
	p.list(Step{
		ID: "call", Name: p.lang.T("drill.bill.call.name"), Note: p.lang.T("drill.bill.call.note"),
		Title:  p.lang.T("drill.bill.call.title"),
		Ask:    p.lang.T("drill.bill.call.ask"),
		Remark: p.lang.T("drill.bill.call.remark"),
	},
		b.priced(p, "in", p.lang.T("drill.bill.call.in.name"), b.input, b.in, b.out),
		b.priced(p, "out", p.lang.T("drill.bill.call.out.name"), b.output, b.out, b.in),
		quantity{
			id: "total", name: p.lang.T("drill.bill.call.total.name"), how: p.lang.T("drill.bill.call.total.how"),
			form: Money, unit: p.lang.T("drill.unit.dollars"), want: exactly(total),
			slips: []slip{
				{
					mistake: OtherOption, value: one * b.out,
					title: p.lang.T("drill.bill.call.total.slip.all_tokens_price_output"),
					why:   p.lang.T("drill.bill.call.total.slip.all_tokens_price_output.why"),
				},
				{
					mistake: OtherOption, value: one * b.in,
					title: p.lang.T("drill.bill.call.total.slip.all_tokens_price_input"),
					why:   p.lang.T("drill.bill.call.total.slip.all_tokens_price_input.why"),
				},
				{
					mistake: Averaged, value: one * (b.in + b.out),
					title: p.lang.T("drill.bill.call.total.slip.added_prices"),
					why:   p.lang.T("drill.bill.call.total.slip.added_prices.why"),
				},
				{
					mistake: Averaged, value: one * (b.in + b.out) / 2,
					title: p.lang.T("drill.bill.call.total.slip.took_average_price"),
					why:   p.lang.T("drill.bill.call.total.slip.took_average_price.why"),
				},
				{
					mistake: Swapped, value: (float64(b.input)*b.out + float64(b.output)*b.in) / 1e6,
					title: p.lang.T("drill.bill.call.total.slip.prices_swapped"),
					why:   p.lang.T("drill.bill.call.total.slip.prices_swapped.why"),
				},
				{
					mistake: Units, value: 100 * total, title: p.lang.T("drill.bill.slip.cents"),
					why: p.lang.T("drill.bill.slip.cents.why"),
				},
				{
					mistake: Units, value: 1000 * total, title: p.lang.T("drill.bill.slip.price_for_million_tokens"),
					why: p.lang.T("drill.bill.slip.price_for_million_tokens.why"),
				},
				{
					mistake: LeftOut, value: in, title: p.lang.T("drill.bill.call.total.slip.output_missing"),
					why: p.lang.T("drill.bill.call.total.slip.output_missing.why", "out", Money.show(out)),
				},
				{
					mistake: LeftOut, value: out, title: p.lang.T("drill.bill.call.total.slip.input_missing"),
					why: p.lang.T("drill.bill.call.total.slip.input_missing.why", "in", Money.show(in)),
				},
			},
			question: p.lang.T("drill.bill.call.total.hint.question"),
			rule:     p.lang.T("drill.bill.call.total.hint.rule"),
			work: []Line{{
				Say: p.lang.T("drill.bill.call.total.work.add_two"),
				Eq:  Money.show(in) + " + " + Money.show(out),
			}},
		},
		quantity{
			id: "share", name: p.lang.T("drill.bill.call.share.name"), how: p.lang.T("drill.bill.call.share.how"),
			form: Probability, want: exactly(share),
			slips: []slip{
				{
					mistake: Swapped, value: 1 - share, title: p.lang.T("drill.bill.call.share.slip.share_input"),
					why: p.lang.T("drill.bill.call.share.slip.share_input.why"),
				},
				{
					mistake: Swapped, value: float64(b.output) / float64(b.input+b.output),
					title: p.lang.T("drill.bill.call.share.slip.share_tokens"),
					why:   p.lang.T("drill.bill.call.share.slip.share_tokens.why"),
				},
				{
					mistake: Largest, value: out / in,
					title: p.lang.T("drill.bill.call.share.slip.divided_by_other_part"),
					why:   p.lang.T("drill.bill.call.share.slip.divided_by_other_part.why", "total", Money.show(total)),
				},
			},
			question: p.lang.T("drill.hint.question.what_whole"),
			rule:     p.lang.T("drill.bill.call.share.hint.rule"),
			work: []Line{{
				Say: p.lang.T("drill.bill.call.share.work.divide_by_whole"),
				Eq:  Money.show(out) + " / " + Money.show(total),
			}},
		})
}

func (b *bill) saving(p *Problem) {
	in, out := b.cost()
	c := &choice{
		options: []Option{
			{Value: "in", Text: p.lang.T("drill.bill.saving.prompt_half_length")},
			{Value: "out", Text: p.lang.T("drill.bill.saving.answer_half_length")},
			{Value: "same", Text: p.lang.T("drill.bill.saving.both_save_same")},
		},
		right: "out",
		note: p.lang.T("drill.bill.saving.note", "more", Money.show(max(in, out)/2),
			"less", Money.show(min(in, out)/2)),
	}
	if in > out {
		c.right = "in"
	}
	compare := p.lang.T("drill.bill.saving.compare.half_input_half_output", "in", Money.show(in/2), "out",
		Money.show(out/2))
	c.why = map[string]said{
		"in":   {OtherOption, p.lang.T("drill.bill.saving.slip.other_one_saves_more"), compare},
		"out":  {OtherOption, p.lang.T("drill.bill.saving.slip.here_the_other_one_saves_more"), compare},
		"same": {OtherOption, p.lang.T("drill.bill.saving.slip.they_differ"), compare},
	}
	p.choose("saving", p.lang.T("drill.bill.saving.prompt"), p.lang.T("drill.bill.saving.label"), c, [3]string{
		p.lang.T("drill.bill.saving.hint.question"),
		p.lang.T("drill.bill.saving.hint.rule"),
		compare,
	}, Line{
		Say: p.lang.T("drill.bill.saving.work.halve_each_amount"),
		Eq:  p.lang.T("drill.bill.saving.work.eq.and", "in", Money.show(in/2), "out", Money.show(out/2)),
	})
}

func (b *bill) month(p *Problem) {
	in, out := b.cost()
	total := (in + out) * float64(b.calls) * 30
	p.list(Step{
		ID: "month", Name: p.lang.T("drill.bill.month.name"),
		Note:  p.lang.T("drill.bill.month.note", "calls", b.calls),
		Title: p.lang.T("drill.bill.month.title", "calls", b.calls), Needs: []string{"call"},
		Ask: p.lang.T("drill.bill.month.ask"), Remark: p.lang.T("drill.bill.month.remark"),
	}, quantity{
		id: "total", name: p.lang.T("drill.bill.month.total.name"), how: p.lang.T("drill.bill.month.total.how"),
		form: Money, unit: p.lang.T("drill.unit.dollars"),
		want: exactly(total),
		slips: []slip{
			{
				mistake: LeftOut, value: total / 30, title: p.lang.T("drill.bill.month.total.slip.one_day"),
				why: p.lang.T("drill.bill.month.total.slip.one_day.why"),
			},
			{
				mistake: LeftOut, value: total / float64(b.calls),
				title: p.lang.T("drill.bill.month.total.slip.one_call_day"),
				why:   p.lang.T("drill.bill.month.total.slip.one_call_day.why", "calls", b.calls),
			},
			{
				mistake: Units, value: 100 * total, title: p.lang.T("drill.bill.slip.cents"),
				why: p.lang.T("drill.bill.month.total.slip.cents.why"),
			},
		},
		question: p.lang.T("drill.bill.month.total.hint.question"),
		rule:     p.lang.T("drill.bill.month.total.hint.rule"),
		work: []Line{{
			Say: p.lang.T("drill.bill.month.total.work.all_calls_month"),
			Eq:  fmt.Sprintf("%s × %s × 30", Money.show(in+out), terms.Count(b.calls)),
		}},
	})
}

func (b *bill) talk(p *Problem) {
	k, q, a := b.turns, b.question, b.output
	sent := k*q + (q+a)*k*(k-1)/2
	p.list(Step{
		ID: "talk", Name: p.lang.T("drill.bill.talk.name"), Note: p.lang.T("drill.bill.talk.note", "k", k),
		Title:  p.lang.T("drill.bill.talk.title", "k", k, "q", q, "a", a),
		Ask:    p.lang.T("drill.bill.talk.ask"),
		Remark: p.lang.T("drill.bill.talk.remark"),
	},
		quantity{
			id: "sent", name: p.lang.T("drill.bill.talk.sent.name"), how: "k·q + (q + a)·(0 + 1 + … + (k−1))",
			form: Count,
			unit: p.lang.T("drill.unit.tokens"), want: exactly(sent),
			slips: []slip{
				wrong(
					Missing, int64(k*q), p.lang.T("drill.bill.talk.sent.slip.history_missing"),
					p.lang.T("drill.bill.talk.sent.slip.history_missing.why"),
				),
				wrong(
					OffByOne, int64((q+a)*k*(k+1)/2), p.lang.T("drill.bill.talk.sent.slip.newest_answer_not_sent"),
					p.lang.T("drill.bill.talk.sent.slip.newest_answer_not_sent.why"),
				),
				wrong(
					Missing, int64(q*k*(k+1)/2), p.lang.T("drill.bill.talk.sent.slip.answers_go_in_again"),
					p.lang.T("drill.bill.talk.sent.slip.answers_go_in_again.why"),
				),
				wrong(
					Missing, int64(k*(q+a)), p.lang.T("drill.bill.talk.sent.slip.history_goes_in_again"),
					p.lang.T("drill.bill.talk.sent.slip.history_goes_in_again.why"),
				),
				wrong(
					OffByOne, int64(k*q+(q+a)*k*(k+1)/2), p.lang.T("drill.bill.talk.sent.slip.one_turn_history_too"),
					p.lang.T("drill.bill.talk.sent.slip.one_turn_history_too.why"),
				),
			},
			question: p.lang.T("drill.bill.talk.sent.hint.question"),
			rule:     p.lang.T("drill.bill.talk.sent.hint.rule"),
			work: []Line{{
				Say: p.lang.T("drill.bill.talk.sent.work.each_question_and_all"),
				Eq:  fmt.Sprintf("%d × %d + %s × %d", k, q, terms.Count(q+a), k*(k-1)/2),
			}},
		},
		b.priced(p, "cost", p.lang.T("drill.bill.talk.cost.name"), sent, b.in, b.out))
}
