package room

import (
	"html"
	"math"
	"strconv"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
)

// carryOut executes a command that changes a poll.
func (p *poll) carryOut(cmd class.Command, now time.Time) error {
	switch cmd := cmd.(type) {
	case class.Close:
		if !p.live() {
			return class.ErrClosed
		}
		p.Phase = class.Closed
	case class.Extend:
		return p.extend(cmd.By, now)
	case class.ShowSpread:
		if p.Phase == class.Revealed {
			return class.ErrClosed
		}
		p.Phase = class.Spread
	case class.Reveal:
		p.Phase = class.Revealed
	case class.Revote:
		return p.again(cmd.For, now)
	}
	return nil
}

// maxRounds is the maximum number of rounds in a poll.
const maxRounds = 9

// again opens a poll for another round, for a limited time unless limit is 0.
func (p *poll) again(limit time.Duration, now time.Time) error {
	switch {
	case p.live():
		return class.ErrOpen
	case p.Phase == class.Revealed && p.Kind != class.Draw || p.Round >= maxRounds:
		return terms.Refuse(class.CodeClosed, "class.refused.revote", "n", maxRounds)
	case limit < 0 || limit > maxTime:
		return terms.Refuse(class.CodeAsk, "class.refused.open_long", "n", int(maxTime/time.Hour))
	}
	p.Round, p.Phase, p.Ends = p.Round+1, class.Open, time.Time{}
	if limit > 0 {
		p.Ends = now.Add(limit)
	}
	return nil
}

// extend gives a poll more time, and reopens a closed one. An open poll without a time limit
// stays unchanged.
func (p *poll) extend(by time.Duration, now time.Time) error {
	switch {
	case by <= 0 || by > maxTime:
		return terms.Refuse(class.CodeAsk, "class.refused.extend_long", "n", int(maxTime/time.Hour))
	case p.Phase == class.Revealed:
		return terms.Refuse(class.CodeClosed, "class.refused.is_revealed")
	case p.live() && p.Ends.IsZero():
		return nil
	}
	from := now
	if p.live() && p.Ends.After(now) {
		from = p.Ends
	}
	p.Phase, p.Ends = class.Open, from.Add(by)
	return nil
}

// maxPrompt is the maximum length of a typed question, in bytes.
const maxPrompt = 1 << 10

// numberPoll returns a poll that asks for a number.
func numberPoll(cmd class.AskNumber) (*poll, error) {
	p := &poll{
		Kind: class.Number, PromptText: class.OneLine(cmd.Prompt), Unit: class.OneLine(cmd.Unit),
		Within: cmd.Within,
	}
	finite := func(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
	switch {
	case p.PromptText == "" || len(cmd.Prompt) > maxPrompt || len(cmd.Unit) > maxPrompt:
		return nil, terms.Refuse(class.CodeAsk, "class.refused.number_prompt", "n", maxPrompt)
	case !finite(cmd.Within) || cmd.Within < 0 || cmd.Answer != nil && !finite(*cmd.Answer):
		return nil, terms.Refuse(class.CodeAsk, "class.refused.number_answer")
	}
	if cmd.Answer != nil {
		right := *cmd.Answer
		p.Right = &right
	}
	p.Prompt = html.EscapeString(p.PromptText)
	return p, nil
}

// find returns the member with the given id, unless they were removed.
func (c *core) find(id int) (*member, error) {
	if id < 1 || id > len(c.members) || c.members[id-1].Removed {
		return nil, class.ErrNoMember
	}
	return c.members[id-1], nil
}

// changeMember saves a change to a member, and only then applies it. A nickname that the member has
// just chosen is saved before the change, never after it.
func (c *core) changeMember(id int, change func(*member), also ...entry) error {
	c.flush()
	m, err := c.find(id)
	if err != nil {
		return err
	}
	next := *m
	change(&next)
	all := append(also, c.memberEntry(next))
	if next.Name != m.Name {
		all = append(all, c.nameEntry(next))
	}
	if err := c.commit(all...); err != nil {
		return err
	}
	*m = next
	c.publish()
	return nil
}

// dropName erases a member's nickname; the member cannot choose another.
func (c *core) dropName(id int) error {
	if err := c.changeMember(id, func(m *member) { m.Name, m.Nameless = "", true }); err != nil {
		return err
	}
	_ = c.erase() // logged, and retried soon
	return nil
}

// remove expels a member. Their name is erased, and their vote in the round on the stage is
// withdrawn.
func (c *core) remove(id int) error {
	p := c.onStage()
	var also []entry
	if p != nil {
		also = append(also, c.withdrawal(p.at(), id))
	}
	if err := c.changeMember(id, func(m *member) { m.Name, m.Removed, m.Work = "", true, nil }, also...); err != nil {
		return err
	}
	if p != nil {
		c.publish()
	}
	_ = c.erase() // logged, and retried soon
	return nil
}

// forget erases the identity of a member. Their open pages are no longer counted.
func (c *core) forget(learner string) error {
	m := c.byLearner[learner]
	if m == nil || m.Removed {
		return c.erase() // completes an earlier erasure that failed
	}
	pages := m.pages
	unknown := func(m *member) { m.Name, m.Learner, m.pages, m.Work = "", forgotten(m.ID), 0, nil }
	if err := c.changeMember(m.ID, unknown); err != nil {
		return err
	}
	c.here -= pages
	delete(c.byLearner, learner)
	c.byLearner[m.Learner] = m
	c.publish()
	return c.erase()
}

// number returns the id of the token that a vote is for.
func number(choice string) int {
	n, _ := strconv.Atoi(choice) // cannot fail: this package created the string
	return n
}
