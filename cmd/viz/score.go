package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/files"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

const scoreUsage = `Usage: viz score [flags] FILE

Reads a text and measures how well the model predicts it: bits per token,
perplexity and bits per byte. All three are lower for a text that the model finds
more likely; bits per byte can be compared between models with different tokens.
FILE is a text in UTF-8, or in UTF-16 with a byte order mark, or - for standard
input. With -rules or -temperature, it also scores the text under those settings,
and measures how much they change the distribution, on average per token.
`

// maxScored is the maximum length of a text in bytes.
const maxScored = 64 << 20

// scoreOptions are the flags of viz score.
type scoreOptions struct {
	modelPath
	file         string
	tokens, json bool
	settings     sampling.Settings
	asked        bool // whether settings were given
}

func (o *scoreOptions) flags() *flags {
	f := newFlags(scoreUsage)
	f.path = &o.file
	o.modelPath.flags(f)
	o.settings = sampling.Pure
	f.value("rules", "RULES", `also score the text with sampling rules, such as "top_k=40 top_p=0.9"`, o.readRules)
	f.value("temperature", "T", "also score the text at this temperature, 0.1 to 10", func(text string) error {
		t, ok := terms.ReadNumber(text)
		if o.settings.Temperature, o.asked = t, true; !ok {
			return errors.New("must be a number")
		}
		return nil
	})
	f.toggle("tokens", "list every token and its cost in bits", &o.tokens)
	f.toggle("json", "print one JSON object per line", &o.json)
	return f
}

// readRules sets the settings to the value of -rules, except for the temperature, which has its own
// flag.
func (o *scoreOptions) readRules(text string) error {
	t := o.settings.Temperature
	s, err := session.ReadRules(text, sampling.Pure)
	if o.settings, o.asked = s, true; err != nil {
		return errors.New(terms.RefusalOf(err).Message)
	}
	o.settings.Temperature = t
	return nil
}

// scoredToken is a line in the output of viz score -json -tokens.
type scoredToken struct {
	Token infer.Token `json:"token"`
	Bits  *float64    `json:"bits"` // null for the first token, which has no prediction
}

// scoredText is the last line of viz score -json.
type scoredText struct {
	Model        string  `json:"model"`
	Hash         string  `json:"model_hash"`
	Tokens       int     `json:"tokens"`
	Bytes        int     `json:"bytes"`
	Bits         float64 `json:"bits"`
	BitsPerToken float64 `json:"bits_per_token"`
	Perplexity   float64 `json:"perplexity"`
	BitsPerByte  float64 `json:"bits_per_byte"`
}

// runScore runs viz score.
func runScore(
	ctx context.Context, args []string, env func(string) string, stdin io.Reader, stdout, stderr io.Writer,
) error {
	var o scoreOptions
	f := o.flags()
	if err := f.parse(args, env, stdout); err != nil {
		return err
	}
	text, err := o.read(ctx, stdin)
	if err != nil {
		return err
	}
	m, err := openModel(ctx, o.modelPath, f.called("model"), infer.QuantNone, stderr)
	if err != nil {
		return err
	}
	scoring, err := m.NewScoring(text)
	if wrong := new(terms.RangeError); errors.As(err, &wrong) {
		return usageError{fmt.Errorf("%s: the text is %s; it must be %s", o.file, wrong.Got, wrong.Want)}
	} else if err != nil {
		return err
	}
	var beside *besideText
	if o.asked { // compare fails for a text longer than the context, so it runs before the slow scoring
		if beside, err = o.compare(ctx, m, text); err != nil {
			return err
		}
	}
	sum, err := o.run(ctx, scoring, stdout, stderr)
	if err == nil {
		err = o.sum(terms.In(ctx), stdout, m, sum)
	}
	if err != nil || beside == nil {
		return err
	}
	return o.beside(terms.In(ctx), stdout, beside)
}

// run scores the text. On a terminal, it prints the cost and the progress.
func (o *scoreOptions) run(
	ctx context.Context, s *infer.Scoring, stdout, stderr io.Writer,
) (sum infer.Surprise, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w, line, all, start := terms.In(ctx), newProgressLine(stderr), s.Tokens(), time.Now()
	line.shown = line.shown && s.Windows() > 1 && !(o.tokens && isTerminal(stdout))
	line.say(w.T("cmd.score.windows", "tokens", w.Counted(all, "token"), "windows", w.Counted(s.Windows(), "window")))
	var failed error // the error of a failed write
	done := 0
	sum, err = s.Run(ctx, func(t infer.ReadToken) {
		if o.tokens && failed == nil {
			if failed = o.token(stdout, t); failed != nil {
				cancel()
			}
		}
		if done++; line.shown && done%scoreStep == 0 {
			line.say(scoreProgress(w, done, all, time.Since(start)))
		}
	})
	line.say("")
	if failed != nil {
		return sum, failed
	}
	if ctx.Err() != nil && err != nil {
		fmt.Fprintln(stderr, w.T("cmd.score.stopped", "done", terms.Count(done), "all", w.Counted(all, "token")))
	}
	return sum, err
}

// scoreStep is the number of tokens between updates of the progress line.
const scoreStep = 128

// scoreProgress describes how much of a text has been read and approximately how long the rest will
// take.
func scoreProgress(w *terms.Language, done, all int, took time.Duration) string {
	left := time.Duration(float64(took) / float64(done) * float64(all-done)).Round(time.Second)
	return w.T("cmd.score.left", "done", terms.Count(done), "all", w.Counted(all, "token"), "time", left)
}

