package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// The names of the files in the folder.
const (
	fileName   = "viz.db"
	lockName   = "lock"
	secretName = "cookie-secret"
)

// readers is the number of connections for reading. Queries take far less than a millisecond, so a
// few connections are enough for hundreds of people.
const readers = 4

// DB is an open database. Its methods can be called from any goroutine.
type DB struct {
	dir     string // "" in memory
	log     *slog.Logger
	write   *sql.DB // one connection
	read    *sql.DB // the same as write if the database is in memory
	lock    *lock
	secret  []byte
	notices []Notice
	rename  func(from, to string) error // [os.Rename], unless a test replaces it
	scrub   scrub
	copies  copies
	trouble trouble
	space   space

	pinned []pinned              // see inplace.go
	gone   atomic.Pointer[error] // an ErrGone, once a pinned file is missing
	ended  atomic.Bool           // Close has begun to remove the log

	stats    stats
	closed   sync.Once
	closeErr error
}

// Open opens the database of a folder, and creates the folder if it is missing. If dir is
// "", all data stays in memory until [DB.Close]. Data that is set aside is reported to log,
// which can be nil.
//
// Errors: [ErrInUse] if another process has the folder open, [ErrNewer] if the database was written
// by a newer version, [ErrOlder] if by an early one, [ErrForeign] if the file belongs to another
// program, and file system errors. If Open returns one of these errors, it has changed nothing.
func Open(dir string, log *slog.Logger) (*DB, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	db := &DB{log: log, rename: os.Rename, trouble: trouble{clock: time.Now}}
	open := db.openMemory
	if dir != "" {
		var err error
		if db.dir, err = filepath.Abs(dir); err != nil {
			return nil, err
		}
		open = func() error { return db.openFolder(time.Now()) }
	}
	if err := open(); err != nil {
		return nil, errors.Join(classify(err), db.Close())
	}
	return db, nil
}

// path returns the path of the database.
func (db *DB) path() string { return filepath.Join(db.dir, fileName) }

func (db *DB) openMemory() error {
	// Each connection to :memory: would be a separate database, so use only one.
	conn, err := sql.Open("sqlite", "file::memory:?"+pragmas(false).Encode())
	if err != nil {
		return err
	}
	conn.SetMaxOpenConns(1)
	db.write, db.read = conn, conn
	return create(conn)
}

// openFolder opens a folder; see [Open]. If it fails, the caller must close db.
func (db *DB) openFolder(now time.Time) error {
	err := makeFolder(db.dir)
	if err != nil {
		return err
	}
	if db.lock, err = acquireLock(filepath.Join(db.dir, lockName)); err != nil {
		return err
	}
	if err := removeDatabase(filepath.Join(db.dir, copyPart)); err != nil {
		return err
	}
	db.repeatAnnouncements()
	fresh := len(db.notices) > 0 // a start that was killed has begun a new database and reported why
	if db.secret, err = db.readSecret(now); err != nil {
		return err
	}
	list, err := db.allCopies()
	if err != nil {
		return err
	}
	fresh = fresh || db.secret == nil && len(list) == 0
	path := db.path()
	if err := db.finishSalvage(path, now); err != nil {
		return err
	}
	if err := db.check(path, now, fresh); err != nil {
		return err
	}
	if err := private(path); err != nil {
		return err
	}
	if err := db.connect(path); err != nil {
		return err
	}
	version, err := versionOf(db.write)
	if err == nil && version == 0 {
		err = create(db.write)
	} else if err == nil && version == priorVersion {
		err = mark(db.write)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := db.checkRows(now); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := db.makeSecret(now); err != nil {
		return err
	}
	if err := db.saveNotices(); err != nil {
		return err
	}
	if err := db.pin(path); err != nil {
		return err
	}
	aside, err := db.DamagedFiles()
	for _, a := range aside {
		db.log.Info("The damaged file will be deleted after 30 days.",
			"file", a.File, "on", a.Until().Format(time.DateOnly))
	}
	return err
}

func (db *DB) connect(path string) (err error) {
	if db.write, err = sql.Open("sqlite", dsn(path, pragmas(true))); err != nil {
		return err
	}
	db.write.SetMaxOpenConns(1)
	looking := pragmas(true)
	looking.Set("_query_only", "1")
	looking.Set("_txlock", "deferred")
	looking.Set("mode", "rw") // do not create a file
	if db.read, err = sql.Open("sqlite", dsn(path, looking)); err != nil {
		return err
	}
	db.read.SetMaxOpenConns(readers)
	db.read.SetMaxIdleConns(readers)
	return nil
}

const busyTimeout = 5 * time.Second

// pragmas returns the settings for every connection.
func pragmas(file bool) url.Values {
	v := url.Values{
		"_busy_timeout": {fmt.Sprint(busyTimeout.Milliseconds())}, // for tools that read the file while the server runs
		"_foreign_keys": {"1"},
		"_txlock":       {"immediate"}, // so that write transactions never have to be upgraded
		"_dqs":          {"0"},
		"_error_rc":     {"1"},
		// Deleted rows are overwritten with zeros, so that data that a learner deletes is gone.
		// Data is never written to temporary files.
		"_pragma": {"secure_delete(1)", "trusted_schema(0)", "cell_size_check(1)", "temp_store(memory)"},
	}
	if file {
		v.Set("_journal_mode", "WAL")
		v.Set("_synchronous", "FULL") // see the package comment
		v.Set("_defensive", "1")
	}
	return v
}

// dsn returns the data source name of a file.
func dsn(path string, settings url.Values) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/viz/viz.db
	}
	return (&url.URL{Scheme: "file", Path: path, OmitHost: true, RawQuery: settings.Encode()}).String()
}

