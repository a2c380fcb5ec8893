package store

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// unknown replaces the number of records in a log's row if the original row could not be read.
const unknown = "-1"

// salvagedTable is a table whose rows are copied from a damaged database.
type salvagedTable struct{ name, columns, key string }

// salvagedTables lists all tables except snapshots, which can be recomputed from the logs.
var salvagedTables = []salvagedTable{
	{"owners", "id, kind, name, used_at, first, last, records, bytes", "id"},
	{"records", "owner, seq, type, id, data", "owner, seq"},
	{"room_secrets", "room, hash", "room"},
	{"notices", "id, at, text", "id"},
	{"notices_seen", "learner, notice", "learner, notice"},
}

// insert returns the statement that inserts a row unless there is already a row with the same key.
func (t salvagedTable) insert() string {
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES (?%s) ON CONFLICT DO NOTHING",
		t.name, t.columns, strings.Repeat(", ?", strings.Count(t.columns, ",")))
}

// order returns an ORDER BY clause for the key of the table.
func (t salvagedTable) order(backward bool) string {
	if !backward {
		return " ORDER BY " + t.key
	}
	return " ORDER BY " + strings.ReplaceAll(t.key, ",", " DESC,") + " DESC"
}

// readDamaged copies the readable rows of a damaged database into a new one. It returns the number
// of rows that violate constraints. Any error is about the new database.
func readDamaged(ctx context.Context, to *sql.Tx, path string, now time.Time) (refused int, err error) {
	if _, err := os.Lstat(path); err != nil { // only the database's write-ahead log exists
		return 0, nil
	}
	from, err := openToRead(path)
	if err != nil {
		return 0, err
	}
	defer from.Close()
	r := &reader{from, to, 0}
	err = r.tables(ctx, now)
	return r.refused, err
}

// reader copies rows of a damaged database into a new one.
type reader struct {
	from    *sql.DB
	to      *sql.Tx
	refused int
}

// tables reads all tables. If a table cannot be read completely from the first row, it is also read
// backward from the last row, up to the damage. For records, this is repeated for each log. If the
// row of a log is lost, its name is taken from an index.
func (r *reader) tables(ctx context.Context, now time.Time) error {
	names := map[int64][2]string{}
	for _, t := range salvagedTables {
		all, err := r.both(ctx, t, "")
		if err != nil {
			return err
		}
		if all {
			continue
		}
		switch t.name {
		case "owners":
			names = r.names(ctx)
		case "records":
			if err := r.eachLog(ctx, t, names); err != nil {
				return err
			}
		}
	}
	return r.restore(ctx, names, now)
}

// both copies the rows of a table that meet a condition. It reads forward and, if it cannot read
// all rows, also backward from the end. It reports whether all rows could be read.
func (r *reader) both(ctx context.Context, t salvagedTable, where string, args ...any) (all bool, err error) {
	for _, backward := range []bool{false, true} {
		query := "SELECT " + t.columns + " FROM " + t.name + where + t.order(backward)
		read, err := r.rows(ctx, query, t.insert(), args...)
		if err != nil || read && !backward {
			return read, err
		}
	}
	return false, nil
}

// rows executes insert for every row of a query until a row cannot be read. It reports whether all
// rows could be read.
func (r *reader) rows(ctx context.Context, query, insert string, args ...any) (all bool, err error) {
	rows, err := r.from.QueryContext(ctx, query, args...)
	if err != nil {
		return false, nil // unreadable
	}
	defer rows.Close()
	add, err := r.to.PrepareContext(ctx, insert)
	if err != nil {
		return false, err
	}
	defer add.Close()
	columns, err := rows.Columns()
	if err != nil {
		return false, err
	}
	values, pointers := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		pointers[i] = &values[i]
	}
	for rows.Next() {
		if rows.Scan(pointers...) != nil {
			return false, nil
		}
		if _, err := add.ExecContext(ctx, values...); brokenRule(err) {
			r.refused++
		} else if err != nil {
			return false, err
		}
	}
	return rows.Err() == nil, nil
}

// names returns the kinds and names of all logs that can be read from the index of names.
func (r *reader) names(ctx context.Context) map[int64][2]string {
	names := map[int64][2]string{}
	rows, err := r.from.QueryContext(ctx, "SELECT id, kind, name FROM owners INDEXED BY sqlite_autoindex_owners_1")
	if err != nil {
		return names
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var name [2]string
		if rows.Scan(&id, &name[0], &name[1]) == nil {
			names[id] = name
		}
	}
	return names
}

// eachLog reads the records of each log separately, so that damage to one log does not hide the
// records of others.
func (r *reader) eachLog(ctx context.Context, records salvagedTable, names map[int64][2]string) error {
	logs := slices.Collect(maps.Keys(names))
	if err := EachRow(ctx, r.to, "SELECT id FROM owners", func(scan func(...any) error) error {
		var id int64
		err := scan(&id)
		logs = append(logs, id)
		return err
	}); err != nil {
		return err
	}
	for _, id := range logs {
		if _, err := r.both(ctx, records, " WHERE owner = ?", id); err != nil {
			return err
		}
	}
	return nil
}

// restore adds the missing rows of logs that have records. checkLogs corrects the numbers in
// these rows.
func (r *reader) restore(ctx context.Context, names map[int64][2]string, now time.Time) error {
	for id, name := range names {
		if _, err := r.to.ExecContext(ctx, `INSERT INTO owners (id, kind, name, used_at, first, last, records, bytes)
			SELECT ?1, ?2, ?3, ?4, 1, 1, `+unknown+`, 0 WHERE EXISTS (SELECT 1 FROM records WHERE owner = ?1)
			ON CONFLICT DO NOTHING`, id, name[0], name[1], now.UnixMilli()); err != nil {
			return err
		}
	}
	return nil
}
