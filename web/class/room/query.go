package room

import (
	"slices"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/moves"
	"github.com/tokenbytoken/viz/web/class/polls"
	"github.com/tokenbytoken/viz/web/class/records"
	"github.com/tokenbytoken/viz/web/journal"
)

// onStage returns the poll that everyone sees, or nil.
func (c *core) onStage() *polls.Poll {
	if n := c.data.Poll; n >= 1 && n <= len(c.polls) {
		return c.polls[n-1]
	}
	return nil
}

// falls returns the numbers that members with nicknames drew in a poll, if the instructor
// chose to show them and names are not hidden.
func (c *core) falls(p *polls.Poll) []class.Fall {
	if p.Kind != class.Draw || !c.data.NamesFall || c.data.NamesHidden {
		return nil
	}
	var list []class.Fall
	votes := c.votes[p.At()]
	for _, m := range c.members {
		if v, ok := votes[m.ID]; ok && !m.Removed {
			list = append(list, class.Fall{Member: m.Member, U: v.U})
		}
	}
	return list
}

// present returns the number of members with an open page; active returns the number of
// members who have not been removed.
func (c *core) present() (n int) { return c.count(func(m *member) bool { return m.pages > 0 }) }

func (c *core) active() (n int) { return c.count(func(*member) bool { return true }) }

func (c *core) count(is func(*member) bool) (n int) {
	for _, m := range c.members {
		if !m.Removed && is(m) {
			n++
		}
	}
	return n
}

// memberOf returns the member with the given learner id.
func (c *core) memberOf(learner string) (*member, error) {
	switch m := c.byLearner[learner]; {
	case m == nil:
		return nil, class.ErrStranger
	case m.Removed:
		return nil, class.ErrRemoved
	default:
		return m, nil
	}
}

// canPresent reports whether the given presenter has the controls or can take them.
func (c *core) canPresent(who string) bool {
	return c.presenter == "" || c.presenter == who || c.presenterPages[c.presenter] == 0
}

// find returns the member with the given id, unless they were removed.
func (c *core) find(id int) (*member, error) {
	if id < 1 || id > len(c.members) || c.members[id-1].Removed {
		return nil, class.ErrNoMember
	}
	return c.members[id-1], nil
}

// ended reports whether the code has stopped working.
func (c *core) ended() bool {
	return c.data.Ended || c.cfg.Now().Sub(c.used) > c.cfg.Limits.CodeLife
}

// unused reports whether the room has had no activity and nobody is in it.
func (c *core) unused() bool {
	return len(c.members) == 0 && len(c.polls) == 0 && len(c.texts) == 0 && c.link == "" && !c.linkDue &&
		len(c.presenterPages) == 0 && c.here == 0
}

// mayMove returns an error if the run cannot be moved now. While a poll about a token is open, the
// stage must not change; while any poll is open, another one cannot be opened.
func (c *core) mayMove(newPoll bool) error {
	if p := c.onStage(); p != nil && p.Live() && (newPoll || p.AboutToken()) {
		return class.ErrOpen
	}
	return nil
}

// freed returns the room's data with a closed poll removed from the stage.
func (c *core) freed() records.Data {
	next := c.data
	if p := c.onStage(); p != nil && !p.Live() {
		next.Poll = 0
	}
	return next
}

func (c *core) walk() (class.WalkView, error) {
	w := c.course().Walk(c.data.Walk)
	if w == nil {
		return class.WalkView{}, terms.Refuse(class.CodeWalk, "class.refused.no_walk")
	}
	return class.WalkView{Walk: w, Step: c.data.Step, Left: c.data.Left}, c.mayMove(true)
}

// course returns the course in the language of the person who created the class. Everyone in the
// class sees its script and questions in that language.
func (c *core) course() *lessons.Course { return c.cfg.Course.Translated(c.data.Language) }

// nextSeed returns the seed for the candidates of the room's next poll.
func (c *core) nextSeed() uint64 { return c.data.Seed + uint64(len(c.polls)) }

func (c *core) owner() journal.Owner { return journal.Owner{Kind: journal.Room, Name: c.code} }

// left reports whether this server no longer owns the room.
func (c *core) left() bool { return c.signals.left != nil && c.signals.left() }

// runEnded is closed when the room's run has ended. It is nil if there is no run.
func (c *core) runEnded() <-chan struct{} {
	if c.run == nil {
		return nil
	}
	return c.run.Done()
}

// ending returns the brief summary of a class that all members see.
func (c *core) ending() *class.Ending {
	e := &class.Ending{Asked: len(c.polls), Texts: len(c.texts), Replay: c.face.ReplayKey()}
	if t, ok := moves.TextOf(c.state); ok && !slices.Contains(c.texts, t) {
		e.Texts++
	}
	for _, round := range c.votes {
		e.Votes += len(round)
	}
	return e
}
