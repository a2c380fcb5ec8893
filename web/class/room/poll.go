package room

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
)

// questions are the polls of a room.
type questions struct {
	polls []*poll // by ID − 1
	votes votes
	alarm *time.Timer // fires when the poll ends
}

// poll contains all data of a poll; the poll's phase determines how much of it others see. A
// published poll is never changed; changes are made to a copy.
type poll struct {
	ID         int            `json:"id"`
	Kind       class.Kind     `json:"kind"`
	Phase      class.Phase    `json:"phase"`
	Round      int            `json:"round"`
	Prompt     string         `json:"prompt"`      // HTML
	PromptText string         `json:"prompt_text"` // plain
	Unit       string         `json:"unit,omitempty"`
	Asked      time.Time      `json:"asked"`
	Ends       time.Time      `json:"ends,omitzero"`
	Step       int            `json:"step,omitempty"`
	Options    []class.Option `json:"options,omitempty"` // with P, Q, Right and Why, without counts
	Answer     string         `json:"answer,omitempty"`
	Right      *float64       `json:"right,omitempty"`
	Within     float64        `json:"within,omitempty"`
}

// round identifies one round of a poll.
type round struct{ poll, n int }

// vote is the vote of one member in a round.
type vote struct {
	Choice string  `json:"choice,omitempty"`
	U      float64 `json:"u,omitempty"`    // of a draw
	Sure   float64 `json:"sure,omitempty"` // 0 if the voter gave no confidence
	N      int64   `json:"n,omitempty"`    // the vote's number, chosen by the client
}

// votes holds the votes of all rounds, by round and by the member's ID.
type votes map[round]map[int]vote

// MarshalText encodes a round as a JSON key.
func (r round) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%d.%d", r.poll, r.n), nil }

// UnmarshalText is the inverse of MarshalText.
func (r *round) UnmarshalText(text []byte) error {
	_, err := fmt.Sscanf(string(text), "%d.%d", &r.poll, &r.n)
	return err
}

func (p *poll) at() round { return round{p.ID, p.Round} }

// id identifies the poll and its round, so that a late vote does not count in another round.
func (p *poll) id() string       { return fmt.Sprintf("%d-%d", p.ID, p.Round) }
func (p *poll) aboutToken() bool { return p.Kind == class.Next || p.Kind == class.Draw }
func (p *poll) live() bool       { return p.Phase == class.Open }

// onStage returns the poll that everyone sees, or nil.
func (c *core) onStage() *poll {
	if n := c.data.Poll; n >= 1 && n <= len(c.polls) {
		return c.polls[n-1]
	}
	return nil
}

// count counts a vote unless the member already has one with an equal or higher number. It
// reports whether the vote was counted.
func (all votes) count(at round, member int, v vote) bool {
	if all[at] == nil {
		all[at] = map[int]vote{}
	}
	if old, ok := all[at][member]; ok && v.N <= old.N {
		return false
	}
	all[at][member] = v
	return true
}

// withdraw removes a vote.
func (all votes) withdraw(at round, member int) {
	if delete(all[at], member); len(all[at]) == 0 {
		delete(all, at)
	}
}

// vote processes a ballot. Once the vote is saved, it is counted, and reply is called.
func (c *core) vote(learner string, b class.Ballot, reply func(class.Receipt, error)) {
	p, m, v, err := c.check(learner, b)
	if errors.Is(err, class.ErrClosed) {
		if r, counted := c.counted(learner, b); counted {
			reply(r, nil)
			return
		}
	}
	if err != nil {
		reply(class.Receipt{}, err)
		return
	}
	m.voted = true
	at := p.at()
	c.used = c.cfg.Now()
	c.enqueue(func(err error) {
		if err != nil {
			reply(class.Receipt{}, err)
			return
		}
		c.publishSoon(crowdEvery)
		reply(c.receipt(p, c.votes[at][m.ID]), nil)
	}, voteEntry(at, m.ID, v))
}

