package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"
	"unicode"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/stage"
)

// The account is laid out for 80 columns.
const (
	nameColumn     = 11 // width of "3 softmax" and the like
	sentenceColumn = 58 // width of what a stage says beside its name
	tokenColumn    = 18 // least width of a token in the table
	barWidth       = 12 // of a bar as long as p
	stripWidth     = 60 // of the line on which u lands
	tailWidth      = 60 // of the text so far
)

var indent = strings.Repeat(" ", nameColumn)

// account prints a run for reading. It rounds and shortens as the page does,
// and writes no character that a terminal might take for a command.
type account struct {
	w      io.Writer
	m      *infer.Model
	prompt string
	text   strings.Builder // generated and released so far
	err    error           // the first error of w
}

func newAccount(w io.Writer, m *infer.Model, prompt string) *account {
	return &account{w: w, m: m, prompt: prompt}
}

// line prints one line, without spaces at its end.
func (a *account) line(format string, args ...any) {
	if a.err == nil {
		_, a.err = fmt.Fprintln(a.w, strings.TrimRight(fmt.Sprintf(format, args...), " "))
	}
}

// stage prints a stage's first line: its number and name, what it did and, at
// the right edge, the time it took.
func (a *account) stage(k infer.Kind, took time.Duration, format string, args ...any) {
	a.line(
		"%-*s%s%9s", nameColumn, fmt.Sprintf("%d %s", k, k), pad(fmt.Sprintf(format, args...), sentenceColumn),
		terms.Took(took),
	)
}

// more prints a further line of a stage.
func (a *account) more(format string, args ...any) { a.line(indent+format, args...) }

func (a *account) begin(p infer.Prompt) error {
	c := p.Model.Config()
	a.line("%-*s%s: %s weights, %s positions", nameColumn, "model",
		stage.Marked(p.Model.Name()), terms.Count(p.Model.Parameters()), terms.Count(c.Context))
	a.more("%d layers, width %d, %d query and %d key/value heads, %s tokens",
		c.Layers, c.Width, c.Heads, c.KVHeads, terms.Count(c.Vocab))
	words := make([]string, len(p.Tokens))
	for i, t := range p.Tokens {
		words[i] = stage.TokenText(t).String()
	}
	for i, line := range wrap(words, 80-nameColumn) {
		head := ""
		if i == 0 {
			head = "prompt"
		}
		a.line("%-*s%s", nameColumn, head, line)
	}
	a.more("%s", terms.Counted(len(p.Tokens), "token"))
	s := p.Settings
	a.line(
		"%-*s%s; seed %d; at most %s", nameColumn, "settings", knobs(s.Settings), s.Seed,
		terms.Counted(s.Stop.MaxTokens, "token"),
	)
	for _, stop := range s.Stop.Strings {
		a.more("stop at “%s”", stage.Marked(stop))
	}
	return a.err
}

// knobs names the settings that shape and cut the distribution.
func knobs(s sampling.Settings) string {
	if s.Greedy() {
		return "greedy (temperature 0)"
	}
	return s.Say("temperature")
}

// turn prints the seven stages of one step.
func (a *account) turn(stages []infer.Stage) error {
	var logits infer.Logits
	var softmax infer.Softmax
	for _, s := range stages {
		switch s := s.(type) {
		case infer.Forward:
			a.forward(s)
		case infer.Logits:
			logits = s
			a.stage(
				s.Kind(), s.Took, "last vector × output matrix: %s scores, %s to %s", terms.Count(s.Vocab),
				terms.Logit(float64(s.Min)), terms.Logit(float64(s.Max)),
			)
			a.more("%s multiply-adds", terms.MultAdds(s.MultAdds))
		case infer.Softmax:
			softmax = s
			a.softmax(s)
		case infer.Filter:
			a.filter(s)
		case infer.Sample:
			a.table(logits, softmax, stages[infer.KindFilter-1].(infer.Filter), s.Chosen.ID)
			a.sample(s)
		case infer.Append:
			a.append(s)
		case infer.CacheGrowth:
			a.cache(s)
		}
	}
	return a.err
}

