package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tokenbytoken/viz/infer/files"
)

// Files holds the paths to a model.
type Files struct {
	// Model is a folder as [Open] reads it, the folder of such a model in Hugging
	// Face's cache, a GGUF file or the first of its parts, a .bin file of llama2.c,
	// or a folder with one such file. A file is identified by its first bytes, not
	// by its name.
	Model string
	// Tokenizer is the vocabulary file of a llama2.c model; "" means tokenizer.bin in the same
	// folder.
	Tokenizer string

	alone bool // the caller has no way to specify other files
}

// OpenPath is [Files.Open] for a single path.
func OpenPath(path string) (*Checkpoint, error) { return Files{Model: path}.Open() }

// Open opens a model and names it after the folder or the file. It returns the same errors as the
// function Open.
func (f Files) Open() (*Checkpoint, error) {
	d, err := f.Describe()
	if err != nil {
		return nil, err
	}
	return d.Checkpoint, nil
}

// Describe describes a model. If the model cannot run, [Reasons] returns all the reasons from the
// error. The description is never nil; it contains everything that Describe could read.
func (f Files) Describe() (*Description, error) {
	nothing := &Description{Name: filepath.Base(f.Model)}
	path, err := filepath.Abs(f.Model)
	if err != nil {
		return nothing, err
	}
	nothing.Name = filepath.Base(path)
	info, err := os.Stat(path)
	if err != nil {
		return nothing, err
	}
	if !info.IsDir() {
		if err := files.Regular(info); err != nil {
			return nothing, fmt.Errorf("%s: %w", nothing.Name, err)
		}
		dir, name := filepath.Split(path)
		return f.describeFile(files.Folder(dir), name)
	}
	path, file, err := enter(path)
	if err != nil {
		return nothing, err
	}
	if file != "" {
		return f.describeFile(files.Folder(path), file)
	}
	if f.Tokenizer != "" {
		return nothing, errOwnTokenizer
	}
	return describeFolder(files.Folder(path), folderName(path))
}

// OpenAny opens the model whose files are at the top of fsys: either a single file, such as a GGUF
// file, which is opened under its own name, or a folder as [Open] reads it, which is opened under
// the given name.
func OpenAny(fsys fs.FS, name string) (*Checkpoint, error) {
	list, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, err
	}
	names := make([]string, len(list))
	for i, e := range list {
		names[i] = e.Name()
	}
	file := ""
	if len(names) == 1 && filepath.Ext(names[0]) != ".safetensors" && names[0] != configFile {
		file = names[0] // the only file, of any kind
	} else if file, err = onlyModel(names); err != nil {
		return nil, err
	}
	if file == "" {
		return Open(fsys, name)
	}
	d, err := Files{alone: true}.describeFile(fsys, file)
	if err != nil {
		return nil, err
	}
	return d.Checkpoint, nil
}

// errOwnTokenizer is the error for a vocabulary that is given for a model with its own tokenizer.
var errOwnTokenizer = errors.New("the model has its own tokenizer; only llama2.c .bin files can use another")

// describeFile describes a model that consists of one file in a folder, or of several files that
// belong together.
func (f Files) describeFile(fsys fs.FS, file string) (d *Description, err error) {
	d = &Description{Name: strings.TrimSuffix(file, filepath.Ext(file))}
	w := &weights{}
	defer func() {
		if d.Checkpoint == nil {
			err = collect(err, w.Close())
		}
	}()
	p, err := openPart(fsys, file)
	if err != nil {
		var known foreignFile
		if errors.As(err, &known) {
			d.Format = known.kind
		}
		return d, err
	}
	w.add(p)
	var magic [4]byte
	if err := readFull(p, magic[:], 0); err != nil {
		return d, fmt.Errorf("%s: %w", file, err)
	}
	hash := newHash()
	switch {
	case string(magic[:]) == ggufMagic:
		if f.Tokenizer != "" {
			return d, fmt.Errorf("%s: %w", file, errOwnTokenizer)
		}
		d, err = describeGGUF(fsys, w, file)
	case filepath.Ext(file) == ".bin":
		return f.describeBin(fsys, w, file, hash)
	default:
		return d, notAModel(file, p)
	}
	if err == nil {
		if err = hash.weights(w); err != nil {
			d.Checkpoint = nil
			return d, err
		}
		d.Checkpoint.Hash = hash.sum()
	}
	return d, err
}

// notAModel returns the error for a file of unknown kind.
func notAModel(file string, p shard) error {
	if _, err := readHeader(p, p.size); err == nil && filepath.Ext(file) == ".safetensors" || file == configFile {
		return fmt.Errorf("%s is part of a model; specify its folder instead", file)
	}
	return fmt.Errorf(
		"%s is not a supported model; specify a Hugging Face folder, a GGUF file or a llama2.c .bin file",
		file,
	)
}

// describeBin describes a llama2.c model and its vocabulary.
func (f Files) describeBin(fsys fs.FS, w *weights, file string, hash modelHash) (*Description, error) {
	d := &Description{Name: strings.TrimSuffix(file, filepath.Ext(file)), Format: "llama2.c"}
	if file == llama2cTokens {
		return d, fmt.Errorf("%s is a vocabulary, not a model; specify the model it belongs to", file)
	}
	at, name := fsys, llama2cTokens
	if f.Tokenizer != "" {
		dir, base := filepath.Split(f.Tokenizer)
		at, name = files.Folder(filepath.Clean(dir)), base
	}
	vocabulary, err := openPart(at, name)
	if errors.Is(err, fs.ErrNotExist) {
		hint := ", the vocabulary of " + file
		if f.Tokenizer == "" && !f.alone {
			hint += "; if it has another name, specify it with -tokenizer"
		}
		return d, missingFile{name, hint}
	} else if err != nil {
		return d, err
	}
	defer vocabulary.Close()
	tokens := &weights{}
	tokens.add(vocabulary)
	d, err = describeLlama2c(w, io.NewSectionReader(vocabulary, 0, vocabulary.size), vocabulary.size, file, name)
	if err == nil {
		err = errors.Join(hash.weights(w), hash.weights(tokens))
	}
	if err != nil {
		d.Checkpoint = nil
		return d, err
	}
	d.Checkpoint.Hash = hash.sum()
	return d, nil
}
