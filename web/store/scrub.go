package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tokenbytoken/viz/infer/fault"
)

// SQLite overwrites deleted rows with zeros. But when it splits a page, it leaves copies of the
// moved rows in the unused part of the old page, and these copies remain. Rewriting the file
// (VACUUM) would remove them, but it blocks writers and takes about 30 ms per MiB. A scrub
// therefore reads the pages, a thousand at a time, in about 2 ms per MiB, and overwrites unused
// parts that are not zero. Others can write in between, since a row cannot be copied to another
// page once it has been deleted.
const (
	scanPages  = 1024 // pages in one read: 4 MiB
	cleanPages = 256  // pages in one write transaction
)

// ErrReading is returned by [DB.Scrub] if another program keeps reading the database, as viz backup
// and viz check do. The deleted data then remains on the disk.
var ErrReading = errors.New("another program is reading the database")

// The times for which Scrub waits until readers of deleted data have finished.
const (
	scrubWait     = 25 * time.Millisecond // nobody can write during this time; queries in this process are shorter
	scrubPause    = 100 * time.Millisecond
	scrubPatience = 2 * time.Second // total time, with pauses, before Scrub fails
	scrubAgain    = 5 * time.Second // time before a retry after a failure
)

// scrub keeps track of the passes over the file.
type scrub struct {
	running sync.Mutex // held during a pass, and while a copy is made

	mu       sync.Mutex
	asked    int // number of calls to Scrub
	cleaned  int // the last call for which unused parts of pages were overwritten
	covered  int // the last call whose pass has succeeded
	retrying context.CancelFunc
	ended    bool // Close has begun, so nothing is retried
	retries  sync.WaitGroup
}

// Scrub erases all deleted data from the disk, whatever the size of the file: it deletes all
// copies, overwrites the unused parts of pages, moves the write-ahead log into the file and empties
// the log. Others can write at the same time. If another program keeps reading the database, Scrub
// fails with [ErrReading]. After an error, the scrub is retried in the background, by [DB.Close],
// and by [DB.Expire] after the next start.
func (db *DB) Scrub(ctx context.Context) error {
	if db.dir == "" {
		return nil
	}
	return errors.Join(db.removeCopies(), db.scrubFile(ctx))
}

// scrubFile does what [DB.Scrub] does, except that it does not delete the copies.
func (db *DB) scrubFile(ctx context.Context) error {
	s := &db.scrub
	s.mu.Lock()
	s.asked++
	ticket := s.asked
	s.mu.Unlock()
	for until := time.Now().Add(scrubPatience); ; {
		err := db.scrubOnce(ctx, ticket)
		if err != nil && (!errors.Is(err, ErrReading) || time.Now().After(until)) {
			db.scrubLater()
		} else if err != nil {
			select {
			case <-time.After(scrubPause):
				continue
			case <-ctx.Done():
				db.scrubLater()
			}
		}
		return err
	}
}

// scrubOnce makes one pass, unless another caller's pass has succeeded that began after the call to
// Scrub with the given ticket.
func (db *DB) scrubOnce(ctx context.Context, ticket int) error {
	s := &db.scrub
	s.running.Lock()
	defer s.running.Unlock()
	s.mu.Lock()
	all, cleaned, covered := s.asked, s.cleaned, s.covered
	s.mu.Unlock()
	if covered >= ticket {
		return nil
	}
	return db.writing(func() error {
		if cleaned < ticket {
			if err := db.clean(ctx); err != nil {
				return err
			}
			cleaned = all
			s.mu.Lock()
			s.cleaned = cleaned
			s.mu.Unlock()
		}
		if err := db.emptyLog(ctx); err != nil {
			return err
		}
		s.mu.Lock()
		s.covered = cleaned
		s.mu.Unlock()
		return nil
	})
}

// owed reports whether a call to Scrub is still outstanding. It also returns the number of the last
// call.
func (s *scrub) owed() (last int, owed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked, s.covered < s.asked
}

