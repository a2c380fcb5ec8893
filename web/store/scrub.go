package store

import (
	"context"
	"fmt"
	"time"
)

// SQLite overwrites deleted rows with zeros, but when it splits a page it leaves
// copies of the rows that moved in the unused part of the old one, and those
// outlive the rows. Only rewriting the file (VACUUM) removes them. That takes
// some 30 ms a MiB, in which nobody can write, so it has bounds: a small file is
// rewritten by Scrub itself, though it may take up only a small part of the
// time; otherwise it is rewritten when the database is closed.
const (
	scrubPages = 1 << 10 // 4 MiB
	closePages = 1 << 14 // 64 MiB
	scrubShare = 20      // Scrub pauses that many times as long as it rewrote
)

// Scrub makes sure that nothing deleted is left on the disk: it rewrites the
// file, moves the write-ahead log into it and empties the log. It fails if
// somebody else keeps reading the database; the next Scrub or Close makes up for
// it. In a file over 4 MiB, or soon after another Scrub, fragments of rows that
// were moved long ago may stay in unused parts of pages until Close.
func (db *DB) Scrub(ctx context.Context) error {
	if db.dir == "" {
		return nil
	}
	db.scrub.Lock()
	defer db.scrub.Unlock()
	began := time.Now()
	db.scrub.owed = true
	if began.After(db.scrub.after) {
		if err := db.rewrite(ctx, scrubPages); err != nil {
			return err
		}
		now := time.Now()
		db.scrub.after = now.Add(scrubShare * now.Sub(began))
	}
	return db.emptyLog(ctx)
}

// lastScrub is the Scrub of Close.
func (db *DB) lastScrub(ctx context.Context) error {
	if db.dir == "" {
		return nil
	}
	db.scrub.Lock()
	defer db.scrub.Unlock()
	if db.scrub.owed {
		if err := db.rewrite(ctx, closePages); err != nil {
			db.log.Warn("the database could not be rewritten", "error", err)
		}
	}
	return db.emptyLog(ctx)
}

// rewrite rewrites the file if it is no longer than that.
func (db *DB) rewrite(ctx context.Context, most int) error {
	var pages int
	if err := db.write.QueryRowContext(ctx, "PRAGMA page_count").Scan(&pages); err != nil {
		return err
	}
	if pages > most {
		return nil
	}
	if _, err := db.write.ExecContext(ctx, "VACUUM"); err != nil {
		return fmt.Errorf("the database cannot be rewritten: %w", err)
	}
	db.scrub.owed = false
	return nil
}

func (db *DB) emptyLog(ctx context.Context) error {
	if err := truncateLog(ctx, db.write); err != nil {
		return fmt.Errorf("the write-ahead log cannot be emptied yet: %w", err)
	}
	return nil
}
