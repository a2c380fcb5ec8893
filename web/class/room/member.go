package room

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/records"
)

// admit returns an error that explains why a learner cannot join, or nil.
func (c *core) admit(who admission.Caller) error {
	m := c.byLearner[who.Learner]
	switch {
	case m != nil && m.Removed:
		return class.ErrRemoved
	case c.ended():
		return class.ErrExpired
	case m != nil:
		return nil
	}
	return c.admitNew(who)
}

// admitNew returns an error that explains why someone cannot become a member, or nil.
func (c *core) admitNew(who admission.Caller) error {
	if c.data.Locked {
		return class.ErrLocked
	}
	if full, replaced := c.space(who); replaced == nil && (full || len(c.members) >= records.MaxMembers) {
		return class.ErrFull
	}
	return nil
}

// space reports whether the room is full for a caller. If it is, space also returns the member whom
// the caller may replace, or nil. Only absent members who have never voted can be replaced, so a
// client that joins under many names can replace only those names. A newcomer cannot replace a
// member who was known when they joined.
func (c *core) space(who admission.Caller) (full bool, replaced *member) {
	now, most := c.cfg.Now(), c.cfg.Limits.Members
	all, newcomers, at := 0, 0, map[netip.Prefix]int{}
	for _, m := range c.members {
		if m.Removed {
			continue
		}
		all++
		if !m.known {
			newcomers++
			at[m.address]++
		}
	}
	known, crowded := who.Known(now), false // crowded means that the caller's address has reached its limit
	if !known {
		crowded = most.PerAddress > 0 && at[who.Address] >= most.PerAddress
		full = crowded || most.Newcomers > 0 && newcomers >= most.Newcomers
	}
	if full = full || all >= most.Most; !full {
		return false, nil
	}
	for _, m := range c.members {
		if m.pages > 0 || m.voted || m.Removed || m.known && !known || crowded && m.address != who.Address {
			continue
		}
		if replaced == nil || !m.known && (replaced.known || at[m.address] > at[replaced.address]) {
			replaced = m
		}
	}
	return true, replaced
}

// join makes a learner a member and counts an open page. A new member is saved together with the
// next votes, and always before their own first vote.
func (c *core) join(who admission.Caller) (class.Member, error) {
	if err := c.admit(who); err != nil {
		return class.Member{}, err
	}
	m := c.byLearner[who.Learner]
	if m == nil {
		var changes []records.Entry
		m, changes = c.newMember(who)
		c.used = c.cfg.Now()
		c.enqueue(nil, append(changes, c.memberEntry(*m))...)
	}
	m.pages++
	c.here++
	c.publishSoon(crowdEvery)
	return m.Member, nil
}

// rename gives a member a nickname if the class has nicknames. Nobody sees the nickname, and
// reply is not called, until the nickname is saved.
func (c *core) rename(learner, name string, reply func(class.Member, error)) {
	m, err := c.memberOf(learner)
	if err != nil {
		reply(class.Member{}, err)
		return
	}
	var changes []records.Entry
	if c.data.Nicknames && !m.Nameless && name != "" && (name != m.Name || m.renaming > 0) {
		next := *m
		next.Name = name
		changes = append(changes, c.nameEntry(next))
		c.used = c.cfg.Now()
	} else {
		reply(m.Member, nil)
		return
	}
	m.renaming += len(changes)
	c.enqueue(func(err error) {
		m.renaming -= len(changes)
		if err == nil && len(changes) > 0 {
			m.Name = name
			c.publishSoon(crowdEvery)
		}
		reply(m.Member, err)
	}, changes...)
}

// newMember returns a member for an admitted caller and, if they replace a member who had a
// name, the record that deletes the name.
func (c *core) newMember(who admission.Caller) (m *member, changes []records.Entry) {
	if _, m = c.space(who); m != nil {
		c.flush() // might save a nickname that the replaced member has just chosen
		delete(c.byLearner, m.Learner)
		named := m.Name != ""
		*m = member{Member: class.Member{ID: m.ID}}
		if named {
			changes = append(changes, c.nameEntry(*m))
		}
	} else {
		m = &member{Member: class.Member{ID: len(c.members) + 1}}
		c.members = append(c.members, m)
	}
	m.Learner, m.known, m.address = who.Learner, who.Known(c.cfg.Now()), who.Address
	c.byLearner[who.Learner] = m
	return m, changes
}

func (c *core) leave(learner string) {
	if m := c.byLearner[learner]; m != nil && m.pages > 0 {
		m.pages--
		c.here--
		c.publishSoon(crowdEvery)
	}
}

func (c *core) standing(learner string) (class.Standing, error) {
	m, err := c.memberOf(learner)
	if err != nil {
		return class.Standing{}, err
	}
	s := class.Standing{Member: m.Member}
	if p := c.onStage(); p != nil {
		if v, ok := c.votes[p.At()][m.ID]; ok {
			r := p.Receipt(v, c.state)
			s.Vote = &r
		}
	}
	return s, nil
}

func (c *core) attendees() []class.Attendee {
	var list []class.Attendee
	p := c.onStage()
	for _, m := range c.members {
		if m.Removed {
			continue
		}
		a := class.Attendee{Member: m.Member, Here: m.pages > 0}
		if p != nil {
			if v, ok := c.votes[p.At()][m.ID]; ok {
				a.Voted = p.Receipt(v, c.state).Text
			}
		}
		list = append(list, a)
	}
	slices.SortStableFunc(
		list, func(a, b class.Attendee) int {
			return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
		},
	)
	return list
}

func (c *core) openPresenter(who string) {
	c.presenterPages[who]++
	if c.presenter == "" || c.presenterPages[c.presenter] == 0 {
		c.presenter = who
	}
	c.used = c.cfg.Now()
	c.publish()
}

func (c *core) closePresenter(who string) {
	if c.presenterPages[who]--; c.presenterPages[who] <= 0 {
		delete(c.presenterPages, who)
	}
	if c.presenter == who && c.presenterPages[who] == 0 {
		c.presenter = ""
	}
	c.publish()
}

// mayPresent returns an error if the given presenter cannot control the run now.
func (c *core) mayPresent(who string) error {
	if !c.canPresent(who) {
		return class.ErrSecond
	}
	c.presenter = who
	return nil
}
