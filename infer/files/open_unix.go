//go:build unix

package files

import (
	"io/fs"
	"os"
	"syscall"
)

// nonblock is the flag for opening a pipe without waiting for its other end.
const nonblock = syscall.O_NONBLOCK

// open opens a file of any kind without blocking. Reading from the returned file blocks as usual.
func open(path string) (*os.File, error) { return openWith(path, 0) }

// openFolder opens a folder. For any other kind of file, it returns an error.
func openFolder(path string) (*os.File, error) { return openWith(path, syscall.O_DIRECTORY) }

func openWith(path string, flags int) (*os.File, error) {
	flags |= syscall.O_RDONLY | syscall.O_NONBLOCK | syscall.O_NOCTTY | syscall.O_CLOEXEC
	fd, err := syscall.Open(path, flags, 0)
	for err == syscall.EINTR { // interrupted by a signal
		fd, err = syscall.Open(path, flags, 0)
	}
	if err == nil {
		if err = syscall.SetNonblock(fd, false); err != nil {
			syscall.Close(fd)
		}
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}
