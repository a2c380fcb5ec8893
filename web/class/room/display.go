package room

import (
	"cmp"
	"sync"
	"time"

	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/session"
)

// crowdEvery is the shortest interval between views that only add people or votes, since each view
// is sent to everyone. stageEvery is the shortest interval between views of a playing run.
const (
	crowdEvery = 150 * time.Millisecond
	stageEvery = 30 * time.Millisecond
)

// publish makes a new view of the room and notifies all followers.
func (c *core) publish() {
	c.news.Stop()
	c.waits = false
	c.show()
	c.cfg.Broker.Publish(c.code, class.Note{Seq: c.seq})
}

// publishSoon publishes a single view, within the given time, for all changes made until then.
func (c *core) publishSoon(within time.Duration) {
	if !c.waits {
		c.waits = true
		c.news.Reset(within)
	}
}

// show creates a view of the current state.
func (c *core) show() {
	c.seq++
	d, st := c.data, c.state
	v := &class.View{
		Seq: c.seq, At: c.cfg.Now(), Code: c.code, Title: d.Title,
		Language: d.Language, State: st, Timer: d.Timer, Here: c.present(),
		Members:   c.active(),
		Nicknames: d.Nicknames, NamesHidden: d.NamesHidden, Locked: d.Locked, Alone: d.Alone, Ended: d.Ended,
		NamesFall: d.NamesFall, Quiet: d.Quiet, Wall: c.onWall(), Raised: c.raisedAt,
		Leading: c.presenterPages[c.presenter],
		Notice:  cmp.Or(c.notice, c.loss),
	}
	if st != nil {
		v.SetLink(sync.OnceValue(func() string { return session.LinkOf(st) }))
	}
	if w := c.course().Walk(d.Walk); w != nil {
		v.Walk = &class.WalkView{Walk: w, Step: d.Step, Left: d.Left}
	}
	if c.offer != nil && c.offerAt == st && d.Poll == 0 {
		v.Offer = c.offer
	}
	if d.Ended {
		v.End = c.ending()
	}
	if p := c.onStage(); p != nil {
		v.Poll = p.OnScreen(c.votes, p.Phase)
		v.Poll.Falls = c.falls(p)
		v.Hidden = p.Kind == class.Next && p.Phase != class.Revealed
	}
	c.store(v)
}

// store makes v the room's newest view.
func (c *core) store(v *class.View) {
	v.Epoch = c.epoch
	c.face.Show(v)
	c.host.Shown(v)
}