// scrubLater retries in the background until no call is outstanding.
func (db *DB) scrubLater() {
	s := &db.scrub
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || s.retrying != nil {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	s.retrying = stop
	s.retries.Go(func() {
		defer func() {
			stop()
			s.mu.Lock()
			s.retrying = nil
			s.mu.Unlock()
		}()
		_ = fault.Do(db.log, "erasing deleted data", func() error {
			for {
				select {
				case <-ctx.Done():
					return nil
				case <-time.After(scrubAgain):
				}
				last, owed := s.owed()
				if !owed || errors.Is(db.scrubOnce(ctx, last), ErrGone) {
					return nil
				}
			}
		})
	})
}

// lastScrub completes an outstanding Scrub when the database is closed.
func (db *DB) lastScrub(ctx context.Context) error {
	if db.dir == "" {
		return nil
	}
	s := &db.scrub
	s.mu.Lock()
	s.ended = true
	if s.retrying != nil {
		s.retrying()
	}
	s.mu.Unlock()
	s.retries.Wait()
	if db.copies.isOwed() {
		if err := db.removeCopies(); err != nil {
			db.log.Warn("failed to delete a copy of the database", "error", err)
		}
	}
	if _, owed := s.owed(); owed {
		return db.scrubFile(ctx)
	}
	return db.writing(func() error { return truncateLog(ctx, db.write) })
}

// emptyLog empties the write-ahead log. It returns [ErrReading] if another program keeps
// reading the log.
func (db *DB) emptyLog(ctx context.Context) (err error) {
	writer, err := db.write.Conn(ctx)
	if err != nil {
		return err
	}
	defer writer.Close()
	wait := func(ctx context.Context, d time.Duration) error { // PRAGMA does not accept parameters
		_, err := writer.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", d.Milliseconds()))
		return err
	}
	if err := wait(ctx, scrubWait); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, wait(context.WithoutCancel(ctx), busyTimeout)) }()
	return truncateLog(ctx, writer)
}

// clean overwrites the unused parts of all pages of the database.
func (db *DB) clean(ctx context.Context) error {
	pages, err := openPages(db.path())
	if err != nil {
		return err
	}
	defer pages.Close()
	err = cleanFile(ctx, db.read, func(some []int) error {
		writer, err := db.write.Conn(ctx) // makes other writers wait within this process
		if err != nil {
			return err
		}
		defer writer.Close()
		return cleanSome(ctx, pages, some)
	})
	if err != nil {
		return fmt.Errorf("overwriting unused parts of the database: %w", err)
	}
	return nil
}

// openPages opens a database with a connection that can write whole pages. SQLite does not allow
// that if _defensive is set.
func openPages(path string) (*sql.DB, error) {
	settings := pragmas(true)
	settings.Set("mode", "rw") // do not create a file
	settings.Del("_defensive")
	conn, err := sql.Open("sqlite", dsn(path, settings))
	if err != nil {
		return nil, err
	}
	conn.SetMaxOpenConns(1)
	return conn, nil
}

// cleanFile overwrites the unused parts of all pages of a database. It reads pages over the
// connection read, and calls write with the numbers of a few pages at a time.
func cleanFile(ctx context.Context, read *sql.DB, write func([]int) error) error {
	for from := 1; ; from += scanPages {
		dirty, more, err := dirtyPages(ctx, read, from)
		if err != nil {
			return err
		}
		for len(dirty) > 0 {
			n := min(len(dirty), cleanPages)
			if err := write(dirty[:n]); err != nil {
				return err
			}
			dirty = dirty[n:]
		}
		if !more {
			return nil
		}
	}
}

// dirtyPages reads a range of pages starting at from, and returns the numbers of those whose unused
// parts are not zero. more is false if no pages are left.
func dirtyPages(ctx context.Context, conn *sql.DB, from int) (dirty []int, more bool, err error) {
	err = inside(ctx, conn, func(tx *sql.Tx) error {
		// sqlite_dbpage is fast only for single pages. For a range, it would read the whole file.
		rows, err := tx.QueryContext(ctx, `WITH RECURSIVE n(i) AS (VALUES (?) UNION ALL SELECT i + 1 FROM n WHERE i < ?)
			SELECT pgno, data FROM n CROSS JOIN sqlite_dbpage ON pgno = i`, from, from+scanPages-1)
		if err != nil {
			return err
		}
		defer rows.Close()
		var page []byte
		for rows.Next() {
			var number int
			var raw sql.RawBytes
			if err := rows.Scan(&number, &raw); err != nil {
				return err
			}
			more = true
			page = append(page[:0], raw...)
			if zeroUnused(page, number) {
				dirty = append(dirty, number)
			}
		}
		return rows.Err()
	})
	return dirty, more, err
}

// cleanSome overwrites the unused parts of some pages in one transaction.
func cleanSome(ctx context.Context, conn *sql.DB, pages []int) error {
	return inside(ctx, conn, func(tx *sql.Tx) error {
		for _, number := range pages {
			var page []byte
			err := tx.QueryRowContext(ctx, "SELECT data FROM sqlite_dbpage WHERE pgno = ?", number).Scan(&page)
			if err != nil {
				return err
			}
			if !zeroUnused(page, number) {
				continue // another transaction has overwritten these parts
			}
			_, err = tx.ExecContext(ctx, "UPDATE sqlite_dbpage SET data = ? WHERE pgno = ?", page, number)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// truncateLog moves the write-ahead log of a database into the database and empties the log.
func truncateLog(ctx context.Context, conn interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
},
) error {
	var busy, pages, moved int
	err := conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved)
	if err == nil && busy != 0 {
		err = ErrReading
	}
	return err
}
