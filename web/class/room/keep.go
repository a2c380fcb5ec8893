package room

import (
	"context"
	"errors"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/class/polls"
	"github.com/tokenbytoken/viz/web/class/records"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/store"
)

// logbook tracks the state of a room's log.
type logbook struct {
	epoch    uint64       // number of the newest epoch in the log; see [records.EpochType]
	book     records.Book // which records are current
	place    int64        // sequence number of the newest record
	since    int          // records since the last snapshot
	keptUsed time.Time    // the last saved value of used
	keptSeq  uint64       // the last saved value of seq
	owed     bool         // some data must still be erased from the disk
	untidy   time.Time    // the log is not compacted before this time

	pending []pending
	saving  []pending   // changes in the commit in progress
	due     *time.Timer // fires when pending votes must be saved
}

// pending holds changes that are waiting for a commit. done is called once they have been saved or
// saving them has failed.
type pending struct {
	changes []records.Entry
	done    func(error)
}

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
	if errors.Is(err, ErrMoved) && c.room != nil {
		c.room.Abandon()
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
			c.cfg.Log.Error("a class could not be encoded", "record", x.Type)
			return class.ErrKept
		}
	}
	seqs, err := c.append(journal.Batch{Owner: c.owner(), At: c.used, Records: list})
	if errors.Is(err, ErrMoved) {
		return err
	} else if err != nil {
		c.cfg.Log.Error("a class could not be saved", "error", err)
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

func (c *core) owner() journal.Owner { return journal.Owner{Kind: journal.Room, Name: c.code} }

// The numbers of records after which a room's log is compacted or a snapshot is stored.
const (
	mostWaste     = 512  // superseded records before the log is compacted
	snapshotEvery = 1024 // records between snapshots
	snapshotAtEnd = 64   // records before a snapshot when the server stops
)

// tidy compacts the log or stores a snapshot when that is due. It is called between requests
// and does nothing while changes are pending.
func (c *core) tidy(most int) {
	if len(c.pending) > 0 || c.deleted || c.left() || time.Now().Before(c.untidy) {
		return
	}
	var err error
	switch {
	case c.owed:
		err = c.compactAndScrub()
	case len(c.book.Waste) >= mostWaste:
		err = c.compact()
	case c.since >= most:
		err = c.snapshot()
	}
	if err != nil {
		c.cfg.Log.Warn("a class's log could not be compacted and will be retried", "error", err)
		c.untidy = time.Now().Add(retryTidy)
	}
}

// retryTidy is how long to wait after tidy failed.
const retryTidy = 10 * time.Second

// compact deletes superseded records.
func (c *core) compact() error {
	if err := c.cfg.Logs.Compact(context.Background(), c.owner(), c.book.Waste); err != nil {
		return err
	}
	c.book.Waste = nil
	return c.snapshot()
}

// compactAndScrub also removes the deleted records from the disk.
func (c *core) compactAndScrub() error {
	c.owed = true
	if err := c.compact(); err != nil {
		return err
	}
	err := c.cfg.Logs.Scrub(context.Background(), c.owner())
	c.owed = err != nil && !errors.Is(err, store.ErrReading) // the database itself retries after ErrReading
	return err
}

func (c *core) snapshot() error {
	f := journal.Folded[records.State]{State: c.roomState(), Seq: c.place}
	if err := f.Keep(context.Background(), c.cfg.Logs, c.owner(), records.Folding); err != nil {
		return err
	}
	c.since = 0
	return nil
}

// erase removes from the disk the superseded records that identify people. A failed attempt is
// retried later.
func (c *core) erase() error {
	if !c.book.OwesErasure() && !c.owed {
		return nil
	}
	if err := c.compactAndScrub(); err != nil {
		c.cfg.Log.Error("a name could not be erased", "error", err)
		return records.NotKept(err)
	}
	return nil
}

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
		c.cfg.Log.Error("a room could not be deleted", "error", err)
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

// left reports whether this server no longer owns the room.
func (c *core) left() bool { return c.room != nil && c.room.lost.Load() }
