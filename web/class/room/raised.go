package room

import (
	"slices"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/records"
)

// Members can ask the instructor questions. Nobody learns who asked: the log does not contain it,
// and the room remembers it only to limit how much one member can ask. After a restart, it no
// longer knows.

// question returns the question with an id, or nil if there is none or it was erased.
func (c *core) question(id int) *records.Raised {
	if id < 1 || id > len(c.asked) || c.asked[id-1] == nil || c.asked[id-1].Text == "" {
		return nil
	}
	return c.asked[id-1]
}

// head returns the question that stands for the group of q, which is q itself if it is not grouped.
func (c *core) head(q *records.Raised) *records.Raised {
	if h := c.question(q.Same); h != nil && h.Same == 0 {
		return h
	}
	return q
}

// groupOf returns the questions that are grouped with a head, which comes first.
func (c *core) groupOf(head *records.Raised) []*records.Raised {
	list := []*records.Raised{head}
	for id := range c.asked {
		if q := c.question(id + 1); q != nil && q != head && c.head(q) == head {
			list = append(list, q)
		}
	}
	return list
}

// openRaised returns the questions that the instructor has not put away.
func (c *core) openRaised() (list []*records.Raised) {
	for id := range c.asked {
		if q := c.question(id + 1); q != nil && !c.head(q).Done {
			list = append(list, q)
		}
	}
	return list
}

// onWall returns the questions on the wall.
func (c *core) onWall() (list []class.OnWall) {
	for _, id := range c.data.WallIDs() {
		if q := c.question(id); q != nil {
			list = append(list, class.OnWall{ID: id, Text: q.Text, Times: len(c.groupOf(q))})
		}
	}
	return list
}

// shownAway is how many of the questions that the instructor has put away are listed.
const shownAway = 20

// raisedList returns the open questions and the newest of those that were put away.
func (c *core) raisedList(away int) (list []class.Raised) {
	wall := c.data.WallIDs()
	for id := len(c.asked); id > 0; id-- {
		q := c.question(id)
		if q == nil {
			continue
		}
		h := c.head(q)
		if h.Done {
			if away--; away < 0 {
				continue
			}
		}
		one := class.Raised{ID: id, Text: q.Text, Done: h.Done, Wall: slices.Index(wall, id) + 1}
		if h != q {
			one.Same = h.ID
		}
		list = append(list, one)
	}
	slices.Reverse(list)
	return list
}

// raise saves a member's question.
func (c *core) raise(learner, text string) error {
	m, err := c.memberOf(learner)
	if err != nil {
		return err
	}
	switch {
	case c.ended():
		return class.ErrExpired
	case c.data.Quiet:
		return terms.Refuse(class.CodeAsk, "class.refused.raised.quiet")
	}
	open, own := c.openRaised(), 0
	for _, q := range open {
		who, known := c.askers[q.ID]
		if who == learner {
			own++
		}
		if q.Text == text && (who == learner || !known) {
			return nil // sent again, because the confirmation was lost
		}
	}
	switch {
	case len(c.asked) >= class.MaxRaisedEver:
		return terms.Refuse(class.CodeAsk, "class.refused.raised.ever", "n", class.MaxRaisedEver)
	case m.asked >= class.MaxRaisedOwnEver:
		return terms.Refuse(class.CodeAsk, "class.refused.raised.own.ever", "n", class.MaxRaisedOwnEver)
	case own >= class.MaxRaisedOwn:
		return terms.Refuse(class.CodeAsk, "class.refused.raised.own", "n", class.MaxRaisedOwn)
	case len(open) >= class.MaxRaisedOpen:
		return terms.Refuse(class.CodeAsk, "class.refused.raised.full")
	}
	q := &records.Raised{ID: len(c.asked) + 1, Text: text}
	c.used = c.cfg.Now()
	if err := c.commit(c.raisedEntry(*q)); err != nil {
		return err
	}
	c.asked, c.askers[q.ID] = append(c.asked, q), learner
	m.asked++
	c.raisedAt = c.seq + 1
	c.publishSoon(crowdEvery)
	return nil
}

func (c *core) raisedEntry(q records.Raised) records.Entry {
	return c.book.Entry(records.TypeRaised, records.Subject(records.TypeRaised, q.ID), q)
}

