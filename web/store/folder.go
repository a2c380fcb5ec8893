package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tokenbytoken/viz/infer/files"
)

// Only the user that runs the server may read the files.
const (
	folderMode fs.FileMode = 0o700
	fileMode   fs.FileMode = 0o600
)

// makeFolder creates a folder if it is missing. An existing folder keeps its mode, since it might
// be shared on purpose, and the files in it are private anyway.
func makeFolder(dir string) error {
	if err := os.MkdirAll(dir, folderMode); err != nil {
		return fmt.Errorf("creating the data folder: %w", err)
	}
	return nil
}

// private creates an empty file if it is missing, and removes the permissions of other
// users. SQLite gives the log and its index the same permissions.
func private(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Chmod(path, fileMode))
}

// files lists the files of the folder whose names match a pattern. [filepath.Glob] would
// fail if the folder's name contained a bracket.
func (db *DB) files(pattern string) (paths []string, err error) {
	list, err := os.ReadDir(db.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, file := range list {
		if fits, err := filepath.Match(pattern, file.Name()); err != nil {
			return nil, err
		} else if fits {
			paths = append(paths, filepath.Join(db.dir, file.Name()))
		}
	}
	return paths, nil
}

const (
	secretBytes = 32
	mostSecret  = 4 * secretBytes // in bytes; a longer file is not a secret
)

// secretLost is the prefix of all notices about a lost secret.
const secretLost = "The secret by which this server recognized its learners "

// readSecret reads the secret of the folder, or returns nil if there is none. An invalid file is
// set aside and replaced. From then on, every browser is treated as a new learner, while the
// earlier learners' data remains in the database.
func (db *DB) readSecret(now time.Time) ([]byte, error) {
	path := filepath.Join(db.dir, secretName)
	f, err := files.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, mostSecret))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if secret, ok := ParseSecret(string(text)); ok {
		return secret, os.Chmod(path, fileMode)
	}
	to := nameAside(path, now)
	notice := secretLost + "could not be read. The file was set aside as " + filepath.Base(to) +
		" in the data folder, and everyone starts over as a new learner. Saved progress files can be imported."
	if err := db.setAside(path, to, notice, now); err != nil {
		return nil, fmt.Errorf("%s is damaged and could not be set aside: %w", path, err)
	}
	return newSecret(path)
}

// ParseSecret parses the text of a cookie secret file: 64 hexadecimal digits.
func ParseSecret(text string) (secret []byte, ok bool) {
	secret, err := hex.DecodeString(strings.TrimSpace(text))
	return secret, err == nil && len(secret) == secretBytes
}

// makeSecret creates the secret of a folder that has none. This is the last step of creating a
// folder: if a folder has a secret, its database was complete at some point. If a database has been
// used but has no secret, the secret is lost, and a notice reports that.
func (db *DB) makeSecret(now time.Time) (err error) {
	if db.secret != nil {
		return nil
	}
	path := filepath.Join(db.dir, secretName)
	used, err := db.used(context.Background())
	if err != nil {
		return err
	}
	told := func(n Notice) bool { return strings.HasPrefix(n.Text, secretLost) }
	if used && !slices.ContainsFunc(db.notices, told) {
		notice := secretLost + "is missing: the data folder has no file " + secretName + ". A new one was made, and " +
			"everyone starts over as a new learner. Saved progress files can be imported. If there is a copy of the " +
			"file, stop the server and put it back so that browsers are recognized again."
		if err := db.announce(now, notice, path); err != nil {
			return err
		}
		db.notify(now, notice, path)
	}
	db.secret, err = newSecret(path)
	return err
}

// used reports whether the database has data of learners or rooms.
func (db *DB) used(ctx context.Context) (used bool, err error) {
	err = db.Read(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM owners WHERE kind IN ('learner', 'room'))").
			Scan(&used)
	})
	return used, err
}

// newSecret creates and saves a secret.
func newSecret(path string) ([]byte, error) {
	secret := make([]byte, secretBytes)
	rand.Read(secret) // never fails
	return secret, writeFile(path, []byte(hex.EncodeToString(secret)+"\n"))
}

// writeFile writes a private file. The file gets its name only once it is complete and on disk.
func writeFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+"-*") // created with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // unless it has been renamed
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// lock is held by the process that uses a folder. The operating system releases it when the
// process ends for any reason.
type lock struct{ file *os.File }

// acquireLock acquires the lock, or returns an error that names the process holding it.
func acquireLock(path string) (*lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, fmt.Errorf("cannot use the data folder: %w", err)
	}
	free, err := tryLock(f)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("locking %s: %w", path, err), f.Close())
	}
	if !free {
		who := holder(f)
		return nil, errors.Join(fmt.Errorf("%s is %w by another viz%s; stop it first, or choose "+
			"another folder with -data",
			filepath.Dir(path), ErrInUse, who), f.Close())
	}
	// The process id in the file is only informational.
	if err := f.Truncate(0); err == nil {
		fmt.Fprintf(f, "%d\n", os.Getpid())
	}
	return &lock{f}, nil
}

// holder describes the process that holds the lock, in words that can be appended to a message. It
// returns "" if the process is unknown.
func holder(f *os.File) string {
	var pid int
	if _, err := fmt.Fscanf(f, "%d\n", &pid); err != nil {
		return ""
	}
	return fmt.Sprintf(" (process %d)", pid)
}

func (l *lock) release() error { return l.file.Close() }
