package room

import (
	"context"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/polls"
	"github.com/tokenbytoken/viz/web/class/records"
	"github.com/tokenbytoken/viz/web/store"
)

// change saves new data and, unless p is nil, a poll, and then updates the room. Pending
// changes are saved first.
func (c *core) change(next records.Data, p *polls.Poll) error {
	var all []records.Entry
	if next != c.data {
		all = append(all, c.book.Entry(records.TypeData, records.TypeData, next))
	}
	if p != nil {
		all = append(all, c.book.Entry(records.TypePoll, records.Subject(records.TypePoll, p.ID), *p))
	}
	c.used = c.cfg.Now()
	if err := c.commit(all...); err != nil {
		return err
	}
	c.data = next
	if p != nil {
		if p.ID > len(c.polls) {
			c.polls = append(c.polls, p)
		} else {
			c.polls[p.ID-1] = p
		}
	}
	c.setAlarm()
	c.publish()
	return nil
}

// deleteAll deletes the room from the disk and notifies all followers.
func (c *core) deleteAll() error {
	c.flush() // replies to pending votes
	if err := c.host.MayDelete(c.saveSeq); err != nil {
		return err
	}
	err := c.cfg.Logs.Drop(context.Background(), c.owner())
	if err == nil {
		err = c.cfg.Secrets.DropSecret(context.Background(), c.code)
	}
	if err != nil {
		c.cfg.Log.Error("failed to delete a room", "error", err)
		if why := store.Why(err); why != "" {
			return terms.Refuse(class.CodeKept, "class.refused.not_deleted.why", "why", why)
		}
		return terms.Refuse(class.CodeKept, "class.refused.not_deleted")
	}
	c.seq++
	c.store(&class.View{Seq: c.seq, At: c.cfg.Now(), Code: c.code, Gone: true, Ended: true})
	c.cfg.Broker.Publish(c.code, class.Note{Seq: c.seq})
	c.deleted, c.pending, c.stale = true, nil, false
	return nil
}

// setAlarm sets the timer that fires at the poll's end.
func (c *core) setAlarm() {
	c.alarm.Stop()
	if p := c.onStage(); p != nil && p.Live() && !p.Ends.IsZero() {
		c.alarm.Reset(max(time.Millisecond, p.Ends.Sub(c.cfg.Now())))
	}
}

// settle saves the stage if it has changed, and shows it.
func (c *core) settle() error {
	if c.stale {
		c.used = c.cfg.Now()
		if err := c.commit(); err != nil {
			return err
		}
	}
	c.publish()
	return nil
}
