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

// Limits for the index of weights that are split over several files.
const (
	indexFile     = weightsFile + ".index.json"
	maxIndexBytes = 16 << 20
	maxShards     = 1 << 10
)

// A shard is one weight file. base is the offset of its bytes in the concatenated files.
type shard struct {
	name string
	io.ReaderAt
	io.Closer
	base, size int64
}

// weights gives random access to all weight files as if they were concatenated.
type weights struct {
	parts []shard
	size  int64
}

// add appends a file.
func (w *weights) add(p shard) {
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

// openTensors opens a folder's weights, in one file or several, and returns their tensors. place is
// the file name to use in errors about missing tensors. If the weights can be read but not used,
// openTensors returns both the files and the error.
func openTensors(fsys fs.FS) (_ *weights, tensors map[string]tensor, place string, err error) {
	w, tensors := &weights{}, map[string]tensor{}
	place = weightsFile
	if _, single := fs.Stat(fsys, weightsFile); errors.Is(single, fs.ErrNotExist) {
		text, err := readOptional(fsys, indexFile, maxIndexBytes)
		if err != nil {
			return nil, nil, "", err
		}
		if text != nil {
			err = readShards(fsys, text, w, tensors)
			return settle(w, tensors, indexFile, err)
		}
		if place, err = otherWeights(fsys); err != nil {
			return nil, nil, "", err
		}
	}
	err = readShard(fsys, place, w, tensors)
	return settle(w, tensors, place, err)
}

// settle closes the files if their tensors could not be listed.
func settle(
	w *weights, tensors map[string]tensor, place string, err error,
) (*weights, map[string]tensor, string, error) {
	if err != nil && len(tensors) == 0 {
		return nil, nil, "", collect(err, w.Close())
	}
	return w, tensors, place, err
}

// readShard opens one file and adds it to w and its tensors to tensors.
func readShard(fsys fs.FS, name string, w *weights, tensors map[string]tensor) error {
	p, err := openPart(fsys, name)
	if err != nil {
		return err
	}
	w.add(p)
	base := w.parts[len(w.parts)-1].base
	found, err := parseSafetensors(p, p.size)
	if err != nil {
		err = within(name, err)
	}
	for tensor, t := range found {
		if _, taken := tensors[tensor]; taken {
			return collect(
				err, fmt.Errorf("%s: duplicate tensor %s; another file also contains it", name, quote(tensor)),
			)
		}
		t.offset += base
		tensors[tensor] = t
	}
	return err
}

// readShards opens the files that an index names. The index and the files must agree on the
// location of every tensor.
func readShards(fsys fs.FS, text []byte, w *weights, tensors map[string]tensor) error {
	index, err := parseIndex(text)
	if err != nil {
		return err
	}
	var faults error
	for _, name := range slices.Compact(slices.Sorted(maps.Values(index))) {
		before := len(w.parts)
		if err := readShard(fsys, name, w, tensors); errors.Is(err, fs.ErrNotExist) {
			faults = collect(faults, missingFile{name, ", which " + indexFile + " names"})
			continue
		} else if err != nil {
			faults = collect(faults, err)
		}
		if len(w.parts) == before {
			continue
		}
		base := w.parts[before].base
		for tensor, t := range tensors {
			if t.offset >= base && index[tensor] != name {
				return collect(
					faults,
					fmt.Errorf("%s contains tensor %s, which %s does not assign to it", name, quote(tensor), indexFile),
				)
			}
		}
	}
	if faults != nil {
		return faults
	}
	for _, tensor := range slices.Sorted(maps.Keys(index)) {
		if _, ok := tensors[tensor]; !ok {
			return fmt.Errorf("%s lacks tensor %s, which %s assigns to it", index[tensor], quote(tensor), indexFile)
		}
	}
	return nil
}

// parseIndex parses an index, which maps each tensor to its file. Files must be in the same folder.
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
			return nil, fmt.Errorf(
				"%s: weight_map: %s is in %s, want the name of a .safetensors file in the same folder", indexFile,
				quote(tensor), quote(name),
			)
		}
		if files[name] = true; len(files) > maxShards {
			return nil, fmt.Errorf("%s: weight_map names more than %d files", indexFile, maxShards)
		}
	}
	return index, nil
}
