package room

import (
	"maps"
	"strconv"

	"github.com/tokenbytoken/viz/web/class/records"
)

// changeMember saves a change to a member, and only then applies it. A nickname that the member has
// just chosen is saved before the change, never after it.
func (c *core) changeMember(id int, change func(*member), also ...records.Entry) error {
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
	var also []records.Entry
	if p != nil {
		also = append(also, c.book.Withdrawal(p.At(), id))
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
	maps.DeleteFunc(c.askers, func(_ int, who string) bool { return who == learner })
	c.byLearner[m.Learner] = m
	c.publish()
	return c.erase()
}

// forgotten returns the id that replaces the learner id of a member who has deleted their data.
func forgotten(id int) string { return "forgotten " + strconv.Itoa(id) }
