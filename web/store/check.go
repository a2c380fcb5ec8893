package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Errors of [Open]. They are wrapped in a message that names the file and says what to do.
var (
	ErrInUse   = errors.New("in use")
	ErrNewer   = errors.New("written by a newer version of this program")
	ErrOlder   = errors.New("written by an early version of this program")
	ErrForeign = errors.New("not a database created by this program")
)

// damaged is the error for a damaged database.
type damaged struct{ reason string }

func (d damaged) Error() string { return d.reason }

// check examines the database before anything is written to it. If the database is damaged, it is
// moved aside, and a new one takes its place. If it is missing although the folder is not fresh,
// its newest copy takes its place. Notices report both.
func (db *DB) check(path string, now time.Time, fresh bool) error {
	err := examine(path, fresh)
	var bad damaged
	switch {
	case err == nil && !fresh && !taken(path):
		return db.replaceMissing(path, now)
	case err == nil:
		return nil
	case errors.As(err, &bad):
		return db.replaceDamaged(path, bad.reason, now)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// examine returns nil if the database can be used or is missing, and a damaged error if it cannot
// be read. If the database must be refused for another reason, it returns that reason. It changes
// nothing except the permissions of the file. The database may be empty only in a fresh folder.
func examine(path string, fresh bool) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(path + "-wal"); err == nil {
			return damaged{"the database is missing; only its log exists"} // SQLite would delete the log
		}
		return nil
	} else if err != nil {
		return err
	} else if !info.Mode().IsRegular() {
		return errors.New("not a regular file")
	} else if err := os.Chmod(path, fileMode); err != nil { // before SQLite creates files with the same permissions
		return err
	} else if err := examineSize(path, info.Size(), fresh); err != nil {
		return err
	} else if err := examineHeader(path); err != nil {
		return err
	}
	// A read-only connection does not move the log into the database when it is closed. It does
	// read the log, and therefore sees all commits.
	conn, err := sql.Open(
		"sqlite", dsn(path, url.Values{"mode": {"ro"}, "_busy_timeout": {"5000"}, "_error_rc": {"1"}}),
	)
	if err != nil {
		return err
	}
	defer conn.Close()
	conn.SetMaxOpenConns(1)
	return asDamaged(examineOpen(context.Background(), conn, fresh))
}

// leastPage is the smallest page size of a database.
const leastPage = 512

// examineSize detects files that SQLite would overwrite because it mistakes them for empty
// databases.
func examineSize(path string, size int64, fresh bool) error {
	switch log, err := os.Stat(path + "-wal"); {
	case size >= leastPage:
		return nil
	case size > 0:
		return damaged{"the file is truncated"}
	case err == nil && log.Size() > 0:
		return damaged{"the database is empty; only its log has data"}
	case fresh:
		return nil // created, but not completed
	}
	return damaged{"the file is empty"}
}

// examineHeader detects damage that SQLite does not report: numbers in the header that make a file
// read-only or seem to come from a later SQLite version.
func examineHeader(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var h [100]byte
	if _, err := f.ReadAt(h[:], 0); err != nil || binary.BigEndian.Uint32(h[68:]) != applicationID {
		return nil // SQLite reports files that are too short or belong to another program
	}
	const legacy, wal, newest, utf8 = 1, 2, 4, 1 // https://sqlite.org/fileformat2.html#the_database_header
	format, encoding := binary.BigEndian.Uint32(h[44:]), binary.BigEndian.Uint32(h[56:])
	if h[18] < legacy || h[18] > wal || h[19] != h[18] || format > newest || encoding > utf8 {
		return damaged{"its header is invalid"}
	}
	return nil
}

// integrityPages is the maximum size, in pages, of a database whose indexes are also checked. That
// is 256 MiB.
const integrityPages = 1 << 16