func (a *account) forward(s infer.Forward) {
	a.line("")
	title := fmt.Sprintf("── step %d ", s.Step)
	a.line("%s%s", title, strings.Repeat("─", 78-width(title)))
	what := fmt.Sprintf("decode: “%s” at position %s", stage.TokenText(s.Tokens[0]), terms.Count(s.Positions))
	if s.Prefill {
		what = "prefill: the whole prompt, " + terms.Counted(len(s.Tokens), "token")
	}
	a.stage(s.Kind(), s.Took, "%s; %s multiply-adds", what, terms.MultAdds(s.MultAdds))
	a.more("%s projections + %s feed-forward + %s attention",
		terms.MultAdds(s.Parts.Projections), terms.MultAdds(s.Parts.FeedForward), terms.MultAdds(s.Parts.Attention))
}

func (a *account) softmax(s infer.Softmax) {
	divided := fmt.Sprintf("z / %v", s.Temperature)
	if s.Temperature == 0 {
		divided = "z as it is (greedy shows T = 1)"
	}
	a.stage(s.Kind(), s.Took, "%s, then e^(z − max) / %s", divided, terms.Decimals(s.SumExp, 4))
	a.more(
		"entropy %s bits of at most %s", terms.Decimals(s.Entropy, 2), terms.Decimals(math.Log2(float64(s.Vocab)), 2),
	)
}

func (a *account) filter(s infer.Filter) {
	a.stage(
		s.Kind(), s.Took, "%s of %s kept, p together %s", terms.Counted(s.Kept, "token"), terms.Count(s.Kept+s.Cut),
		terms.Prob(s.Mass),
	)
	if s.Settings.Greedy() {
		a.more("greedy keeps nothing but the most probable token")
		return
	}
	var rules []string
	for _, c := range s.Cuts {
		rules = append(rules, fmt.Sprintf("%s alone keeps %s", c.Rule.Name(), terms.Count(c.Keeps)))
	}
	if len(rules) == 0 {
		rules = []string{"no filter is on"}
	}
	a.more("%s", strings.Join(rules, ", "))
	if s.Fallback {
		a.more("no token is kept by all of them, so the most probable one stays")
	}
}

// table prints what stages 2 to 4 know of each token: one row for each that is
// listed, one for all others together, and the sums.
func (a *account) table(l infer.Logits, s infer.Softmax, f infer.Filter, chosen int) {
	column := tokenColumn
	for _, r := range f.Rows.Rows {
		column = max(column, width(stage.TokenText(r.Token).String()))
	}
	keepColumn := len("cut: top-k")
	for _, c := range f.Cuts {
		keepColumn = max(keepColumn, len("cut: "+c.Rule.Name()))
	}
	row := func(mark, rank, token, z, p, bar, keep, q string) {
		a.line(
			"  %s%6s  %s %8s %8s  %s  %s %8s", mark, rank, pad(token, column), z, p, pad(bar, barWidth),
			pad(keep, keepColumn), q,
		)
	}
	a.line("")
	row(" ", "rank", "token", "z", "p", "", "", "p′")
	var p, q float64
	for i, r := range f.Rows.Rows {
		if i > 0 && f.Leading && f.Rows.Rows[i-1].Kept && !r.Kept {
			a.line("  %s", strings.Repeat(" -", (column+60)/2))
		}
		mark, keep, after := " ", "kept", terms.Prob(r.Q)
		if r.ID == chosen {
			mark = "→"
		}
		if !r.Kept {
			keep, after = "cut: "+r.CutBy.Name(), "–"
		}
		row(mark, terms.Count(r.Rank), stage.TokenText(r.Token).String(), terms.Logit(float64(l.Rows.Rows[i].Z)),
			terms.Prob(s.Rows.Rows[i].P), bar(r.P), keep, after)
		p, q = p+r.P, q+r.Q
	}
	if n := f.Rest.N; n > 0 {
		keep, after := "cut", "–"
		if f.Rest.Kept > 0 {
			keep, after = terms.Count(f.Rest.Kept)+" kept", terms.Prob(f.Rest.Q)
		}
		row(" ", "", "the other "+terms.Count(n), "", terms.Prob(f.Rest.P), bar(f.Rest.P), keep, after)
	}
	row(" ", "", "sum", "", terms.Prob(p+f.Rest.P), "", "", terms.Prob(q+f.Rest.Q))
	a.line("")
}

