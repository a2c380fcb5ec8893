package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// A damaged database is replaced by a new one. The new database contains all rows that SQL can
// still read and, for the rest, the rows of the newest intact copy (copies.go). It is completed
// under the name salvagedName before the damaged database and its log are renamed to a dated name.
// Then it takes the place of the damaged one. No data is therefore lost, no matter when the process
// is killed.
const (
	salvagingName = "viz-salvaging.part"
	salvagedName  = "viz-salvaged.part"
)

// salvaged describes a database that replaces a damaged one.
type salvaged struct {
	rows    map[string]int // by table
	refused int            // number of rows that were read but violate constraints of their tables
	copied  time.Time      // when the copy that was used was made; zero if no copy was used
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
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) { // the damaged file is still in place: start over
		return removeDatabase(whole)
	}
	// The new database already includes the contents of the damaged database's log, so that log
	// must not be applied to it.
	to, err := db.setLogAside(path, now)
	if err != nil {
		return err
	}
	if err := db.rename(whole, path); err != nil {
		return err
	}
	if to != "" && db.hasNotice(to) { // always true, unless someone else has moved files
		return nil
	}
	text := "The saved data was damaged. The readable part of it was copied to a new file."
	if to != "" {
		text += " The damaged file is in the data folder, unchanged, as " + filepath.Base(to) + "."
	}
	db.notify(now, text, to)
	return nil
}

// setLogAside moves the log of a damaged database to the place to which the database has been
// renamed. It returns the database's new name, or "" if the database is gone.
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

