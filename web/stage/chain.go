package stage

import (
	"fmt"
	"slices"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// Chain shows stage 4 rule by rule. It has a column for each rule that is on, in the order of the
// rules. The column contains the probability that the rule leaves to each token. The rows are those
// of the stage's table.
type Chain struct {
	Lead     Rich
	Orders   []ChainButton
	Measures []ChainButton
	Heads    []ChainHead
	Rows     []ChainRow // the tokens, then one row for all others
	Left     []string   // number of remaining tokens, by column
	Moved    []string   // probability moved, by column
	Grammar  string     // the grammar that the text follows; "" for none
	Off      string     // the rules that have no column because they are off
}

// ChainButton is a button that sets the order of the rules, or the tokens on which each rule is
// measured.
type ChainButton struct {
	Label, Cmd string
	On         bool
}

// ChainHead is a column's heading.
type ChainHead struct {
	Rule, Name, At string
	Index          int    // in the order; −1 for a column that cannot move
	Earlier, Later string // the commands that move it; "" if it is already first or last
	Idle           bool   // the rule changes nothing
}

// ChainRow shows a token in all columns.
type ChainRow struct {
	Text  Text
	Label string // shown instead of Text in the row for all other tokens
	Cells []ChainCell
	Out   bool // the token does not reach the draw
}

// ChainCell is the probability that a rule leaves to a token. It is empty if this rule or an
// earlier one cuts the token.
type ChainCell struct {
	P, Bar    string
	Cut, Gone bool
}

// chainOrders lists the orders that have a button, with the keys of their labels.
var chainOrders = []struct {
	order sampling.Order
	label string
}{
	{sampling.OrderOwn, "chain.own"},
	{sampling.OrderLlama, "chain.llama"},
	{sampling.OrderHugging, "chain.hugging"},
	{sampling.OrderOpenAI, "chain.openai"},
}

// NewChain returns the chain of the step shown, or nil unless stage 4 is shown.
func (w Words) NewChain(s *session.State) *Chain {
	if !s.Started() || s.Shown() != infer.KindFilter || s.Dist == nil {
		return nil
	}
	st := s.Stage(RowsShown).(infer.Filter)
	set := st.Settings
	links := s.Dist.Links()
	c := &Chain{Grammar: set.Grammar, Off: w.rulesOff(set)}
	order := set.OrderInForce()
	uncut := order.Measure() == sampling.OnUncut
	switch {
	case set.Greedy():
		c.Lead = w.Rich("chain.greedy")
	case uncut:
		c.Lead = w.Rich("chain.uncut", "n", bold(terms.Count(st.Kept)))
	default:
		c.Lead = w.Rich("chain.rest", "n", bold(terms.Count(st.Kept)))
	}
	if scorers := w.scorers(set.Scoring()); scorers != "" {
		c.Lead = append(c.Lead, w.Rich("chain.scored", "rules", scorers)...)
	}
	now := s.Settings.Order // a past step may have used another order
	for _, o := range chainOrders {
		c.Orders = append(c.Orders, ChainButton{w.T(o.label), setOrder(o.order), now == o.order})
	}
	for _, m := range []struct {
		on    sampling.Measure
		label string
	}{{sampling.OnRest, "chain.on.rest"}, {sampling.OnUncut, "chain.on.uncut"}} {
		c.Measures = append(c.Measures, ChainButton{w.T(m.label), setOrder(now.On(m.on)), now.Measure() == m.on})
	}
	c.heads(w, set, now, links)
	c.rows(w, s, st, links, uncut)
	return c
}

func setOrder(o sampling.Order) string { return fmt.Sprintf(`{"cmd":"set","samplers":%q}`, o.Text()) }

// rulesOff lists the rules that have no column.
func (w Words) rulesOff(set sampling.Settings) string {
	var names []string
	for _, rule := range set.OrderInForce().Rules() {
		if rule != sampling.RuleTemperature && !set.On(rule) {
			names = append(names, w.Rule(rule))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return w.T("chain.off", "rules", w.List(names))
}

// heads fills in the columns' headings and sums. Commands move rules within the current
// order.
func (c *Chain) heads(w Words, set sampling.Settings, now sampling.Order, links []sampling.Link) {
	place := func(i int) int {
		if set.Greedy() || i < 0 || i >= len(links) {
			return -1
		}
		return slices.Index(now.Rules(), links[i].Rule)
	}
	for i, l := range links {
		h := ChainHead{Rule: string(l.Rule), Name: w.T("chain.scores"), At: w.T("table.at", "t", "1"), Index: -1}
		if l.Rule != sampling.RuleNone {
			h.Name, h.At, h.Idle = w.Rule(l.Rule), terms.Plain(l.At), l.Moved == 0
		}
		if l.Rule == sampling.RuleGrammar || l.Rule == sampling.RuleGreedy {
			h.At = ""
		}
		if h.Index = place(i); h.Index >= 0 {
			if to := place(i - 1); to >= 0 {
				h.Earlier = moveTo(l.Rule, to)
			}
			if to := place(i + 1); to >= 0 {
				h.Later = moveTo(l.Rule, to)
			}
		}
		c.Heads = append(c.Heads, h)
		c.Left = append(c.Left, terms.Count(l.Keeps))
		moved := "–"
		if i > 0 {
			moved = terms.Prob(l.Moved)
		}
		c.Moved = append(c.Moved, moved)
	}
	if set.OrderInForce().Measure() == sampling.OnUncut {
		c.Heads = append(c.Heads, ChainHead{Name: "p′", At: w.T("chain.all"), Index: -1})
	}
}

func moveTo(rule sampling.Rule, place int) string {
	return fmt.Sprintf(`{"cmd":"move","rule":%q,"to":%d}`, rule, place)
}

// rows fills in a row for each token in the stage's table, and a row for all other tokens. If rules
// are measured on all tokens, a last column has the probabilities used for the draw.
func (c *Chain) rows(w Words, s *session.State, st infer.Filter, links []sampling.Link, uncut bool) {
	var ranks []int
	for _, r := range st.Rows.Rows {
		at := r.Rank - 1
		ranks = append(ranks, at)
		row := ChainRow{Text: TokenText(r.Token), Out: !r.Kept}
		gone := false
		for _, l := range links {
			share, kept := l.Share(at)
			cell := ChainCell{P: terms.Prob(share), Bar: Share(share), Cut: !kept && !gone, Gone: gone}
			if gone = gone || !kept && !uncut; !kept {
				cell.P, cell.Bar = "", ""
			}
			row.Cells = append(row.Cells, cell)
		}
		if uncut {
			row.Cells = append(row.Cells, drawnWith(s.Dist.Q(at), r.Kept))
		}
		c.Rows = append(c.Rows, row)
	}
	if st.Rest.N > 0 {
		rest := ChainRow{Label: w.others(st.Rest.N), Out: st.Rest.Kept == 0}
		gone := false
		for _, l := range links {
			n, share := l.Others(ranks)
			cell := ChainCell{P: terms.Prob(share), Bar: Share(share), Cut: n == 0 && !gone, Gone: gone}
			if gone = gone || n == 0 && !uncut; n == 0 {
				cell.P, cell.Bar = "", ""
			}
			rest.Cells = append(rest.Cells, cell)
		}
		if uncut {
			rest.Cells = append(rest.Cells, drawnWith(st.Rest.Q, st.Rest.Kept > 0))
		}
		c.Rows = append(c.Rows, rest)
	}
	if uncut {
		c.Left, c.Moved = append(c.Left, terms.Count(st.Kept)), append(c.Moved, terms.Prob(1-st.Mass))
	}
}

// drawnWith returns a cell for the last column, which [Chain.rows] adds.
func drawnWith(q float64, kept bool) ChainCell {
	if !kept {
		return ChainCell{Gone: true}
	}
	return ChainCell{P: terms.Prob(q), Bar: Share(q)}
}
