package labs

import (
	"math"
	"slices"

	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/plots"
	"github.com/tokenbytoken/viz/web/guess"
	"github.com/tokenbytoken/viz/web/stage"
)

var _ = drawLanes(showTiles(show("bill", billSections, bestSaving, guess.Question{
	Ask: "labs.bill.ask",
	Choices: []guess.Choice{
		{Key: "stop", Text: "labs.bill.choice.stop"},
		{Key: "max_tokens", Text: "labs.bill.choice.max_tokens"},
		{Key: "prompt", Text: "labs.bill.choice.prompt"},
		{Key: "nothing", Text: "labs.bill.choice.nothing"},
	},
}), "bill", "labs.bill.run",
	tile{name: "labs.bill.tile.read"}, tile{op: "×", input: "input_price"},
	tile{op: "+", input: "max_tokens"}, tile{op: "×", input: "output_price"}), "bill", savingLanes)

// savedBy lists the changes to the request, by their keys in guesses and savings.
var savedBy = []string{"stop", "max_tokens", "prompt"}

// savingLanes draws a lane for each change, with the guess marked in its lane. If there is a
// result, it also draws the measured savings.
func savingLanes(w stage.Words, guess string, result any) *guessPic {
	bill, _ := result.(*lab.Bill)
	if bill != nil && len(bill.Savings) == 0 {
		return nil
	}
	face := faces["bill"]
	draw := func(narrow bool) *plots.Chart {
		v := plots.Savings{Narrow: narrow, Ran: bill != nil}
		v.None = plots.Saving{Name: face.Words(w, "nothing"), You: guess == "nothing"}
		for _, change := range savedBy {
			lane := plots.Saving{Name: face.Words(w, change), You: guess == change}
			if narrow {
				lane.Name = w.T("labs.bill.short." + change)
			}
			if bill != nil {
				i := slices.IndexFunc(bill.Savings, func(s lab.Saving) bool { return s.Name == change })
				if i < 0 {
					continue
				}
				lane.Share = bill.Savings[i].Share
			}
			v.Lanes = append(v.Lanes, lane)
		}
		c, err := v.Draw(w.Language)
		if err != nil {
			return nil
		}
		return &c
	}
	wide, narrow := draw(false), draw(true)
	if wide == nil || narrow == nil {
		return nil
	}
	return &guessPic{Chart: wide, Narrow: narrow, Caption: w.T("labs.bill.savings.guess")}
}

func billSections(w stage.Words, r *lab.Bill) []section {
	list := []section{billLead(w, r)}
	if len(r.Ticks) == 0 {
		return list
	}
	list = append(list, section{
		ID: "answer", Title: w.T("labs.bill.answer"), Say: paidText(w, r), Body: paidView(paidTokens(w, r)),
	})
	if len(r.Savings) > 0 {
		list = append(list, section{
			ID: "savings", Title: w.T("labs.bill.savings"), Say: w.Rich("labs.bill.savings.say"),
			Numbers: table(savingsGrid(w, r)),
		})
	}
	if r.Machine.CostEach > 0 {
		list = append(list, section{
			ID: "machine", Title: w.T("labs.bill.machine"), Half: true, Caption: w.T("labs.bill.machine.caption"),
			Say: machineText(w, r.Machine),
		}.charted(
			plots.BreakEven(
				w.Language, plots.Against{
					EachRequest: r.Cost.Total, MachineDay: r.Machine.MachineDay, MostADay: r.Machine.MostADay,
					Now: r.Machine.RequestsDay,
				},
			),
		))
	}
	if !r.Why.Say.IsZero() {
		list = append(list, section{
			ID: "why", Title: w.T("labs.bill.why"), Half: true,
			Say: w.Rich("labs.bill.why.say", "read", ms(w, r.Why.InputMs), "written", ms(w, r.Why.OutputMs),
				"times", terms.Decimals(r.Why.Ratio, 1), "work", terms.Decimals(r.Why.WorkRatio, 2),
				"because", r.Why.Because().In(w.Language), "b", bold, "x", accent),
		})
	}
	if r.Training.Requests > 0 {
		list = append(list, section{
			ID: "training", Title: w.T("labs.bill.training"), Say: trainingText(w, r.Training),
		})
	}
	return list
}

// billLead returns the section with the request's price or, before the run, with its maximum price.
func billLead(w stage.Words, r *lab.Bill) section {
	bill := plots.Bill{Read: r.AtMost.Input, Written: r.Prices.Output / 1e6, Most: r.AtMost.OutputTokens}
	for _, t := range r.Ticks {
		bill.Costs = append(bill.Costs, t.Cost)
	}
	phone := bill
	phone.Narrow = true
	s := section{ID: "ticks", Lead: true, Say: billText(w, r), Caption: w.T("labs.bill.caption"), Sum: &sum{
		Name: w.T("labs.bill.sum"), Value: terms.Dollars(r.AtMost.Total), Follows: terms.Count(r.AtMost.InputTokens),
		Small: w.T("labs.bill.sum.day", "cost", terms.Dollars(r.AtMost.Total*r.Machine.RequestsDay)),
	}}
	if len(r.Ticks) > 0 {
		s.Sum.Exact = w.T("labs.bill.sum.this", "cost", terms.Dollars(r.Cost.Total))
	}
	return s.charted(bill.Draw(w.Language)).onPhones(phone.Draw(w.Language))
}