func (a *account) sample(s infer.Sample) {
	token := stage.TokenText(s.Chosen.Token)
	if s.Greedy {
		a.stage(s.Kind(), s.Took, "“%s”, the most probable token; nothing is drawn", token)
		return
	}
	a.stage(s.Kind(), s.Took, "u = %s lands on “%s”", terms.Decimals(s.U, 4), token)
	a.more("its part of the strip is %s to %s; p %s, rank %s", terms.Decimals(s.From, 4), terms.Decimals(s.To, 4),
		terms.Prob(s.Chosen.P), terms.Count(s.Chosen.Rank))
	a.more("%s", strip(s))
	a.more("%s▲ u", strings.Repeat(" ", min(int(s.U*stripWidth), stripWidth-1)))
}

// strip draws the kept tokens end to end, each as long as its p′, the drawn
// one thick. Parts too short for a column of their own share one.
func strip(s infer.Sample) string {
	cells := []rune(strings.Repeat("─", stripWidth))
	from := min(int(s.From*stripWidth), stripWidth-1)
	for i := from; i < stripWidth && (i == from || float64(i+1) <= s.To*stripWidth); i++ {
		cells[i] = '━'
	}
	var edge float64
	for i, r := range s.Lanes {
		if r.ID == s.Chosen.ID && s.From > edge+1e-9 {
			break // tokens between it and the lane before have none
		}
		if at := int(edge * stripWidth); i > 0 && at < stripWidth {
			cells[at] = '┬'
		}
		edge += r.Q
	}
	return string(cells)
}

func (a *account) append(s infer.Append) {
	token := stage.TokenText(s.Token)
	a.text.WriteString(s.Text)
	what := "joins the text"
	switch {
	case s.Stop == infer.StopEOS:
		what = "ends the text and is not part of it"
	case s.Stop == infer.StopString:
		what = fmt.Sprintf("completes “%s”: the text ends before it", stage.Marked(s.StopString))
	case len(s.Held) > 0:
		what = fmt.Sprintf("comes; “%s” is held back", stage.Marked(string(s.Held)))
	}
	a.stage(s.Kind(), s.Took, "“%s” %s", token, what)
	a.more("%s", tail(stage.Marked(a.prompt+a.text.String()).String(), tailWidth))
	for _, c := range s.Conditions {
		a.more("%s", condition(c))
	}
}

// condition tells how far a stop condition is.
func condition(c infer.Condition) string {
	var far string
	switch c.Kind {
	case infer.StopMaxTokens:
		far = fmt.Sprintf("%s of %s", terms.Count(c.Have), terms.Count(c.Limit))
	case infer.StopEOS:
		far = "p " + terms.Prob(c.P) + ", cut"
		if c.Kept {
			far = "p " + terms.Prob(c.P) + ", kept"
		}
	case infer.StopString:
		far = fmt.Sprintf("%d of %d bytes of “%s”", c.Matched, len(c.String), stage.Marked(c.String))
	case infer.StopContext:
		far = fmt.Sprintf("%s of %s positions", terms.Count(c.Have), terms.Count(c.Limit))
	}
	mark := " "
	if c.Fired {
		mark, far = "■", far+": stop"
	}
	return fmt.Sprintf("%s %-14s %s", mark, terms.StopOf(c.Kind).Name, far)
}

func (a *account) cache(s infer.CacheGrowth) {
	column := "columns"
	if s.Grew == 1 {
		column = "column"
	}
	a.line("%-*s%s %s more, %s of %s filled; %s more, %s in all", nameColumn, fmt.Sprintf("%d %s", s.Kind(), s.Kind()),
		terms.Count(s.Grew), column, terms.Count(s.Positions), terms.Count(s.Context), terms.Bytes(s.GrewBytes), terms.Bytes(s.Bytes))
	cached, recomputed := s.Cached.Total(), s.Recomputed.Total()
	a.more(
		"this step %s multiply-adds; without the cache %s (%s)", terms.MultAdds(cached), terms.MultAdds(recomputed),
		terms.Times(recomputed, cached),
	)
	a.more("so far   %s multiply-adds; without the cache %s "+
		"(%s)", terms.MultAdds(s.TotalCached), terms.MultAdds(s.TotalRecomputed),
		terms.Times(s.TotalRecomputed, s.TotalCached))
}

func (a *account) end(last *infer.Step) error {
	a.line("")
	title := fmt.Sprintf("── stopped after %s: %s ", terms.Counted(last.N, "token"), terms.StopOf(last.Stop).Why)
	a.line("%s%s", title, strings.Repeat("─", max(0, 78-width(title))))
	a.line("%s", printable(a.prompt+a.text.String()))
	return a.err
}

// printable is a text with its newlines, and without what a terminal would
// take for commands.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}
