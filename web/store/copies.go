package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// A database in an earlier format is migrated when it is opened: its tables become logs.
// First, the file is copied to a name with its version and the date, for people who want to
// return to the earlier version of the program. Since the copy contains people's data too,
// data that is deleted from the database is also deleted from the copy, and an empty copy is
// removed.

// copies matches the names of all copies. The stars stand for the version and the day.
// Unfinished copies have temporary names, which match halfCopies.
const (
	copies     = "viz-version*-*.db"
	halfCopies = "viz-version*-*.db.part-*"
)

// copyOld copies a database in an earlier format to a dated name next to it, before it is
// changed. If it is interrupted, no copy is left.
//
// No other connection may be open: closing a file releases all locks that this process has on it,
// including SQLite's.
func (db *DB) copyOld(path string, now time.Time) error {
	conn, err := sql.Open("sqlite", dsn(path, pragmas(true)))
	if err != nil {
		return err
	}
	version, err := versionOf(conn)
	old := err == nil && version > 0 && version < withLogs
	if old { // the copy must include the write-ahead log
		err = truncateLog(context.Background(), conn)
	}
	if err = errors.Join(err, conn.Close()); err != nil || !old {
		return err
	}
	stem := filepath.Join(db.dir, fmt.Sprintf("viz-version%d-%s", version, now.Format("2006-01-02")))
	to := stem + ".db"
	for n := 2; taken(to); n++ {
		if sameFile(path, to) {
			return nil // made by a start that was interrupted after the copy
		}
		to = fmt.Sprintf("%s-%d.db", stem, n)
	}
	if err := copyFile(path, to); err != nil {
		return fmt.Errorf("the database cannot be copied before it is upgraded: %w", err)
	}
	db.log.Info("The database is being upgraded. A copy of the old one stays in the data folder.",
		"file", filepath.Base(to))
	return nil
}

// removeHalfCopies removes unfinished copies, since deleted data would never be deleted from
// them.
func (db *DB) removeHalfCopies() error {
	paths, err := db.files(halfCopies)
	errs := []error{err}
	for _, path := range paths {
		errs = append(errs, os.Remove(path))
	}
	return errors.Join(errs...)
}

// sameFile reports whether two files have the same contents.
func sameFile(a, b string) bool {
	x, errX := os.ReadFile(a)
	y, errY := os.ReadFile(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// copyFile copies a file completely or not at all.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.CreateTemp(filepath.Dir(to), filepath.Base(to)+".part-*") // of mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(out.Name()) // unless it was renamed
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return err
	}
	return os.Rename(out.Name(), to)
}

// EraseFromCopies deletes a learner's data from the copies of earlier formats. A damaged
// copy is removed, since nobody could use it.
func (db *DB) EraseFromCopies(ctx context.Context, learner string) error {
	return db.eachCopy(ctx, func(tx *sql.Tx) error {
		for _, table := range learnerTables {
			if _, err := tx.Exec("DELETE FROM "+table+" WHERE learner = ?", learner); err != nil {
				return err
			}
		}
		return inRooms(tx, "UPDATE room_members SET learner = 'forgotten ' || id, name = '' WHERE learner = ?", learner)
	})
}

// EraseRoomFromCopies deletes a room from the copies.
func (db *DB) EraseRoomFromCopies(ctx context.Context, code string) error {
	return db.eachCopy(ctx, func(tx *sql.Tx) error {
		return inRooms(tx, "DELETE FROM rooms WHERE code = ?", code) // deletes the room's other data too
	})
}

// EraseNamesFromCopies deletes the nicknames of a room from the copies.
func (db *DB) EraseNamesFromCopies(ctx context.Context, code string) error {
	return db.eachCopy(ctx, func(tx *sql.Tx) error {
		return inRooms(tx, "UPDATE room_members SET name = '' WHERE room = ?", code)
	})
}

// inRooms runs a query on the rooms of a copy. A copy of version 1 has no rooms.
func inRooms(tx *sql.Tx, query, parameter string) error {
	if rooms, err := has(tx, "rooms"); err != nil || !rooms {
		return err
	}
	_, err := tx.Exec(query, parameter)
	return err
}

// learnerTables lists the tables of earlier formats that have a learner in each row.
var learnerTables = []string{"visits", "answers", "reviews", "cards", "predictions", "settings", "notices_seen"}

// has reports whether a database has a table.
func has(tx *sql.Tx, table string) (found bool, err error) {
	err = tx.QueryRow(
		"SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?)", table,
	).Scan(&found)
	return found, err
}

// eachCopy calls change for all copies. It removes copies that are empty or damaged. A copy
// that could not be changed for another reason stays, and the error reports it.
func (db *DB) eachCopy(ctx context.Context, change func(*sql.Tx) error) error {
	if db.dir == "" {
		return nil
	}
	db.erasing.Lock() // concurrent calls would wait for each other's transactions
	defer db.erasing.Unlock()
	paths, err := db.files(copies)
	errs := []error{err}
	for _, path := range paths {
		empty, err := changeCopy(ctx, path, change)
		var bad damaged
		if errors.As(asDamaged(err), &bad) {
			db.log.Warn("a copy of the database in an earlier format is damaged and is removed",
				"file", filepath.Base(path), "error", err)
			empty, err = true, nil
		}
		if err != nil {
			err = fmt.Errorf("the copy %s: %w", filepath.Base(path), err)
		} else if empty {
			err = removeDatabase(path)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func changeCopy(ctx context.Context, path string, change func(*sql.Tx) error) (empty bool, err error) {
	conn, err := openPages(path)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	ours := false
	err = inside(ctx, conn, func(tx *sql.Tx) error {
		var application int
		if err := tx.QueryRow("PRAGMA application_id").Scan(&application); err != nil || application != applicationID {
			return err // a file of another program is left unchanged
		}
		if err := change(tx); err != nil {
			return err
		}
		ours = true
		empty, err = nobodyIn(tx)
		return err
	})
	if err != nil || !ours {
		return false, err
	}
	if !empty {
		if err := cleanFile(ctx, conn, func(some []int) error { return cleanSome(ctx, conn, some) }); err != nil {
			return false, err
		}
	}
	return empty, truncateLog(ctx, conn)
}

// nobodyIn reports whether a database has neither learners nor rooms.
func nobodyIn(tx *sql.Tx) (bool, error) {
	for _, table := range append(slices.Clone(learnerTables), "rooms") {
		some, err := has(tx, table)
		if err == nil && some && table != "notices_seen" {
			err = tx.QueryRow("SELECT EXISTS (SELECT 1 FROM " + table + ")").Scan(&some)
		} else {
			some = false
		}
		if err != nil || some {
			return false, err
		}
	}
	return true, nil
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

func removeDatabase(path string) error {
	var errs []error
	for _, part := range []string{"-wal", "-shm", ""} {
		if err := os.Remove(path + part); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
