package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/bundled"
	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
)

const labUsage = `Usage: viz lab                     list the labs
       viz lab NAME [flags]        run one and print its tables
       viz lab NAME -json [flags]  print all results as one JSON object
       viz lab NAME -csv TABLE     print the raw rows of one table

A lab checks a lesson's claims by measuring the chosen model on this machine.
Progress is printed to standard error. An interrupt ends a run early and prints
the results so far.
`

// labOptions are the flags of viz lab.
type labOptions struct {
	modelPath
	draft  string
	json   bool
	csv    string
	values terms.Values
}

// runLab runs viz lab.
func runLab(ctx context.Context, args []string, env func(string) string, stdout, stderr io.Writer) error {
	if len(args) == 0 || isHelp(args[0]) {
		_, err := io.WriteString(stdout, labList())
		return err
	}
	l, found := lab.Find(args[0])
	if !found {
		return usageError{fmt.Errorf("unknown lab %q; want one of %s", args[0], strings.Join(labNames(), ", "))}
	}
	o := labOptions{values: terms.Values{}}
	info := l.Info(terms.English)
	f := o.flags(info)
	if len(args) > 1 && isHelp(args[1]) {
		_, err := io.WriteString(stdout, labHelp(info, f))
		return err
	}
	// A lab's parameters cannot be set by environment variables, since VIZ_MEMORY, for example, is
	// already used by the server.
	twins := func(name string) string {
		if name == variable("model") || name == variable("tokenizer") || name == variable("draft") {
			return env(name)
		}
		return ""
	}
	if err := f.parse(args[1:], twins, stdout); err != nil {
		return err
	}
	values, err := info.Inputs.Read(o.values)
	if err != nil {
		return labRefused(f, err)
	}
	with, err := o.open(ctx, f, stderr)
	if err != nil {
		return err
	}
	report, err := o.measure(ctx, l, with, values, stderr)
	if err != nil {
		return labRefused(f, err)
	}
	if err := o.print(terms.In(ctx), report, l.Info(terms.In(ctx)), stdout); err != nil {
		return err
	}
	if report.Canceled {
		return ctx.Err()
	}
	return nil
}

// flags returns a lab's flags: its parameters, and the flags for running it and for printing its
// report.
func (o *labOptions) flags(info lab.Info) *flags {
	f := newFlags(labUsage)
	for _, p := range info.Inputs {
		arg := map[terms.InputKind]string{
			terms.KindInt: "N", terms.KindFloat: "X", terms.KindText: "TEXT", terms.KindChoice: "NAME",
			terms.KindBool: "BOOL", terms.KindList: "LIST", terms.KindLines: "TEXT",
		}[p.Kind]
		f.value(labFlag(p.Key), arg, labParamHelp(p), func(text string) error {
			o.values[p.Key] = text
			return nil
		})
	}
	o.modelPath.flags(f)
	f.text("draft", "PATH", draftHelp, &o.draft)
	f.toggle("json", "print one JSON object", &o.json)
	f.text("csv", "TABLE", "print the raw rows of one table as CSV", &o.csv)
	return f
}

// labFlag returns the name of a parameter's flag: top-p for top_p.
func labFlag(name string) string { return strings.ReplaceAll(name, "_", "-") }

func labParamHelp(p terms.Input) string {
	text := p.Help + ": " + p.Wants().String()
	if p.Default != "" {
		text += fmt.Sprintf(" (default %s)", p.Default)
	}
	return strings.ReplaceAll(text, "\n", `\n`)
}

// labRefused rewrites an error to name the flag instead of the parameter.
func labRefused(f *flags, err error) error {
	var r *terms.RangeError
	if !errors.As(err, &r) {
		return err
	}
	own := *r
	own.Field = f.called(labFlag(r.Field))
	return usageError{&own}
}

// open loads the models that a lab measures.
func (o *labOptions) open(ctx context.Context, f *flags, stderr io.Writer) (lab.Env, error) {
	var with lab.Env
	var err error
	if with.Target, err = openModel(ctx, o.modelPath, f.called("model"), infer.QuantNone, stderr); err != nil {
		return with, err
	}
	switch {
	case o.draft != "":
		with.Draft, err = openModel(ctx, modelPath{model: o.draft}, f.called("draft"), infer.QuantNone, stderr)
	case o.model == "":
		c, failed := bundled.Draft()
		if failed != nil {
			return with, failed
		}
		with.Draft, err = loadModel(c, infer.QuantNone)
	}
	return with, err
}

// measure runs a lab and prints its progress.
func (o *labOptions) measure(
	ctx context.Context, l lab.Lab, with lab.Env, values terms.Values, stderr io.Writer,
) (*lab.Report, error) {
	estimate, err := l.Estimate(with, values)
	if err != nil {
		return nil, err
	}
	w := terms.In(ctx)
	if estimate.Large {
		fmt.Fprintln(stderr, "viz lab: "+w.T(
			"cmd.lab.large", "time", w.Took(estimate.Took), "work", w.MultAdds(estimate.MultAdds),
			"memory", w.Bytes(estimate.Bytes),
		))
	}
	line := newProgressLine(stderr)
	tenth := -1
	report, err := l.Run(ctx, with, values, func(p lab.Progress) {
		percent := 100 * p.Done / max(p.Of, 1)
		text := fmt.Sprintf("%3d%%  %s", percent, p.Say.In(w))
		if line.say(text); !line.shown && percent/10 > tenth {
			tenth = percent / 10
			fmt.Fprintln(stderr, "viz lab "+l.Info(terms.English).Name+": "+strings.TrimSpace(text))
		}
	})
	line.say("")
	return report, err
}

// print prints a report. Raw rows and JSON, which are for programs, are in English.
func (o *labOptions) print(w *terms.Language, r *lab.Report, info lab.Info, stdout io.Writer) error {
	switch {
	case o.csv != "":
		t, ok := r.Table(o.csv)
		if !ok {
			var names []string
			for _, t := range r.Tables {
				names = append(names, t.Name)
			}
			return usageError{
				fmt.Errorf("unknown table %q for -csv; want one of %s", o.csv, strings.Join(names, ", ")),
			}
		}
		return t.WriteCSV(stdout, terms.SheetPipe, terms.English)
	case o.json:
		e := json.NewEncoder(stdout)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	_, err := io.WriteString(stdout, labText(w, r, info))
	return err
}

func labNames() []string {
	var names []string
	for _, l := range lab.All() {
		names = append(names, l.Info(terms.English).Name)
	}
	return names
}
