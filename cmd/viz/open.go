package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/bundled"
	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

const modelHelp = "the model to run: a Hugging Face folder (downloaded or in the cache), a GGUF file, " +
	"or a llama2.c .bin file (default: the built-in model)"

const tokenizerHelp = "the vocabulary for a llama2.c .bin file (default: tokenizer.bin in the same folder)"

// modelPath holds the flags -model and -tokenizer.
type modelPath struct{ model, tokenizer string }

func (p *modelPath) flags(f *flags) {
	f.text("model", "PATH", modelHelp, &p.model)
	f.text("tokenizer", "PATH", tokenizerHelp, &p.tokenizer)
}

// loadTarget and loadDraft load the embedded models. Tests replace them with functions that cache
// the results, since they start many servers in one process.
var (
	loadTarget = func(quant infer.Quant) (*infer.Model, error) { return loadBundled(bundled.Target, quant) }
	loadDraft  = func(quant infer.Quant) (*infer.Model, error) { return loadBundled(bundled.Draft, quant) }
)

func loadBundled(open func() (*checkpoint.Checkpoint, error), quant infer.Quant) (*infer.Model, error) {
	c, err := open()
	if err != nil {
		return nil, err
	}
	return loadModel(c, quant)
}

// openModel loads the model at a path, or the embedded one for "". called is the name of the flag
// that contains the path; quant is the format of the weights in memory. Before loading a large
// model, openModel prints to notes how much memory it needs.
func openModel(
	ctx context.Context, p modelPath, called string, quant infer.Quant, notes io.Writer,
) (*infer.Model, error) {
	if p.model == "" {
		if p.tokenizer != "" {
			return nil, usageError{errors.New("-tokenizer requires -model: the built-in model has its own tokenizer")}
		}
		return loadTarget(quant)
	}
	c, err := openPath(p)
	if err == nil {
		for _, warning := range c.Warnings {
			fmt.Fprintf(notes, "%s %s: %s\n", called, terms.Printable(p.model), warning)
		}
		announce(terms.In(ctx), notes, c, quant, announced)
		var m *infer.Model
		if m, err = loadModel(c, quant); err == nil {
			return m, nil
		}
	}
	return nil, usageError{fmt.Errorf("%s %s: %w", called, p.model, err)}
}

// draftHelp describes the -draft flag.
const draftHelp = "a smaller model with the same vocabulary, which drafts tokens for speculative decoding " +
	"(default: the built-in draft for the built-in model, else none)"

// openDraft loads the draft model for target. If path is "", the embedded model gets the embedded
// draft, and any other model gets none. openDraft rejects a draft that does not share the target's
// vocabulary.
func openDraft(
	ctx context.Context, target *infer.Model, path, called string, embedded bool, quant infer.Quant, notes io.Writer,
) (*infer.Model, error) {
	if path == "" {
		if !embedded {
			return nil, nil
		}
		return loadDraft(quant)
	}
	draft, err := openModel(ctx, modelPath{model: path}, called, quant, notes)
	if err != nil {
		return nil, err
	}
	if err := infer.CheckPair(target, draft); err != nil {
		return nil, usageError{fmt.Errorf("%s %s: %w", called, path, err)}
	}
	return draft, nil
}

// openPath opens the model at a path. If a file is missing, the error lists the accepted kinds of
// paths.
func openPath(p modelPath) (*checkpoint.Checkpoint, error) {
	c, err := checkpoint.Files{Model: p.model, Tokenizer: p.tokenizer}.Open()
	return c, explain(p, err)
}

// explain adds help to an error from opening a model: the number of further problems and, if a file
// is missing, the accepted kinds of paths.
func explain(p modelPath, err error) error {
	if err == nil {
		return nil
	}
	const want = "it must be a folder with config.json, model.safetensors and tokenizer.json, a GGUF file, or a " +
		"llama2.c .bin file"
	if _, missing := os.Stat(p.model); errors.Is(missing, fs.ErrNotExist) {
		return errors.New("no such file or folder; " + want)
	}
	if more := len(checkpoint.Reasons(err)) - 1; more > 0 {
		err = fmt.Errorf("%w (and %d more; run viz inspect to list them)", err, more)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w; %s", err, want)
	}
	return err
}

// loadModel loads the weights of a checkpoint and closes it.
func loadModel(c *checkpoint.Checkpoint, quant infer.Quant) (*infer.Model, error) {
	m, err := infer.LoadQuantized(c, quant)
	if closing := c.Close(); err == nil {
		err = closing
	}
	return m, err
}

// openFor opens a model for a prompt, which it reads from stdin if the prompt is
// "-". Errors that concern only the prompt are reported before the model is loaded.
func openFor(
	ctx context.Context, f *flags, prompt *string, path modelPath, quant infer.Quant, stdin io.Reader, stderr io.Writer,
) (*infer.Model, error) {
	limit := session.DefaultLimits().PromptBytes
	if *prompt == "-" {
		text, err := readPrompt(ctx, stdin, limit)
		if err != nil {
			return nil, err
		}
		*prompt = text
	}
	if *prompt != "" || !f.given("prompt") { // some models allow an empty prompt
		if err := infer.CheckPrompt(*prompt, limit); err != nil {
			return nil, f.refused(err)
		}
	}
	m, err := openModel(ctx, path, f.called("model"), quant, stderr)
	if err != nil {
		return nil, err
	}
	if err := m.CheckPrompt(*prompt, limit); err != nil {
		return nil, f.refused(err)
	}
	if s, ok := session.NewSpaceAtEnd(terms.In(ctx), m, *prompt); ok {
		fmt.Fprintf(stderr, "%s %s %s.\n", s.Head, s.Say, s.Act)
	}
	return m, nil
}
