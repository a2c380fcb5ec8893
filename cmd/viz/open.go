package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/bundled"
	"github.com/tokenbytoken/viz/infer/checkpoint"
)

const modelHelp = "another model: a folder as Hugging Face keeps it (config.json, " +
	"model.safetensors, tokenizer.json), a GGUF file, or a .bin file of llama2.c " +
	"with tokenizer.bin beside it (default: the model in this binary)"

// openModel loads the model at a path, or the embedded one for "". called is
// the name of the flag that gave the path, quant says how to keep the weights.
func openModel(path, called string, quant infer.Quant) (*infer.Model, error) {
	if path == "" {
		c, err := bundled.Target()
		if err != nil {
			return nil, err
		}
		return load(c, quant)
	}
	c, err := openPath(path)
	if err == nil {
		var m *infer.Model
		if m, err = load(c, quant); err == nil {
			return m, nil
		}
	}
	return nil, usageError{fmt.Errorf("%s %s: %w", called, path, err)}
}

// draftHelp describes the flag -draft.
const draftHelp = "a smaller model with the same vocabulary, to draft where speculation is shown " +
	"(default: the one in this binary, for the model in it)"

// openDraft loads the model that drafts for another: the one at a path, or, for
// "" and the embedded model, the embedded draft; else there is none. A draft
// that does not share the target's vocabulary is refused.
func openDraft(target *infer.Model, path, called string, embedded bool, quant infer.Quant) (*infer.Model, error) {
	if path == "" {
		if !embedded {
			return nil, nil
		}
		c, err := bundled.Draft()
		if err != nil {
			return nil, err
		}
		return load(c, quant)
	}
	draft, err := openModel(path, called, quant)
	if err != nil {
		return nil, err
	}
	if err := infer.CheckPair(target, draft); err != nil {
		return nil, usageError{fmt.Errorf("%s %s: %w", called, path, err)}
	}
	return draft, nil
}

// openPath opens the model at a path and says what may be there.
func openPath(path string) (*checkpoint.Checkpoint, error) {
	const want = "it must be a folder with config.json, model.safetensors and tokenizer.json, a GGUF file, or a llama2.c .bin file"
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("there is no such folder or file; " + want)
	}
	c, err := checkpoint.OpenPath(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w; %s", err, want)
	}
	return c, err
}

// load takes the weights out of a checkpoint and closes it.
func load(c *checkpoint.Checkpoint, quant infer.Quant) (*infer.Model, error) {
	m, err := infer.LoadQuantized(c, quant)
	if closing := c.Close(); err == nil {
		err = closing
	}
	return m, err
}
