package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// If a file is deleted or renamed, SQLite continues to write into it, and the data would be lost
// after a restart. Before each write, and again before confirming it, the store therefore checks
// that the files are still where they were opened. Once a file is missing, the store refuses writes
// until a restart, even if the file reappears, since another server might have used it in the
// meantime. Reading continues.
//
// On Windows, open files cannot be deleted or renamed. The store therefore only checks that the
// path still refers to a file, since the disk might be gone.

// pinned is a file that must stay in place while the database is open.
type pinned struct {
	path string
	info fs.FileInfo
}

// pin records the files of the folder. It opens all connections first, since a connection that is
// opened later might find different files, or none. As long as the connections are open, SQLite
// does not replace the write-ahead log.
func (db *DB) pin(path string) error {
	var open []*sql.Conn
	defer func() {
		for _, conn := range open {
			conn.Close() // returns the connection to the pool
		}
	}()
	for range readers {
		conn, err := db.read.Conn(context.Background())
		if err != nil {
			return err
		}
		open = append(open, conn)
		// A connection does not open the files until it runs a query.
		if err := conn.QueryRowContext(context.Background(), "PRAGMA schema_version").Scan(new(int)); err != nil {
			return err
		}
	}
	for _, name := range []string{path, path + "-wal", filepath.Join(db.dir, lockName)} {
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		db.pinned = append(db.pinned, pinned{name, info})
	}
	return nil
}

// inPlace returns an [ErrGone] if a pinned file has been deleted, renamed or replaced.
func (db *DB) inPlace() error {
	if gone := db.gone.Load(); gone != nil {
		return *gone
	}
	if db.ended.Load() {
		return nil
	}
	for _, f := range db.pinned {
		info, err := os.Stat(f.path)
		switch {
		case err == nil && (runtime.GOOS == "windows" || os.SameFile(f.info, info)):
			continue
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("%w: %w", ErrDisk, err)
		}
		gone := fmt.Errorf("%w: %s", ErrGone, f.path)
		if db.gone.CompareAndSwap(nil, &gone) {
			db.log.Error("A file in the data folder was deleted, moved or replaced while the server was running. "+
				"Nothing will be saved until the server is restarted.", "file", f.path)
		}
		return gone
	}
	return nil
}

// writing runs f, which writes with the write connection. It returns nil only if f succeeds and the
// database was in place both before and afterward. [Why] explains the errors.
func (db *DB) writing(f func() error) error {
	err := db.inPlace()
	if err == nil {
		err = classify(f())
	}
	if err == nil {
		err = db.inPlace()
	}
	if errors.Is(err, ErrFull) { // make space for the next write
		if err := db.pruneCopies(1); err != nil {
			db.log.Warn("failed to delete old copies of the database", "error", err)
		}
	}
	db.setTrouble(err)
	return err
}

// Ready returns an error that explains why the database does not accept writes, or nil if it does.
// If the last write failed, Ready tries a small one, at most once a second.
func (db *DB) Ready(ctx context.Context) error {
	if err := db.inPlace(); err != nil {
		return err
	}
	db.trouble.Lock()
	last, due := db.trouble.err, db.trouble.clock().After(db.trouble.next)
	if last != nil && due {
		db.trouble.next = db.trouble.clock().Add(probeEvery)
	}
	db.trouble.Unlock()
	if last == nil || !due {
		return last
	}
	// Write a row that needs several pages, to check whether there is enough space.
	return db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO notices (id, at, text) VALUES (-1, 0, printf('%.*c', ?, 'x'));
			DELETE FROM notices WHERE id = -1`, probeBytes)
		return err
	})
}
