package labs

import (
	"fmt"
	"math"
	"slices"

	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/plots"
	"github.com/tokenbytoken/viz/web/stage"
)

var _ = drawLanes(showTiles(show("bill", billSections, bestSaving, prediction{
	Ask: "Which change would have saved most on this request?",
	Choices: []choice{
		{"stop", "the other stop string"},
		{"max_tokens", "the smaller limit on tokens"},
		{"prompt", "the terser prompt"},
		{"nothing", "none of them"},
	},
}), "bill", "Send the request",
	tile{name: "tokens read"}, tile{op: "×", input: "input_price"},
	tile{op: "+", input: "max_tokens"}, tile{op: "×", input: "output_price"}), "bill", savingLanes)

// savedBy lists the changes to the request. Each has a key, which identifies it in guesses and
// savings, and a short name for phones.
var savedBy = []struct{ key, short string }{
	{"stop", "other stop string"}, {"max_tokens", "smaller limit"}, {"prompt", "terser prompt"},
}

// savingLanes draws a lane for each change, marks the guess in its lane, and draws the measured
// savings if there is a result.
func savingLanes(guess string, result any) *guessPic {
	bill, _ := result.(*lab.Bill)
	if bill != nil && len(bill.Savings) == 0 {
		return nil
	}
	face := faces["bill"]
	draw := func(narrow bool) *plots.Chart {
		v := plots.Savings{Narrow: narrow, Ran: bill != nil}
		v.None = plots.Saving{Name: face.words("nothing"), You: guess == "nothing"}
		for _, change := range savedBy {
			lane := plots.Saving{Name: face.words(change.key), You: guess == change.key}
			if narrow {
				lane.Name = change.short
			}
			if bill != nil {
				i := slices.IndexFunc(bill.Savings, func(s lab.Saving) bool { return s.Name == change.key })
				if i < 0 {
					continue
				}
				lane.Share = bill.Savings[i].Share
			}
			v.Lanes = append(v.Lanes, lane)
		}
		c, err := v.Draw()
		if err != nil {
			return nil
		}
		return &c
	}
	wide, narrow := draw(false), draw(true)
	if wide == nil || narrow == nil {
		return nil
	}
	return &guessPic{Chart: wide, Narrow: narrow, Caption: "share of the cost that each change would save"}
}

func billSections(r *lab.Bill) []section {
	list := []section{billLead(r)}
	if len(r.Ticks) == 0 {
		return list
	}
	list = append(list, section{
		ID: "answer", Title: "What was paid for", Say: paidText(r), Body: paidView(paidTokens(r)),
	})
	if len(r.Savings) > 0 {
		list = append(
			list,
			section{
				ID: "savings", Title: "What would have saved",
				Say: spans("Each of these was really run, with the same seed."), Numbers: table(savingsGrid(r)),
			},
		)
	}
	if r.Machine.CostEach > 0 {
		list = append(list, section{
			ID: "machine", Title: "Your own machine", Half: true, Caption: "requests a day; dollars a day",
			Say: machineText(r.Machine),
		}.charted(
			plots.BreakEven(
				plots.Against{
					EachRequest: r.Cost.Total, MachineDay: r.Machine.MachineDay, MostADay: r.Machine.MostADay,
					Now: r.Machine.RequestsDay,
				},
			),
		))
	}
	if r.Why.Say != "" {
		list = append(list, section{
			ID: "why", Title: "Why output costs more", Half: true,
			Say: spans("Here a token read took ", b(ms(r.Why.InputMs)), ", a token written ", b(
				ms(r.Why.OutputMs),
			), ": ", x(
				terms.Decimals(r.Why.Ratio, 1)+"×",
			),
				" the time for ", b(terms.Decimals(r.Why.WorkRatio, 2)+"×"), " the multiply-adds. "+r.Why.Because()),
		})
	}
	if r.Training.Requests > 0 {
		list = append(list, section{ID: "training", Title: "Training against answering", Say: trainingText(r.Training)})
	}
	return list
}

// billLead returns the section with the request's price or, before the run, its maximum price.
func billLead(r *lab.Bill) section {
	bill := plots.Bill{Read: r.AtMost.Input, Written: r.Prices.Output / 1e6, Most: r.AtMost.OutputTokens}
	for _, t := range r.Ticks {
		bill.Costs = append(bill.Costs, t.Cost)
	}
	phone := bill
	phone.Narrow = true
	s := section{ID: "ticks", Lead: true, Say: billText(r), Caption: "tokens written; dollars", Sum: &sum{
		Name: "one request, at most", Value: terms.Dollars(r.AtMost.Total), Follows: terms.Count(r.AtMost.InputTokens),
		Small: terms.Dollars(r.AtMost.Total*r.Machine.RequestsDay) + " a day",
	}}
	if len(r.Ticks) > 0 {
		s.Sum.Exact = "this one " + terms.Dollars(r.Cost.Total)
	}
	return s.charted(bill.Draw()).onPhones(phone.Draw())
}

