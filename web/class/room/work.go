package room

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/records"
)

// A class can be assigned tasks from the course. Each member can hand in their results; handing in
// again replaces earlier results. The server reads the results from the member's saved progress,
// not from the browser.

func (c *core) handIn(who admission.Caller, name string, w class.Work) error {
	tasks := strings.Fields(c.data.Tasks)
	if len(tasks) == 0 {
		return terms.Refuse(class.CodeAsk, "class.refused.no_work")
	}
	if m := c.byLearner[who.Learner]; m != nil && m.Removed {
		return class.ErrRemoved
	} else if m == nil {
		if err := c.admitNew(who); err != nil {
			return err
		}
	}
	c.flush() // a nickname that they have just chosen may be pending
	w = records.Within(w, tasks, c.cfg.Now())
	m, changes := c.byLearner[who.Learner], []records.Entry(nil)
	if m == nil {
		m, changes = c.newMember(who)
		c.enqueue(nil, append(changes, c.memberEntry(*m))...)
		changes = nil
		c.publishSoon(crowdEvery)
	}
	next := *m
	if c.data.AskNames && !m.Nameless && name != "" {
		next.Name = name
	}
	if m.Work != nil && records.SameWork(*m.Work, w) && next.Name == m.Name {
		return nil // if the results have not changed, nothing is saved
	}
	next.Work, next.voted = &w, true
	if changes = append(changes, c.memberEntry(next)); next.Name != m.Name {
		changes = append(changes, c.nameEntry(next))
	}
	if err := c.commit(changes...); err != nil {
		return err
	}
	*m = next
	return nil
}

// assigned returns the summary of the assignment, or nil if nothing is assigned.
func (c *core) assigned() *class.AssignedSummary {
	tasks := strings.Fields(c.data.Tasks)
	if len(tasks) == 0 {
		return nil
	}
	s := &class.AssignedSummary{Names: c.data.AskNames}
	done, slips := map[string]int{}, map[string]int{}
	for _, m := range c.members {
		if m.Removed || m.Work == nil {
			continue
		}
		s.HandedIn++
		now := records.Within(*m.Work, tasks, m.Work.At) // the tasks may have changed since
		for _, t := range now.Done {
			done[t]++
		}
		for _, x := range now.Slips {
			slips[x]++
		}
		if s.Names && m.Name != "" {
			s.People = append(s.People, class.PersonSummary{Name: m.Name, Done: len(now.Done)})
		}
	}
	for _, t := range tasks {
		s.Tasks = append(s.Tasks, class.TaskSummary{Task: t, Done: done[t]})
	}
	for x, n := range slips {
		task, what, _ := strings.Cut(x, ":")
		s.Slips = append(s.Slips, class.SlipSummary{Task: task, Slip: what, Members: n})
	}
	slices.SortFunc(s.Slips, func(a, b class.SlipSummary) int {
		return cmp.Or(b.Members-a.Members, strings.Compare(a.Task, b.Task), strings.Compare(a.Slip, b.Slip))
	})
	slices.SortStableFunc(s.People, func(a, b class.PersonSummary) int {
		return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	})
	return s
}