// counted returns the receipt for a vote that has already been counted. A client resends such a
// vote if its confirmation was lost.
func (c *core) counted(learner string, b class.Ballot) (r class.Receipt, ok bool) {
	m := c.byLearner[learner]
	if m == nil || m.Removed || b.N <= 0 {
		return r, false
	}
	for _, p := range c.polls {
		if v, ok := c.votes[p.at()][m.ID]; ok && p.id() == b.Poll && v.N == b.N {
			return c.receipt(p, v), true
		}
	}
	return r, false
}

// check validates a ballot and converts it to a vote.
func (c *core) check(learner string, b class.Ballot) (p *poll, m *member, v vote, err error) {
	m, p = c.byLearner[learner], c.onStage()
	switch {
	case m == nil:
		return nil, nil, v, class.ErrStranger
	case m.Removed:
		return nil, nil, v, class.ErrRemoved
	case p == nil || p.id() != b.Poll || !p.live() || p.over(c.cfg.Now()):
		return nil, nil, v, class.ErrClosed
	case b.N < 0 || !(b.Sure >= 0 && b.Sure <= 1):
		return nil, nil, v, terms.Refuse(class.CodeNotOffer, "class.refused.vote_numbers")
	}
	v = vote{Sure: b.Sure, N: b.N}
	old, voted := c.votes[p.at()][m.ID]
	if v.N == 0 {
		v.N = max(c.cfg.Now().UnixMilli(), old.N+1)
	}
	switch p.Kind {
	case class.Draw:
		if voted { // members draw only once
			return p, m, old, nil
		}
		v.U = sampling.U(c.data.Seed+uint64(m.ID), p.ID<<8+p.Round)
		v.Choice, err = c.draw(p, v.U)
	default:
		v.Choice, err = p.read(b.Choice)
	}
	return p, m, v, err
}

// read converts a choice to the form in which votes are counted: an option's key or a
// number. It is not used for draws.
func (p *poll) read(choice string) (string, error) {
	if p.Kind == class.Number {
		x, err := readNumber(choice)
		return strconv.FormatFloat(x, 'g', -1, 64), err
	}
	if !slices.ContainsFunc(p.Options, func(o class.Option) bool { return !o.Rest && o.Key == choice }) {
		return "", terms.Refuse(class.CodeNotOffer, "class.refused.no_option", "option", class.Quoted(choice))
	}
	return choice, nil
}

// over reports whether a poll's time is up.
func (p *poll) over(now time.Time) bool { return !p.Ends.IsZero() && !now.Before(p.Ends) }

// draw returns the key of the token that u selects at the poll's step.
func (c *core) draw(p *poll, u float64) (key string, err error) {
	d := distribution(c.state, p.Step)
	if d == nil {
		return "", terms.Refuse(class.CodeClosed, "class.refused.draw_gone")
	}
	return strconv.Itoa(int(d.Order[d.Draw(u)])), nil
}

// readNumber is like [terms.ReadNumber], but its error is a [*terms.Refusal] with
// [class.CodeNotOffer].
func readNumber(typed string) (float64, error) {
	x, ok := terms.ReadNumber(typed)
	if !ok {
		return 0, terms.Refuse(class.CodeNotOffer, "class.refused.not_number", "text", class.Quoted(typed))
	}
	return x, nil
}

// receipt returns a receipt for the vote that counts.
func (c *core) receipt(p *poll, v vote) class.Receipt {
	r := class.Receipt{Poll: p.id(), Round: p.Round, Choice: v.Choice, Text: v.Choice, U: v.U, Sure: v.Sure, N: v.N}
	if i := p.option(v.Choice); i >= 0 && !p.Options[i].Rest {
		r.Text = p.Options[i].Text
	} else if id, err := strconv.Atoi(v.Choice); err == nil && p.Kind == class.Draw && c.state != nil &&
		between(id, 0, c.state.Model.Config().Vocab-1) {
		r.Text = readable(c.state.Model, id)
	}
	return r
}

