package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// A damaged database is replaced by a new one, which contains the rows of the newest intact copy
// (copies.go) and all rows that SQL can still read. The new database is complete under the name
// salvagedName before the damaged one and its log get a dated name. Then it replaces the damaged
// one. So no data is lost, even if the start is killed at any moment.
const (
	salvagingName = "viz-salvaging.part"
	salvagedName  = "viz-salvaged.part"
)

// salvaged describes a database that replaces a damaged one.
type salvaged struct {
	rows    map[string]int // by table
	refused int            // number of rows that were read but violate constraints of their tables
	whole   bool           // all rows of the damaged database could be read
	copied  time.Time      // when the copy that was used was made; zero if there was none
}

// entries returns the number of log entries in the new database.
func (s salvaged) entries() int { return s.rows["records"] }

func (s salvaged) all() (n int) {
	for _, of := range s.rows {
		n += of
	}
	return n
}

// LogValue implements [slog.LogValuer]. It lists the tables in order.
func (s salvaged) LogValue() slog.Value {
	var list []slog.Attr
	for _, table := range slices.Sorted(maps.Keys(s.rows)) {
		list = append(list, slog.Int(table, s.rows[table]))
	}
	return slog.GroupValue(append(list, slog.Int("not valid", s.refused), slog.Bool("all read", s.whole))...)
}

// finishSalvage completes or undoes an interrupted salvage.
func (db *DB) finishSalvage(path string, now time.Time) error {
	half, whole := filepath.Join(db.dir, salvagingName), filepath.Join(db.dir, salvagedName)
	if err := removeDatabase(half); err != nil {
		return err
	}
	if _, err := os.Lstat(whole); err != nil {
		return nil // the usual case
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) { // the damaged file is still here: start over
		return removeDatabase(whole)
	}
	// The new database already includes the log of the damaged one, so the log must not be
	// applied to it.
	to, err := db.setLogAside(path, now)
	if err != nil {
		return err
	}
	if err := db.rename(whole, path); err != nil {
		return err
	}
	if to != "" && db.hasNotice(to) { // always true, unless someone has moved files
		return nil
	}
	text := "The saved data was damaged, and what could be read of it was copied into a new file."
	if to != "" {
		text += " The damaged file is in the data folder, unchanged, as " + filepath.Base(to) + "."
	}
	db.notify(now, text, to)
	return nil
}

// setLogAside moves the log of a damaged database next to the database's new name, and
// returns that name, or "" if the database is gone.
func (db *DB) setLogAside(path string, now time.Time) (to string, err error) {
	list, err := db.DamagedFiles()
	if err != nil {
		return "", err
	}
	if len(list) > 0 {
		to = filepath.Join(db.dir, list[len(list)-1].File)
	}
	if _, err := os.Lstat(path + "-wal"); errors.Is(err, fs.ErrNotExist) {
		return to, removeLogIndex(path)
	}
	if to == "" || taken(to+"-wal") {
		to = nameAside(path, now)
		return to, db.move(path, to)
	}
	if err := db.rename(path+"-wal", to+"-wal"); err != nil {
		return "", err
	}
	return to, removeLogIndex(path)
}