// Write runs f in a transaction that can make changes. If Write returns nil, the changes are on
// disk, in the folder. If it returns an error, or if f panics, nothing has changed. [Why] explains
// disk errors. Writers run one at a time, so f must be short and must not call Write or Read.
func (db *DB) Write(ctx context.Context, f func(*sql.Tx) error) error {
	if db.write == nil {
		return ErrReadOnly
	}
	err := db.change(ctx, f)
	db.copies.noteChange() // after the commit, because a copy that was begun before it does not include the change
	return err
}

// change does the same as [DB.Write], for a change that copies do not need to include.
func (db *DB) change(ctx context.Context, f func(*sql.Tx) error) error {
	began := time.Now()
	err := db.writing(func() error { return inside(ctx, db.write, f) })
	db.stats.note(time.Since(began), err)
	return err
}

// Read runs f in a transaction that sees a single state of the database and cannot change
// anything.
func (db *DB) Read(ctx context.Context, f func(*sql.Tx) error) error {
	return inside(ctx, db.read, f)
}

func inside(ctx context.Context, conn *sql.DB, f func(*sql.Tx) error) error {
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("the database: %w", err)
	}
	defer tx.Rollback() // has no effect after a commit
	if err := f(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("the database: %w", err)
	}
	return nil
}

// EachRow calls f with the Scan function of every row of a query.
func EachRow(
	ctx context.Context, tx *sql.Tx, query string, f func(scan func(...any) error) error, args ...any,
) error {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Secret returns the key that signs cookies, which has 32 bytes and stays the same for the lifetime
// of the folder. It is nil if the database is in memory.
func (db *DB) Secret() []byte { return db.secret }

// InMemory reports whether the database is in memory only.
func (db *DB) InMemory() bool { return db.dir == "" }

// Close waits for running transactions, moves the write-ahead log into the database and
// releases the folder. A second call does nothing.
func (db *DB) Close() error {
	db.closed.Do(func() {
		var errs []error
		if db.write != nil {
			ctx, cancel := context.WithTimeout(context.Background(), closing)
			defer cancel()
			if err := db.lastScrub(ctx); err != nil { // closing the connections would not report errors
				db.log.Warn("failed to move the write-ahead log into the database", "error", err)
			}
			db.ended.Store(true)
			if db.read != nil && db.read != db.write {
				errs = append(errs, db.read.Close())
			}
			errs = append(errs, db.write.Close())
		} else if db.read != nil { // the database was opened only for reading
			errs = append(errs, db.read.Close())
		}
		if db.lock != nil {
			errs = append(errs, db.lock.release())
		}
		db.closeErr = errors.Join(errs...)
	})
	return db.closeErr
}

// closing is the longest time that Close waits for the last transaction.
const closing = 3 * time.Second
