package store

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tokenbytoken/viz/infer/files"
)

// Only the user who runs the server may read the files.
const (
	folderMode fs.FileMode = 0o700
	fileMode   fs.FileMode = 0o600
)

// makeFolder creates a folder if it is missing. An existing one keeps its mode:
// it may be meant to be shared, and the files in it are private anyway.
func makeFolder(dir string) error {
	if err := os.MkdirAll(dir, folderMode); err != nil {
		return fmt.Errorf("the data folder cannot be created: %w", err)
	}
	return nil
}

// private creates an empty file if it is missing, and removes everybody else's
// permissions. SQLite gives the log and its index the permissions of the file.
func private(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Chmod(path, fileMode))
}

// files lists the files of the folder whose names match a pattern. [filepath.Glob]
// would not find them in a folder that has a bracket in its name.
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

const secretBytes = 32

// readSecret reads the secret of the folder, or makes one. A file that is not a
// secret is set aside: browsers are new learners then, and what the old ones did
// stays in the database.
func (db *DB) readSecret(now time.Time) ([]byte, error) {
	path := filepath.Join(db.dir, secretName)
	f, err := files.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return newSecret(path)
	} else if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, 4*secretBytes)) // more is no secret
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if secret, ok := ParseSecret(string(text)); ok {
		return secret, os.Chmod(path, fileMode)
	}
	to := nameAside(path, now)
	notice := "The secret by which this server recognized its learners could not be read. The file was set " +
		"aside as " + filepath.Base(to) + " in the data folder, and everybody starts as a new learner. Saved " +
		"progress files can be imported."
	if err := db.setAside(path, to, notice, now); err != nil {
		return nil, fmt.Errorf("%s is damaged and cannot be set aside: %w", path, err)
	}
	return newSecret(path)
}

// ParseSecret reads the text of a file with a secret for cookies: 64 hexadecimal digits.
func ParseSecret(text string) (secret []byte, ok bool) {
	secret, err := hex.DecodeString(strings.TrimSpace(text))
	return secret, err == nil && len(secret) == secretBytes
}

// newSecret makes a secret.
func newSecret(path string) ([]byte, error) {
	secret := make([]byte, secretBytes)
	rand.Read(secret) // never fails
	return secret, writeFile(path, []byte(hex.EncodeToString(secret)+"\n"))
}

// writeFile writes a private file whole, and to the disk, before it has its name.
func writeFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+"-*") // of mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // if it was not renamed
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// lock is held by the one process that uses a folder. The operating system
// releases it when the process ends in any way.
type lock struct{ file *os.File }

// acquireLock acquires the lock, or says which process holds it.
func acquireLock(path string) (*lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, fmt.Errorf("the data folder cannot be used: %w", err)
	}
	free, err := tryLock(f)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s cannot be locked: %w", path, err), f.Close())
	}
	if !free {
		who := holder(f)
		return nil, errors.Join(fmt.Errorf("%s is %w by another viz%s; stop it first, or choose "+
			"another folder with -data",
			filepath.Dir(path), ErrInUse, who), f.Close())
	}
	// The process id is only for people to read.
	if err := f.Truncate(0); err == nil {
		fmt.Fprintf(f, "%d\n", os.Getpid())
	}
	return &lock{f}, nil
}

// holder says which process holds the lock, as text to append; "" if unknown.
func holder(f *os.File) string {
	var pid int
	if _, err := fmt.Fscanf(f, "%d\n", &pid); err != nil {
		return ""
	}
	return fmt.Sprintf(" (process %d)", pid)
}

func (l *lock) release() error { return l.file.Close() }
