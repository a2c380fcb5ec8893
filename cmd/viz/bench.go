package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/bench"
	"github.com/tokenbytoken/viz/infer/kernel"
	"github.com/tokenbytoken/viz/infer/terms"
)

const benchUsage = `Usage: viz bench [flags]

Measures how fast a model reads a prompt (prefill) and writes text (decode) on
this machine, for each quantization, thread count and batch size, and how fast
the matrix products alone run (kernel). With -accuracy, it instead measures how
much int8 weights change the model's predictions.
`

// benchOptions are the flags of viz bench.
type benchOptions struct {
	modelPath
	plan     bench.Plan
	accuracy bool
	json     bool
}

// benchReport is the output of viz bench -json: rows for speed or for accuracy.
type benchReport struct {
	Model    string           `json:"model"`
	Hash     string           `json:"model_hash"`
	Platform string           `json:"platform"`
	CPUs     int              `json:"cpus"`
	Kernel   string           `json:"kernel"`
	Speed    []bench.Row      `json:"speed,omitempty"`
	Accuracy []bench.Accuracy `json:"accuracy,omitempty"`
}

// runBench runs viz bench.
func runBench(ctx context.Context, args []string, env func(string) string, stdout, stderr io.Writer) error {
	o := benchOptions{plan: bench.DefaultPlan()}
	f := o.flags()
	if err := f.parse(args, env, stdout); err != nil {
		return err
	}
	m, err := openModel(ctx, o.modelPath, f.called("model"), infer.QuantNone, stderr)
	if err != nil {
		return err
	}
	if err := o.plan.Check(m.Config().Context); err != nil && !o.accuracy {
		return usageError{err}
	}
	load := func(q infer.Quant) (*infer.Model, error) {
		if q == infer.QuantNone {
			return m, nil
		}
		return openModel(ctx, o.modelPath, f.called("model"), q, io.Discard)
	}
	r := benchReport{
		Model: m.Name(), Hash: m.Hash(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		CPUs: runtime.NumCPU(), Kernel: kernel.Current().String(),
	}
	w, line := terms.In(ctx), newProgressLine(stderr)
	if o.accuracy {
		r.Accuracy, err = accuracy(ctx, m, load, &line)
	} else {
		r.Speed, err = bench.Run(ctx, o.plan, load, func(done, of int, c bench.Case) {
			line.say(fmt.Sprintf("%3d%%  %s", 100*done/of, caseText(w, c)))
		})
	}
	line.say("")
	if err != nil {
		return err
	}
	if o.json {
		e := json.NewEncoder(stdout)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	_, err = io.WriteString(stdout, r.text(w))
	return err
}

func (o *benchOptions) flags() *flags {
	f := newFlags(benchUsage)
	o.modelPath.flags(f)
	f.value("quants", "LIST", "the quantizations to measure (default none,int8)", func(text string) error {
		o.plan.Quants = nil
		for name := range strings.SplitSeq(text, ",") {
			q, err := infer.ParseQuant(name)
			if err != nil {
				return errors.New(`must be "none", "int8" or "none,int8"`)
			}
			o.plan.Quants = append(o.plan.Quants, q)
		}
		return nil
	})
	f.numbers("threads", "thread counts to measure (default 1, and one per processor)", &o.plan.Threads)
	f.numbers("texts", "numbers of texts to process in one batch (default 1,4,16)", &o.plan.Texts)
	f.number("prompt-tokens", "length of the prompt in tokens", &o.plan.Prompt)
	f.number("n", "tokens to generate for each text", &o.plan.Written)
	f.value("time", "T", "duration of each measurement (default 1s)", func(text string) error {
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			return errors.New("must be a positive duration such as 500ms or 2s")
		}
		o.plan.Time = d
		return nil
	})
	f.toggle("accuracy", "measure how much int8 changes the predictions, rather than the speed", &o.accuracy)
	f.toggle("json", "print one JSON object", &o.json)
	return f
}

// quant defines the flag that selects the storage format of the weights.
func (f *flags) quant(to *infer.Quant) {
	*to = infer.QuantNone
	f.value("quant", "KIND", "how weights are stored in memory: none (unchanged) or int8 (one byte each; "+
		"smaller and faster, with nearly the same output) (default none)", func(text string) error {
		q, err := infer.ParseQuant(text)
		if err != nil {
			return errors.New("must be none or int8")
		}
		*to = q
		return nil
	})
}

// number defines a flag whose argument is a positive integer. Its default is
// *to.
func (f *flags) number(name, help string, to *int) {
	f.value(name, "N", fmt.Sprintf("%s (default %d)", help, *to), func(text string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return errors.New("must be a positive integer")
		}
		*to = n
		return nil
	})
}

