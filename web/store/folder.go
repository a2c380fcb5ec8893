package store

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// What is kept is the learners' alone: nobody else on the machine may read it.
const (
	folderMode fs.FileMode = 0o700
	fileMode   fs.FileMode = 0o600
)

// makeFolder makes a folder where there is none. One that is there keeps its
// mode: it may be meant to be shared, and its files are private anyway.
func makeFolder(dir string) error {
	if err := os.MkdirAll(dir, folderMode); err != nil {
		return fmt.Errorf("the data folder cannot be made: %w", err)
	}
	return nil
}

// private makes an empty file where there is none and takes away everybody
// else's rights. SQLite gives the log and its index the rights of the file.
func private(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Chmod(path, fileMode))
}

const secretBytes = 32

// readSecret reads the secret of the folder, or makes it where there is none.
// One that is not a secret is set aside: browsers are new learners then, and what
// the old ones kept stays in the database.
func (db *DB) readSecret(now time.Time) ([]byte, error) {
	path := filepath.Join(db.dir, secretName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return newSecret(path)
	} else if err != nil {
		return nil, err
	}
	secret, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err == nil && len(secret) == secretBytes {
		return secret, os.Chmod(path, fileMode)
	}
	to, err := setAside(path, now)
	if err != nil {
		return nil, fmt.Errorf("%s is damaged and cannot be set aside: %w", path, err)
	}
	db.tell(now, "The secret by which this server knew its learners could not be read. The file is set aside as "+
		filepath.Base(to)+" in the data folder, and everybody is a new learner; a saved progress file can be imported.",
		to)
	return newSecret(path)
}

// newSecret makes a secret and writes it whole before it has its name.
func newSecret(path string) ([]byte, error) {
	secret := make([]byte, secretBytes)
	rand.Read(secret)                                            // never fails
	f, err := os.CreateTemp(filepath.Dir(path), secretName+"-*") // of mode 0600
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name()) // where it was not renamed
	_, err = f.WriteString(hex.EncodeToString(secret) + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return nil, err
	}
	return secret, os.Rename(f.Name(), path)
}

// lock is held by the one process that uses a folder. The operating system
// takes it back when the process ends, however that comes.
type lock struct{ file *os.File }

// takeLock takes the lock or says who has it.
func takeLock(path string) (*lock, error) {
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
	// Who has it is only for people to read.
	if err := f.Truncate(0); err == nil {
		fmt.Fprintf(f, "%d\n", os.Getpid())
	}
	return &lock{f}, nil
}

// holder reads who has the lock, in words to append; "" where it is not told.
func holder(f *os.File) string {
	var pid int
	if _, err := fmt.Fscanf(f, "%d\n", &pid); err != nil {
		return ""
	}
	return fmt.Sprintf(" (process %d)", pid)
}

func (l *lock) release() error { return l.file.Close() }