// billText describes how many tokens are read and written, and their prices.
func billText(r *lab.Bill) []span {
	read := spans(b(terms.Counted(r.AtMost.InputTokens, "token")), " read for ", b(terms.Dollars(r.AtMost.Input)), ", ")
	if len(r.Ticks) == 0 {
		return append(read, spans("up to ", b(terms.Count(r.AtMost.OutputTokens)), " written for ",
			b(terms.Dollars(r.AtMost.Output)), ". ", pricesText(r), windowLeft(r),
			" How many it will write, only a run can tell.")...)
	}
	return append(read, spans(b(terms.Count(r.Cost.OutputTokens)), " written for ", b(terms.Dollars(r.Cost.Output)),
		": ", x(terms.Dollars(r.Cost.Total)+" in all"), ", "+terms.Percent(r.OutputShare)+" of it output. ",
		pricesText(r))...)
}

// pricesText compares the price of an output token with the price of an input token, and states
// whether they refute the lab's claim.
func pricesText(r *lab.Bill) string {
	switch p := r.Prices; {
	case p.Input == 0 && p.Output == 0:
		return "At these prices nothing costs anything."
	case p.Input == 0:
		return "At these prices reading is free."
	case p.Output == p.Input:
		return "At these prices a token written costs as much as one read: the claim is false."
	case p.Output < p.Input:
		return "At these prices a token written costs less than one read: the claim is false."
	}
	return "A token written costs as much as " + terms.Measured(r.BreakEven) + " tokens read."
}

// windowLeft returns a sentence saying that the model's context window ends an answer before
// max_tokens does, or "" if it does not.
func windowLeft(r *lab.Bill) string {
	if r.AtMost.OutputTokens >= r.Request.MaxTokens {
		return ""
	}
	return " The model’s window has no room for more than these."
}

// A paidToken is an output token, with the bill up to and including it.
type paidToken struct {
	Text stage.Text
	Say  string
}

func paidTokens(r *lab.Bill) []paidToken {
	list := make([]paidToken, len(r.Ticks))
	for i, t := range r.Ticks {
		list[i] = paidToken{
			marked(t.Token),
			fmt.Sprintf(
				"%s read + %s written = %s after %s", terms.Count(r.Cost.InputTokens), terms.Count(t.Step),
				terms.Dollars(t.Cost), ms(t.Ms),
			),
		}
	}
	return list
}

func paidText(r *lab.Bill) []span {
	if r.Stop == "" {
		return spans("It is being written.")
	}
	wait := ""
	if n := len(r.Ticks); n > 0 {
		first, last := ms(r.Ticks[0].Ms), ms(r.Ticks[n-1].Ms)
		wait = " Streamed, as requested: its first token could be read " +
			"after " + first + ", all after " + last + ". The price is the same without."
		if !r.Request.Stream {
			wait = " Not streamed: nothing could be read until " + last + ". With streaming, for the same price, the " +
				"first token would have been there after " + first + "."
		}
	}
	return spans("What ended it: " + terms.StopOf(r.Stop).A + "." + wait)
}

func savingsGrid(r *lab.Bill) grid {
	g := grid{
		Caption: "Other requests",
		Head:    []string{"change", "tokens in", "tokens out", "cost", "saved", "share", "a day", "ended by"},
	}
	for _, s := range r.Savings {
		same := ""
		if s.Same {
			same = "; same beginning"
		}
		g.Rows = append(g.Rows, []string{
			s.Title, terms.Count(s.Cost.InputTokens), terms.Count(s.Cost.OutputTokens), terms.Dollars(s.Cost.Total),
			terms.Dollars(s.Saved), terms.Percent(s.Share), terms.Dollars(s.ADay),
			terms.StopOf(s.Stop).A + same,
		})
	}
	return g
}

func machineText(m lab.MachineUse) []span {
	list := spans(
		"Run one at a time, a request takes ", b(ms(1000*m.SecondsEach)), " here: ",
		b(terms.Count(int64(m.MostADay))), " a day at most, for ", b(terms.Dollars(m.MachineDay)), ". ",
	)
	if m.BreakEvenDay > 0 {
		return append(
			list,
			spans(
				"From ", x(terms.Count(int64(m.BreakEvenDay))+" requests a day"),
				" on the machine is cheaper, as far as it can keep up. A real server answers many together.",
			)...,
		)
	}
	return append(list, spans("At these prices it is never cheaper.")...)
}

func trainingText(t lab.Training) []span {
	tokens := terms.Count(int64(t.Tokens)) + " tokens"
	if t.Assumed {
		tokens += " (assumed: 20 for each weight, a rule of thumb)"
	}
	return spans("Training on ", b(tokens), " takes about 3 × a forward pass for each: ", b(work(t.MultAdds)),
		" multiply-adds. Answers like this one, ", b(work(t.RequestMultAdds)), " each, add up to as much after ",
		x(terms.Count(int64(t.Requests))+" requests"),
		", which is "+terms.Decimals(t.Days, 1)+" days and "+terms.Count(int64(t.Answered))+" written tokens.")
}

func bestSaving(b *lab.Bill) (string, string, bool) {
	if len(b.Savings) == 0 {
		return "", "", false
	}
	best := slices.MaxFunc(b.Savings, func(x, y lab.Saving) int { return int(math.Copysign(1, x.Saved-y.Saved)) })
	if best.Saved <= 0 {
		return "nothing", "None of the changes would have saved anything.", true
	}
	return best.Name, fmt.Sprintf(
		"The request %s saves most: %s of the cost.", best.Title, terms.Percent(best.Share),
	), true
}