// chosen returns the questions that a command is about. Each stands for its group, unless the command
// separates it.
func (c *core) chosen(cmd class.Handle) (list []*records.Raised, err error) {
	ids := cmd.Questions
	if cmd.Do == class.PutAllAway {
		ids = nil
		for _, q := range c.openRaised() {
			ids = append(ids, q.ID)
		}
	}
	for _, id := range ids {
		q := c.question(id)
		if q == nil {
			return nil, terms.Refuse(class.CodeAsk, "class.refused.raised.none")
		}
		if cmd.Do != class.PutBack {
			q = c.head(q)
		}
		if !slices.Contains(list, q) {
			list = append(list, q)
		}
	}
	return list, nil
}

// handle carries out what the instructor does with questions.
func (c *core) handle(cmd class.Handle) error {
	list, err := c.chosen(cmd)
	if err != nil {
		return err
	}
	if err := enough(cmd.Do, list); err != nil {
		return err
	}
	wall, changed := c.handled(cmd.Do, list)
	next, err := c.data.WithWall(wall)
	if err != nil {
		return err
	}
	if err := c.saveRaised(next, changed); err != nil {
		return err
	}
	if cmd.Do == class.Erase {
		_ = c.erase() // logged, and retried soon
	}
	return nil
}

// enough returns an error if something cannot be done with these questions.
func enough(do class.Handling, list []*records.Raised) error {
	least := 1
	switch do {
	case class.PutAllAway:
		least = 0
	case class.Group:
		least = 2
	}
	if len(list) < least {
		return terms.Refuse(class.CodeAsk, "class.refused.raised.few", "n", least)
	}
	away := slices.ContainsFunc(list, func(q *records.Raised) bool { return q.Done })
	if away && (do == class.Show || do == class.Group) {
		return terms.Refuse(class.CodeAsk, "class.refused.raised.none")
	}
	return nil
}

// handled returns the questions on the wall after a command, and the questions that it changes.
func (c *core) handled(do class.Handling, list []*records.Raised) (wall []int, changed []records.Raised) {
	wall = c.data.WallIDs()
	change := func(q *records.Raised, f func(*records.Raised)) {
		next := *q
		if f(&next); next != *q {
			changed = append(changed, next)
		}
	}
	leave := func(id int) { wall = slices.DeleteFunc(wall, func(x int) bool { return x == id }) }
	for i, q := range list {
		switch do {
		case class.Show:
			if !slices.Contains(wall, q.ID) {
				wall = append(wall, q.ID)
			}
		case class.Hide:
			leave(q.ID)
		case class.MoveUp:
			wall = records.Moved(wall, q.ID, -1)
		case class.MoveDown:
			wall = records.Moved(wall, q.ID, 1)
		case class.PutAway, class.PutAllAway:
			leave(q.ID)
			change(q, func(q *records.Raised) { q.Done = true })
		case class.PutBack:
			change(q, func(q *records.Raised) { q.Same, q.Done = 0, false })
		case class.Group:
			if i == 0 {
				continue
			}
			if n := slices.Index(wall, q.ID); n >= 0 && !slices.Contains(wall, list[0].ID) {
				wall[n] = list[0].ID
			}
			leave(q.ID)
			for _, x := range c.groupOf(q) {
				change(x, func(x *records.Raised) { x.Same, x.Done = list[0].ID, false })
			}
		case class.Erase:
			leave(q.ID)
			for _, x := range c.groupOf(q) {
				change(x, func(x *records.Raised) { x.Text = "" })
			}
		}
	}
	return wall, changed
}

// saveRaised saves the room's data and changed questions, and then updates the room.
func (c *core) saveRaised(next records.Data, changed []records.Raised) error {
	var all []records.Entry
	if next != c.data {
		all = append(all, c.book.Entry(records.TypeData, records.TypeData, next))
	}
	for _, q := range changed {
		all = append(all, c.raisedEntry(q))
	}
	c.used = c.cfg.Now()
	if err := c.commit(all...); err != nil {
		return err
	}
	c.data = next
	for _, q := range changed {
		c.asked[q.ID-1] = &q
		if q.Done || q.Text == "" {
			delete(c.askers, q.ID)
		}
	}
	c.raisedAt = c.seq + 1
	c.publish()
	return nil
}
