package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/files"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/stage"
)

const traceUsage = `Usage: viz trace -prompt TEXT [flags]

Continues a prompt, without a server, and prints the seven stages of every turn
of the loop as text or, with -json, as one object per line: the objects that the
viz.json.v1 socket sends, which infer/STAGES.md describes. The defaults of the
settings are the same as on the page.
`

// traceOptions are the flags of viz trace.
type traceOptions struct {
	prompt   string
	settings infer.Settings
	rows     int
	modelPath
	quant infer.Quant
	json  bool
}

// trace runs viz trace.
func trace(
	ctx context.Context, args []string, env func(string) string, stdin io.Reader, stdout, stderr io.Writer,
) error {
	o := traceOptions{settings: infer.DefaultSettings(), rows: infer.DefaultRows}
	f := o.flags()
	if err := f.parse(args, env, stdout); err != nil {
		return err
	}
	m, err := openFor(ctx, f, &o.prompt, o.modelPath, o.quant, stdin, stderr)
	if err != nil {
		return err
	}
	loop, err := infer.NewLoop(m, o.prompt, o.settings)
	if err != nil {
		return f.refused(err)
	}
	out := bufio.NewWriter(stdout)
	var p printer = newAccount(stage.In(ctx), out, m, o.prompt)
	if o.json {
		p = jsonLines{json.NewEncoder(out)}
	}
	return printRun(ctx, loop, o.rows, p, out)
}

func (o *traceOptions) flags() *flags {
	f := newFlags(traceUsage)
	f.text("prompt", "TEXT", "the text to continue; - reads standard input (UTF-8, or UTF-16 with a byte order "+
		"mark); a final newline is dropped", &o.prompt)
	for _, k := range terms.Knobs() {
		o.knob(f, k)
	}
	bias := "amounts to add to tokens' scores, as ID:AMOUNT pairs such as 12:-100,50:5"
	f.value("logit-bias", "LIST", bias, func(text string) error {
		b, err := sampling.ParseBias(text)
		if err == nil {
			o.settings.LogitBias = b
		}
		return mustBe(err)
	})
	f.value("samplers", "ORDER", "the order of the rules: own, llama.cpp, hugging_face, openai, or names separated by "+
		"semicolons, such as top_k;top_p;temperature (default own)", func(text string) (err error) {
		o.settings.Order, _, err = sampling.ParseOrder(text)
		return mustBe(err)
	})
	f.value("stop", "TEXT", "a stop string, with \\n and \\t for newline and tab; can be used up to 8 times", o.stop)
	rows := fmt.Sprintf("how many tokens to list at each stage; 0 lists the whole vocabulary (default %d)", o.rows)
	f.value("rows", "R", rows, func(text string) error {
		n, err := strconv.Atoi(text)
		if o.rows = n; err != nil || n < 0 {
			return errors.New("must be 0 (the whole vocabulary) or more")
		}
		return nil
	})
	o.modelPath.flags(f)
	f.quant(&o.quant)
	f.toggle("json", "print one JSON object per line", &o.json)
	return f
}

// knob defines the flag for one knob of the run.
func (o *traceOptions) knob(f *flags, k terms.Knob) {
	help := fmt.Sprintf("%s (default %s)", k.Help, terms.Plain(o.settings.Value(k.Key)))
	f.value(k.Flag, k.Arg, help, func(text string) error {
		x, err := k.ParseNumber(text)
		if err == nil {
			o.settings.Set(k.Key, x)
		}
		return mustBe(err)
	})
}

// stop adds a stop string.
func (o *traceOptions) stop(text string) error {
	next := o.settings.Stop
	next.Strings = append(slices.Clone(next.Strings), terms.Unescaped(text))
	if err := next.Check(); err != nil {
		return mustBe(err)
	}
	o.settings.Stop = next
	return nil
}

// mustBe reduces a range error to the allowed values, since [flags] adds the flag's name and value.
func mustBe(err error) error {
	var r *terms.RangeError
	if errors.As(err, &r) {
		return errors.New("must be " + r.Want.String())
	}
	return err
}

