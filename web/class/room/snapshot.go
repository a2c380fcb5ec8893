package room

import (
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/polls"
	"github.com/tokenbytoken/viz/web/class/records"
)

// become restores a core from the state of its log.
func (c *core) become(k *records.State) {
	c.begun, c.data, c.link, c.texts, c.votes = k.Begun, k.Data, k.Link, k.Texts, k.Votes
	c.book, c.keptSeq, c.seq, c.epoch = k.Book, k.Seq, k.Seq+afterRestart, k.Epoch
	c.asked, c.raisedAt = k.Raised, c.seq
	for i, is := range k.Members {
		m := &member{Member: class.Member{ID: i + 1}}
		if is == nil || is.Learner == "" { // the member was never saved, and the number stays unused
			m.Removed = true
		} else {
			m.Name, m.Learner, m.Nameless, m.Removed = is.Name, is.Learner, is.Nameless, is.Removed
			m.Work, m.voted = is.Work, is.Work != nil
			c.byLearner[m.Learner] = m
		}
		c.members = append(c.members, m)
	}
	for i, p := range k.Polls {
		if p == nil {
			p = &polls.Poll{ID: i + 1, Kind: class.Question, Phase: class.Revealed, Round: 1}
		}
		c.polls = append(c.polls, p)
	}
	for _, round := range c.votes {
		for id := range round {
			if id >= 1 && id <= len(c.members) {
				c.members[id-1].voted = true
			}
		}
	}
}

// roomState returns the state of the log. No changes may be pending.
func (c *core) roomState() *records.State {
	k := &records.State{
		Begun: c.begun, Data: c.data, Link: c.link, Seq: c.keptSeq, Texts: c.texts, Polls: c.polls,
		Votes: c.votes, Book: c.book, Epoch: c.epoch, Raised: c.asked,
	}
	for _, m := range c.members {
		if m.Learner == "" {
			k.Members = append(k.Members, nil)
			continue
		}
		k.Members = append(k.Members, &records.Member{
			Learner: m.Learner, Name: m.Name, Nameless: m.Nameless,
			Removed: m.Removed, Work: m.Work,
		})
	}
	return k
}

// afterRestart is the amount by which sequence numbers jump after a restart. It exceeds the maximum
// difference between the newest number and the saved one.
const afterRestart = 1 << 20
