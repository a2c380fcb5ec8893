package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// SetAsideKind is the kind of the logs for records that were set aside because they do not belong
// to a log or are unreadable. The name of such a log contains the original log's kind and name, and
// the day. The number of records in its row includes lost records.
const SetAsideKind = "set aside"

// kinds lists the kinds of owners, in SQL: learners, rooms, and otherKinds. The latter are logs
// that were set aside, logs that web/journal is deleting, and the server, which has no log (see
// [DB.Seen]). The numbers in the rows of otherKinds are not checked.
const (
	kinds      = "'learner', 'room', " + otherKinds
	otherKinds = "'" + SetAsideKind + "', 'retired', '" + serverKind + "'"
	serverKind = "server"
)

// setAsideName returns the prefix of the names of logs that were set aside. It is followed
// by the day.
func setAsideName(kind, name string) string { return kind + " " + name + " " }

// SetAsideName returns the name of the log that holds the records set aside from a log on
// the given day.
func SetAsideName(kind, name string, at time.Time) string {
	return setAsideName(kind, name) + at.UTC().Format(time.DateOnly)
}

// SetAsideOf returns the kind and name of the log from which records were set aside. Its parameter
// is the name of the log that now holds them. For records that did not belong to a log, the kind is
// "log".
func SetAsideOf(name string) (kind, of string) {
	kind, rest, _ := strings.Cut(name, " ")
	return kind, rest[:max(0, strings.LastIndexByte(rest, ' '))]
}

// SetAside moves records of a log to a separate log for data that was set aside. missing is the
// number of other records that are known to be lost. If seqs is empty and missing is 0, SetAside
// moves the whole log. It deletes the log's snapshot, which might contain the records.
func SetAside(tx *sql.Tx, kind, name string, seqs []int64, missing int, now time.Time) error {
	var from int64
	err := tx.QueryRow("SELECT id FROM owners WHERE kind = ? AND name = ?", kind, name).Scan(&from)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	} else if err != nil {
		return err
	}
	to, err := freeName(tx, setAsideName(kind, name), now)
	if err != nil {
		return err
	}
	if _, err := tx.Exec("DELETE FROM snapshots WHERE owner = ?", from); err != nil {
		return err
	}
	if len(seqs) == 0 && missing == 0 {
		_, err := tx.Exec("UPDATE owners SET kind = ?, name = ?, used_at = ?, first = 0, last = 0 WHERE id = ?",
			SetAsideKind, to, now.UnixMilli(), from)
		return err
	}
	var aside int64
	if err := tx.QueryRow(`INSERT INTO owners (kind, name, used_at, first, last, records, bytes)
		VALUES (?, ?, ?, 0, 0, ?, 0) RETURNING id`, SetAsideKind, to, now.UnixMilli(), len(seqs)+missing).
		Scan(&aside); err != nil {
		return err
	}
	for _, seq := range seqs {
		if _, err := tx.Exec("UPDATE records SET owner = ? WHERE owner = ? AND seq = ?", aside, from, seq); err != nil {
			return err
		}
	}
	_, err = tx.Exec(`UPDATE owners SET (records, bytes) = (SELECT count(*), ifnull(sum(`+recordSize+`), 0)
		FROM records WHERE owner = owners.id AND seq <= owners.last) WHERE id = ?`, from)
	return err
}

// recordSize is an SQL expression for the size of a record as its log counts it.
const recordSize = "octet_length(type) + octet_length(id) + octet_length(data)"

// DropSetAside deletes all records that were set aside from a log, even if the log's kind was
// damaged.
func DropSetAside(tx *sql.Tx, kind, name string) error {
	for _, begin := range []string{setAsideName(kind, name), setAsideName("log", name)} {
		if _, err := tx.Exec("DELETE FROM owners WHERE kind = ? AND substr(name, 1, ?) = ?",
			SetAsideKind, utf8.RuneCountInString(begin), begin); err != nil {
			return err
		}
	}
	return nil
}

// setAsideDays is how many days set-aside records are kept if there might be nobody to delete them.
// This concerns records of learners, who might never return, and records without an owner. Rooms
// that were set aside expire like other rooms; see web/class.
const setAsideDays = 30

// expireSetAside deletes records that were set aside more than [setAsideDays] ago, and
// returns the number of their logs.
func expireSetAside(tx *sql.Tx, now time.Time) (deleted int64, err error) {
	gone, err := tx.Exec("DELETE FROM owners WHERE kind = ? AND name NOT LIKE 'room %' AND used_at < ?",
		SetAsideKind, now.Add(-setAsideDays*24*time.Hour).UnixMilli())
	if err != nil {
		return 0, err
	}
	return gone.RowsAffected()
}

// ForgetSetAside deletes the quarantined room records that identify a learner. It also deletes all
// nicknames in the same logs, since it is unknown whose they are.
func ForgetSetAside(tx *sql.Tx, learner string) error {
	const rooms = `SELECT r.owner FROM records r JOIN owners o ON o.id = r.owner
		WHERE o.kind = ?1 AND r.type = 'member' AND instr(r.data, ?2)`
	for _, query := range []string{
		"DELETE FROM records WHERE type = 'name' AND owner IN (" + rooms + ")",
		"DELETE FROM snapshots WHERE owner IN (" + rooms + ")",
		"DELETE FROM records WHERE owner IN (SELECT id FROM owners WHERE kind = ?1) AND instr(data, ?2)",
	} {
		if _, err := tx.Exec(query, SetAsideKind, learner); err != nil {
			return err
		}
	}
	return nil
}

// EachSetAside calls f for each set of records that was set aside from a log, oldest first. It
// passes the set's time, number of records and size in bytes.
func EachSetAside(
	ctx context.Context, tx *sql.Tx, kind, name string, f func(at, records, bytes int64),
) error {
	begin := setAsideName(kind, name)
	return EachRow(ctx, tx, `SELECT used_at, records, bytes FROM owners
		WHERE kind = ? AND substr(name, 1, ?) = ? ORDER BY used_at, id`, func(scan func(...any) error) error {
		var at, records, bytes int64
		if err := scan(&at, &records, &bytes); err != nil {
			return err
		}
		f(at, records, bytes)
		return nil
	}, SetAsideKind, utf8.RuneCountInString(begin), begin)
}

// freeName returns an unused name for a log that is set aside on the given day: the prefix, the day
// and, if necessary, a number.
func freeName(tx *sql.Tx, begin string, now time.Time) (string, error) {
	day := begin + now.UTC().Format(time.DateOnly)
	for n, name := 2, day; ; n, name = n+1, fmt.Sprintf("%s-%d", day, n) {
		var known bool
		if err := tx.QueryRow("SELECT EXISTS (SELECT 1 FROM owners WHERE kind = ? AND name = ?)", SetAsideKind, name).
			Scan(&known); err != nil || !known {
			return name, err
		}
	}
}
