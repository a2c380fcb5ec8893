package room

import (
	"errors"
	"time"

	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/records"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/session"
)

// memberEntry makes a record of a member, without their nickname; see nameEntry.
func (c *core) memberEntry(m member) records.Entry {
	return c.book.Entry(records.TypeMember, records.Subject(records.TypeMember, m.ID),
		records.MemberRecord{Member: m.ID, Learner: m.Learner, Nameless: m.Nameless, Removed: m.Removed, Work: m.Work})
}

func (c *core) nameEntry(m member) records.Entry {
	return c.book.Entry(
		records.TypeName, records.Subject(records.TypeName, m.ID), records.NameRecord{Member: m.ID, Name: m.Name},
	)
}

// gather is how long a vote waits so that other votes can be saved in the same commit.
const gather = 20 * time.Millisecond

// together is the maximum number of changes that can wait for a commit.
const together = 512

// enqueue saves changes within [gather], together with others that arrive in the meantime. If done
// is nil, no caller is waiting, and saving is retried until it succeeds.
func (c *core) enqueue(done func(error), changes ...records.Entry) {
	c.pending = append(c.pending, pending{changes, done})
	switch len(c.pending) {
	case 1:
		c.due.Reset(gather)
	case together:
		c.flush()
	}
}

// retry is how long to wait before a failed commit is retried.
const retry = time.Second

// whenSaved calls done once the currently pending changes have been saved or saving them has
// failed.
func (c *core) whenSaved(done func(error)) {
	if len(c.pending) == 0 {
		done(nil)
		return
	}
	c.enqueue(done)
}

// flush commits the pending changes.
func (c *core) flush() {
	if len(c.pending) > 0 {
		_ = c.commit() // waiting callers get the error
	}
}

// seqEvery is how far the newest view's sequence number can get ahead of the saved one.
const seqEvery = 1 << 16

// commit saves the pending changes, the given changes and, if it has changed, the stage in
// one batch. If it fails, it returns [class.ErrKept] and nothing is saved.
func (c *core) commit(changes ...records.Entry) error {
	c.due.Stop()
	waiting, link, seq := c.pending, c.link, c.keptSeq
	c.pending, c.saving = nil, waiting // if the code below panics, their callers must not wait forever
	var all []records.Entry
	for _, p := range waiting {
		all = append(all, p.changes...)
	}
	all = append(all, changes...)
	if c.stale {
		link = session.LinkOf(c.state)
	}
	if link != c.link {
		all = append(all, c.book.Entry(records.TypeStage, records.TypeStage, records.Stage{Link: link}))
	}
	if c.seq >= c.keptSeq+seqEvery {
		seq = c.seq
		all = append(all, c.book.Entry(records.TypeSeq, records.TypeSeq, records.Seq{Seq: seq}))
	}
	err := c.keep(all)
	if err == nil {
		c.link, c.stale, c.keptSeq = link, false, seq
	}
	c.saving = nil
	for _, p := range waiting {
		if p.done != nil {
			p.done(err)
		} else if err != nil {
			c.pending = append(c.pending, p)
			c.due.Reset(retry)
		}
	}
	return err
}

// append appends to the room's log. If the room has moved to another server, it stops the room here.
func (c *core) append(b journal.Batch) ([]int64, error) {
	if c.left() {
		return nil, ErrMoved
	}
	seqs, err := c.host.Append(b, c.epoch)
	if err == nil && c.left() {
		err = ErrMoved
	}
	if errors.Is(err, ErrMoved) && c.signals.abandon != nil {
		c.signals.abandon()
	}
	return seqs, err
}

// saveSeq saves the number of the newest view.
func (c *core) saveSeq() error {
	return c.keep([]records.Entry{c.book.Entry(records.TypeSeq, records.TypeSeq, records.Seq{Seq: c.seq})})
}

// keep appends changes to the room's log, counts the votes among them, and records
// when the room was last used.
func (c *core) keep(all []records.Entry) error {
	if len(all) == 0 && !c.used.After(c.keptUsed) {
		return nil
	}
	list := make([]journal.Record, len(all))
	for i, x := range all {
		if list[i] = x.Record; x.Data == nil {
			c.cfg.Log.Error("failed to encode a class", "record", x.Type)
			return class.ErrKept
		}
	}
	seqs, err := c.append(journal.Batch{Owner: c.owner(), At: c.used, Records: list})
	if errors.Is(err, ErrMoved) {
		return err
	} else if err != nil {
		c.cfg.Log.Error("failed to save a class", "error", err)
		return records.NotKept(err)
	}
	c.keptUsed = c.used
	for i, x := range all {
		if seqs[i] == 0 {
			continue // already in the log
		}
		if x.Vote != nil {
			c.book.Vote(c.votes, x.Key(), *x.Vote)
		} else {
			c.book.Note(x.About, x.Key())
		}
		c.place = seqs[i]
		c.since++
	}
	return nil
}

// create saves a new room whose log begins with the given records.
func (c *core) create(first ...records.Entry) error {
	begun, data := c.book.Entry(records.TypeBegun, records.TypeBegun, records.Begun{At: c.begun}),
		c.book.Entry(records.TypeData, records.TypeData, c.data)
	return c.keep(append(first, begun, data))
}
