package room

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/tokenbytoken/viz/web/class/polls"
	"github.com/tokenbytoken/viz/web/class/records"
)

// core is the state of a room. Only the room's goroutine uses it.
type core struct {
	cfg     *Config
	room    *Local
	host    Host
	code    string
	secret  [sha256.Size]byte
	begun   time.Time
	used    time.Time // when someone last did something
	deleted bool
	data    records.Data

	people
	questions
	scene
	logbook
	display
}

// newSeed returns a random number below 2^53, so that every JSON reader can represent it exactly.
func newSeed() uint64 {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return binary.LittleEndian.Uint64(b[:]) >> 11
}

// empty initializes the maps and timers of a core.
func (c *core) empty() {
	c.byLearner, c.votes, c.presenterPages = map[string]*member{}, polls.Votes{}, map[string]int{}
	c.servers = map[string]*serverPages{}
	c.book.Newest = map[string]string{}
	for _, t := range []**time.Timer{&c.due, &c.later, &c.alarm, &c.news} {
		*t = time.NewTimer(time.Hour)
		(*t).Stop()
	}
}

// loop handles the room's requests and timers until ctx ends. It owns c during that time.
func (c *core) loop(ctx context.Context) {
	defer c.replaceRun(nil)
	c.setAlarm()
	for {
		select {
		case <-ctx.Done():
			c.flush()
			c.tidy(snapshotAtEnd)
			return
		case f := <-c.room.requests:
			if f(c); c.deleted {
				return
			}
		case <-c.room.woken:
			c.refresh()
		case <-c.runEnded():
			if ctx.Err() != nil {
				continue // the room is ending, and the run with it
			}
			c.loseRun()
			c.room.restoreRun()
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

// ended reports whether the code has stopped working.
func (c *core) ended() bool {
	return c.data.Ended || c.cfg.Now().Sub(c.used) > c.cfg.Limits.CodeLife
}
