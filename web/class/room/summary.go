package room

import (
	"slices"

	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/moves"
	"github.com/tokenbytoken/viz/web/class/polls"
)

func (c *core) summary() *class.Summary {
	s := &class.Summary{
		Title: c.data.Title, Code: c.code, Begun: c.begun, Used: c.used, Members: c.active(),
		Texts: slices.Clone(c.texts), Assigned: c.assigned(), Raised: c.raisedList(class.MaxRaisedEver),
	}
	if w := c.course().Walk(c.data.Walk); w != nil {
		s.Walk, s.WalkSlug = w.Title, w.Slug
	}
	if t, ok := moves.TextOf(c.state); ok && !slices.Contains(s.Texts, t) {
		s.Texts = append(s.Texts, t)
	}
	polls.SumUp(s, c.polls, c.votes)
	return s
}

func (c *core) replay() *class.Summary {
	all := c.summary()
	s := &class.Summary{
		Title: all.Title, Code: all.Code, Begun: all.Begun, Walk: all.Walk, WalkSlug: all.WalkSlug, Polls: all.Polls,
		Texts: all.Texts,
	}
	p := c.onStage()
	if p == nil || p.Phase == class.Revealed {
		return s
	}
	s.Polls = slices.Delete(slices.Clone(s.Polls), p.ID-1, p.ID)
	if t, ok := moves.TextOf(c.state); ok && p.AboutToken() {
		s.Texts = slices.DeleteFunc(s.Texts, func(x class.Text) bool { return x == t }) // it could reveal the answer
	}
	return s
}
