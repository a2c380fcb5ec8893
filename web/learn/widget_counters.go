package learn

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/stage"
)

const (
	allCounters   = 10 // the number of counters that a learner spreads, and that a head spreads
	counterTokens = 16 // the maximum number of tokens of a text, including the start mark
)

// counters lets the learner spread ten counters over the tokens of a text, and then shows how one
// head spreads its ten. Nothing of the head is shown before the learner has committed.
type counters struct {
	id     string
	model  *infer.Model
	prompt string
	watch  *infer.Watch
	loop   string
}

func newCounters(d environment) experiment { return &counters{id: d.id, model: d.target} }

func (e *counters) show(ctx context.Context, in terms.Values) (templ.Component, error) {
	if e.watch == nil || e.prompt != in["prompt"] {
		loop, ids, err := shortText(ctx, e.model, in["prompt"], counterTokens)
		if err != nil {
			return nil, err
		}
		watch, err := e.model.Watch(ctx, ids, true)
		if err != nil {
			return nil, err
		}
		e.prompt, e.watch, e.loop = in["prompt"], watch, loop
	}
	c := e.model.Config()
	in.SetInt("block", min(in.Int("block"), c.Layers))
	in.SetInt("head", min(in.Int("head"), c.Heads))
	yours := spreadOf(in["spread"], len(e.watch.Tokens()))
	in["spread"] = spreadText(yours)
	if in["done"] == lessons.CountersDone && sum(yours) < allCounters {
		in["done"] = lessons.CountersOpen
	}
	return countersHTML(e.view(stage.In(ctx), in, yours)), nil
}

// spreadOf parses a spread of counters over n tokens, such as "0.3.7". What is missing or not a
// number is 0, and counters beyond the tenth are dropped.
func spreadOf(text string, n int) []int {
	list, left := make([]int, n), allCounters
	for i, part := range strings.Split(text, ".") {
		if count, err := strconv.Atoi(part); err == nil && i < n {
			list[i] = max(0, min(count, left))
			left -= list[i]
		}
	}
	return list
}

func spreadText(list []int) string {
	parts := make([]string, len(list))
	for i, n := range list {
		parts[i] = strconv.Itoa(n)
	}
	return strings.Join(parts, ".")
}

func sum(list []int) (n int) {
	for _, x := range list {
		n += x
	}
	return n
}

// apportion rounds amounts, which it first multiplies by parts, to whole numbers that add up to their
// rounded sum. Each amount is rounded down, and what is left goes to the largest remainders, of equal ones
// to the earlier (Hamilton's method).
func apportion[F float32 | float64](amounts []F, parts float64) []int {
	list, order, rest := make([]int, len(amounts)), make([]int, len(amounts)), make([]float64, len(amounts))
	total := 0.0
	for i, x := range amounts {
		x := float64(x) * parts
		total += x
		list[i], rest[i], order[i] = int(math.Floor(x)), x-math.Floor(x), i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rest[b], rest[a]) })
	for _, i := range order[:int(math.Round(total))-sum(list)] {
		list[i]++
	}
	return list
}

// A countersView shows a learner's counters and, once they have committed, a head's.
type countersView struct {
	ID     string
	Values terms.Values // the inputs, which no form field shows
	Block  int
	Head   int
	Rows   []countersRow
	Placed int
	Shown  bool // the head's counters are shown
	Say    stage.Rich
	Loop   string
}

// A countersRow is one token. More and Less are the spreads after a press, or "" if it does nothing.
type countersRow struct {
	Text       stage.Text
	Yours      int
	Heads      int
	More, Less string
}

func (e *counters) view(w stage.Words, in terms.Values, yours []int) countersView {
	v := countersView{
		ID: e.id, Values: in, Block: in.Int("block"), Head: in.Int("head"), Placed: sum(yours), Loop: e.loop,
		Shown: in["done"] != lessons.CountersOpen,
	}
	ids := e.watch.Tokens()
	heads := apportion(e.watch.Attention(v.Block, v.Head, len(ids)-1), allCounters)
	both := 0
	for i := range ids {
		r := countersRow{Text: textAt(w, e.model, ids, i), Yours: yours[i]}
		if v.Shown {
			r.Heads = heads[i]
		}
		if !v.Shown && v.Placed < allCounters {
			r.More = changed(yours, i, 1)
		}
		if !v.Shown && yours[i] > 0 {
			r.Less = changed(yours, i, -1)
		}
		v.Rows = append(v.Rows, r)
		both += min(yours[i], heads[i])
	}
	if !v.Shown {
		v.Say = w.Rich("learn.ten.placed", "n", v.Placed, "all", allCounters)
		return v
	}
	v.Say = e.sentence(w, in["done"] == lessons.NoGuess, both, heads)
	return v
}

// sentence compares the learner's counters with the head's. both is the number of counters that lie on
// the same tokens. If several heaps are the largest, the sentence names none of them.
func (e *counters) sentence(w stage.Words, none bool, both int, heads []int) stage.Rich {
	largest := slices.Max(heads)
	at := slices.Index(heads, largest)
	tied := 0
	for _, n := range heads {
		if n == largest {
			tied++
		}
	}
	key := "learn.ten.say"
	switch {
	case none && tied > 1:
		key = "learn.ten.say.none.tie"
	case none:
		key = "learn.ten.say.none"
	case tied > 1:
		key = "learn.ten.say.tie"
	}
	return w.Rich(
		key, "n", both, "all", allCounters, "most", largest, "tied", tied, "token",
		stage.Span{Token: textAt(w, e.model, e.watch.Tokens(), at), Style: stage.Gen},
	)
}

// changed returns a spread with n more counters on one token.
func changed(list []int, at, n int) string {
	list = slices.Clone(list)
	list[at] += n
	return spreadText(list)
}
