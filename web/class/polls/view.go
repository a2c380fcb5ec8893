package polls

import (
	"cmp"
	"slices"

	"github.com/tokenbytoken/viz/web/class"
)

// view returns the poll as others see it in the given phase.
func (p *Poll) view(all map[Round]map[int]Vote, phase class.Phase) *class.Poll {
	votes := all[p.At()]
	v := &class.Poll{
		ID: p.Key(), Kind: p.Kind, Phase: phase, Round: p.Round, Prompt: p.Prompt, Unit: p.Unit, Ends: p.Ends,
		Step: p.Step, Votes: len(votes),
	}
	spread, revealed := phase == class.Spread || phase == class.Revealed || p.Kind == class.Draw,
		phase == class.Revealed
	if p.Kind == class.Number {
		if spread {
			v.Options, v.Median = p.numbers(votes, revealed)
		}
	} else {
		v.Options = slices.Clone(p.Options)
		counts := p.counts(votes)
		for i := range v.Options {
			o := &v.Options[i]
			if spread {
				o.Count = counts[i]
			}
			if !revealed {
				o.Right, o.Why, o.P = false, "", 0
				if p.Kind != class.Draw { // in a draw, the probabilities are visible from the start
					o.Q = 0
				}
			}
		}
		if spread && p.Round > 1 {
			v.Before = p.counts(all[Round{p.ID, p.Round - 1}])
		}
	}
	if revealed {
		v.Answer, v.Right = p.Answer, p.Right
	}
	return v
}

// OnScreen returns the view of a poll for the screen. It does not mark any token as right: when the
// poll ends, the token has not been drawn yet, and a reveal must not anticipate the draw.
func (p *Poll) OnScreen(all map[Round]map[int]Vote, phase class.Phase) *class.Poll {
	v := p.view(all, phase)
	if p.AboutToken() {
		for i := range v.Options {
			v.Options[i].Right = false
		}
	}
	return v
}

// mostNumbers is the maximum number of different answers that are shown separately.
const mostNumbers = 8

// numbers returns the most frequent answers, and the median of all answers.
func (p *Poll) numbers(votes map[int]Vote, revealed bool) (list []class.Option, median *float64) {
	given := map[string]int{}
	var values []float64
	for _, v := range votes {
		given[v.Choice]++
		values = append(values, value(v.Choice))
	}
	for text, n := range given {
		list = append(list, class.Option{Key: text, Text: text, Count: n, Right: revealed && p.isRight(text)})
	}
	slices.SortFunc(list, func(a, b class.Option) int {
		return cmp.Or(b.Count-a.Count, cmp.Compare(value(a.Key), value(b.Key)))
	})
	if len(list) > mostNumbers {
		rest := class.Option{Text: class.Others, Rest: true}
		for _, o := range list[mostNumbers:] {
			rest.Count += o.Count
		}
		list = append(list[:mostNumbers:mostNumbers], rest)
	}
	if len(values) > 0 {
		m := medianOf(values)
		median = &m
	}
	return list, median
}

// medianOf returns the middle value, or the mean of the two in the middle.
func medianOf(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	if n%2 == 1 {
		return values[n/2]
	}
	return values[n/2-1]/2 + values[n/2]/2 // both are halved first, since their sum might overflow
}
