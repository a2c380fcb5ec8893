package room

import (
	"context"
	"errors"
	"time"

	"github.com/tokenbytoken/viz/web/class/records"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/store"
)

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
		c.cfg.Log.Warn("failed to compact a class's log; will retry", "error", err)
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
		c.cfg.Log.Error("failed to erase a name", "error", err)
		return records.NotKept(err)
	}
	return nil
}
