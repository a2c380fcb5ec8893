package room

import (
	"slices"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/moves"
	"github.com/tokenbytoken/viz/web/class/records"
	"github.com/tokenbytoken/viz/web/session"
)

// linkEvery is the interval at which the stage of a playing run is saved.
const linkEvery = 250 * time.Millisecond

// replaceRun closes the run and replaces it with another one, or nil.
func (c *core) replaceRun(run class.Run) {
	if c.run != nil {
		c.unwatch()
		c.run.Close()
	}
	c.run, c.unwatch, c.stale = run, nil, false
	if run == nil {
		c.state = nil
		return
	}
	c.unwatch = run.Watch(c.signals.wake)
}

// adoptRun makes run the room's run.
func (c *core) adoptRun(run class.Run, st *session.State, notice *terms.Refusal) {
	c.replaceRun(run)
	c.state, c.notice = st, notice
	if c.lost && notice == nil {
		c.notice = brokenNotice
	}
	c.lost = false
	if c.seq >= c.keptSeq+seqEvery { // after a restart: save this number, so that the next restart continues from it
		_ = c.commit() // logged; the next commit saves it
	}
	if notice != nil { // the stage of a poll about a token is gone
		if p := c.onStage(); p != nil && p.AboutToken() {
			next := c.data
			next.Poll = 0
			_ = c.change(next, nil) // logged; if it failed, the poll stays on an empty stage
		}
	}
	c.publish()
}

// refresh publishes the newest state of the run.
func (c *core) refresh() {
	if c.run == nil || c.held {
		return
	}
	if st := c.run.State(); c.update(st) {
		if !c.linkDue {
			c.linkDue = true
			c.later.Reset(linkEvery)
		}
		c.publishSoon(stageEvery)
	}
}

// update makes st the room's state if it is new, and reports whether it is.
func (c *core) update(st *session.State) bool {
	if st == nil || c.state != nil && st.Version <= c.state.Version {
		return false
	}
	if old := c.state; old != nil && st.Text != old.Text {
		c.keepText(old)
	}
	c.state, c.stale, c.notice = st, true, nil
	return true
}

// keepText saves the text on the stage, which is about to be replaced.
func (c *core) keepText(st *session.State) {
	t, ok := moves.TextOf(st)
	if !ok || len(c.texts) >= records.MaxTexts || slices.Contains(c.texts, t) {
		return
	}
	c.texts = append(c.texts, t)
	c.enqueue(nil, c.book.Entry(records.TypeText, records.TypeText, t))
}

// brokenNotice is shown to a class whose room was restarted.
var brokenNotice = terms.Refuse(terms.CodeModel, "class.notice.broken")

// stoppedNotice is shown to a class whose run has failed and could not be restored.
var stoppedNotice = terms.Refuse(terms.CodeModel, "class.notice.stopped")

// loseRun drops a run that has failed. The class continues to see its last state until there
// is a new run.
func (c *core) loseRun() {
	c.cfg.Log.Error("a room's run failed and was dropped")
	_ = c.commit() // logged; if it failed, the run is reopened at the last saved stage
	last := c.state
	c.replaceRun(nil)
	c.state, c.notice, c.lost = last, brokenNotice, true
	c.publish()
}
