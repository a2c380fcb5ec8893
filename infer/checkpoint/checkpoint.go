// Package checkpoint reads the files of a trained model: its shape, its
// tokenizer and its weights.
//
// It reads three formats:
//
//   - a Hugging Face folder (config.go, shards.go, safetensors.go):
//
//     config.json             the shape: width, layers, heads, …
//     model.safetensors       every weight matrix, named and typed; large models
//     have several such files and model.safetensors.index.json
//     tokenizer.json          the vocabulary and the merges
//     tokenizer_config.json   optional: whether a start token precedes every prompt
//     generation_config.json  optional: which tokens end a text
//
//   - GGUF, the format of llama.cpp, which stores everything in one file (gguf.go)
//
//   - the .bin files of llama2.c, with tokenizer.bin in the same folder (llama2c.go)
//
// It supports the architectures that the files arch_*.go describe, one per file.
//
// [Open] and [OpenPath] read the descriptions, check them against one another and against the
// header of the weights, and hash all files. [Checkpoint.Float32] then returns one tensor at a
// time, widened to float32, and [Checkpoint.Levels] returns a matrix as some quantized formats store
// it. For every format, the engine requests tensors by name and shape. Names
// and value order are the same as in a Hugging Face folder, and every matrix is [outputs, inputs], so a
// matrix can never be mistaken for its transpose.
//
// A model file is untrusted. Every length and offset is checked against the file before it is used
// to allocate or read, and a model that the engine cannot compute faithfully is rejected with an
// error that names the location:
//
//	model.safetensors: layer 3: self_attn.q_proj has shape [192 190], want [192 192]
package checkpoint

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"slices"

	"github.com/tokenbytoken/viz/infer/tokenizer"
)

// Checkpoint is an opened model. Its methods are safe for concurrent use,
// except Close.
type Checkpoint struct {
	Config    Config
	Tokenizer *tokenizer.Tokenizer
	Format    string // "Hugging Face folder", "GGUF v3", "llama2.c"

	// Hash identifies the model in links: the hex SHA-256 of the output of
	//
	//	sha256sum config.json model.safetensors tokenizer.json
	//
	// so `… | sha256sum` in the folder gives the same hash. If there are several weight files, they
	// are sorted by name. For other formats, the list consists of the model file alone, or of the
	// model file and tokenizer.bin.
	Hash string

	// Template is the model's chat template, in Jinja, or "" if there is none. It is not checked,
	// since a model can run without one.
	Template string
	// TemplateTokens maps names that the template may use, such as "eos_token", to special tokens.
	TemplateTokens map[string]string

	// Warnings are sentences about parts of the files that are ignored.
	Warnings []string

	tensors map[string]tensor // by the layout's names
	weights *weights          // nil once closed
}

// The maximum sizes of descriptions. Real ones are far smaller.
const (
	maxConfigBytes          = 1 << 20
	maxTokenizerBytes       = tokenizer.MaxBytes
	maxTokenizerConfigBytes = 16 << 20 // repeats the added tokens and may contain chat templates
)

// Open reads the model folder at the root of fsys and checks everything: the configuration, the
// tokenizer, and the presence and shape of every tensor. The weights are hashed but not kept or
// widened. name becomes Config.Name.
//
// Errors name the file, and the key or the tensor in it. A missing file also satisfies
// errors.Is(err, fs.ErrNotExist).
func Open(fsys fs.FS, name string) (*Checkpoint, error) {
	d, err := describeFolder(fsys, name)
	return d.Checkpoint, err
}

func readConfig(fsys fs.FS, configJSON, tokenizerConfig []byte) (Config, bool, error) {
	generation, err := readOptional(fsys, generationFile, maxConfigBytes)
	if err != nil {
		return Config{}, false, err
	}
	return parseConfig(configJSON, tokenizerConfig, generation)
}

// A modelHash computes Checkpoint.Hash, file by file.
type modelHash struct{ lines hash.Hash }

func newHash() modelHash { return modelHash{sha256.New()} }

func (h modelHash) line(sum []byte, file string) { fmt.Fprintf(h.lines, "%x  %s\n", sum, file) }

// text adds a file whose contents are in memory.
func (h modelHash) text(file string, text []byte) {
	sum := sha256.Sum256(text)
	h.line(sum[:], file)
}

