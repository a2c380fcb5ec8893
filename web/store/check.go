package store

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"modernc.org/sqlite"
)

// Errors of [Open]; the message around them names the file and what to do.
var (
	ErrInUse   = errors.New("in use")
	ErrNewer   = errors.New("written by a newer program")
	ErrForeign = errors.New("not a database of this program")
)

// damaged is why a database cannot be used.
type damaged struct{ reason string }

func (d damaged) Error() string { return d.reason }

// check examines the database before anything writes to it, and moves it aside
// if it is damaged.
func (db *DB) check(path string, now time.Time) error {
	err := examine(path)
	var bad damaged
	switch {
	case err == nil:
		return nil
	case errors.As(err, &bad):
		to, err := setAside(path, now)
		if err != nil {
			return fmt.Errorf("%s is damaged (%s) and cannot be set aside: %w", path, bad.reason, err)
		}
		db.notify(now, "The saved data could not be read ("+bad.reason+"). The file was set aside, unchanged, as "+
			filepath.Base(to)+" in the data folder, and a new one was started.", to)
		return nil
	}
	return fmt.Errorf("%s: %w", path, err)
}

// examine returns nil for a database that can be used or is missing, a damaged
// for one that cannot be read, and otherwise why it must be refused. It changes
// nothing but the permissions of the file.
func examine(path string) error {
	if info, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(path + "-wal"); err == nil {
			return damaged{"the database is missing, only its log is there"} // SQLite would throw the log away
		}
		return nil
	} else if err != nil {
		return err
	} else if !info.Mode().IsRegular() {
		return errors.New("it is not a file")
	} else if err := os.Chmod(path, fileMode); err != nil { // before SQLite creates files with the same permissions
		return err
	}
	// A connection that only reads does not move the log into the database when
	// it closes. It does read the log, and so sees what was committed.
	conn, err := sql.Open(
		"sqlite", dsn(path, url.Values{"mode": {"ro"}, "_busy_timeout": {"5000"}, "_error_rc": {"1"}}),
	)
	if err != nil {
		return err
	}
	defer conn.Close()
	conn.SetMaxOpenConns(1)
	return asDamaged(examineOpen(conn))
}

func examineOpen(conn *sql.DB) error {
	var application, version int
	if err := conn.QueryRow("PRAGMA application_id").Scan(&application); err != nil {
		return err
	}
	if err := conn.QueryRow("PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	// This reads every page. The data of one class is checked in a few milliseconds.
	var verdict string
	if err := conn.QueryRow("PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return damaged{firstLine(verdict)}
	}
	found, err := columns(conn)
	if err != nil {
		return err
	}
	switch {
	case application == 0 && version == 0 && len(found) == 0:
		return nil // created and not finished
	case application != applicationID:
		return fmt.Errorf("%w: it belongs to another one; choose another folder with -data", ErrForeign)
	case version > len(migrations):
		return fmt.Errorf("%w: it has version %d and this program knows versions up to %d; use the newer program, or "+
			"another folder with -data",
			ErrNewer, version, len(migrations))
	}
	want, err := expected(version)
	if err != nil {
		return err
	}
	if !slices.Equal(found, want) {
		return damaged{"its tables are not those of version " + fmt.Sprint(version)}
	}
	return nil
}

// asDamaged turns SQLite's errors that mean damage into a damaged.
func asDamaged(err error) error {
	const corrupt, notADatabase = 11, 26 // SQLITE_CORRUPT, SQLITE_NOTADB: https://sqlite.org/rescode.html
	var failed *sqlite.Error
	if errors.As(err, &failed) {
		switch failed.Code() & 0xff { // the other bits are details
		case corrupt:
			return damaged{"the database is malformed"}
		case notADatabase:
			return damaged{"the file is not a database"}
		}
	}
	return err
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimPrefix(s, "*** in database main ***\n"), "\n")
	return line
}

// setAside moves a file, with the logs that belong to it, to an unused name with
// the date in it. It returns the new name of the file itself.
func setAside(path string, now time.Time) (to string, err error) {
	ext := filepath.Ext(path)
	stem := strings.TrimSuffix(path, ext) + "-damaged-" + now.Format("2006-01-02-150405")
	to = stem + ext
	for n := 2; taken(to); n++ {
		to = fmt.Sprintf("%s-%d%s", stem, n, ext)
	}
	// The database comes last: were it gone first and the move cut short, a new
	// database would find the old one's log and throw it away.
	for _, part := range []string{"-wal", "-shm", ""} {
		if err := os.Rename(path+part, to+part); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return to, nil
}

func taken(path string) bool {
	return slices.ContainsFunc([]string{"", "-wal", "-shm"}, func(part string) bool {
		_, err := os.Lstat(path + part)
		return !errors.Is(err, fs.ErrNotExist)
	})
}
