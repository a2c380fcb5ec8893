package store

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"strings"
)

// applicationID marks the file as one of this program's. It is "VIZ1" in the file's header.
const applicationID = 0x56495a31

// migrations lists the migrations that create the schema. They run one after another, and
// the file's user_version is the number of migrations that have run. Never change a released
// migration; add another one instead.
//
// Times are in milliseconds since 1970, in UTC. Learners are the anonymous ids in signed
// cookies.
var migrations = []string{
	`-- what was said about the data itself, and to whom
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

-- sections that were on the screen: "slug#id"
CREATE TABLE visits (
	learner  TEXT NOT NULL,
	section  TEXT NOT NULL,
	first_at INTEGER NOT NULL,
	last_at  INTEGER NOT NULL CHECK (last_at >= first_at),
	times    INTEGER NOT NULL CHECK (times >= 1),
	PRIMARY KEY (learner, section)
) STRICT, WITHOUT ROWID;

-- checks, quiz questions and exercises
CREATE TABLE answers (
	learner TEXT NOT NULL,
	id      TEXT NOT NULL, -- of the one who asks to keep it: the same again keeps nothing
	at      INTEGER NOT NULL,
	kind    TEXT NOT NULL CHECK (kind IN ('check', 'quiz', 'drill')),
	item    TEXT NOT NULL,
	credit  REAL NOT NULL CHECK (credit BETWEEN 0 AND 1),
	detail  TEXT NOT NULL,
	PRIMARY KEY (learner, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX answers_item ON answers (learner, item, at);

-- every review of a card; the log that cards can be worked out from again
CREATE TABLE reviews (
	learner TEXT NOT NULL,
	id      TEXT NOT NULL,
	at      INTEGER NOT NULL,
	card    TEXT NOT NULL,
	grade   INTEGER NOT NULL CHECK (grade BETWEEN 1 AND 4),
	PRIMARY KEY (learner, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX reviews_card ON reviews (learner, card, at);

-- where each reviewed card stands: follows from its reviews
CREATE TABLE cards (
	learner    TEXT NOT NULL,
	card       TEXT NOT NULL,
	due_at     INTEGER NOT NULL,
	last_at    INTEGER NOT NULL,
	stability  REAL NOT NULL, -- days
	difficulty REAL NOT NULL, -- 1 to 10
	reps       INTEGER NOT NULL, -- reviews so far
	lapses     INTEGER NOT NULL,
	state      INTEGER NOT NULL CHECK (state BETWEEN 1 AND 3), -- learning, review, relearning
	step       INTEGER NOT NULL, -- which short step
	interval   INTEGER NOT NULL, -- days, 0 within short steps
	PRIMARY KEY (learner, card)
) STRICT, WITHOUT ROWID;

-- guesses of the next token, without the text they were about
CREATE TABLE predictions (
	learner    TEXT NOT NULL,
	id         TEXT NOT NULL,
	at         INTEGER NOT NULL,
	confidence REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
	hit        INTEGER NOT NULL CHECK (hit IN (0, 1)), -- whether the guess was right
	score      REAL NOT NULL CHECK (score <= 0), -- nats
	PRIMARY KEY (learner, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE settings (
	learner TEXT NOT NULL,
	name    TEXT NOT NULL,
	value   TEXT NOT NULL,
	PRIMARY KEY (learner, name)
) STRICT, WITHOUT ROWID;`,

	`-- classes: deleting a room deletes all that belongs to it
CREATE TABLE rooms (
	code     TEXT PRIMARY KEY,
	secret   BLOB NOT NULL, -- SHA-256 of the instructor's
	begun_at INTEGER NOT NULL,
	used_at  INTEGER NOT NULL,
	seq      INTEGER NOT NULL, -- of its views, not below what was confirmed
	link     TEXT NOT NULL,    -- the stage, as a session link; '' before the first prompt
	data     TEXT NOT NULL     -- title, walkthrough, flags: JSON
) STRICT, WITHOUT ROWID;
CREATE TABLE room_texts ( -- what the class wrote before the text on the stage
	room   TEXT NOT NULL REFERENCES rooms(code) ON DELETE CASCADE,
	n      INTEGER NOT NULL,
	prompt TEXT NOT NULL,
	link   TEXT NOT NULL,
	PRIMARY KEY (room, n)
) STRICT, WITHOUT ROWID;
CREATE TABLE room_members (
	room     TEXT NOT NULL REFERENCES rooms(code) ON DELETE CASCADE,
	id       INTEGER NOT NULL,
	learner  TEXT NOT NULL,
	name     TEXT NOT NULL,
	nameless INTEGER NOT NULL CHECK (nameless IN (0, 1)), -- the instructor took the name away
	removed  INTEGER NOT NULL CHECK (removed IN (0, 1)),
	PRIMARY KEY (room, id),
	UNIQUE (room, learner)
) STRICT, WITHOUT ROWID;
CREATE TABLE room_polls (
	room TEXT NOT NULL REFERENCES rooms(code) ON DELETE CASCADE,
	id   INTEGER NOT NULL,
	data TEXT NOT NULL, -- JSON
	PRIMARY KEY (room, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE room_votes ( -- the one vote that counts of a member in a round
	room   TEXT NOT NULL,
	poll   INTEGER NOT NULL,
	round  INTEGER NOT NULL,
	member INTEGER NOT NULL,
	choice TEXT NOT NULL,
	u      REAL NOT NULL, -- of a draw
	sure   REAL NOT NULL, -- 0 is not said
	n      INTEGER NOT NULL, -- the voter's number: the highest counts
	PRIMARY KEY (room, poll, round, member),
	FOREIGN KEY (room, poll) REFERENCES room_polls(room, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;`,

	`-- logs of events, see web/journal
CREATE TABLE owners (
	id      INTEGER PRIMARY KEY,
	kind    TEXT NOT NULL,    -- 'learner' or 'room'
	name    TEXT NOT NULL,
	used_at INTEGER NOT NULL,
	first   INTEGER NOT NULL, -- no record of this log has a lower number
	last    INTEGER NOT NULL, -- and none a higher one
	records INTEGER NOT NULL,
	bytes   INTEGER NOT NULL,
	UNIQUE (kind, name)
) STRICT;
CREATE TABLE records (
	owner INTEGER NOT NULL REFERENCES owners(id) ON DELETE CASCADE,
	seq   INTEGER NOT NULL,
	type  TEXT NOT NULL,
	id    TEXT NOT NULL, -- of a type: the same again adds nothing
	data  TEXT NOT NULL, -- JSON
	PRIMARY KEY (owner, seq)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX records_id ON records (owner, type, id);
CREATE TABLE snapshots ( -- states that logs were folded into, so that it need not be done again
	owner   INTEGER PRIMARY KEY REFERENCES owners(id) ON DELETE CASCADE,
	version TEXT NOT NULL, -- of the fold
	seq     INTEGER NOT NULL, -- of the last record in it
	state   BLOB NOT NULL
) STRICT;
CREATE TABLE room_secrets (
	room TEXT PRIMARY KEY,  -- its code
	hash BLOB NOT NULL      -- SHA-256 of the instructor's secret
) STRICT, WITHOUT ROWID;`,

	`-- what learners did is in logs
DROP TABLE visits;
DROP TABLE answers;
DROP TABLE reviews;
DROP TABLE cards;
DROP TABLE predictions;
DROP TABLE settings;`,

	`-- what classes did is in logs
DROP TABLE room_votes;
DROP TABLE room_polls;
DROP TABLE room_members;
DROP TABLE room_texts;
DROP TABLE rooms;`,
}

