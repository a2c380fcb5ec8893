// Package files opens files that users name: models, vocabularies, certificates. They must be
// regular files. Opening a named pipe blocks until another program writes to it, and opening a
// device can block or have side effects.
package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Open opens a regular file for reading, and rejects anything else without blocking. Errors
// are of type [*fs.PathError].
func Open(path string) (*os.File, error) {
	info, err := os.Stat(path) // so that a device is not even opened
	if err == nil {
		err = refuse(path, info)
	}
	if err != nil {
		return nil, err
	}
	return opened(path)
}

// opened is like Open, but does not check the file before opening it. It checks the opened file,
// since a file could be replaced between a check and the call that opens it.
func opened(path string) (*os.File, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = refuse(path, info)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func refuse(path string, info fs.FileInfo) error {
	if err := Regular(info); err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return nil
}

// Regular returns an error that names the kind of file, unless the file is regular.
func Regular(info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return errors.New("is a folder, not a file")
	case mode&fs.ModeNamedPipe != 0:
		return errors.New("is a named pipe, not a file")
	case mode&fs.ModeSocket != 0:
		return errors.New("is a socket, not a file")
	case mode&fs.ModeDevice != 0:
		return errors.New("is a device, not a file")
	}
	return errors.New("is not a regular file")
}

// Read reads a regular file of at most limit bytes.
func Read(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return limited(f, path, limit)
}

// limited reads a file of at most limit bytes.
func limited(f io.Reader, path string, limit int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("exceeds the limit of %d bytes", limit)}
	}
	return text, err
}

// Names returns at most the given number of names in a folder, in no particular order.
func Names(path string, most int) ([]string, error) {
	f, err := openFolder(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(most)
	if err == io.EOF { // an empty folder
		err = nil
	}
	return names, err
}

// Folder is like [os.DirFS], but the returned file system opens files with [Open].
func Folder(path string) fs.FS { return folder{os.DirFS(path), path} }

type folder struct {
	fs.FS
	path string
}

// Open implements [fs.FS].
func (d folder) Open(name string) (fs.File, error) {
	if name == "." {
		return openFolder(d.path)
	}
	local, err := filepath.Localize(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	f, err := Open(filepath.Join(d.path, local))
	if err != nil {
		return nil, within(name, err)
	}
	return f, nil
}

// within sets the path of an error to the name that the caller used.
func within(name string, err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		p.Path = name
	}
	return err
}

// Stat implements [fs.StatFS].
func (d folder) Stat(name string) (fs.FileInfo, error) { return fs.Stat(d.FS, name) }

// ReadDir implements [fs.ReadDirFS].
func (d folder) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(d.FS, name) }

// ReadLink implements [fs.ReadLinkFS].
func (d folder) ReadLink(name string) (string, error) { return fs.ReadLink(d.FS, name) }

// Lstat implements [fs.ReadLinkFS].
func (d folder) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(d.FS, name) }
