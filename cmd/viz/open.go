package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/bundled"
	"github.com/tokenbytoken/viz/infer/checkpoint"
)

const modelHelp = "folder of another model, as Hugging Face keeps Llamas: config.json, " +
	"model.safetensors, tokenizer.json (default: the model in this binary)"

// openModel loads the model of a folder, or the embedded one for "". called
// is the name of the flag that gave the folder.
func openModel(dir, called string) (*infer.Model, error) {
	if dir == "" {
		c, err := bundled.Target()
		if err != nil {
			return nil, err
		}
		return load(c)
	}
	m, err := openFolder(dir)
	if err != nil {
		return nil, usageError{fmt.Errorf("%s %s: %w", called, dir, err)}
	}
	return m, nil
}

func openFolder(dir string) (*infer.Model, error) {
	const want = "it must be a folder with config.json, model.safetensors and tokenizer.json"
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("there is no such folder; " + want)
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, errors.New("this is a file; " + want)
	}
	path, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	c, err := checkpoint.Open(os.DirFS(path), filepath.Base(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w; %s", err, want)
	} else if err != nil {
		return nil, err
	}
	return load(c)
}

// load takes the weights out of a checkpoint and closes it.
func load(c *checkpoint.Checkpoint) (*infer.Model, error) {
	m, err := infer.Load(c)
	if closing := c.Close(); err == nil {
		err = closing
	}
	return m, err
}
