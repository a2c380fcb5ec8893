package files

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Inside is a folder that confines reads to itself: it follows links within the folder and rejects
// links that lead out of it.
type Inside struct{ root *os.Root }

// OpenInside opens a folder. Close it after use.
func OpenInside(path string) (*Inside, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &Inside{root}, nil
}

// Close closes the folder.
func (d *Inside) Close() error { return d.root.Close() }

// Names returns the entries of the folder called name, where "." is d itself. If there are more
// than `most` entries, it returns an error.
func (d *Inside) Names(name string, most int) ([]fs.DirEntry, error) {
	f, err := d.root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, err := f.ReadDir(most + 1)
	if err == io.EOF { // an empty folder
		err = nil
	}
	if err == nil && len(list) > most {
		err = &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("contains more than %d files", most)}
	}
	return list, err
}

// Read reads a regular file of at most limit bytes. It never blocks on a file of any other kind.
func (d *Inside) Read(name string, limit int64) ([]byte, error) {
	info, err := d.root.Stat(name) // so that a device is not even opened
	if err == nil {
		err = refuse(name, info)
	}
	if err != nil {
		return nil, err
	}
	f, err := d.root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err == nil { // the file might have been replaced
		err = refuse(name, info)
	}
	if err != nil {
		return nil, err
	}
	return limited(f, name, limit)
}
