package checkpoint

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/tokenbytoken/viz/infer/files"
)

// missingFile is the error for a file that a model folder lacks. It unwraps to fs.ErrNotExist.
type missingFile struct{ name, hint string }

func (e missingFile) Error() string { return "model folder has no " + e.name + e.hint }
func (e missingFile) Unwrap() error { return fs.ErrNotExist }

// openFile opens a regular file in the model folder and returns its size. It rejects anything else
// without opening it.
func openFile(fsys fs.FS, name string) (fs.File, int64, error) {
	info, err := fs.Stat(fsys, name)
	if err == nil {
		if err = files.Regular(info); err != nil {
			return nil, 0, fmt.Errorf("%s: %w", name, err)
		}
	} else if errors.Is(err, fs.ErrNotExist) && linked(fsys, name) {
		return nil, 0, fmt.Errorf("%s is a broken link; the download may be incomplete", name)
	}
	f, err := fsys.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, missingFile{name: name}
	}
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", name, err)
	}
	if info, err = f.Stat(); err == nil {
		err = files.Regular(info) // the file may have changed since it was checked
	}
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("%s: %w", name, err), f.Close())
	}
	return f, info.Size(), nil
}

// linked reports whether name is a link, even if its target is missing.
func linked(fsys fs.FS, name string) bool {
	info, err := fs.Lstat(fsys, name)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// readFile reads a descriptive file of at most limit bytes.
func readFile(fsys fs.FS, name string, limit int64) ([]byte, error) {
	f, size, err := openFile(fsys, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var buffer bytes.Buffer
	if size <= limit {
		buffer.Grow(int(max(size, 0)) + bytes.MinRead) // growing it later would leave copies behind
		// The file may have grown since Stat, or may report a wrong size.
		_, err = buffer.ReadFrom(io.LimitReader(f, limit+1))
		size = max(size, int64(buffer.Len()))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if size > limit {
		return nil, fmt.Errorf("%s has %d bytes, which exceeds the limit of %d", name, size, limit)
	}
	text := buffer.Bytes()
	if kind, known := identify(name, text[:min(headBytes, len(text))]); known {
		return nil, foreignFile{name, kind}
	}
	return text, nil
}

// readOptional is like readFile, but returns nil if the file is missing.
func readOptional(fsys fs.FS, name string, limit int64) ([]byte, error) {
	text, err := readFile(fsys, name, limit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

// openPart opens a weight file. Files that allow random access, such as operating-system files and
// embedded files, are read in place; any other file is read into memory.
func openPart(fsys fs.FS, name string) (shard, error) {
	f, size, err := openFile(fsys, name)
	if err != nil {
		return shard{}, err
	}
	p := shard{name: name, Closer: f, size: size}
	if r, ok := f.(io.ReaderAt); ok {
		p.ReaderAt = r
	} else if c, err := readChunks(f, size); err == nil {
		p.ReaderAt = c
	} else {
		return shard{}, errors.Join(fmt.Errorf("%s: %w", name, err), f.Close())
	}
	if err := checkHead(name, p, size); err != nil {
		return shard{}, errors.Join(err, f.Close())
	}
	return p, nil
}

// chunkBytes is the size of the chunks that hold a file without random access. With chunks, a wrong
// file size wastes at most one chunk of memory.
const chunkBytes = 1 << 20

// chunks is a file in memory: full chunks of chunkBytes bytes, then a shorter chunk.
type chunks [][]byte

// readChunks reads all of r, which must contain exactly size bytes.
func readChunks(r io.Reader, size int64) (chunks, error) {
	var c chunks
	for {
		piece := make([]byte, chunkBytes)
		n, err := io.ReadFull(r, piece)
		c = append(c, piece[:n])
		switch {
		case c.size() > size:
			return nil, fmt.Errorf("unexpected data after the stated size of %d bytes", size)
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			if c.size() < size {
				return nil, fmt.Errorf("unexpected end of file after %d of %d bytes", c.size(), size)
			}
			return c, nil
		case err != nil:
			return nil, err
		}
	}
}

func (c chunks) size() int64 {
	return int64(len(c)-1)*chunkBytes + int64(len(c[len(c)-1]))
}

// ReadAt implements io.ReaderAt.
func (c chunks) ReadAt(p []byte, at int64) (n int, err error) {
	if at < 0 {
		return 0, errors.New("negative offset")
	}
	for n < len(p) && at < c.size() {
		m := copy(p[n:], c[at/chunkBytes][at%chunkBytes:])
		n += m
		at += int64(m)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
