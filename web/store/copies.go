package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"
)

// While the database is open, [DB.Copy] copies it within the folder from time to time. If the
// database is damaged, the newest intact copy replaces the unreadable data (salvage.go). Since
// deleted data must not remain in a copy, [DB.Scrub] deletes all copies, and the next copy does not
// contain the data.

// CopyEvery is the minimum time between two copies. If the last copy was deleted, copySoon applies
// instead. At most mostCopies copies are kept.
const (
	CopyEvery  = 15 * time.Minute
	copySoon   = time.Minute
	mostCopies = 7
)

// copyPart is the name of an incomplete copy, and copyFile matches the names of complete ones. A
// complete copy's name contains a number, which increases with each copy, and the time. The time is
// only for people to read, since the clock may be wrong.
const (
	copyPart   = "viz-copy.part"
	copyLayout = "2006-01-02-150405"
)

var copyFile = regexp.MustCompile(`^viz-copy-(\d{6,9})-(\d{4}-\d\d-\d\d-\d{6})\.db$`)

// copies tracks whether the copies in the folder are outdated or might contain deleted data.
type copies struct {
	mu      sync.Mutex
	changed bool      // the database has changed since the newest copy was started
	own     bool      // there are no copies from earlier processes, or they must be kept
	none    bool      // there are no copies
	owed    bool      // the copies must still be deleted
	tried   time.Time // when the last copy was started
	removed int       // how often the copies were deleted
	stop    context.CancelFunc
}

// noteChange records that the database differs from its copies.
func (c *copies) noteChange() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changed = true
}

// begin reports whether a copy is due. It returns a context in which to make the copy, and the
// current value of removed.
func (c *copies) begin(ctx context.Context, now time.Time) (_ context.Context, removed int, due bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	every := CopyEvery
	if c.none {
		every = copySoon
	}
	ago := now.Sub(c.tried)
	if c.own && !c.changed || ago >= 0 && ago < every { // if the clock was set back, ago is negative
		return nil, 0, false
	}
	c.changed, c.tried = false, now
	ctx, c.stop = context.WithCancel(ctx)
	return ctx, c.removed, true
}

// Copy copies the database within its folder if the database has changed since the last copy and
// that copy was started at least [CopyEvery] ago. It then deletes the oldest copies: at most
// mostCopies are kept, and all of them except the newest must fit into the database's limit. The
// first copy after [Open] is always made and replaces all earlier ones, since a process that was
// killed may not have deleted them after deleting data. If Open used a copy, however, the earlier
// copies are kept.
func (db *DB) Copy(ctx context.Context, now time.Time) error {
	if db.dir == "" {
		return nil
	}
	c := &db.copies
	if c.isOwed() {
		return db.removeCopies()
	}
	db.scrub.running.Lock() // a Scrub waits until no copy is being made
	defer db.scrub.running.Unlock()
	if _, owed := db.scrub.owed(); owed {
		return nil
	}
	ctx, removed, due := c.begin(ctx, now)
	if !due {
		return nil
	}
	part := filepath.Join(db.dir, copyPart)
	err := makeCopy(ctx, db.path(), part)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stop()
	if c.removed != removed { // the copy may contain data that was deleted in the meantime
		return removeDatabase(part)
	}
	if err == nil {
		err = db.publishCopy(part, now)
	}
	if err != nil {
		c.changed = true
		err = errors.Join(classify(err), removeDatabase(part))
		if errors.Is(err, ErrFull) {
			err = errors.Join(err, db.pruneCopies(1))
		}
		return err
	}
	most := mostCopies
	if !c.own {
		most = 1
	}
	c.own, c.none = true, false
	return db.pruneCopies(most)
}

// makeCopy copies a database, which others may be using, to a new private file.
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

// publishCopy gives a complete copy its name.
func (db *DB) publishCopy(part string, now time.Time) error {
	list, err := db.allCopies()
	if err != nil {
		return err
	}
	next := 1
	if len(list) > 0 {
		next = list[len(list)-1].number + 1
	}
	return db.rename(part, filepath.Join(db.dir, fmt.Sprintf("viz-copy-%06d-%s.db", next, now.Format(copyLayout))))
}

// databaseCopy is a copy of the database in its folder.
type databaseCopy struct {
	path   string
	number int
	made   time.Time // according to the clock
}

// allCopies lists the copies in the folder, oldest first.
func (db *DB) allCopies() (list []databaseCopy, err error) {
	paths, err := db.files("viz-copy-*")
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		parts := copyFile.FindStringSubmatch(filepath.Base(path))
		if parts == nil {
			continue // another program's file
		}
		number, errNumber := strconv.Atoi(parts[1])
		made, errMade := time.ParseInLocation(copyLayout, parts[2], time.Local)
		if errNumber == nil && errMade == nil {
			list = append(list, databaseCopy{path, number, made})
		}
	}
	slices.SortFunc(list, func(a, b databaseCopy) int { return cmp.Compare(a.number, b.number) })
	return list, nil
}

// pruneCopies deletes the oldest copies.
func (db *DB) pruneCopies(most int) error {
	list, err := db.allCopies()
	errs := []error{err}
	used, limit := db.Size(), db.Limit()
	for i, c := range slices.Backward(list) {
		if info, err := os.Stat(c.path); err == nil {
			used += info.Size()
		}
		newer := len(list) - 1 - i
		if newer > 0 && (newer >= most || limit > 0 && used > limit) {
			errs = append(errs, removeDatabase(c.path))
		}
	}
	return errors.Join(errs...)
}

// isOwed reports whether copies must still be deleted.
func (c *copies) isOwed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.owed
}

// removeCopies deletes all copies, including those from before a conversion, and stops making the
// current one. If a file cannot be deleted, [DB.Copy] and [DB.Close] try again.
func (db *DB) removeCopies() error {
	c := &db.copies
	c.mu.Lock()
	defer c.mu.Unlock()
	c.removed++
	c.changed, c.none = true, true
	if c.stop != nil {
		c.stop()
	}
	list, err := db.allCopies()
	errs := []error{err}
	for _, copy := range list {
		errs = append(errs, removeDatabase(copy.path))
	}
	converted, err := db.dated(time.Now(), "viz-version*", copyFileName, "2006-01-02")
	errs = append(errs, err)
	for _, copy := range converted {
		errs = append(errs, removeDatabase(filepath.Join(db.dir, copy.File)))
	}
	err = errors.Join(errs...)
	c.owed = err != nil
	c.own = c.own || err == nil
	return err
}

// newestCopy returns the newest intact copy, or false if there is none.
func (db *DB) newestCopy() (found databaseCopy, ok bool) {
	list, err := db.allCopies()
	if err != nil {
		db.log.Warn("failed to list the copies of the database", "error", err)
	}
	for _, c := range slices.Backward(list) {
		err := checkBackup(context.Background(), c.path)
		if err == nil {
			return c, true
		}
		db.log.Warn("a copy of the database is unusable", "file", filepath.Base(c.path), "error", err)
	}
	return databaseCopy{}, false
}