// refused rewrites an error to name the flag instead of the field that the engine rejects.
func (f *flags) refused(err error) error {
	var r *terms.RangeError
	if !errors.As(err, &r) {
		return err
	}
	got := "is " + r.Got.String()
	if r.Field == "prompt" && !f.given("prompt") {
		got = "is missing"
	}
	return usageError{fmt.Errorf("%s %s; it must be %s", f.called(strings.ReplaceAll(r.Field, "_", "-")), got, r.Want)}
}

// readPrompt reads a prompt from standard input. It reads at most slightly more than twice limit
// bytes, since a prompt in UTF-16 can take that many. It drops a trailing newline, which the shell
// adds.
func readPrompt(ctx context.Context, stdin io.Reader, limit int) (string, error) {
	most := 2*int64(limit) + 8
	data, err := readAll(ctx, stdin, most)
	if err != nil {
		return "", fmt.Errorf("reading the prompt: %w", err)
	}
	text := string(data) // may have been truncated; if so, it is too long even if it is not decoded
	if int64(len(data)) < most {
		if text, err = files.Text(data); err != nil {
			return "", usageError{fmt.Errorf("the prompt on standard input %w", err)}
		}
	}
	if shorter, ok := strings.CutSuffix(text, "\r\n"); ok {
		return shorter, nil
	}
	return strings.TrimSuffix(text, "\n"), nil
}

// readAll reads at most limit bytes of standard input. It returns when ctx ends, even if the input
// never does.
func readAll(ctx context.Context, stdin io.Reader, limit int64) ([]byte, error) {
	type result struct {
		data []byte
		err  error
	}
	read := make(chan result, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(stdin, limit))
		read <- result{data, err}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case r := <-read:
		return r.data, r.err
	}
}

// printer prints a run.
type printer interface {
	begin(infer.Prompt) error
	turn([]infer.Stage) error // receives the seven stages of one step
	end(*infer.Step) error    // receives the last step
}

// printRun runs a loop to its end and prints every turn as soon as it is done. It runs a whole turn
// before it derives the turn's stages, so the drawn token is among the rows of every stage.
func printRun(ctx context.Context, loop *infer.Loop, rows int, p printer, out *bufio.Writer) error {
	m := loop.Model()
	prompt := infer.Prompt{Model: m, Settings: loop.Settings()}
	for _, id := range loop.Prompt() {
		prompt.Tokens = append(prompt.Tokens, m.Token(id))
	}
	if err := errors.Join(p.begin(prompt), out.Flush()); err != nil {
		return err
	}
	loop.Rows = 1 // the steps that Next returns are not shown
	for {
		step, err := runTurn(ctx, loop)
		if errors.Is(err, io.EOF) {
			steps := loop.Steps()
			return errors.Join(p.end(steps[len(steps)-1]), out.Flush())
		} else if err != nil {
			return err
		}
		stages := make([]infer.Stage, 0, len(infer.Kinds))
		for dist := step.Distribution(); len(stages) < len(infer.Kinds); {
			stages = append(stages, m.Stage(step, infer.Kinds[len(stages)], dist, rows))
		}
		if err := errors.Join(p.turn(stages), out.Flush()); err != nil {
			return err
		}
	}
}

// runTurn runs one whole turn of the loop. After the last turn it returns io.EOF.
func runTurn(ctx context.Context, loop *infer.Loop) (*infer.Step, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if _, err := loop.Advance(ctx); err != nil {
			return nil, err
		}
		if loop.BetweenTurns() {
			steps := loop.Steps()
			return steps[len(steps)-1], nil
		}
	}
}

// jsonLines prints one object per line.
type jsonLines struct{ *json.Encoder }

func (j jsonLines) begin(p infer.Prompt) error { return j.Encode(p) }

func (j jsonLines) turn(stages []infer.Stage) error {
	for _, s := range stages {
		if err := j.Encode(s); err != nil {
			return err
		}
	}
	return nil
}

func (j jsonLines) end(*infer.Step) error { return nil }