// option returns the index of the option that a choice counts toward, or −1.
func (p *poll) option(choice string) int {
	i := slices.IndexFunc(p.Options, func(o class.Option) bool { return o.Key == choice })
	if i < 0 {
		i = slices.IndexFunc(p.Options, func(o class.Option) bool { return o.Rest })
	}
	return i
}

// counts returns the number of votes for each option.
func (p *poll) counts(votes map[int]vote) []int {
	n := make([]int, len(p.Options))
	for _, v := range votes {
		if i := p.option(v.Choice); i >= 0 {
			n[i]++
		}
	}
	return n
}

// view returns the poll as others see it in the given phase.
func (p *poll) view(all map[round]map[int]vote, phase class.Phase) *class.Poll {
	votes := all[p.at()]
	v := &class.Poll{
		ID: p.id(), Kind: p.Kind, Phase: phase, Round: p.Round, Prompt: p.Prompt, Unit: p.Unit, Ends: p.Ends,
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
			v.Before = p.counts(all[round{p.ID, p.Round - 1}])
		}
	}
	if revealed {
		v.Answer, v.Right = p.Answer, p.Right
	}
	return v
}

// onScreen returns the view of a poll for the screen. It does not mark any token as right: when the
// poll ends, the token has not been drawn yet, and a reveal must not anticipate the draw.
func (p *poll) onScreen(all map[round]map[int]vote, phase class.Phase) *class.Poll {
	v := p.view(all, phase)
	if p.aboutToken() {
		for i := range v.Options {
			v.Options[i].Right = false
		}
	}
	return v
}

// falls returns the numbers that members with nicknames drew in a poll, if the instructor
// chose to show them and names are not hidden.
func (c *core) falls(p *poll) []class.Fall {
	if p.Kind != class.Draw || !c.data.NamesFall || c.data.NamesHidden {
		return nil
	}
	var list []class.Fall
	votes := c.votes[p.at()]
	for _, m := range c.members {
		if v, ok := votes[m.ID]; ok && !m.Removed {
			list = append(list, class.Fall{Member: m.Member, U: v.U})
		}
	}
	return list
}

// mostNumbers is the maximum number of different answers that are shown separately.
const mostNumbers = 8

// numbers returns the most frequent answers, and the median of all answers.
func (p *poll) numbers(votes map[int]vote, revealed bool) (list []class.Option, median *float64) {
	given := map[string]int{}
	var values []float64
	for _, v := range votes {
		given[v.Choice]++
		values = append(values, p.value(v))
	}
	for text, n := range given {
		list = append(list, class.Option{Key: text, Text: text, Count: n, Right: revealed && p.isRight(text)})
	}
	slices.SortFunc(list, func(a, b class.Option) int {
		return cmp.Or(b.Count-a.Count, cmp.Compare(p.value(vote{Choice: a.Key}), p.value(vote{Choice: b.Key})))
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

// value returns the number that a vote contains.
func (p *poll) value(v vote) float64 {
	x, _ := strconv.ParseFloat(v.Choice, 64) // cannot fail: check created the string
	return x
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

// isRight reports whether a choice is right. The error of a number may exceed the margin
// very slightly, since 0.65 − 0.6 is more than 0.05 in binary floating point.
func (p *poll) isRight(choice string) bool {
	if p.Kind == class.Number {
		x := p.value(vote{Choice: choice})
		return p.Right != nil && math.Abs(x-*p.Right) <= p.Within+1e-9*math.Abs(*p.Right)
	}
	i := p.option(choice)
	return i >= 0 && p.Options[i].Right && !p.Options[i].Rest
}

// judged reports whether the poll has a right answer.
func (p *poll) judged() bool {
	return p.Kind == class.Next || p.Right != nil || slices.ContainsFunc(p.Options,
		func(o class.Option) bool { return o.Right })
}
