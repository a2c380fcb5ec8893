package main

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/why"
)

const whyUsage = `Usage: viz why -prompt TEXT [flags]

Explains why the model would write a token after a prompt: how much each part of
the model adds to the token's score (the parts sum to exactly the score), and
what the model predicts with parts switched off. What a part adds is not the same
as what is lost without it, and neither shows that the part stores an idea.
`

// whyOptions are the flags of viz why.
type whyOptions struct {
	prompt, token, over, off, patch string
	mean, lens, heads               bool
	modelPath
	quant infer.Quant
	json  bool
}

// runWhy runs viz why.
func runWhy(
	ctx context.Context, args []string, env func(string) string, stdin io.Reader, stdout, stderr io.Writer,
) error {
	var o whyOptions
	f := o.flags()
	if err := f.parse(args, env, stdout); err != nil {
		return err
	}
	m, err := openFor(ctx, f, &o.prompt, o.modelPath, o.quant, stdin, stderr)
	if err != nil {
		return err
	}
	r, err := o.ask(ctx, f, m, newProgressLine(stderr))
	if err != nil {
		return err
	}
	if o.json {
		_, err = indented{r}.WriteTo(stdout)
		return err
	}
	out := bufio.NewWriter(stdout)
	whyText{terms.In(ctx), out, r}.print()
	return out.Flush()
}

func (o *whyOptions) flags() *flags {
	f := newFlags(whyUsage)
	f.text("prompt", "TEXT", "the text before the token; - reads standard input; a final newline is dropped", &o.prompt)
	f.text("token", "TOKEN", "the token to explain: its text, or # and its id "+
		"(default: the most probable)", &o.token)
	f.text("over", "TOKEN", "explain the token's lead over this one instead of its score", &o.over)
	f.text("off", "PARTS", "the parts to switch off at every position, separated by commas: L3.H2 (a head), L4.ffn, "+
		"L4.bias, L5 (a block), pos:0 (a position, which later positions then cannot attend to)", &o.off)
	f.toggle("mean", "replace disabled parts by their mean over the text instead of zero", &o.mean)
	f.toggle("lens", "show how the logit lens reads each position's vector after each block", &o.lens)
	f.text("patch", "TEXT", "copy this text's vectors into the prompt, one at a time, and show how far each one moves "+
		"the answer toward this text's; both need the same number of tokens", &o.patch)
	f.toggle("heads", "find heads with known habits, and measure the loss without them", &o.heads)
	o.modelPath.flags(f)
	f.quant(&o.quant)
	f.toggle("json", "print one JSON object", &o.json)
	return f
}

// ask computes everything that the flags request.
func (o *whyOptions) ask(ctx context.Context, f *flags, m *infer.Model, line progressLine) (*why.Report, error) {
	q := why.Question{Token: -1, Over: -1, Says: why.Shown}
	for _, t := range []struct {
		flag, text string
		to         *int
	}{{"token", o.token, &q.Token}, {"over", o.over, &q.Over}} {
		if !f.given(t.flag) {
			continue
		}
		id, err := why.FindToken(m, t.text)
		if err != nil {
			return nil, f.wrong(t.flag, t.text, err)
		}
		*t.to = id
	}
	var err error
	if q.Off, q.Positions, err = why.ParseOff(m, o.off); err != nil {
		return nil, f.wrong("off", o.off, err)
	}
	q.Mean = o.mean
	study, err := o.study(ctx, f, m, "prompt", o.prompt)
	if err != nil {
		return nil, err
	}
	r := &why.Report{Study: study, Question: q, Mean: o.mean, Off: why.FormatOff(m, q.Off, q.Positions)}
	if r.Answer, err = study.Ask(ctx, q); err != nil {
		return nil, f.wrong("off", o.off, err)
	}
	if o.lens {
		if r.Lens, err = study.Lens(ctx, q.Intervention, 0, why.Shown); err != nil {
			return nil, err
		}
	}
	if f.given("patch") {
		if r.Other, err = o.study(ctx, f, m, "patch", o.patch); err != nil {
			return nil, err
		}
		if r.Grid, err = study.Patch(ctx, r.Other); err != nil {
			return nil, f.wrong("patch", o.patch, err)
		}
	}
	if o.heads {
		r.Heads, err = why.Find(ctx, m, func(share float64) {
			line.say(terms.In(ctx).T("cmd.why.looking", "percent", fmt.Sprintf("%3d", int(100*share))))
		})
		line.say("")
	}
	return r, err
}

// study runs the model on a text given by a flag.
func (o *whyOptions) study(ctx context.Context, f *flags, m *infer.Model, flag, text string) (*why.Study, error) {
	if err := infer.CheckPrompt(text, infer.MaxSampleBytes); err != nil && text != "" {
		return nil, f.wrong(flag, text, err)
	}
	if err := m.CheckText(text); err != nil {
		return nil, f.wrong(flag, text, err)
	}
	s, err := why.New(ctx, m, m.Encode(text))
	if err != nil && ctx.Err() == nil {
		return nil, f.wrong(flag, text, err)
	}
	return s, err
}

// wrong returns an error about a flag's value.
func (f *flags) wrong(flag, value string, err error) error {
	return usageError{fmt.Errorf("invalid value %s for %s: %w", terms.Quoted(value), f.called(flag), err)}
}
