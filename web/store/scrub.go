package store

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
)

// SQLite overwrites deleted rows with zeros, but when it splits a page it leaves
// copies of the rows that moved in the unused part of the old one, and those
// outlive the rows. Rewriting the file (VACUUM) would remove them, but nobody can
// write meanwhile, and that takes some 30 ms a MiB. So the pages are read, a
// thousand at a time and some 2 ms a MiB, and where an unused part is not zero it
// is overwritten. Others write in between. That is sound, because from the moment
// that a row is deleted no other page can get a copy of it.
const (
	scanPages  = 1024 // in one read: 4 MiB
	cleanPages = 256  // in one transaction that writes
)

// scrub counts the passes over the file.
type scrub struct {
	running sync.Mutex // held during a pass

	mu      sync.Mutex
	asked   int // calls of Scrub
	covered int // the last call whose pass has succeeded
}

// Scrub makes sure that nothing deleted is left on the disk, whatever the size of
// the file: it overwrites the unused parts of pages, moves the write-ahead log into
// the file and empties the log. It fails if somebody else keeps reading the
// database; the next Scrub, or Close, makes up for it.
func (db *DB) Scrub(ctx context.Context) error {
	if db.dir == "" {
		return nil
	}
	s := &db.scrub
	s.mu.Lock()
	s.asked++
	ticket := s.asked
	s.mu.Unlock()
	s.running.Lock()
	defer s.running.Unlock()
	s.mu.Lock()
	all, done := s.asked, s.covered >= ticket
	s.mu.Unlock()
	if done { // by a pass that began after this call, for somebody else
		return nil
	}
	err := db.writing(func() error { return db.clean(ctx) })
	if err == nil {
		s.mu.Lock()
		s.covered = all
		s.mu.Unlock()
	}
	return err
}

// lastScrub makes up for a Scrub that failed, when the database is closed.
func (db *DB) lastScrub(ctx context.Context) error {
	if db.dir == "" {
		return nil
	}
	db.scrub.mu.Lock()
	owed := db.scrub.covered < db.scrub.asked
	db.scrub.mu.Unlock()
	if owed {
		return db.Scrub(ctx)
	}
	return db.writing(func() error { return truncateLog(ctx, db.write) })
}

// clean is one pass over the database.
func (db *DB) clean(ctx context.Context) error {
	pages, err := openPages(db.path())
	if err != nil {
		return err
	}
	defer pages.Close()
	err = cleanFile(ctx, db.read, func(some []int) error {
		writer, err := db.write.Conn(ctx) // others that write wait in this process
		if err != nil {
			return err
		}
		defer writer.Close()
		return cleanSome(ctx, pages, some)
	})
	if err != nil {
		return fmt.Errorf("unused parts of the database cannot be overwritten: %w", err)
	}
	return truncateLog(ctx, db.write)
}

// openPages opens a database with a connection that may write whole pages, which
// SQLite does not allow where _defensive is set.
func openPages(path string) (*sql.DB, error) {
	settings := pragmas(true)
	settings.Set("mode", "rw") // none is made
	settings.Del("_defensive")
	conn, err := sql.Open("sqlite", dsn(path, settings))
	if err != nil {
		return nil, err
	}
	conn.SetMaxOpenConns(1)
	return conn, nil
}

// cleanFile overwrites the unused parts of all pages of a database. It reads with a
// connection, and has write called with a few pages at a time.
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

// dirtyPages returns those of the next pages whose unused parts are not zero, and
// whether there are pages at all.
func dirtyPages(ctx context.Context, conn *sql.DB, from int) (dirty []int, more bool, err error) {
	err = inside(ctx, conn, func(tx *sql.Tx) error {
		// sqlite_dbpage finds single pages only; for a range it would read the whole file.
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
				continue // somebody else has written there
			}
			_, err = tx.ExecContext(ctx, "UPDATE sqlite_dbpage SET data = ? WHERE pgno = ?", page, number)
			if err != nil {
				return err
			}
		}
		return nil
	})
}
