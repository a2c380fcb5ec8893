package tab

import (
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tokenbytoken/viz/infer/checkpoint"
)

// Files are the files of a model, by name. They are either the site's downloaded files or a
// visitor's own files on disk.
type Files map[string]Source

// A Source provides a file's bytes.
type Source interface {
	io.ReaderAt
	Size() int64
}

// Open implements [fs.FS].
func (f Files) Open(name string) (fs.File, error) {
	if from, ok := f[name]; ok {
		open := &file{io.NewSectionReader(from, 0, from.Size()), path.Base(name)}
		if sum, ok := from.(checkpoint.Summed); ok {
			return summedFile{open, sum}, nil
		}
		return open, nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// ReadDir implements [fs.ReadDirFS]. There are no folders except the top one.
func (f Files) ReadDir(name string) ([]fs.DirEntry, error) {
	if name != "." {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	var list []fs.DirEntry
	for _, name := range slices.Sorted(maps.Keys(f)) {
		list = append(list, fs.FileInfoToDirEntry(&file{io.NewSectionReader(nil, 0, f[name].Size()), name}))
	}
	return list, nil
}

// Bytes returns the total size of all files.
func (f Files) Bytes() (n int64) {
	for _, from := range f {
		n += from.Size()
	}
	return n
}

// A file is an open file and its own [fs.FileInfo].
type file struct {
	*io.SectionReader
	name string
}

func (f *file) Stat() (fs.FileInfo, error) { return f, nil }
func (f *file) Close() error               { return nil }
func (f *file) Name() string               { return f.name }
func (f *file) Mode() fs.FileMode          { return 0o444 }
func (f *file) ModTime() time.Time         { return time.Time{} }
func (f *file) IsDir() bool                { return false }
func (f *file) Sys() any                   { return nil }

// A summedFile is a file whose SHA-256 hash the browser has computed.
type summedFile struct {
	*file
	checkpoint.Summed
}

// chunkBytes is the number of bytes fetched from a file on disk at a time.
const chunkBytes = 1 << 20

// chunks reads a file that can only be fetched in chunks. Since each fetch is slow, chunks are
// large, and a chunk is kept until a different one is needed. Only one chunk is in memory at any
// time, whatever the size of the file.
type chunks struct {
	size  int64
	fetch func(from, to int64) ([]byte, error) // returns the bytes in [from, to)
	read  func(n int)                          // called with the number of bytes fetched

	mu   sync.Mutex
	at   int64 // offset of the chunk
	data []byte
}

// Size implements [Source].
func (p *chunks) Size() int64 { return p.size }

// ReadAt implements [io.ReaderAt].
func (p *chunks) ReadAt(b []byte, at int64) (n int, err error) {
	if at < 0 {
		return 0, fs.ErrInvalid
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for n < len(b) && at < p.size {
		if at < p.at || at >= p.at+int64(len(p.data)) {
			from := at - at%chunkBytes
			to := min(from+chunkBytes, p.size)
			if p.data, err = p.fetch(from, to); err != nil {
				p.data = nil
				return n, err
			}
			if int64(len(p.data)) != to-from {
				p.data = nil
				return n, io.ErrUnexpectedEOF // the file has changed on disk
			}
			p.at = from
			p.read(len(p.data))
		}
		m := copy(b[n:], p.data[at-p.at:])
		n, at = n+m, at+int64(m)
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// topOf returns the name of a file within the folder that a visitor has chosen, and reports whether
// the file is at the top of that folder: "folder/config.json" is config.json.
func topOf(chosen string) (name string, top bool) {
	_, rest, inFolder := strings.Cut(chosen, "/")
	if !inFolder {
		return chosen, chosen != ""
	}
	return rest, rest != "" && !strings.Contains(rest, "/")
}