// billText states how many tokens are read and written, and what they cost. Before a run, it also
// states whether the model's context window ends an answer before max_tokens does.
func billText(w stage.Words, r *lab.Bill) stage.Rich {
	with := []any{
		"read", w.Counted(r.AtMost.InputTokens, "token"), "input", terms.Dollars(r.AtMost.Input),
		"prices", pricesText(w, r), "x", accent,
	}
	if len(r.Ticks) == 0 {
		key := "labs.bill.say.most"
		if r.AtMost.OutputTokens < r.Request.MaxTokens {
			key = "labs.bill.say.most.window"
		}
		with = append(with, "written", terms.Count(r.AtMost.OutputTokens), "output", terms.Dollars(r.AtMost.Output))
		return w.Rich(key, with...)
	}
	with = append(with, "written", terms.Count(r.Cost.OutputTokens), "output", terms.Dollars(r.Cost.Output),
		"total", terms.Dollars(r.Cost.Total), "share", terms.Percent(r.OutputShare))
	return w.Rich("labs.bill.say", with...)
}

// pricesText compares the price of an output token with the price of an input token, and states
// whether they refute the lab's claim.
func pricesText(w stage.Words, r *lab.Bill) string {
	switch p := r.Prices; {
	case p.Input == 0 && p.Output == 0:
		return w.T("labs.bill.prices.none")
	case p.Input == 0:
		return w.T("labs.bill.prices.free")
	case p.Output == p.Input:
		return w.T("labs.bill.prices.same")
	case p.Output < p.Input:
		return w.T("labs.bill.prices.less")
	}
	return w.T("labs.bill.prices", "n", terms.Measured(r.BreakEven))
}

// A paidToken is an output token, with the bill up to and including it.
type paidToken struct {
	Text stage.Text
	Say  string
}

func paidTokens(w stage.Words, r *lab.Bill) []paidToken {
	list := make([]paidToken, len(r.Ticks))
	for i, t := range r.Ticks {
		list[i] = paidToken{marked(t.Token), w.T("labs.bill.tick", "read", terms.Count(r.Cost.InputTokens),
			"written", terms.Count(t.Step), "cost", terms.Dollars(t.Cost), "took", ms(w, t.Ms))}
	}
	return list
}

func paidText(w stage.Words, r *lab.Bill) stage.Rich {
	if r.Stop == "" {
		return w.Rich("labs.bill.answer.writing")
	}
	stop, n := w.Stop(string(r.Stop)).A, len(r.Ticks)
	if n == 0 {
		return w.Rich("labs.bill.answer.end", "stop", stop)
	}
	first, last := ms(w, r.Ticks[0].Ms), ms(w, r.Ticks[n-1].Ms)
	if r.Request.Stream {
		return w.Rich("labs.bill.answer.streamed", "stop", stop, "first", first, "last", last)
	}
	return w.Rich("labs.bill.answer.whole", "stop", stop, "first", first, "last", last)
}

func savingsGrid(w stage.Words, r *lab.Bill) grid {
	g := newGrid(w, "labs.bill.savings.grid.", "change", "in", "out", "cost", "saved", "share", "day", "end")
	for _, s := range r.Savings {
		end := w.Stop(string(s.Stop)).A
		if s.Same {
			end = w.T("labs.bill.savings.grid.same", "end", end)
		}
		g.Rows = append(g.Rows, []string{
			s.Title.In(w.Language), terms.Count(s.Cost.InputTokens), terms.Count(s.Cost.OutputTokens),
			terms.Dollars(s.Cost.Total), terms.Dollars(s.Saved), terms.Percent(s.Share), terms.Dollars(s.ADay), end,
		})
	}
	return g
}

func machineText(w stage.Words, m lab.MachineUse) stage.Rich {
	with := []any{
		"took", ms(w, 1000*m.SecondsEach), "most", terms.Count(int64(m.MostADay)), "cost", terms.Dollars(m.MachineDay),
	}
	if m.BreakEvenDay > 0 {
		return w.Rich("labs.bill.machine.say",
			append(with, "n", terms.Count(int64(m.BreakEvenDay)), "x", accent)...)
	}
	return w.Rich("labs.bill.machine.never", with...)
}

func trainingText(w stage.Words, t lab.Training) stage.Rich {
	key := "labs.bill.training.say"
	if t.Assumed {
		key = "labs.bill.training.assumed"
	}
	return w.Rich(key, "tokens", terms.Count(int64(t.Tokens)), "work", work(w, t.MultAdds),
		"each", work(w, t.RequestMultAdds), "requests", terms.Count(int64(t.Requests)),
		"days", terms.Decimals(t.Days, 1), "written", terms.Count(int64(t.Answered)), "b", bold, "x", accent)
}

func bestSaving(w stage.Words, b *lab.Bill) (string, string, bool) {
	if len(b.Savings) == 0 {
		return "", "", false
	}
	best := slices.MaxFunc(b.Savings, func(x, y lab.Saving) int { return int(math.Copysign(1, x.Saved-y.Saved)) })
	if best.Saved <= 0 {
		return "nothing", w.T("labs.bill.found.nothing"), true
	}
	return best.Name, w.T(
		"labs.bill.found", "change", best.Title.In(w.Language), "share", terms.Percent(best.Share),
	), true
}
