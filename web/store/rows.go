package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/tokenbytoken/viz/infer/terms"
)

// checkRows looks for rows that contradict other rows, in a database whose pages are intact. It
// sets aside rows whose parent rows are missing, within the database, and corrects values that can
// be derived from other rows. The only rows that it deletes are read marks for missing notices.
func (db *DB) checkRows(now time.Time) error {
	return db.Write(context.Background(), func(tx *sql.Tx) error {
		orphans, err := orphansOf(tx)
		if err != nil {
			return err
		}
		var records int64
		if len(orphans) > 0 {
			if records, err = db.adopt(tx, now); err != nil {
				return err
			}
		}
		unknown, err := db.adoptUnknown(tx, now)
		if err != nil {
			return err
		}
		db.notifyOrphans(records+unknown, now)
		if err := db.checkLogs(tx, now); err != nil {
			return err
		}
		return db.insertNotices(tx) // in the same transaction as the changes, in case the process is interrupted
	})
}

// orphansOf returns the number of rows whose parents are missing, by table.
func orphansOf(tx *sql.Tx) (map[string]int, error) {
	found := map[string]int{}
	err := EachRow(context.Background(), tx, `SELECT "table", count(*) FROM pragma_foreign_key_check GROUP BY 1`,
		func(scan func(...any) error) error {
			var table string
			var n int
			err := scan(&table, &n)
			found[table] = n
			return err
		})
	return found, err
}

// adopt sets aside records that do not belong to a log. It creates a log for them and returns their
// number.
func (db *DB) adopt(tx *sql.Tx, now time.Time) (records int64, err error) {
	type lost struct{ id, records, bytes int64 }
	var logs []lost
	err = EachRow(context.Background(), tx, `SELECT owner, count(seq),
			ifnull(sum(octet_length(type) + octet_length(id) + octet_length(data)), 0)
		FROM (SELECT owner, seq, type, id, data FROM records UNION ALL SELECT owner, NULL, '', '', '' FROM snapshots)
		WHERE owner NOT IN (SELECT id FROM owners) GROUP BY owner`, func(scan func(...any) error) error {
		var l lost
		err := scan(&l.id, &l.records, &l.bytes)
		logs = append(logs, l)
		return err
	})
	if err != nil {
		return 0, err
	}
	for _, l := range logs {
		name, err := freeName(tx, setAsideName("log", fmt.Sprint(l.id)), now)
		if err != nil {
			return 0, err
		}
		_, err = tx.Exec(`INSERT INTO owners (id, kind, name, used_at, first, last, records, bytes)
			VALUES (?, ?, ?, ?, 0, 0, ?, ?)`, l.id, SetAsideKind, name, now.UnixMilli(), l.records, l.bytes)
		if err != nil {
			return 0, err
		}
		records += l.records
	}
	if _, err := tx.Exec("DELETE FROM notices_seen WHERE notice NOT IN (SELECT id FROM notices)"); err != nil {
		return 0, err
	}
	return records, nil
}

func (db *DB) notifyOrphans(records int64, now time.Time) {
	if records > 0 {
		db.notify(now, fmt.Sprintf(
			"The owners of %s in the saved data are no longer known. "+
				"These entries were set aside in the database; everything else is unchanged.",
			EntriesText(int(records)),
		), db.dir)
	}
}

// adoptUnknown sets aside logs whose kind is unknown, which means that it was damaged. It returns
// the number of their records.
func (db *DB) adoptUnknown(tx *sql.Tx, now time.Time) (records int64, err error) {
	logs := map[int64]string{}
	if err := EachRow(context.Background(), tx, "SELECT id, name FROM owners WHERE kind NOT IN ("+kinds+")",
		func(scan func(...any) error) error {
			var id int64
			var name string
			err := scan(&id, &name)
			logs[id] = name
			return err
		}); err != nil {
		return 0, err
	}
	for id, name := range logs {
		name, err := freeName(tx, setAsideName("log", name), now)
		if err != nil {
			return 0, err
		}
		var n int64
		if err := tx.QueryRow(`UPDATE owners SET kind = ?, name = ?, used_at = ?, first = 0, last = 0,
			records = (SELECT count(*) FROM records WHERE owner = owners.id) WHERE id = ? RETURNING records`,
			SetAsideKind, name, now.UnixMilli(), id).Scan(&n); err != nil {
			return 0, err
		}
		records += n
	}
	return records, nil
}

// EntriesText formats a number of entries: "1 entry", "2 entries".
func EntriesText(n int) string { return terms.CountedAs(n, "entry", "entries") }
