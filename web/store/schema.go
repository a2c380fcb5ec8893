package store

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"strings"
)

// applicationID identifies the file as belonging to this program. It appears as "VIZ1" in the
// file's header.
const applicationID = 0x56495a31

// schemaVersion is the version of the schema, which is stored in the file's user_version. It
// differs from the next number and from the prior version in more than one bit, so no program
// mistakes a newer file for a damaged one. Versions 6 to 8 were never used. Versions 1 to 4 had
// tables for the activity of learners and classes; versions of this program from November 2026
// convert them.
const schemaVersion = 9

// priorVersion has the same tables, but none of its rooms has a record of a question that a member
// asked. Programs that write it would set such records aside.
const priorVersion = 5

// schema creates the tables. Times are in milliseconds since 1970, in UTC. Learners are the
// anonymous ids in signed cookies.
const schema = `-- notices about the data itself, and which learners have read them
CREATE TABLE notices (
	id   INTEGER PRIMARY KEY,
	at   INTEGER NOT NULL,
	text TEXT NOT NULL
) STRICT;
CREATE TABLE notices_seen (
	learner TEXT NOT NULL,
	notice  INTEGER NOT NULL REFERENCES notices(id) ON DELETE CASCADE,
	PRIMARY KEY (learner, notice)
) STRICT, WITHOUT ROWID;

-- logs of events, see web/journal
CREATE TABLE owners (
	id      INTEGER PRIMARY KEY,
	kind    TEXT NOT NULL,    -- 'learner' or 'room'
	name    TEXT NOT NULL,
	used_at INTEGER NOT NULL,
	first   INTEGER NOT NULL, -- no record of this log has a lower number
	last    INTEGER NOT NULL, -- nor a higher one
	records INTEGER NOT NULL,
	bytes   INTEGER NOT NULL,
	UNIQUE (kind, name)
) STRICT;
CREATE TABLE records (
	owner INTEGER NOT NULL REFERENCES owners(id) ON DELETE CASCADE,
	seq   INTEGER NOT NULL,
	type  TEXT NOT NULL,
	id    TEXT NOT NULL, -- unique within its type
	data  TEXT NOT NULL, -- JSON
	PRIMARY KEY (owner, seq)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX records_id ON records (owner, type, id);
CREATE TABLE snapshots ( -- the folded states of logs
	owner   INTEGER PRIMARY KEY REFERENCES owners(id) ON DELETE CASCADE,
	version TEXT NOT NULL, -- version of the fold
	seq     INTEGER NOT NULL, -- number of the last record in it
	state   BLOB NOT NULL
) STRICT;
CREATE TABLE room_secrets (
	room TEXT PRIMARY KEY,  -- its code
	hash BLOB NOT NULL      -- SHA-256 of the instructor's secret
) STRICT, WITHOUT ROWID;`

// create creates the tables of a new database.
func create(conn *sql.DB) error {
	return inside(context.Background(), conn, func(tx *sql.Tx) error {
		if _, err := tx.Exec(schema); err != nil {
			return fmt.Errorf("creating the tables: %w", err)
		}
		// PRAGMA does not accept parameters; both numbers are constants.
		_, err := tx.Exec(
			fmt.Sprintf("PRAGMA user_version = %d; PRAGMA application_id = %d", schemaVersion, applicationID),
		)
		return err
	})
}

// mark sets the version of a database with the tables of [priorVersion] to the current one.
func mark(conn *sql.DB) error {
	_, err := conn.Exec(fmt.Sprintf("PRAGMA user_version = %d", schemaVersion))
	return err
}

// versionOf returns the version of a database's schema. It is 0 for a new database.
func versionOf(conn *sql.DB) (version int, err error) {
	if err := conn.QueryRow("PRAGMA user_version").Scan(&version); err != nil {
		return 0, fmt.Errorf("reading the version: %w", err)
	}
	return version, nil
}

// oldTables reports whether a database has tables that only earlier versions of the schema had.
func oldTables(conn *sql.DB) (found bool, err error) {
	err = conn.QueryRow("SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name IN ('visits', 'rooms'))").Scan(&found)
	return found, err
}

// schemaOf returns the definitions of all tables and indexes, without comments, ordered by
// name.
func schemaOf(conn *sql.DB) ([]string, error) {
	rows, err := conn.Query(`SELECT name || ': ' || sql FROM sqlite_schema
		WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY name`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []string
	for rows.Next() {
		var definition string
		if err := rows.Scan(&definition); err != nil {
			return nil, err
		}
		list = append(list, strings.Join(strings.Fields(comments.ReplaceAllString(definition, "")), " "))
	}
	return list, rows.Err()
}

// comments matches comments in the stored definitions. The comments may change.
var comments = regexp.MustCompile("--[^\n]*")

// expectedSchema returns the result of [schemaOf] for a new database.
func expectedSchema() ([]string, error) {
	conn, err := sql.Open("sqlite", "file::memory:?"+pragmas(false).Encode())
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	conn.SetMaxOpenConns(1)
	if err := create(conn); err != nil {
		return nil, err
	}
	return schemaOf(conn)
}
