package main

import (
	"bytes"
	"fmt"
	"io"

	"github.com/tokenbytoken/viz/infer/bundled"
	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/terms"
)

const inspectUsage = `Usage: viz inspect [flags] [PATH]

Describes a model without running it: format, architecture, shapes, tokenizer,
and the memory it would need. PATH has the form of -model; the default is the
model in this binary. If the model can run, every weight is read once. A model
that is damaged, or that this program cannot run, is described as far as it can
be read, with all the reasons, and viz ends with exit code 2.
`

// inspectOptions are the flags of viz inspect.
type inspectOptions struct {
	modelPath // -model is the argument that is not a flag

	tensors, template, json bool
}

func (o *inspectOptions) flags() *flags {
	f := newFlags(inspectUsage)
	f.path = &o.model
	f.toggle("tensors", "list every tensor with its type and its shape", &o.tensors)
	f.toggle("template", "print the whole chat template", &o.template)
	f.text("tokenizer", "PATH", tokenizerHelp, &o.tokenizer)
	f.toggle("json", "print one JSON object, all tensors included", &o.json)
	return f
}

// unfitError reports that a model does not run. The model's description, with the reasons, has
// already been printed.
type unfitError struct{ error }

// inspect runs viz inspect.
func inspect(args []string, env func(string) string, stdout io.Writer) error {
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
	if _, err := o.print(d, checkpoint.Reasons(err)).WriteTo(stdout); err != nil {
		return err
	}
	if n := len(checkpoint.Reasons(err)); n > 0 {
		return unfitError{fmt.Errorf("%s does not run here, for %s", o.model, terms.Counted(n, "reason"))}
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

func (o *inspectOptions) print(d *checkpoint.Description, reasons []string) io.WriterTo {
	if o.json {
		return describeJSON(d, reasons)
	}
	s := describeModel(d, reasons)
	if o.tensors {
		s.tensors(d.Tensors)
	}
	if o.template {
		s.template(d.Template)
	}
	return &s.Buffer
}

// sheet is the printed description. Each line begins with a name.
type sheet struct{ bytes.Buffer }

func (s *sheet) line(name, format string, args ...any) {
	fmt.Fprintf(&s.Buffer, "%-*s%s\n", nameColumn, name, fmt.Sprintf(format, args...))
}