// numbers defines a flag whose argument is a list of positive integers.
func (f *flags) numbers(name, help string, to *[]int) {
	f.value(name, "LIST", help, func(text string) error {
		var list []int
		for part := range strings.SplitSeq(text, ",") {
			n, err := strconv.Atoi(strings.TrimSpace(part))
			if err != nil || n < 1 || n > 256 {
				return errors.New("must be a comma-separated list of integers from 1 to 256")
			}
			list = append(list, n)
		}
		*to = list
		return nil
	})
}

// accuracy compares int8 weights with m on texts outside the training data and on texts that m
// generates.
func accuracy(
	ctx context.Context, m *infer.Model, load func(infer.Quant) (*infer.Model, error), line *progressLine,
) ([]bench.Accuracy, error) {
	other, err := load(infer.QuantInt8)
	if err != nil {
		return nil, err
	}
	w := terms.In(ctx)
	line.say(w.T("cmd.bench.generating"))
	generated, err := bench.Generated(ctx, m, 16, min(120, m.Config().Context/2))
	if err != nil {
		return nil, err
	}
	var found []bench.Accuracy
	for _, set := range []struct {
		name  string
		texts [][]int
	}{{"written", bench.HeldOut(m)}, {"generated", generated}} {
		line.say(w.T("cmd.bench.comparing." + set.name))
		a, err := bench.Compare(ctx, m, other, set.name, set.texts)
		if err != nil {
			return nil, err
		}
		found = append(found, a)
	}
	return found, nil
}

// text formats the report as tables.
func (r benchReport) text(w *terms.Language) string {
	head := w.T(
		"cmd.bench.on", "model", r.Model, "platform", r.Platform, "processors", w.Counted(r.CPUs, "processor"),
		"kernel", r.Kernel,
	)
	if r.Accuracy != nil {
		return head + "\n\n" + r.accuracyTable(w)
	}
	return head + "\n\n" + r.speedTable(w)
}

func (r benchReport) accuracyTable(w *terms.Language) string {
	t := table{
		{w.T("cmd.bench.quant"), -5},
		{w.T("cmd.bench.texts"), -9},
		{w.T("cmd.bench.positions"), 9},
		{w.T("cmd.bench.same"), 14},
		{w.T("cmd.bench.mean"), 8},
		{w.T("cmd.bench.most"), 8},
		{w.T("cmd.bench.logit"), 11},
	}
	var rows [][]string
	for _, a := range r.Accuracy {
		rows = append(rows, []string{
			string(a.Quant), w.T("cmd.bench.texts." + a.Texts), terms.Count(a.Positions),
			fmt.Sprintf("%.2f%%", 100*a.Top1), fmt.Sprintf("%.2e", a.MeanKL), fmt.Sprintf("%.2e", a.MaxKL),
			fmt.Sprintf("%.3f", a.MaxDiff),
		})
	}
	return t.text(rows)
}

func (r benchReport) speedTable(w *terms.Language) string {
	t := table{
		{w.T("cmd.bench.phase"), -7},
		{w.T("cmd.bench.quant"), -5},
		{w.T("cmd.bench.threads"), 7},
		{w.T("cmd.bench.texts"), 5},
		{w.T("cmd.bench.tokens"), 6},
		{w.T("cmd.bench.rate"), 9},
		{w.T("cmd.bench.best"), 9},
		{w.T("cmd.bench.flops"), 8},
	}
	var rows [][]string
	for _, row := range r.Speed {
		rate, best := terms.Count(int(row.Rate)), terms.Count(int(row.Best))
		if row.Phase == bench.Kernel {
			rate, best = "–", "–"
		}
		rows = append(rows, []string{
			w.T("cmd.bench.phase." + string(row.Phase)), string(row.Quant), strconv.Itoa(row.Threads),
			strconv.Itoa(row.Texts), strconv.Itoa(row.Tokens), rate, best, fmt.Sprintf("%.1f", row.GFLOPS),
		})
	}
	return t.text(rows)
}

func caseText(w *terms.Language, c bench.Case) string {
	return w.T(
		"cmd.bench.case", "phase", w.T("cmd.bench.phase."+string(c.Phase)), "quant", string(c.Quant),
		"threads", w.Counted(c.Threads, "thread"), "texts", w.Counted(c.Texts, "text"),
	)
}

// progressLine is a line that is overwritten repeatedly. It is shown only on a
// terminal.
type progressLine struct {
	to    io.Writer
	shown bool
	last  int // width of the current text
}

func newProgressLine(to io.Writer) progressLine {
	return progressLine{to: raw(to), shown: isTerminal(to)} // the line needs \r
}

// say replaces the line; an empty string removes it.
func (p *progressLine) say(text string) {
	if p.shown {
		text = terms.Printable(text)
		fmt.Fprint(p.to, "\r"+pad(text, p.last))
		if p.last = width(text); text == "" {
			fmt.Fprint(p.to, "\r")
		}
	}
}

// raw returns the writer that a [terms.Terminal] wraps.
func raw(w io.Writer) io.Writer {
	if t, ok := w.(*terms.Terminal); ok {
		return t.Raw()
	}
	return w
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := raw(w).(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
