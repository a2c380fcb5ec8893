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
	"strings"
	"time"
)

// The readable rows of a damaged database are copied into a new one, from all intact pages,
// whether or not the pages can still be reached through the tree. The new database is
// complete under the name salvagedName before the damaged one and its log get a dated name.
// Then it replaces the damaged one. So no data is lost, even if the start is killed at any
// moment.
const (
	salvagingName = "viz-salvaging.part"
	salvagedName  = "viz-salvaged.part"
)

// salvaged describes the rows that were copied from a damaged database.
type salvaged struct {
	rows    map[string]int // by table
	refused int            // number of rows that violate constraints of their tables
}

// entries returns the number of log entries that were copied.
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
	return slog.GroupValue(append(list, slog.Int("not valid", s.refused))...)
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
	found, err := db.salvage(path, now)
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
		notice += fmt.Sprintf("what could be read of it was copied into a new one: %s.", entriesText(found.entries()))
		db.log.Warn("rows were copied from a damaged database", "rows", found)
	}
	if err := db.setAside(path, to, notice, now); err != nil {
		return fmt.Errorf("%s is damaged (%s) and cannot be set aside: %w", path, reason, err)
	}
	if err := db.rename(filepath.Join(db.dir, salvagedName), path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// entriesText formats a number of entries of all logs.
func entriesText(n int) string { return EntriesText(n) + " from learners and classes" }

// salvage copies the readable rows of a damaged database into a new one.
func (db *DB) salvage(path string, now time.Time) (found salvaged, err error) {
	p, err := pagesOf(path)
	if errors.Is(err, fs.ErrNotExist) { // only the database's log exists
		return found, nil
	} else if err != nil {
		return found, err
	}
	defer p.close()
	half := filepath.Join(db.dir, salvagingName)
	if err := private(half); err != nil {
		return found, err
	}
	defer removeDatabase(half) // unless it was renamed
	settings := pragmas(false)
	settings.Set("_synchronous", "FULL")
	settings.Set("_foreign_keys", "0") // rows without parents are handled later; see rows.go
	conn, err := sql.Open("sqlite", dsn(half, settings))
	if err != nil {
		return found, err
	}
	conn.SetMaxOpenConns(1)
	if err = create(conn); err == nil {
		err = inside(context.Background(), conn, func(tx *sql.Tx) (err error) {
			found, err = p.copyRows(tx, now)
			return err
		})
	}
	if err = errors.Join(err, conn.Close()); err != nil || found.all() == 0 {
		return salvaged{}, err
	}
	return found, db.rename(half, filepath.Join(db.dir, salvagedName))
}

// copyRows copies all readable rows into the tables of a new database.
func (p *pages) copyRows(tx *sql.Tx, now time.Time) (salvaged, error) {
	found := salvaged{rows: map[string]int{}}
	list, err := shapes()
	if err != nil {
		return found, err
	}
	inserts := make([]*sql.Stmt, len(list))
	for i, s := range list {
		if inserts[i], err = tx.Prepare(s.insert()); err != nil {
			return found, err
		}
		defer inserts[i].Close()
	}
	names := names{}
	err = p.rows(func(r foundRow) error {
		names.note(r)
		for i, s := range list {
			if mended, ok := s.mended(r); ok && s.table == "records" { // no index could be mistaken for it
				r = mended
			}
			if !s.fits(r) {
				continue
			}
			result, err := inserts[i].Exec(s.values(r)...)
			if err != nil {
				if brokenRule(err) {
					found.refused++
					return nil
				}
				return err
			}
			if n, err := result.RowsAffected(); err != nil {
				return err
			} else if n > 0 {
				found.rows[s.table]++
			} else {
				found.refused++
			}
		}
		return nil
	})
	if err != nil {
		return found, err
	}
	restored, err := names.restore(tx, now)
	found.rows["owners"] += restored
	return found, err
}

// insert returns the statement that inserts a row into the table, unless a row with its key
// exists.
func (s shape) insert() string {
	var names []string
	for _, c := range s.columns {
		names = append(names, c.name)
	}
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES (?%s) ON CONFLICT DO NOTHING",
		s.table, strings.Join(names, ", "), strings.Repeat(", ?", len(names)-1))
}

// names holds the names of logs that were found in the index of these names. They are used
// to recreate lost rows in owners.
type names map[int64][2]any

func (n names) note(r foundRow) {
	if !r.keyed || len(r.values) != 3 {
		return
	}
	kind, ok := r.values[0].(string)
	name, too := r.values[1].(string)
	if id, is := r.values[2].(int64); ok && too && is {
		n[id] = [2]any{kind, name}
	}
}

// restore adds the missing rows of logs that have records. checkLogs corrects the numbers in
// these rows.
func (n names) restore(tx *sql.Tx, now time.Time) (restored int, err error) {
	for id, x := range n {
		result, err := tx.Exec(`INSERT INTO owners (id, kind, name, used_at, first, last, records, bytes)
			SELECT ?, ?, ?, ?, 1, 1, 0, 0 WHERE EXISTS (SELECT 1 FROM records WHERE owner = ?)
			ON CONFLICT DO NOTHING`, id, x[0], x[1], now.UnixMilli(), id)
		if err != nil {
			return restored, err
		}
		if n, err := result.RowsAffected(); err != nil {
			return restored, err
		} else if n > 0 {
			restored++
		}
	}
	return restored, nil
}
