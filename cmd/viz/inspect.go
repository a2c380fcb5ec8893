package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/tokenbytoken/viz/infer/bundled"
	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/terms"
)

const inspectUsage = `Usage: viz inspect [flags] [PATH]

Describes a model without running it: format, architecture, shapes, tokenizer,
and the memory it would need. PATH is a path as for -model; the default is the
built-in model. If viz can run the model, it reads every weight once. If the
model is damaged or not supported, viz describes what it can read, lists all the
reasons, and exits with code 2.
`

// inspectOptions are the flags of viz inspect.
type inspectOptions struct {
	modelPath // the model is the positional argument

	tensors, template, json bool
}

func (o *inspectOptions) flags() *flags {
	f := newFlags(inspectUsage)
	f.path = &o.model
	f.toggle("tensors", "list every tensor with its type and shape", &o.tensors)
	f.toggle("template", "print the full chat template", &o.template)
	f.text("tokenizer", "PATH", tokenizerHelp, &o.tokenizer)
	f.toggle("json", "print one JSON object, including all tensors", &o.json)
	return f
}

// unfitError reports that a model does not run. The model's description, with the reasons, has
// already been printed.
type unfitError struct{ error }

// inspect runs viz inspect.
func inspect(ctx context.Context, args []string, env func(string) string, stdout io.Writer) error {
	var o inspectOptions
	if err := o.flags().parse(args, env, stdout); err != nil {
		return err
	}
	d, err := o.describe()
	if d.Checkpoint != nil {
		defer d.Checkpoint.Close()
	}
	if err != nil && d.Format == "" {
		return usageError{fmt.Errorf("%s: %w", o.model, explain(o.modelPath, err))} // there is nothing to describe
	}
	if _, err := o.print(terms.In(ctx), d, checkpoint.Reasons(err)).WriteTo(stdout); err != nil {
		return err
	}
	if n := len(checkpoint.Reasons(err)); n > 0 {
		reasons := "reason"
		if n > 1 {
			reasons = terms.Counted(n, "reason")
		}
		return unfitError{fmt.Errorf("viz cannot run %s; see the %s listed above", o.model, reasons)}
	}
	return nil
}

// describe opens the model and, if it runs, reads all of it.
func (o *inspectOptions) describe() (*checkpoint.Description, error) {
	if o.model == "" {
		c, err := bundled.Target()
		if err != nil {
			return &checkpoint.Description{}, err
		}
		return c.Describe(), c.Verify()
	}
	d, err := checkpoint.Files{Model: o.model, Tokenizer: o.tokenizer}.Describe()
	if err == nil {
		err = d.Checkpoint.Verify()
	}
	return d, err
}

func (o *inspectOptions) print(w *terms.Language, d *checkpoint.Description, reasons []string) io.WriterTo {
	if o.json {
		return describeJSON(d, reasons)
	}
	s := describeModel(w, d, reasons)
	if o.tensors {
		s.tensors(d.Tensors)
	}
	if o.template {
		s.template(d.Template)
	}
	return &s.Buffer
}

// sheet is a printed description. Each line begins with a name.
type sheet struct {
	bytes.Buffer
	words *terms.Language
}

func (s *sheet) line(name, text string) { fmt.Fprintf(&s.Buffer, "%s%s\n", named(name), text) }

// list writes words in as many lines as necessary, the first of which begins with a name.
func (s *sheet) list(name string, words []string) {
	for i, line := range wrap(words, 80-nameColumn) {
		s.line(map[bool]string{true: name}[i == 0], line)
	}
}

// verdict writes yes, or no with the reasons. Reasons are in English.
func (s *sheet) verdict(name, yes string, reasons []string) {
	if len(reasons) == 0 {
		s.line(name, yes)
		return
	}
	s.line(name, s.words.T("cmd.verdict.no", "n", len(reasons)))
	for _, reason := range reasons {
		s.line("", strings.ReplaceAll(reason, "\n", " "))
	}
}