// Versions of the schema at which tables are dropped, once the packages that define their
// contents have moved the contents into logs.
const (
	withLogs       = 3 // has logs and all earlier tables
	LearnersInLogs = 4
	RoomsInLogs    = 5 // learners are in logs too
)

// migrate upgrades a database to a version of the schema, in one transaction.
func migrate(conn *sql.DB, to int) error {
	return inside(context.Background(), conn, func(tx *sql.Tx) error {
		var version int
		if err := tx.QueryRow("PRAGMA user_version").Scan(&version); err != nil {
			return fmt.Errorf("read the version: %w", err)
		}
		for ; version < to; version++ {
			if _, err := tx.Exec(migrations[version]); err != nil {
				return fmt.Errorf("upgrade to version %d: %w", version+1, err)
			}
		}
		// PRAGMA accepts no parameters; both numbers are constants.
		_, err := tx.Exec(fmt.Sprintf("PRAGMA user_version = %d; PRAGMA application_id = %d", version, applicationID))
		return err
	})
}

// upgrade upgrades a database to the newest schema or, if its tables have not been migrated
// yet, as far as possible; see [DB.Before].
func (db *DB) upgrade() error {
	version, err := versionOf(db.write)
	switch {
	case err != nil:
		return err
	case version == 0:
		return migrate(db.write, len(migrations)) // there is nothing to migrate
	case version >= withLogs:
		return nil
	}
	return migrate(db.write, withLogs)
}

// versionOf returns the version of a database's schema. It is 0 for a new database.
func versionOf(conn *sql.DB) (version int, err error) {
	if err := conn.QueryRow("PRAGMA user_version").Scan(&version); err != nil {
		return 0, fmt.Errorf("read the version: %w", err)
	}
	return version, nil
}

// Before reports whether the database still has the tables that the schema no longer has
// from the given version on. If so, their contents must be moved into logs.
func (db *DB) Before(version int) (bool, error) {
	have, err := versionOf(db.read)
	return err == nil && have < version, err
}

// Carried drops the tables that the schema no longer has from the given version on. Their
// contents must have been moved into logs.
func (db *DB) Carried(version int) error { return migrate(db.write, version) }

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

// comments matches comments in the stored definitions, which may change.
var comments = regexp.MustCompile("--[^\n]*")

// expected returns the result of [schemaOf] for a version.
func expected(version int) ([]string, error) {
	conn, err := memory(version)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return schemaOf(conn)
}
