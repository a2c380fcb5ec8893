package store

import (
	"context"
	"database/sql"
	"time"
)

// MostSeq is the highest valid number of a record. A higher number indicates damage.
const MostSeq = 1 << 53

// mostLost is the highest plausible number of lost records. A higher number indicates damage.
const mostLost = 1 << 24

// logRow is a row of the table owners, with data about its records.
type logRow struct {
	id                                int64
	kind, name                        string
	used, first, last, records, bytes int64

	all, visible, visibleBytes int64 // records numbered up to MostSeq, and up to last
	least, most                int64 // lowest and highest number of all
	wrong                      int64 // number of records with other numbers
}

// logQuery selects the columns of a logRow.
const logQuery = `SELECT o.id, o.kind, o.name, o.used_at, o.first, o.last, o.records, o.bytes,
		ifnull(sum(r.good), 0), ifnull(sum(r.good AND r.seq <= o.last), 0),
		ifnull(sum(iif(r.good AND r.seq <= o.last, r.size, 0)), 0),
		ifnull(min(iif(r.good, r.seq, NULL)), 0), ifnull(max(iif(r.good, r.seq, NULL)), 0), ifnull(sum(NOT r.good), 0)
	FROM owners o LEFT JOIN (
		SELECT owner, seq, seq BETWEEN 1 AND ? AS good, ` + recordSize + ` AS size FROM records
	) r ON r.owner = o.id
	WHERE o.kind NOT IN (` + otherKinds + `) GROUP BY o.id`

// consistent reports whether a row matches its records. Records above last belong to an interrupted
// batch, which web/journal deletes. If the interrupted batch was the first one of the log, last is
// below first.
func (l logRow) consistent() bool {
	if l.all > 0 && l.last < l.first && l.first != l.least {
		return false
	}
	return l.wrong == 0 && l.visible == l.records && l.visibleBytes == l.bytes && l.first >= 0 && l.last >= 0 &&
		l.last <= MostSeq && (l.visible == 0 || l.first <= l.least)
}

// Times of use outside this range count as damage, because a log that seems old would be deleted.
var (
	earliest = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	latest   = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
)

func plausible(used int64) bool { return used >= earliest && used < latest }

// checkLogs compares the rows of logs with their records. If the two differ, the records are right:
// a wrong number must not hide or delete records.
func (db *DB) checkLogs(tx *sql.Tx, now time.Time) error {
	var wrong []logRow
	err := EachRow(context.Background(), tx, logQuery, func(scan func(...any) error) error {
		var l logRow
		err := scan(&l.id, &l.kind, &l.name, &l.used, &l.first, &l.last, &l.records, &l.bytes, &l.all, &l.visible,
			&l.visibleBytes, &l.least, &l.most, &l.wrong)
		if !l.consistent() || !plausible(l.used) {
			wrong = append(wrong, l)
		}
		return err
	}, MostSeq)
	if err != nil {
		return err
	}
	for _, l := range wrong {
		if !plausible(l.used) {
			if _, err := tx.Exec("UPDATE owners SET used_at = ? WHERE id = ?", now.UnixMilli(), l.id); err != nil {
				return err
			}
		}
		if !l.consistent() {
			if err := db.correct(tx, l, now); err != nil {
				return err
			}
		}
	}
	return nil
}

// correct recomputes the row of a log from its records. Records with impossible numbers are
// set aside.
func (db *DB) correct(tx *sql.Tx, l logRow, now time.Time) error {
	var seqs []int64
	if l.wrong > 0 {
		const wrong = "SELECT seq FROM records WHERE owner = ? AND seq NOT BETWEEN 1 AND ?"
		if err := EachRow(context.Background(), tx, wrong,
			func(scan func(...any) error) error {
				var seq int64
				err := scan(&seq)
				seqs = append(seqs, seq)
				return err
			}, l.id, MostSeq); err != nil {
			return err
		}
	}
	if l.all > 0 {
		first := l.first
		if first < 1 || first > l.least {
			first = l.least
		}
		if _, err := tx.Exec("UPDATE owners SET first = ?, last = ? WHERE id = ?", first, l.most, l.id); err != nil {
			return err
		}
	} else if _, err := tx.Exec("UPDATE owners SET first = 0, last = 0 WHERE id = ?", l.id); err != nil {
		return err
	}
	if _, err := tx.Exec(`UPDATE owners SET (records, bytes) = (SELECT count(*), ifnull(sum(`+recordSize+`), 0)
		FROM records WHERE owner = owners.id AND seq BETWEEN 1 AND ?) WHERE id = ?`, MostSeq, l.id); err != nil {
		return err
	}
	missing := 0
	lost := l.records - l.all - l.wrong
	if lost > 0 && lost <= min(l.last, mostLost) { // a log cannot have more records than its last number
		missing = int(lost)
	}
	db.log.Warn("corrected the row of a log that did not match its records",
		"kind", l.kind, "records", l.all, "set aside", l.wrong, "lost", missing)
	if len(seqs) == 0 && missing == 0 {
		return nil
	}
	return SetAside(tx, l.kind, l.name, seqs, missing, now)
}
