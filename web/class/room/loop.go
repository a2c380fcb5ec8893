package room

import "context"

// loop handles the room's requests and timers until ctx ends. It owns c during that time. A value in
// woken means that the run has a new state; restoreRun reopens the run after a fault.
func (c *core) loop(ctx context.Context, requests <-chan func(*core), woken <-chan struct{}, restoreRun func()) {
	defer c.replaceRun(nil)
	c.setAlarm()
	for {
		select {
		case <-ctx.Done():
			c.flush()
			c.tidy(snapshotAtEnd)
			return
		case f := <-requests:
			if f(c); c.deleted {
				return
			}
		case <-woken:
			c.refresh()
		case <-c.runEnded():
			if ctx.Err() != nil {
				continue // the room is ending, and the run with it
			}
			c.loseRun()
			restoreRun()
		case <-c.due.C:
			c.flush()
		case <-c.later.C:
			c.linkDue = false
			_ = c.commit() // logged; the next commit saves it
		case <-c.alarm.C:
			c.timeUp()
		case <-c.news.C:
			c.publish()
		}
		c.tidy(snapshotEvery)
	}
}
