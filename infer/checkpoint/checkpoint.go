// Package checkpoint reads the folder in which a trained model is kept: its
// shape, its tokenizer and its weights.
//
// The format is the one that Hugging Face uses for Llama models:
//
//	config.json             the shape: width, layers, heads, …
//	model.safetensors       every weight matrix, named and typed
//	tokenizer.json          the vocabulary and the merges
//	tokenizer_config.json   optional: does a start token go in front of prompts?
//	generation_config.json  optional: which tokens end a text?
//
// [Open] reads the three descriptions, checks them against one another and
// against the header of the weights, and hashes the lot; [Checkpoint.Float32]
// then hands out one tensor at a time, widened to float32. The engine asks by
// name and by shape, so a matrix can never be taken for its transpose.
//
// A model folder is somebody else's data. Every length and every offset is
// compared with the file before anything is allocated or read by it, and what
// cannot be computed faithfully is refused with the place named:
//
//	model.safetensors: layer 3: self_attn.q_proj has shape [192 190], want [192 192]
//
// Left out: weights split over several files, quantised weights, and every
// architecture but Llama.
package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/tokenbytoken/viz/infer/tokenizer"
)

// Checkpoint is an opened model folder. Its methods may be called from several
// goroutines at once, Close excepted.
type Checkpoint struct {
	Config    Config
	Tokenizer *tokenizer.Tokenizer

	// Hash identifies the model in links: the hex SHA-256 of what
	//
	//	sha256sum config.json model.safetensors tokenizer.json
	//
	// prints, so that `… | sha256sum` in the folder gives the same.
	Hash string

	tensors map[string]tensor
	weights *weights // nil once closed
}

// Largest descriptions that are read; real ones stay far below.
const (
	maxConfigBytes          = 1 << 20
	maxTokenizerBytes       = 64 << 20
	maxTokenizerConfigBytes = 16 << 20 // repeats the added tokens, may hold chat templates
)

// Open reads the model folder at the root of fsys and checks it whole: the
// configuration, the tokenizer, and the presence and shape of every tensor.
// The weights are hashed but not kept or widened. name becomes Config.Name.
//
// Errors name the file, and inside it the key or the tensor. A file that is
// not there also satisfies errors.Is(err, fs.ErrNotExist).
func Open(fsys fs.FS, name string) (_ *Checkpoint, err error) {
	configJSON, err := readFile(fsys, configFile, maxConfigBytes)
	if err != nil {
		return nil, err
	}
	config, err := readConfig(fsys, configJSON)
	if err != nil {
		return nil, err
	}
	config.Name = name

	w, err := openWeights(fsys)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Close())
		}
	}()
	tensors, err := parseSafetensors(w, w.size)
	if err == nil {
		err = checkTensors(config, tensors)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", weightsFile, err)
	}

	tokenizerJSON, err := readFile(fsys, tokenizerFile, maxTokenizerBytes)
	if err != nil {
		return nil, err
	}
	tok, err := tokenizer.Parse(tokenizerJSON)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", tokenizerFile, err)
	}
	if tok.Size() > config.Vocab {
		return nil, fmt.Errorf("%s has %d tokens, more than the vocab_size %d of %s", tokenizerFile, tok.Size(), config.Vocab, configFile)
	}
	hash, err := hashModel(configJSON, w, tokenizerJSON)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", weightsFile, err)
	}
	return &Checkpoint{Config: config, Tokenizer: tok, Hash: hash, tensors: tensors, weights: w}, nil
}

func readConfig(fsys fs.FS, configJSON []byte) (Config, error) {
	tokenizerConfig, err := readOptional(fsys, tokenizerConfigFile, maxTokenizerConfigBytes)
	if err != nil {
		return Config{}, err
	}
	generation, err := readOptional(fsys, generationFile, maxConfigBytes)
	if err != nil {
		return Config{}, err
	}
	return parseConfig(configJSON, tokenizerConfig, generation)
}

// hashModel computes Checkpoint.Hash.
func hashModel(configJSON []byte, w *weights, tokenizerJSON []byte) (string, error) {
	sums := sha256.New()
	line := func(sum []byte, file string) { fmt.Fprintf(sums, "%x  %s\n", sum, file) }

	sum := sha256.Sum256(configJSON)
	line(sum[:], configFile)

	weightsSum := sha256.New()
	if n, err := io.Copy(weightsSum, io.NewSectionReader(w, 0, w.size)); err != nil {
		return "", err
	} else if n != w.size {
		return "", fmt.Errorf("read %d of %d bytes: %w", n, w.size, io.ErrUnexpectedEOF)
	}
	line(weightsSum.Sum(nil), weightsFile)

	sum = sha256.Sum256(tokenizerJSON)
	line(sum[:], tokenizerFile)
	return hex.EncodeToString(sums.Sum(nil)), nil
}

// Has reports whether the file holds a tensor of that name.
func (c *Checkpoint) Has(name string) bool {
	_, ok := c.tensors[name]
	return ok
}

// Float32 returns a tensor's values in row-major order, the last dimension
// running fastest, as a copy that belongs to the caller. The conversion is
// exact for every type that a file may have.
//
// It is an error if the tensor is not there, if its shape is not the one asked
// for, if a value is NaN or infinite, or if the file cannot be read; the error
// names the tensor and, as the case may be, both shapes or the value's index.
func (c *Checkpoint) Float32(name string, shape ...int) ([]float32, error) {
	if c.weights == nil {
		return nil, fmt.Errorf("%s: checkpoint is closed", name)
	}
	t, ok := c.tensors[name]
	if !ok {
		return nil, missingTensor(name)
	}
	if !slices.Equal(t.shape, shape) {
		return nil, wrongShape(name, t.shape, shape)
	}
	values, err := t.widen(c.weights)
	if err != nil {
		layer, rest := locate(name)
		return nil, fmt.Errorf("%s%s%w", layer, rest, err)
	}
	return values, nil
}

// Bytes returns the bytes that the tensors take in the file.
func (c *Checkpoint) Bytes() (total int64) {
	for _, t := range c.tensors {
		total += t.bytes
	}
	return total
}

// Parameters returns how many numbers were trained: the values of all tensors
// that the model uses, a matrix that serves as embedding and output counted
// once.
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

// Close closes the weights' file. Float32 fails from then on; slices that it
// returned stay valid.
func (c *Checkpoint) Close() error {
	w := c.weights
	if w == nil {
		return nil
	}
	c.weights = nil
	return w.Close()
}
