package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Backup writes the database of a folder to a new file, even while a server is using it, and
// returns the file's size. The file is a consistent copy that includes everything committed before
// the call. When Backup returns, the file is complete and on disk. Only the current user can read
// it. After an error, no file is left behind.
//
// Errors: [fs.ErrExist] if a file with that name exists, and the errors of [OpenToRead].
func Backup(ctx context.Context, dir, to string) (bytes int64, err error) {
	db, err := OpenToRead(dir)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return 0, errors.Join(err, fmt.Errorf("%s: %w", to, fs.ErrExist))
	}
	part, err := os.CreateTemp(filepath.Dir(to), filepath.Base(to)+".part-*") // created with mode 0600
	if err != nil {
		return 0, err
	}
	defer os.Remove(part.Name())
	defer part.Close()
	if err := vacuumInto(ctx, db.read, part.Name()); err != nil {
		return 0, err
	}
	info, err := part.Stat()
	if err = errors.Join(err, part.Close()); err != nil { // Windows cannot rename open files
		return 0, err
	}
	if err := publish(part.Name(), to); err != nil {
		return 0, err
	}
	return info.Size(), syncFolder(filepath.Dir(to))
}

// vacuumInto copies a database, without deleted rows, to an empty file. When it returns, the copy
// is intact and on disk.
func vacuumInto(ctx context.Context, conn *sql.DB, to string) error {
	if _, err := conn.ExecContext(ctx, "VACUUM INTO ?", to); err != nil {
		return fmt.Errorf("copying the database: %w", err)
	}
	if err := checkBackup(ctx, to); err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// checkBackup checks that a copy is intact.
func checkBackup(ctx context.Context, path string) error {
	conn, err := openToRead(path)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := examineOpen(ctx, conn, false); err != nil {
		return fmt.Errorf("the copy is damaged: %w", err)
	}
	return nil
}

// publish renames a file unless the new name is already taken.
func publish(from, to string) error {
	err := os.Link(from, to)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	// The file system does not support hard links, as on many memory sticks, so claim the name
	// first.
	claim, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	if err := errors.Join(claim.Close(), os.Rename(from, to)); err != nil {
		return errors.Join(err, os.Remove(to))
	}
	return nil
}

// syncFolder makes sure that a new name in a folder is on disk, if the system allows opening
// folders.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = f.Sync() // not supported on every system
	return f.Close()
}
