package room

import (
	"errors"

	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/polls"
	"github.com/tokenbytoken/viz/web/class/records"
)

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
	at := p.At()
	c.used = c.cfg.Now()
	c.enqueue(func(err error) {
		if err != nil {
			reply(class.Receipt{}, err)
			return
		}
		c.publishSoon(crowdEvery)
		reply(p.Receipt(c.votes[at][m.ID], c.state), nil)
	}, records.VoteEntry(at, m.ID, v))
}

// counted returns the receipt for a vote that has already been counted. A client resends such a
// vote if its confirmation was lost.
func (c *core) counted(learner string, b class.Ballot) (r class.Receipt, ok bool) {
	m := c.byLearner[learner]
	if m == nil || m.Removed || b.N <= 0 {
		return r, false
	}
	for _, p := range c.polls {
		if v, ok := c.votes[p.At()][m.ID]; ok && p.Key() == b.Poll && v.N == b.N {
			return p.Receipt(v, c.state), true
		}
	}
	return r, false
}

// check validates a ballot and converts it to a vote.
func (c *core) check(learner string, b class.Ballot) (p *polls.Poll, m *member, v polls.Vote, err error) {
	m, p = c.byLearner[learner], c.onStage()
	switch {
	case m == nil:
		return nil, nil, v, class.ErrStranger
	case m.Removed:
		return nil, nil, v, class.ErrRemoved
	case p == nil || !p.Accepts(b, c.cfg.Now()):
		return nil, nil, v, class.ErrClosed
	}
	old, voted := c.votes[p.At()][m.ID]
	v, err = p.Cast(b, old, voted, c.cfg.Now(), c.data.Seed+uint64(m.ID), c.state)
	return p, m, v, err
}
