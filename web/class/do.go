package class

import (
	"context"
	"html"
	"math"
	"strconv"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
)

// change changes the room's data with f, then saves and publishes it.
func (r *local) change(ctx context.Context, f func(c *core, next *roomData) error) error {
	return r.ask(ctx, func(c *core) error {
		next := c.data
		if err := f(c, &next); err != nil {
			return err
		}
		return c.change(next, nil)
	})
}

// set is [local.change] for a change that cannot fail.
func (r *local) set(ctx context.Context, f func(next *roomData)) error {
	return r.change(ctx, func(_ *core, next *roomData) error {
		f(next)
		return nil
	})
}

// changePoll changes a copy of the poll on the stage with f, then saves and publishes it.
// [core.change] saves and counts pending votes first.
func (r *local) changePoll(ctx context.Context, f func(c *core, p *poll) error) error {
	return r.ask(ctx, func(c *core) error {
		p := c.onStage()
		if p == nil {
			return ErrNoPoll
		}
		next := *p
		if err := f(c, &next); err != nil {
			return err
		}
		return c.change(c.data, &next)
	})
}

// maxRounds is the maximum number of rounds in a poll.
const maxRounds = 9

// again opens a poll for another round, for a limited time unless limit is 0.
func (p *poll) again(limit time.Duration, now time.Time) error {
	switch {
	case p.live():
		return ErrOpen
	case p.Phase == Revealed && p.Kind != Draw || p.Round >= maxRounds:
		return terms.Refuse(CodeClosed, "class.refused.revote", "n", maxRounds)
	case limit < 0 || limit > maxTime:
		return terms.Refuse(CodeAsk, "class.refused.open_long", "n", int(maxTime/time.Hour))
	}
	p.Round, p.Phase, p.Ends = p.Round+1, Open, time.Time{}
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
		return terms.Refuse(CodeAsk, "class.refused.extend_long", "n", int(maxTime/time.Hour))
	case p.Phase == Revealed:
		return terms.Refuse(CodeClosed, "class.refused.is_revealed")
	case p.live() && p.Ends.IsZero():
		return nil
	}
	from := now
	if p.live() && p.Ends.After(now) {
		from = p.Ends
	}
	p.Phase, p.Ends = Open, from.Add(by)
	return nil
}

// maxPrompt is the maximum length of a typed question, in bytes.
const maxPrompt = 1 << 10

func (c *core) askNumber(cmd AskNumber) error {
	p := &poll{Kind: Number, PromptText: oneLine(cmd.Prompt), Unit: oneLine(cmd.Unit), Within: cmd.Within}
	finite := func(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
	switch {
	case p.PromptText == "" || len(cmd.Prompt) > maxPrompt || len(cmd.Unit) > maxPrompt:
		return terms.Refuse(CodeAsk, "class.refused.number_prompt", "n", maxPrompt)
	case !finite(cmd.Within) || cmd.Within < 0 || cmd.Answer != nil && !finite(*cmd.Answer):
		return terms.Refuse(CodeAsk, "class.refused.number_answer")
	}
	if cmd.Answer != nil {
		right := *cmd.Answer
		p.Right = &right
	}
	p.Prompt = html.EscapeString(p.PromptText)
	return c.open(p, cmd.For)
}

// find returns the member with the given id, unless they were removed.
func (c *core) find(id int) (*member, error) {
	if id < 1 || id > len(c.members) || c.members[id-1].Removed {
		return nil, ErrNoMember
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
