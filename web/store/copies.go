package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"
)

// While the database is open, [DB.Copy] copies it within the folder from time to time. If the
// database is damaged, the newest intact copy replaces what cannot be read (salvage.go). Data
// that is deleted must not remain in a copy, so [DB.Scrub] deletes all copies, and the next copy
// lacks the data.

// CopyEvery is the least time between two copies. At most mostCopies are kept.
const (
	CopyEvery  = 15 * time.Minute
	mostCopies = 7
)

// copyPart is the name of a copy that is not complete, and copyFile matches the names of copies.
const (
	copyPart   = "viz-copy.part"
	copyLayout = "2006-01-02-150405"
)

var copyFile = regexp.MustCompile(`^(viz-copy-(\d{4}-\d\d-\d\d-\d{6})\.db)$`)

// copies keeps track of what the copies in the folder lack and of what must not be in them.
type copies struct {
	running sync.Mutex // held while a copy is made

	mu      sync.Mutex
	changed bool      // the database has changed since the newest copy was made
	own     bool      // no copies of earlier processes exist
	tried   time.Time // when the last copy was begun
	removed int       // how often the copies were deleted
	stop    context.CancelFunc
}

// noteChange notes that the database differs from its copies.
func (c *copies) noteChange() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changed = true
}

// Copy makes a copy of the database in its folder, if the database has changed since the last
// copy and that was begun at least [CopyEvery] ago. It then deletes the oldest copies: at most
// mostCopies are kept, and all but the newest must fit into the database's limit. The first copy
// after [Open] is always made and replaces all earlier ones, since a process that was killed may
// not have deleted them after deleting data.
func (db *DB) Copy(ctx context.Context, now time.Time) error {
	if db.dir == "" {
		return nil
	}
	c := &db.copies
	c.running.Lock()
	defer c.running.Unlock()
	c.mu.Lock()
	if c.own && !c.changed || now.Sub(c.tried) < CopyEvery {
		c.mu.Unlock()
		return nil
	}
	c.changed, c.tried = false, now
	removed := c.removed
	ctx, c.stop = context.WithCancel(ctx)
	c.mu.Unlock()
	defer c.stop()

	part := filepath.Join(db.dir, copyPart)
	err := makeCopy(ctx, db.path(), part)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.removed != removed { // what was deleted meanwhile may be in the copy
		return removeDatabase(part)
	}
	if err == nil {
		err = os.Rename(part, filepath.Join(db.dir, "viz-copy-"+now.Format(copyLayout)+".db"))
	}
	if err != nil {
		c.changed = true
		err = errors.Join(err, removeDatabase(part))
		if err = classify(err); !errors.Is(err, ErrFull) {
			return err
		}
		return errors.Join(err, db.pruneCopies(now, 1))
	}
	most := mostCopies
	if !c.own {
		most = 1
	}
	c.own = true
	return db.pruneCopies(now, most)
}

// makeCopy copies a database to a new private file, while others may be using it.
func makeCopy(ctx context.Context, path, to string) error {
	if err := errors.Join(removeDatabase(to), private(to)); err != nil {
		return err
	}
	conn, err := openToRead(path)
	if err != nil {
		return err
	}
	defer conn.Close()
	return vacuumInto(ctx, conn, to)
}

// copiesAt lists the copies in the folder, oldest first.
func (db *DB) copiesAt(now time.Time) ([]DamagedFile, error) {
	return db.dated(now, "viz-copy-*", copyFile, copyLayout)
}

// pruneCopies deletes the oldest copies.
func (db *DB) pruneCopies(now time.Time, most int) error {
	list, err := db.copiesAt(now)
	errs := []error{err}
	used, limit := db.Size(), db.Limit()
	for i, c := range slices.Backward(list) {
		path := filepath.Join(db.dir, c.File)
		if info, err := os.Stat(path); err == nil {
			used += info.Size()
		}
		newer := len(list) - 1 - i
		if newer > 0 && (newer >= most || limit > 0 && used > limit) {
			errs = append(errs, removeDatabase(path))
		}
	}
	return errors.Join(errs...)
}

// removeCopies deletes all copies, and the one that is being made.
func (db *DB) removeCopies() error {
	c := &db.copies
	c.mu.Lock()
	defer c.mu.Unlock()
	c.removed++
	c.changed, c.own, c.tried = true, true, time.Time{}
	if c.stop != nil {
		c.stop()
	}
	list, err := db.copiesAt(time.Now())
	errs := []error{err}
	for _, copy := range list {
		errs = append(errs, removeDatabase(filepath.Join(db.dir, copy.File)))
	}
	return errors.Join(errs...)
}

// newestCopy returns the newest intact copy, or false if there is none.
func (db *DB) newestCopy(now time.Time) (path string, made time.Time, found bool) {
	list, err := db.copiesAt(now)
	if err != nil {
		db.log.Warn("the copies of the database cannot be listed", "error", err)
	}
	for _, c := range slices.Backward(list) {
		path := filepath.Join(db.dir, c.File)
		err := checkBackup(path)
		if err == nil {
			return path, c.Since, true
		}
		db.log.Warn("a copy of the database cannot be used", "file", c.File, "error", err)
	}
	return "", time.Time{}, false
}
