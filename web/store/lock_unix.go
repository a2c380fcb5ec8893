//go:build unix

package store

import (
	"errors"
	"os"
	"syscall"
)

// tryLock locks a file, unless it is locked through another open file.
func tryLock(f *os.File) (free bool, err error) {
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
