package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// Limits on the index of weights that are split over several files.
const (
	indexFile     = weightsFile + ".index.json"
	maxIndexBytes = 16 << 20
	maxShards     = 1 << 10
)

// A part is one file of the weights, of which it takes the bytes from base on.
type part struct {
	name string
	io.ReaderAt
	io.Closer
	base, size int64
}

// weights is random access to all files with weights as if they were one, one
// behind the other.
type weights struct {
	parts []part
	size  int64
}

// add puts a file behind those there are.
func (w *weights) add(p part) {
	p.base = w.size
	w.size += p.size
	w.parts = append(w.parts, p)
}

// ReadAt implements io.ReaderAt.
func (w *weights) ReadAt(b []byte, at int64) (n int, err error) {
	for _, p := range w.parts {
		if from := at + int64(n) - p.base; n < len(b) && from >= 0 && from < p.size {
			want := b[n:min(int64(len(b)), int64(n)+p.size-from)]
			m, err := p.ReadAt(want, from)
			if n += m; m < len(want) {
				return n, err
			}
		}
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// Close closes all files.
func (w *weights) Close() (err error) {
	for _, p := range w.parts {
		err = errors.Join(err, p.Close())
	}
	return err
}

// openTensors opens the weights of a folder, in one file or in several, and
// returns what they hold. place is the file to name where a tensor is missing.
func openTensors(fsys fs.FS) (_ *weights, tensors map[string]tensor, place string, err error) {
	w := &weights{}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Close())
		}
	}()
	tensors = map[string]tensor{}
	if _, single := fs.Stat(fsys, weightsFile); errors.Is(single, fs.ErrNotExist) {
		text, err := readOptional(fsys, indexFile, maxIndexBytes)
		if err != nil {
			return nil, nil, "", err
		}
		if text != nil {
			err = readShards(fsys, text, w, tensors)
			return w, tensors, indexFile, err
		}
	}
	err = readShard(fsys, weightsFile, w, tensors)
	return w, tensors, weightsFile, err
}

// readShard opens one file, adds it to w and its tensors to tensors.
func readShard(fsys fs.FS, name string, w *weights, tensors map[string]tensor) error {
	p, err := openPart(fsys, name)
	if err != nil {
		return err
	}
	w.add(p)
	base := w.parts[len(w.parts)-1].base
	found, err := parseSafetensors(p, p.size)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for tensor, t := range found {
		if _, taken := tensors[tensor]; taken {
			return fmt.Errorf("%s: tensor %s is in another file as well", name, quote(tensor))
		}
		t.offset += base
		tensors[tensor] = t
	}
	return nil
}

// readShards opens the files that an index names. Both must agree on which
// tensor is where.
func readShards(fsys fs.FS, text []byte, w *weights, tensors map[string]tensor) error {
	index, err := parseIndex(text)
	if err != nil {
		return err
	}
	for _, name := range slices.Compact(slices.Sorted(maps.Values(index))) {
		before := len(w.parts)
		if err := readShard(fsys, name, w, tensors); errors.Is(err, fs.ErrNotExist) {
			return missingFile{name, ", which " + indexFile + " names"}
		} else if err != nil {
			return err
		}
		base := w.parts[before].base
		for tensor, t := range tensors {
			if t.offset >= base && index[tensor] != name {
				return fmt.Errorf("%s: holds tensor %s, which %s does not say", name, quote(tensor), indexFile)
			}
		}
	}
	for _, tensor := range slices.Sorted(maps.Keys(index)) {
		if _, ok := tensors[tensor]; !ok {
			return fmt.Errorf("%s: lacks tensor %s, which %s puts there", index[tensor], quote(tensor), indexFile)
		}
	}
	return nil
}

// parseIndex reads which file holds which tensor. Files must lie in the same
// folder.
func parseIndex(text []byte) (map[string]string, error) {
	f := parseFields(indexFile, text)
	var index map[string]string
	if f.err == nil && !f.value("weight_map", "an object of file names", &index) {
		f.fail("weight_map is missing")
	}
	if f.err != nil {
		return nil, f.err
	}
	if len(index) == 0 || len(index) > maxTensors {
		return nil, fmt.Errorf("%s: weight_map has %d tensors, want 1 to %d", indexFile, len(index), maxTensors)
	}
	files := map[string]bool{}
	for _, tensor := range slices.Sorted(maps.Keys(index)) {
		name := index[tensor]
		if !fs.ValidPath(name) || strings.ContainsAny(name, `/\`) || !strings.HasSuffix(name, ".safetensors") {
			return nil, fmt.Errorf("%s: weight_map: %s lies in %s, want the name of a .safetensors file in the same folder", indexFile, quote(tensor), quote(name))
		}
		if files[name] = true; len(files) > maxShards {
			return nil, fmt.Errorf("%s: weight_map names more than %d files", indexFile, maxShards)
		}
	}
	return index, nil
}