// besideText is the line in the output of viz score -json that describes the effect of the
// settings.
type besideText struct {
	Settings sampling.Settings `json:"settings"`
	Tokens   int               `json:"tokens"` // number of tokens that the settings allow
	Cut      int               `json:"cut"`    // number of tokens that the settings rule out
	Bits     float64           `json:"bits"`   // total surprise of the allowed tokens
	// Apart is the average divergence, in bits, of the distribution with the settings from the
	// distribution without them. Back is the average divergence in the other direction, or null if
	// it is infinite at any step.
	Apart float64  `json:"apart"`
	Back  *float64 `json:"back"`
	// Lost is the average probability of the tokens that the settings cut.
	Lost float64 `json:"lost"`
}

// compare measures how the settings change the text's score.
func (o *scoreOptions) compare(ctx context.Context, m *infer.Model, text string) (*besideText, error) {
	with, without := infer.Side{Text: text, Settings: o.settings}, infer.Side{Text: text, Settings: sampling.Pure}
	c, err := m.Compare(ctx, with, without)
	if wrong := new(terms.RangeError); errors.As(err, &wrong) {
		return nil, usageError{errors.New(wrong.In(terms.In(ctx)))}
	} else if err != nil {
		return nil, err
	}
	side := c.Sides[0]
	line := &besideText{Settings: o.settings, Tokens: side.Sum.Tokens, Cut: side.Cut, Bits: side.Sum.Bits()}
	back, n := 0.0, float64(max(len(c.Apart), 1))
	for _, d := range c.Apart {
		line.Apart += infer.Surprise{Nats: d.Nats}.Bits() / n
		back += infer.Surprise{Nats: d.Back}.Bits() / n
		line.Lost += d.Gained / n
	}
	if !math.IsInf(back, 1) {
		line.Back = &back
	}
	return line, nil
}

// beside prints the result of compare.
func (o *scoreOptions) beside(w *terms.Language, out io.Writer, line *besideText) error {
	if o.json {
		return json.NewEncoder(out).Encode(line)
	}
	back := w.T("cmd.score.back.infinite")
	if line.Back != nil {
		back = measure(terms.Decimals(*line.Back, 4), w.T("cmd.score.back"))
	}
	_, err := fmt.Fprintln(out, strings.Join([]string{
		w.T("cmd.score.settings", "tokens", w.Counted(line.Tokens, "token"), "cut", line.Cut),
		measure(terms.Decimals(line.Bits, 4), w.T("cmd.score.possible")),
		measure(terms.Decimals(line.Apart, 4), w.T("cmd.score.apart")),
		back,
		measure(terms.Prob(line.Lost), w.T("cmd.score.lost")),
	}, "\n"))
	return err
}

// measure returns a line with a right-aligned number and a description of what it measures.
func measure(number, what string) string { return fmt.Sprintf("%10s %s", number, what) }

// read reads the text to score.
func (o *scoreOptions) read(ctx context.Context, stdin io.Reader) (string, error) {
	if o.file == "" {
		return "", usageError{errors.New("missing FILE argument: specify a file to score, or - for standard input")}
	}
	var data []byte
	var err error
	if o.file == "-" {
		data, err = readAll(ctx, stdin, maxScored+1)
		if ctx.Err() != nil {
			return "", err
		}
		if err == nil && len(data) > maxScored {
			err = fmt.Errorf("the text is longer than %s", terms.Bytes(maxScored))
		}
	} else {
		data, err = files.Read(o.file, maxScored)
	}
	if err != nil {
		return "", usageError{err}
	}
	text, err := files.Text(data)
	if err != nil {
		return "", usageError{fmt.Errorf("%s %w", o.file, err)}
	}
	return text, nil
}

// token prints a token and its bits.
func (o *scoreOptions) token(out io.Writer, t infer.ReadToken) error {
	bits := infer.Surprise{Nats: -t.LogProb}.Bits()
	if o.json {
		line := scoredToken{Token: t.Token, Bits: &bits}
		if t.First {
			line.Bits = nil
		}
		return json.NewEncoder(out).Encode(line)
	}
	cost := terms.Decimals(bits, 2)
	if t.First {
		cost = "–"
	}
	_, err := fmt.Fprintf(out, "%8s  %q\n", cost, t.Token.Text)
	return err
}

// sum prints the totals for the whole text.
func (o *scoreOptions) sum(w *terms.Language, out io.Writer, m *infer.Model, s infer.Surprise) error {
	if o.json {
		return json.NewEncoder(out).Encode(scoredText{
			m.Name(), m.Hash(), s.Tokens, s.Bytes, s.Bits(), s.BitsPerToken(), s.Perplexity(), s.BitsPerByte(),
		})
	}
	_, err := fmt.Fprintln(out, strings.Join([]string{
		w.T("cmd.score.text", "tokens", w.Counted(s.Tokens, "token"), "size", w.Bytes(int64(s.Bytes))),
		measure(terms.Decimals(s.BitsPerToken(), 4), w.T("cmd.score.token")),
		measure(terms.Decimals(s.Perplexity(), 4), w.T("cmd.score.perplexity")),
		measure(terms.Decimals(s.BitsPerByte(), 4), w.T("cmd.score.byte")),
	}, "\n"))
	return err
}