// removeLogIndex removes the index of a log that has been moved. SQLite recreates it.
func removeLogIndex(path string) error {
	if err := os.Remove(path + "-shm"); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// replaceDamaged sets a damaged database aside and replaces it with a new one that contains the
// readable rows.
func (db *DB) replaceDamaged(path, reason string, now time.Time) error {
	found, err := db.salvage(path, salvagedName, now)
	if err != nil {
		db.log.Error("no rows could be copied from the damaged database", "error", err)
		found, err = db.salvage("", salvagedName, now) // from the copy alone
	}
	if err != nil { // nothing has been moved yet
		return fmt.Errorf("%s is damaged (%s) and could not be replaced: %w", path, reason, classify(err))
	}
	to := nameAside(path, now)
	notice := "The saved data was damaged (" + reason + "). The file was set aside, unchanged, as " +
		filepath.Base(to) + " in the data folder, and "
	switch {
	case found.all() == 0:
		notice += "a new one was created, because nothing in it could be read."
	case found.copied.IsZero():
		notice += fmt.Sprintf("its readable contents were copied to a new one: %s. Others may be missing.",
			entriesText(found.entries()))
	default:
		notice += fmt.Sprintf(
			"its readable contents were copied to a new one, together with the copy of %s: %s. %s",
			copyTime(found.copied), entriesText(found.entries()), afterCopy,
		)
	}
	db.log.Warn("replacing a damaged database", "rows", found)
	if err := db.setAside(path, to, notice, now); err != nil {
		return fmt.Errorf("%s is damaged (%s) and could not be set aside: %w", path, reason, err)
	}
	if err := db.rename(filepath.Join(db.dir, salvagedName), path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// afterCopy is the part of a notice about data that is newer than the copy.
const afterCopy = "Entries made after this copy may be missing."

func copyTime(t time.Time) string { return t.Format("January 2, 2006, 15:04") }

// replaceMissing is called if the database of a used folder is missing. It restores the newest copy
// or, if there is none, creates a new database.
func (db *DB) replaceMissing(path string, now time.Time) error {
	notice := "The saved data is missing: the data folder no longer contains " + fileName + ". "
	if copied, found := db.newestCopy(); found {
		notice += "It was restored from the copy of " + copyTime(copied.made) + ". " + afterCopy
	} else {
		notice += "A new, empty one was created, so everyone starts over. Saved progress files can be imported. " +
			"If there is a backup, the operator can stop the server and restore it."
	}
	if err := db.announce(now, notice, path); err != nil {
		return err
	}
	if _, err := db.salvage("", fileName, now); err != nil {
		// The announcement would be published after the operator has restored a backup.
		err = fmt.Errorf("%s is missing and could not be restored: %w", path, err)
		return errors.Join(err, os.Remove(db.announced()))
	}
	db.notify(now, notice, path)
	return nil
}

// entriesText formats a number of entries of all logs.
func entriesText(n int) string { return EntriesText(n) + " from learners and classes" }

// salvage creates a database with the readable rows of the damaged database at path, unless path is
// "", and with the rows of the newest intact copy. If the new database has any rows, salvage stores
// it in the folder under the name to.
func (db *DB) salvage(path, to string, now time.Time) (found salvaged, err error) {
	half := filepath.Join(db.dir, salvagingName)
	defer removeDatabase(half) // unless it has been renamed
	if err := errors.Join(removeDatabase(half), private(half)); err != nil {
		return found, err
	}
	settings := pragmas(false)
	settings.Set("_synchronous", "FULL")
	settings.Set("_foreign_keys", "0") // rows without parents are handled later; see rows.go
	conn, err := sql.Open("sqlite", dsn(half, settings))
	if err != nil {
		return found, err
	}
	conn.SetMaxOpenConns(1)
	if err = create(conn); err == nil {
		found, err = db.fill(conn, path, now)
	}
	if err = errors.Join(err, conn.Close()); err != nil || found.all() == 0 {
		return salvaged{}, err
	}
	if err := db.rename(half, filepath.Join(db.dir, to)); err != nil {
		return salvaged{}, err
	}
	db.copies.own = true // if the new database lacks something, a copy may still have it
	return found, nil
}

// fill adds the rows of a damaged database and of the newest copy to a new database.
func (db *DB) fill(conn *sql.DB, path string, now time.Time) (found salvaged, err error) {
	ctx := context.Background()
	copied, ok := db.newestCopy()
	if ok {
		found.copied = copied.made
		from := dsn(copied.path, url.Values{"mode": {"ro"}})
		if _, err := conn.ExecContext(ctx, "ATTACH ? AS old", from); err != nil {
			return found, err
		}
	}
	err = inside(ctx, conn, func(tx *sql.Tx) (err error) {
		if path != "" {
			if found.refused, err = readDamaged(ctx, tx, path, now); err != nil {
				return err
			}
		}
		if ok {
			if err := addCopy(ctx, tx); err != nil {
				return err
			}
		}
		found.rows = map[string]int{}
		for _, t := range salvagedTables {
			var n int
			if err := tx.QueryRow("SELECT count(*) FROM main." + t.name).Scan(&n); err != nil {
				return err
			}
			found.rows[t.name] = n
		}
		return nil
	})
	return found, err
}

// addCopy adds the data in the copy that a new database lacks. The copy is attached as old.
//
// The copy's hidden rows, which belong to interrupted batches, are omitted: their numbers may have
// been reused. Other numbers are never reused, and records never change, so the copy is right about
// every number up to the last one that it has in a log. If a log has a record with such a number
// that the copy lacks, a key was altered. Otherwise, if the records of a log match its row, the log
// is complete, and any additional records in the copy were deleted from it.
func addCopy(ctx context.Context, tx *sql.Tx) error {
	const (
		// The visible records of the copy whose logs are also in the new database.
		visible = "FROM old.records o JOIN old.owners x ON x.id = o.owner AND o.seq <= x.last AND x.last >= x.first " +
			"JOIN main.owners n ON (n.id, n.kind, n.name) = (x.id, x.kind, x.name)"
		same    = visible + " WHERE (o.owner, o.seq) = (main.records.owner, main.records.seq)"
		matches = "(n.records, n.bytes) = (SELECT count(*), ifnull(sum(" + recordSize + "), 0) " +
			"FROM main.records WHERE owner = n.id AND seq <= n.last)"
		altered = "EXISTS (SELECT 1 FROM main.records r JOIN old.owners x ON x.id = r.owner AND r.seq <= x.last " +
			"WHERE r.owner = n.id AND NOT EXISTS " +
			"(SELECT 1 FROM old.records o WHERE (o.owner, o.seq) = (r.owner, r.seq)))"
	)
	for _, query := range []string{
		"CREATE TEMP TABLE whole AS SELECT n.id FROM main.owners n WHERE " + matches + " AND NOT " + altered,
		"UPDATE main.owners SET (used_at, first, last) = " +
			"(SELECT used_at, first, last FROM old.owners x WHERE x.id = main.owners.id) " +
			"WHERE records = " + unknown + " AND EXISTS (SELECT 1 FROM old.owners x WHERE x.last >= x.first AND " +
			"(x.id, x.kind, x.name) = (main.owners.id, main.owners.kind, main.owners.name))",
		"UPDATE OR IGNORE main.owners SET (kind, name) = " +
			"(SELECT kind, name FROM old.owners x WHERE x.id = main.owners.id) " +
			"WHERE EXISTS (SELECT 1 FROM old.owners x WHERE x.id = main.owners.id AND x.last >= x.first AND " +
			"(x.kind = main.owners.kind AND x.name <> main.owners.name OR main.owners.kind NOT IN (" + kinds + ")))",
		"INSERT OR IGNORE INTO main.owners SELECT * FROM old.owners WHERE last >= first",
		"UPDATE OR REPLACE main.records SET (type, id, data) = (SELECT o.type, o.id, o.data " + same + ") " +
			"WHERE EXISTS (SELECT 1 " + same + " AND (o.type, o.id, o.data) <> " +
			"(main.records.type, main.records.id, main.records.data))",
		"INSERT OR REPLACE INTO main.records SELECT o.* " + visible + " WHERE o.owner NOT IN (SELECT id FROM whole)",
		"INSERT OR REPLACE INTO main.room_secrets SELECT * FROM old.room_secrets",
		"INSERT OR IGNORE INTO main.notices SELECT * FROM old.notices",
		"INSERT OR IGNORE INTO main.notices_seen SELECT * FROM old.notices_seen",
		"DROP TABLE whole",
	} {
		if _, err := tx.ExecContext(ctx, query); err != nil {
			return fmt.Errorf("copying rows from the copy of the database: %w", err)
		}
	}
	return nil
}
