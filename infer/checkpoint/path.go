package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// OpenPath opens a model by its path: a folder as [Open] reads it, a GGUF file,
// or a .bin file of llama2.c with tokenizer.bin in the same folder. What a file
// is follows from its first bytes, not from its name. The model is called as
// the folder or the file is. Errors are those of Open.
func OpenPath(path string) (*Checkpoint, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return Open(os.DirFS(path), filepath.Base(path))
	}
	dir, name := filepath.Split(path)
	return openFileIn(os.DirFS(dir), name)
}

// openFileIn opens a model that is one file of a folder.
func openFileIn(fsys fs.FS, file string) (_ *Checkpoint, err error) {
	p, err := openPart(fsys, file)
	if err != nil {
		return nil, err
	}
	w := &weights{}
	w.add(p)
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Close())
		}
	}()
	var magic [4]byte
	if err := readFull(p, magic[:], 0); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	name := strings.TrimSuffix(file, filepath.Ext(file))
	hash := newHash()
	var c *Checkpoint
	switch {
	case string(magic[:]) == ggufMagic:
		if c, err = openGGUF(w, name); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		err = hash.weights(w)
	case filepath.Ext(file) == ".bin":
		c, err = openBin(fsys, w, file, name, hash)
	default:
		err = fmt.Errorf("%s: is no model that can be read: a folder of Hugging Face, a GGUF file, or a .bin file of llama2.c", file)
		if filepath.Ext(file) == ".safetensors" || file == configFile {
			err = fmt.Errorf("%s: is a part of a model; give the folder that it lies in", file)
		}
	}
	if err != nil {
		return nil, err
	}
	c.Hash = hash.sum()
	return c, nil
}

// openBin opens a llama2.c model and the vocabulary beside it.
func openBin(fsys fs.FS, w *weights, file, name string, hash modelHash) (*Checkpoint, error) {
	if file == llama2cTokens {
		return nil, fmt.Errorf("%s: is a vocabulary; give the model that it belongs to", file)
	}
	vocabulary, err := openPart(fsys, llama2cTokens)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, missingFile{llama2cTokens, ", which has the vocabulary of " + file}
	} else if err != nil {
		return nil, err
	}
	defer vocabulary.Close()
	c, err := openLlama2c(w, io.NewSectionReader(vocabulary, 0, vocabulary.size), vocabulary.size, name)
	if err != nil {
		if !strings.HasPrefix(err.Error(), llama2cTokens) {
			err = fmt.Errorf("%s: %w", file, err)
		}
		return nil, err
	}
	tokens := &weights{}
	tokens.add(vocabulary)
	return c, errors.Join(hash.weights(w), hash.weights(tokens))
}