func examineOpen(ctx context.Context, conn *sql.DB, fresh bool) error {
	var application, version int
	if err := conn.QueryRowContext(ctx, "PRAGMA application_id").Scan(&application); err != nil {
		return err
	}
	if err := conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version > 0 && version < schemaVersion {
		if old, err := oldTables(conn); err != nil || old {
			return cmp.Or(err, older(version))
		}
	}
	// This reads every page, which takes a few milliseconds for the data of one class.
	var pages int
	if err := conn.QueryRowContext(ctx, "PRAGMA page_count").Scan(&pages); err != nil {
		return err
	}
	thorough := "integrity_check(1)" // takes longer, because it also compares indexes with their tables
	if pages > integrityPages {
		thorough = "quick_check(1)"
	}
	var verdict string
	if err := conn.QueryRowContext(ctx, "PRAGMA "+thorough).Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return damaged{firstLine(verdict)}
	}
	found, err := schemaOf(conn)
	if err != nil {
		return err
	}
	switch {
	case application == 0 && version == 0 && len(found) == 0 && fresh:
		return nil // created, but not completed
	case application == 0 && version == 0 && len(found) == 0:
		return damaged{"it contains no tables"}
	case application != applicationID && !flipped(application, applicationID):
		return foreign()
	case version > schemaVersion && !flipped(version, schemaVersion):
		return newer(version)
	}
	want, err := expectedSchema()
	switch same := err == nil && slices.Equal(found, want); {
	case err != nil:
		return err
	case version > schemaVersion && !same:
		return newer(version)
	case application != applicationID && !same:
		return foreign()
	case version == priorVersion && application == applicationID && same:
		return nil // opening it for writing converts it
	case !same:
		return damaged{"its tables do not match version " + fmt.Sprint(schemaVersion)}
	case version != schemaVersion || application != applicationID:
		return damaged{"its header has a wrong bit"}
	}
	return nil
}

func foreign() error {
	return fmt.Errorf("%w: it was created by another program; choose another folder with -data", ErrForeign)
}

func newer(version int) error {
	return fmt.Errorf("%w: the database has version %d, but this program reads version %d; use the newer "+
		"program, or choose another folder with -data", ErrNewer, version, schemaVersion)
}

func older(version int) error {
	return fmt.Errorf("%w: the database has version %d, but this program reads only versions %d and %d; "+
		"start a version from November 2026 once to convert it, or choose another folder with -data",
		ErrOlder, version, priorVersion, schemaVersion)
}

// flipped reports whether a number in the header differs from the expected one in exactly one bit.
// If all tables are as expected, such a difference indicates damage.
func flipped(got, want int) bool { return bits.OnesCount32(uint32(got)^uint32(want)) == 1 }

// brokenRule reports whether a row was refused because it violates a constraint of its table.
func brokenRule(err error) bool {
	const constraint, mismatch, tooBig = 19, 20, 18 // https://sqlite.org/rescode.html
	code, ok := resultCode(err)
	return ok && slices.Contains([]int{constraint, mismatch, tooBig}, code&0xff)
}

// asDamaged converts an SQLite error that indicates damage to a damaged error.
func asDamaged(err error) error {
	const corrupt, notADatabase, shortRead = 11, 26, 522 // https://sqlite.org/rescode.html
	if code, ok := resultCode(err); ok {
		if code == shortRead { // SQLITE_IOERR_SHORT_READ
			return damaged{"the file is truncated"}
		}
		switch code & 0xff { // the other bits contain details
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

// nameAside returns an unused name for a file that is to be set aside. The name contains the date.
func nameAside(path string, now time.Time) string {
	ext := filepath.Ext(path)
	stem := strings.TrimSuffix(path, ext) + "-damaged-" + now.Format("2006-01-02-150405")
	to := stem + ext
	for n := 2; taken(to); n++ {
		to = fmt.Sprintf("%s-%d%s", stem, n, ext)
	}
	return to
}

// setAside moves a file, including its logs, to a name from [nameAside] and records a
// notice.
func (db *DB) setAside(path, to, notice string, now time.Time) error {
	if err := db.announce(now, notice, to); err != nil {
		return err
	}
	if err := db.move(path, to); err != nil {
		return err
	}
	db.notify(now, notice, to)
	return nil
}

// move renames a database and its logs. It renames the database first: as long as the database has
// its original name, the log with the newest commits must stay next to it. If a log is left behind,
// finishSalvage or examine finds it.
func (db *DB) move(path, to string) error {
	for _, part := range []string{"", "-wal", "-shm"} {
		if err := db.rename(path+part, to+part); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// removeDatabase deletes a database and its logs.
func removeDatabase(path string) error {
	var errs []error
	for _, part := range []string{"-journal", "-wal", "-shm", ""} {
		if err := os.Remove(path + part); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func taken(path string) bool {
	return slices.ContainsFunc([]string{"", "-wal", "-shm"}, func(part string) bool {
		_, err := os.Lstat(path + part)
		return !errors.Is(err, fs.ErrNotExist)
	})
}
