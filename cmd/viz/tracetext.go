package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/stage"
)

// The output is laid out for 80 columns.
const (
	nameColumn     = 11 // width of "3 softmax" and the like
	sentenceColumn = 58 // width of a stage's sentence next to its name
	tokenColumn    = 18 // minimum width of a token in the table
	barWidth       = 12 // width of a bar for p = 1
	stripWidth     = 60 // width of the line that shows where u lands
	tailWidth      = 60 // width of the text so far
)

var indent = strings.Repeat(" ", nameColumn)

// account prints a run as human-readable text, in the words of package stage. It rounds and
// shortens as the page does, and escapes every character that a terminal might interpret as a
// command.
type account struct {
	words  stage.Words
	w      io.Writer
	prompt string
	about  stage.About
	text   strings.Builder // the text generated and released so far
	err    error           // the first error from w
}

func newAccount(words stage.Words, w io.Writer, m *infer.Model, prompt string) *account {
	c := m.Config()
	return &account{words: words, w: w, prompt: prompt, about: stage.About{Layers: c.Layers, Width: c.Width}}
}

// line prints one line, without trailing spaces.
func (a *account) line(format string, args ...any) {
	if a.err == nil {
		_, a.err = fmt.Fprintln(a.w, strings.TrimRight(fmt.Sprintf(format, args...), " "))
	}
}

// under prints a line that begins with a name.
func (a *account) under(name, text string) { a.line("%s%s", named(name), text) }

// more prints a continuation line.
func (a *account) more(text string) { a.line("%s%s", indent, text) }

// rule prints a horizontal line with a title in it.
func (a *account) rule(title string) {
	title = "── " + title + " "
	a.line("%s%s", title, strings.Repeat("─", max(0, 78-width(title))))
}

func (a *account) begin(p infer.Prompt) error {
	w, c := a.words, p.Model.Config()
	a.about.Prompt = len(p.Tokens)
	a.under(w.T("lines.model"), w.T(
		"lines.model.say", "name", stage.Marked(p.Model.Name()), "weights", terms.Count(p.Model.Parameters()),
		"positions", w.Counted(c.Context, "position"),
	))
	a.more(w.T(
		"lines.model.shape", "layers", w.Counted(c.Layers, "layer"), "width", fmt.Sprint(c.Width),
		"heads", fmt.Sprint(c.Heads), "kv", fmt.Sprint(c.KVHeads), "tokens", w.Counted(c.Vocab, "token"),
	))
	words := make([]string, len(p.Tokens))
	for i, t := range p.Tokens {
		words[i] = stage.TokenText(t).String()
	}
	head := w.T("lines.prompt")
	for _, line := range wrap(words, 80-nameColumn) {
		a.under(head, line)
		head = ""
	}
	a.more(w.Counted(len(p.Tokens), "token"))
	s := p.Settings
	a.under(w.T("lines.settings"), w.T(
		"lines.settings.say", "settings", w.Settings(s.Settings), "seed", fmt.Sprint(s.Seed),
		"tokens", w.Counted(s.Stop.MaxTokens, "token"),
	))
	for _, stop := range s.Stop.Strings {
		a.more(w.T("lines.settings.stop", "text", stage.Marked(stop)))
	}
	return a.err
}

// turn prints the seven stages of one step.
func (a *account) turn(stages []infer.Stage) error {
	a.line("")
	a.rule(a.words.T("lines.step", "n", fmt.Sprint(stages[0].(infer.Forward).Step)))
	for _, s := range stages {
		switch s := s.(type) {
		case infer.Forward:
			a.stage(s, a.words.Took(s.Took))
		case infer.Logits:
			a.stage(s, a.words.Took(s.Took))
		case infer.Softmax:
			a.stage(s, a.words.Took(s.Took))
		case infer.Filter:
			a.stage(s, a.words.Took(s.Took))
		case infer.Sample:
			a.table(stages)
			a.stage(s, a.words.Took(s.Took))
			if !s.Greedy {
				a.more(strip(s))
				a.more(strings.Repeat(" ", min(int(s.U*stripWidth), stripWidth-1)) + "▲ u")
			}
		case infer.Append:
			a.text.WriteString(s.Text)
			a.sentence(s, a.words.Took(s.Took))
			a.more(tail(stage.Marked(a.prompt+a.text.String()).String(), tailWidth))
			a.further(s)
		case infer.CacheGrowth:
			a.stage(s, "")
		}
	}
	return a.err
}