// Summed is a file whose SHA-256 hash has already been computed. A browser computes the hash
// quickly, but this program, running in a browser, would spend more time on the hash than on
// everything else.
type Summed interface {
	SHA256() ([]byte, error)
}

// weights adds the files of w.
func (h modelHash) weights(w *weights) error {
	for _, p := range w.parts {
		if file, ok := p.ReaderAt.(Summed); ok {
			sum, err := file.SHA256()
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			h.line(sum, p.name)
			continue
		}
		sum := sha256.New()
		if n, err := io.Copy(sum, io.NewSectionReader(p, 0, p.size)); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		} else if n != p.size {
			return fmt.Errorf("%s: read %d of %d bytes: %w", p.name, n, p.size, io.ErrUnexpectedEOF)
		}
		h.line(sum.Sum(nil), p.name)
	}
	return nil
}

func (h modelHash) sum() string { return hex.EncodeToString(h.lines.Sum(nil)) }

// Float32 returns a tensor's values in row-major order, with the last dimension varying fastest, as
// a copy that the caller owns. Floating-point values are exact. Quantized values are converted to
// the same values as in ggml, bit for bit.
//
// Float32 returns an error if the tensor is missing, has another shape, or has a value that is NaN
// or infinite, or if the file cannot be read. The error names the tensor, and the two shapes or the
// index of the bad value.
func (c *Checkpoint) Float32(name string, shape ...int) ([]float32, error) {
	t, err := c.tensor(name, shape)
	if err != nil {
		return nil, err
	}
	values, err := t.widen(c.weights)
	return values, t.placed(err)
}

// tensor returns the tensor with the given name of the layout, or an error if it does not have the given
// shape.
func (c *Checkpoint) tensor(name string, shape []int) (tensor, error) {
	if c.weights == nil {
		return tensor{}, fmt.Errorf("%s: checkpoint is closed", name)
	}
	t, ok := c.tensors[name]
	if !ok {
		return t, missingTensor(name)
	}
	if have := t.order.stored(t.shape); !slices.Equal(have, shape) { // stored is its own inverse
		return t, wrongShape(name, have, shape)
	}
	return t, nil
}

// placed adds t's layer and name to an error from reading it. If err is nil, so is the result.
func (t tensor) placed(err error) error {
	if err == nil {
		return nil
	}
	layer, rest := locate(t.name)
	return fmt.Errorf("%s%s%w", layer, rest, err)
}

// Verify reads every value once, without retaining it, and returns an error if Float32 would fail
// for any tensor. The error lists a reason for each bad tensor.
func (c *Checkpoint) Verify() (err error) {
	if c.weights == nil {
		return errors.New("checkpoint is closed")
	}
	for _, s := range c.Config.layout() {
		t := c.tensors[s.name]
		if bad := t.each(c.weights, func([]float32) {}); bad != nil {
			err = collect(err, t.placed(bad))
		}
	}
	return err
}

// Bytes returns the total size of the tensors as stored in the files.
func (c *Checkpoint) Bytes() (total int64) {
	for _, t := range c.tensors {
		total += t.bytes
	}
	return total
}

// Types lists the number formats of the tensors, starting with the format that uses the most bytes.
func (c *Checkpoint) Types() []string {
	bytes := map[string]int64{}
	for _, t := range c.tensors {
		bytes[string(t.dtype)] += t.bytes
	}
	return slices.SortedFunc(maps.Keys(bytes), func(a, b string) int {
		return cmp.Or(cmp.Compare(bytes[b], bytes[a]), cmp.Compare(a, b))
	})
}

// Parameters returns the number of trained weights: the values of all tensors that the model uses,
// counting a matrix only once if it is both the embedding and the output matrix.
func (c *Checkpoint) Parameters() (total int64) {
	for _, s := range c.Config.layout() {
		values := int64(1)
		for _, n := range s.shape {
			values *= int64(n)
		}
		total += values
	}
	return total
}

// Close closes the files of the weights. Afterwards, Float32 fails, but slices that it has returned
// stay valid.
func (c *Checkpoint) Close() error {
	w := c.weights
	if w == nil {
		return nil
	}
	c.weights = nil
	return w.Close()
}
