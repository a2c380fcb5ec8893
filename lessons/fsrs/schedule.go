package fsrs

import (
	"fmt"
	"time"
)

const day = 24 * time.Hour

// Next returns the card after a review at now with grade g. If a review is earlier than the last
// one because a clock was set back, it counts as a review on the same day. Next panics if g is not
// a grade, so input should be parsed with [ParseGrade].
func (p Params) Next(c Card, now time.Time, g Grade) Card {
	if !g.valid() {
		panic(fmt.Sprintf("fsrs: Next with %v", g))
	}
	return p.Preview(c, now)[g-1]
}

// Preview returns the card after each of the four grades, indexed by grade − 1, for button labels.
func (p Params) Preview(c Card, now time.Time) [4]Card {
	elapsed := 0
	if c.State != New {
		elapsed = max(0, daysBetween(c.Last, now))
	}
	var next [4]Card
	for i, g := range Grades {
		n := c
		n.Stability, n.Difficulty = p.memory(c, elapsed, g)
		n.Last, n.Reps = now, c.Reps+1
		next[i] = n
	}
	if c.State != Review {
		for i, g := range Grades {
			next[i] = p.steps(c, next[i], g)
		}
		return next
	}
	next[0].Lapses++
	next[0] = p.steps(c, next[0], Again)
	// The better the grade, the later the date.
	hard, good := p.days(next[1].Stability), p.days(next[2].Stability)
	hard = min(hard, good)
	good = max(good, hard+1)
	easy := max(p.days(next[3].Stability), good+1)
	for i, days := range []int{hard, good, easy} {
		next[i+1] = next[i+1].in(days)
	}
	return next
}

// in moves the card into review, due after the given number of 24-hour days.
func (c Card) in(days int) Card {
	c.State, c.Step, c.Interval = Review, 0, days
	c.Due = c.Last.Add(time.Duration(days) * day)
	return c
}

// steps moves the reviewed card n to its next short step, or into review after the last step. c is
// the card before the review.
func (p Params) steps(c, n Card, g Grade) Card {
	wait, step := p.step(c, g)
	switch {
	case wait <= 0:
		return n.in(p.days(n.Stability))
	case wait >= day: // a step of a day or more counts as a review
		n.State, n.Step, n.Interval = Review, step, int(wait/day)
	default:
		n.State, n.Step, n.Interval = Learning, step, 0
		if c.State == Review || c.State == Relearning {
			n.State = Relearning
		}
	}
	n.Due = n.Last.Add(wait)
	return n
}

// step returns the wait until a card's next short step, and the step's number: again returns to the
// first step, hard repeats the step, good advances, and easy leaves the short steps. After hard,
// the wait is the mean of the first two steps or, if there is only one step, one and a half times
// that step. A wait of 0 means that the card has left the short steps.
func (p Params) step(c Card, g Grade) (wait time.Duration, number int) {
	list := p.Learning
	if c.State == Review || c.State == Relearning {
		list = p.Relearning
	}
	if c.Step >= len(list) {
		return 0, 0
	}
	switch {
	case g == Again:
		return list[0], 0
	case g == Hard && len(list) == 1:
		return (list[0] * 3 / 2).Round(time.Minute), c.Step
	case g == Hard:
		return ((list[0] + list[1]) / 2).Round(time.Minute), c.Step
	case g == Good && c.Step+1 < len(list):
		return list[c.Step+1], c.Step + 1
	}
	return 0, 0
}

// daysBetween counts the midnights (UTC) between two times.
func daysBetween(from, to time.Time) int {
	date := func(t time.Time) time.Time {
		y, m, d := t.UTC().Date()
		return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	}
	return int(date(to).Sub(date(from)) / day)
}
