package store

import (
	"database/sql"
	"slices"

	"github.com/tokenbytoken/viz/infer/terms"
)

// shape describes the rows of a table as they are stored in the file.
type shape struct {
	table   string
	keyed   bool // WITHOUT ROWID
	columns []column
}

// column is a column of a table.
type column struct {
	name, kind string
	null       bool // may be NULL
	rowid      bool // its value is the rowid, and the row contains NULL in its place
}

// shapes returns the shapes of the tables. No two tables have the same shape, and no index has
// the shape of a table, so that a row identifies its table.
func shapes() (list []shape, err error) {
	conn, err := memory()
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	rows, err := conn.Query(`SELECT l.name, l.wr, c.name, c.type, c."notnull" = 0 AND c.pk = 0, c.pk > 0 AND NOT l.wr
		FROM pragma_table_list l, pragma_table_info(l.name) c
		WHERE l.schema = 'main' AND l.type = 'table' AND l.name NOT LIKE 'sqlite_%'
		ORDER BY l.name, l.wr AND c.pk = 0, l.wr * c.pk, c.cid`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var s shape
		var c column
		if err := rows.Scan(&s.table, &s.keyed, &c.name, &c.kind, &c.null, &c.rowid); err != nil {
			return nil, err
		}
		if n := len(list); n == 0 || list[n-1].table != s.table {
			list = append(list, s)
		}
		last := &list[len(list)-1]
		last.columns = append(last.columns, c)
	}
	return list, rows.Err()
}

// memory returns an empty database in memory.
func memory() (*sql.DB, error) {
	conn, err := sql.Open("sqlite", "file::memory:?"+pragmas(false).Encode())
	if err != nil {
		return nil, err
	}
	conn.SetMaxOpenConns(1)
	if err := create(conn); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// fits reports whether a row could belong to the table.
func (s shape) fits(r foundRow) bool {
	if r.keyed != s.keyed || len(r.values) != len(s.columns) {
		return false
	}
	for i, c := range s.columns {
		if !c.fits(r.values[i]) {
			return false
		}
	}
	return true
}

func (c column) fits(v any) bool {
	switch v.(type) {
	case nil:
		return c.null || c.rowid
	case int64:
		return !c.rowid && (c.kind == "INTEGER" || c.kind == "REAL") // SQLite stores integers this way to save space
	case float64:
		return c.kind == "REAL"
	case string:
		return c.kind == "TEXT"
	case []byte:
		return c.kind == "BLOB"
	}
	return false
}

// mended repairs one text in a row whose type is damaged: a flipped bit turned the type into
// that of a number or a blob of the same length, but the text itself is intact. It reports
// whether the row then fits the table.
func (s shape) mended(r foundRow) (foundRow, bool) {
	if r.keyed != s.keyed || len(r.values) != len(s.columns) {
		return r, false
	}
	mended := 0
	r.values = slices.Clone(r.values)
	for i, c := range s.columns {
		if c.fits(r.values[i]) {
			continue
		}
		text := string(r.raw[i])
		if c.kind != "TEXT" || text == "" || terms.Printable(text) != text {
			return r, false
		}
		r.values[i] = text
		mended++
	}
	return r, mended == 1
}

// values returns the values of a row for an INSERT statement.
func (s shape) values(r foundRow) []any {
	all := slices.Clone(r.values)
	for i, c := range s.columns {
		if c.rowid {
			all[i] = r.rowid
		}
	}
	return all
}