// removeLogIndex removes the index of a log that was moved. SQLite recreates it.
func removeLogIndex(path string) error {
	if err := os.Remove(path + "-shm"); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// replaceDamaged sets a damaged database aside and replaces it with a new one that has its
// readable rows.
func (db *DB) replaceDamaged(path, reason string, now time.Time) error {
	found, err := db.salvage(path, salvagedName, now)
	if err = classify(err); errors.Is(err, ErrFull) || errors.Is(err, ErrDisk) { // nothing has moved yet
		return fmt.Errorf("%s is damaged (%s), and its readable rows cannot be copied: %w", path, reason, err)
	}
	if err != nil { // the file is set aside anyway, and can be salvaged by hand
		db.log.Error("no rows could be copied from the damaged database", "error", err)
	}
	to := nameAside(path, now)
	notice := "The saved data was damaged (" + reason + "). The file was set aside, unchanged, as " +
		filepath.Base(to) + " in the data folder, and "
	if found.all() == 0 {
		notice += "a new one was started: nothing in it could be read."
	} else {
		notice += "what could be read of it was copied into a new one"
		if !found.copied.IsZero() {
			notice += ", together with the copy of " + copyTime(found.copied)
		}
		notice += fmt.Sprintf(": %s.", entriesText(found.entries()))
		if !found.whole {
			notice += found.missing()
		}
		db.log.Warn("a damaged database was replaced", "rows", found)
	}
	if err := db.setAside(path, to, notice, now); err != nil {
		return fmt.Errorf("%s is damaged (%s) and cannot be set aside: %w", path, reason, err)
	}
	if err := db.rename(filepath.Join(db.dir, salvagedName), path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// missing says what may be missing from a new database.
func (s salvaged) missing() string {
	if s.copied.IsZero() {
		return " Others may be missing."
	}
	return " Entries that were made after the copy may be missing."
}

func copyTime(t time.Time) string { return t.Format("2 January 2006, 15:04") }

// replaceMissing replaces a database that is missing from a folder that has been used by its newest
// copy or, if there is none, by a new database.
func (db *DB) replaceMissing(path string, now time.Time) error {
	notice := "The saved data is missing: the data folder has the secret of an earlier start, but no file " +
		fileName + ". "
	if _, made, found := db.newestCopy(now); found {
		notice += "It was restored from the copy of " + copyTime(made) + "." + salvaged{copied: made}.missing()
	} else {
		notice += "A new one was started, and everybody begins again. Saved progress files can be imported. " +
			"If there is a backup, the person who runs the server can stop it and put that back."
	}
	if err := db.announce(now, notice, path); err != nil {
		return err
	}
	if _, err := db.salvage(path, fileName, now); err != nil {
		return fmt.Errorf("%s is missing, and cannot be restored: %w", path, err)
	}
	db.notify(now, notice, path)
	return nil
}

// entriesText formats a number of entries of all logs.
func entriesText(n int) string { return EntriesText(n) + " from learners and classes" }

// salvage makes a database with the rows of the newest intact copy and the readable rows of a
// damaged database. If it has any rows, it gets the name to in the folder.
func (db *DB) salvage(path, to string, now time.Time) (found salvaged, err error) {
	half := filepath.Join(db.dir, salvagingName)
	defer removeDatabase(half) // unless it was renamed
	ctx := context.Background()
	if err := errors.Join(removeDatabase(half), private(half)); err != nil {
		return found, err
	}
	if copied, made, ok := db.newestCopy(now); ok {
		found.copied = made
		conn, err := openToRead(copied)
		if err == nil {
			err = errors.Join(vacuumInto(ctx, conn, half), conn.Close())
		}
		if err != nil {
			return salvaged{}, err
		}
	}
	settings := pragmas(false)
	settings.Set("_synchronous", "FULL")
	settings.Set("_foreign_keys", "0") // rows without parents are handled later; see rows.go
	conn, err := sql.Open("sqlite", dsn(half, settings))
	if err != nil {
		return salvaged{}, err
	}
	conn.SetMaxOpenConns(1)
	if found.copied.IsZero() {
		err = create(conn)
	}
	if err == nil {
		err = inside(ctx, conn, func(tx *sql.Tx) error { return found.fill(ctx, tx, path, now) })
	}
	if err = errors.Join(err, conn.Close()); err != nil || found.all() == 0 {
		return salvaged{}, err
	}
	return found, db.rename(half, filepath.Join(db.dir, to))
}

// fill adds the readable rows of a damaged database to a new one, and counts the rows.
func (s *salvaged) fill(ctx context.Context, tx *sql.Tx, path string, now time.Time) error {
	if _, err := os.Lstat(path); err == nil {
		from, err := openToRead(path)
		if err != nil {
			return err
		}
		defer from.Close()
		if err := (reader{from, tx, s}).tables(ctx, now); err != nil {
			return err
		}
	}
	s.rows = map[string]int{}
	for _, t := range append(salvagedTables, salvagedTable{name: "snapshots"}) {
		var n int
		if err := tx.QueryRow("SELECT count(*) FROM " + t.name).Scan(&n); err != nil {
			return err
		}
		s.rows[t.name] = n
	}
	return nil
}