// stage prints the sentence about a stage, and the further lines below it.
func (a *account) stage(s infer.Stage, took string) {
	a.sentence(s, took)
	a.further(s)
}

// sentence prints a stage's first line: its number and name, a sentence about it
// and, at the right edge, the time it took.
func (a *account) sentence(s infer.Stage, took string) {
	name := fmt.Sprintf("%d %s", s.Kind(), strings.ToLower(a.words.Stage(int(s.Kind())).Short))
	a.under(name, fmt.Sprintf("%s%9s", pad(a.words.Sentence(stage.Line, s, a.about).String(), sentenceColumn), took))
}

func (a *account) further(s infer.Stage) {
	for _, line := range a.words.Further(s) {
		a.more(line)
	}
}

// table prints what stages 2 to 4 computed for each token. It has one row for each listed token,
// one row for all others together, and one for the sums.
func (a *account) table(stages []infer.Stage) {
	w, f := a.words, stages[infer.KindFilter-1].(infer.Filter)
	logits := stages[infer.KindLogits-1].(infer.Logits).Rows.Rows
	chosen := stages[infer.KindSample-1].(infer.Sample).Chosen.ID
	column, keepColumn := tokenColumn, len("cut: top-k")
	for _, r := range f.Rows.Rows {
		column = max(column, width(stage.TokenText(r.Token).String()))
	}
	for _, c := range f.Cuts {
		keepColumn = max(keepColumn, width(w.Fate(infer.Row{CutBy: c.Rule})))
	}
	row := func(mark, rank, token, z, p, bar, keep, q string) {
		a.line(
			"  %s%6s  %s %8s %8s  %s  %s %8s", mark, rank, pad(token, column), z, p, pad(bar, barWidth),
			pad(keep, keepColumn), q,
		)
	}
	a.line("")
	row(" ", w.T("lines.rank"), w.T("lines.token"), "z", "p", "", "", "p′")
	var p, q float64
	for i, r := range f.Rows.Rows {
		if i > 0 && f.Leading && f.Rows.Rows[i-1].Kept && !r.Kept {
			a.line("  %s", strings.Repeat(" -", (column+60)/2))
		}
		mark, after := " ", terms.Prob(r.Q)
		if r.ID == chosen {
			mark = "→"
		}
		if !r.Kept {
			after = "–"
		}
		row(mark, terms.Count(r.Rank), stage.TokenText(r.Token).String(), terms.Logit(float64(logits[i].Z)),
			terms.Prob(r.P), bar(r.P), w.Fate(r), after)
		p, q = p+r.P, q+r.Q
	}
	if n := f.Rest.N; n > 0 {
		after := "–"
		if f.Rest.Kept > 0 {
			after = terms.Prob(f.Rest.Q)
		}
		row(" ", "", w.T("lines.others", "n", terms.Count(n)), "", terms.Prob(f.Rest.P), bar(f.Rest.P),
			w.RestFate(f.Rest), after)
	}
	row(" ", "", w.T("lines.sum"), "", terms.Prob(p+f.Rest.P), "", "", terms.Prob(q+f.Rest.Q))
	a.line("")
}

// strip draws the kept tokens end to end, with lengths proportional to their p′ and the drawn token
// as a thick line. Tokens that are narrower than a column share a column.
func strip(s infer.Sample) string {
	cells := []rune(strings.Repeat("─", stripWidth))
	from := min(int(s.From*stripWidth), stripWidth-1)
	for i := from; i < stripWidth && (i == from || float64(i+1) <= s.To*stripWidth); i++ {
		cells[i] = '━'
	}
	var edge float64
	for i, r := range s.Lanes {
		if r.ID == s.Chosen.ID && s.From > edge+1e-9 {
			break // the tokens between it and the previous lane have no lanes
		}
		if at := int(edge * stripWidth); i > 0 && at < stripWidth {
			cells[at] = '┬'
		}
		edge += r.Q
	}
	return string(cells)
}

func (a *account) end(last *infer.Step) error {
	a.line("")
	a.rule(a.words.T(
		"lines.stopped", "tokens", a.words.Counted(last.N, "token"), "why", a.words.Stop(string(last.Stop)).Why,
	))
	a.line("%s", a.prompt+a.text.String())
	return a.err
}
