package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/infer/why"
	"github.com/tokenbytoken/viz/web/stage"
)

const (
	whyHeads   = 8  // maximum number of heads that get a column each; if there are more, only the largest is named
	whyMoved   = 6  // number of listed changes
	whyColumns = 8  // positions of a grid that fit in 80 columns
	whyColumn  = 8  // width of a column
	whyToken   = 12 // width of a token in a list
)

// whyText prints a report as human-readable text.
type whyText struct {
	words *terms.Language
	w     io.Writer
	*why.Report
}

func (t whyText) line(format string, args ...any) {
	fmt.Fprintln(t.w, strings.TrimRight(fmt.Sprintf(format, args...), " ")) // the final Flush reports failed writes
}

// say prints a text.
func (t whyText) say(key string, with ...any) { t.line("%s", t.words.T(key, with...)) }

// named prints a line that begins with a name.
func (t whyText) named(name, text string) { t.line("%s%s", named(name), text) }

// list prints words in as many lines as necessary, the first of which begins with a name.
func (t whyText) list(name string, words []string) {
	for i, line := range wrap(words, 80-nameColumn) {
		t.named(map[bool]string{true: name}[i == 0], line)
	}
}

func (t whyText) token(id int) string { return stage.TokenText(t.Study.Model().Token(id)).String() }

func (t whyText) print() {
	var text []string
	for _, id := range t.Study.Tokens() {
		text = append(text, t.token(id))
	}
	w, a := t.words, t.Answer
	t.list(w.T("cmd.why.text"), text)
	asked := w.T("cmd.why.asked.score", "token", t.token(a.Token))
	if a.Over >= 0 {
		asked = w.T("cmd.why.asked.lead", "token", t.token(a.Token), "other", t.token(a.Over))
	}
	t.named(w.T("cmd.why.asked"), asked)
	t.outcome(a.Base)
	t.parts(a.Base)
	t.changed()
	t.lens()
	t.grid()
	t.heads()
}

// outcome prints the model's predictions in a pass.
func (t whyText) outcome(o why.Outcome) {
	t.named(t.words.T("cmd.why.says"), t.words.T(
		"cmd.why.outcome", "score", terms.Logit(o.Z), "p", terms.Prob(o.P), "rank", t.words.Ordinal(o.Rank),
		"vocabulary", t.Study.Model().Config().Vocab,
	))
	var says []string
	for _, r := range o.Says {
		says = append(says, stage.TokenText(r.Token).String()+" "+terms.Prob(r.P))
	}
	t.named("", strings.Join(says, "  "))
}

// parts prints the contributions as a table with a running sum.
func (t whyText) parts(o why.Outcome) {
	if o.Parts == nil {
		return
	}
	w, heads := t.words, t.Study.Model().Config().Heads
	t.line("")
	head := named(w.T("cmd.why.adds"))
	if heads <= whyHeads {
		for h := range heads {
			head += fmt.Sprintf("%7s", fmt.Sprintf("H%d", h+1))
		}
	} else {
		head += fmt.Sprintf("%7s  %s", w.T("cmd.why.heads"), pad(w.T("cmd.why.largest"), 13))
	}
	t.line("%s%8s%9s", head, w.T("cmd.why.ffn"), w.T("cmd.why.sum"))
	rows := map[int][]infer.Contribution{}
	for _, c := range o.Parts {
		rows[c.Part.Block] = append(rows[c.Part.Block], c)
	}
	var sum float64
	for _, c := range rows[0] {
		if c.Part.Kind == infer.PartEmbedding || c.Part.Kind == infer.PartPlaces {
			sum += c.Z
			t.alone(c, heads, sum)
		}
	}
	for block := 1; len(rows[block]) > 0; block++ {
		sum = t.block(block, heads, rows[block], sum)
	}
	for _, c := range rows[0] {
		if c.Part.Kind != infer.PartEmbedding && c.Part.Kind != infer.PartPlaces {
			sum += c.Z
			t.alone(c, heads, sum)
		}
	}
}

// alone prints a part that does not belong to a block.
func (t whyText) alone(c infer.Contribution, heads int, sum float64) {
	space := 22
	if heads <= whyHeads {
		space = 7 * heads
	}
	name := t.words.T("explain.part." + string(c.Part.Kind))
	t.line("%s%s%8s%9s", named(name), strings.Repeat(" ", space), terms.Logit(c.Z), terms.Logit(sum))
}

// block prints the parts of a block and returns the running sum after it. A
// bias has its own line.
func (t whyText) block(block, heads int, parts []infer.Contribution, sum float64) float64 {
	row := named(fmt.Sprintf("L%d", block))
	var together float64
	var largest, bias, fed infer.Contribution
	for _, c := range parts {
		sum += c.Z
		switch c.Part.Kind {
		case infer.PartHead:
			together += c.Z
			if largest.Part.Block == 0 || math.Abs(c.Z) > math.Abs(largest.Z) {
				largest = c
			}
			if heads <= whyHeads {
				row += fmt.Sprintf("%7s", terms.Logit(c.Z))
			}
		case infer.PartBias:
			bias = c
		default:
			fed = c
		}
	}
	if heads > whyHeads {
		row += fmt.Sprintf("%7s  %s", terms.Logit(together),
			pad(fmt.Sprintf("H%d %s", largest.Part.Head, terms.Logit(largest.Z)), 13))
	}
	t.line("%s%8s%9s", row, terms.Logit(fed.Z), terms.Logit(sum))
	if bias.Part.Block != 0 {
		t.named("", t.words.T("cmd.why.bias", "score", terms.Logit(bias.Z)))
	}
	return sum
}

// changed prints the effect of running the model with parts switched off.
func (t whyText) changed() {
	c := t.Answer.Changed
	if c == nil {
		return
	}
	w := t.words
	off := w.T("cmd.why.off.zero", "parts", t.Off)
	if t.Mean {
		off = w.T("cmd.why.off.mean", "parts", t.Off)
	}
	t.line("")
	t.named(w.T("cmd.why.off"), off)
	t.outcome(*c)
	t.named("", w.T("cmd.why.against", "score", signed(c.Z-t.Answer.Base.Z)))
	t.parts(*c)
	for i, m := range t.Answer.Moved[:min(whyMoved, len(t.Answer.Moved))] {
		t.named(map[bool]string{true: w.T("cmd.why.moved")}[i == 0], w.T(
			"cmd.why.moved.say", "part", pad(m.Part.String(), whyToken), "before", terms.Logit(m.From),
			"after", terms.Logit(m.To),
		))
	}
}

// signed formats a score difference with its sign.
func signed(z float64) string {
	if text := terms.Logit(z); strings.HasPrefix(text, "−") || strings.HasPrefix(text, "-") {
		return text
	}
	return "+" + terms.Logit(z)
}

// lens prints, for each position and each number of blocks, the token that the logit lens reads
// after that many blocks.
func (t whyText) lens() {
	if t.Lens == nil {
		return
	}
	w, n := t.words, len(t.Study.Tokens())
	with := []any{
		"last", w.Counted(t.columns(), "position"), "all", w.Counted(n, "position"), "size", w.Bytes(t.Study.Bytes()),
	}
	say := w.T("cmd.why.lens", with...)
	if t.Off != "" {
		say = w.T("cmd.why.lens.off", append(with, "parts", t.Off)...)
	}
	t.line("")
	for _, line := range wrap(strings.Fields(say), 80) {
		t.line("%s", line)
	}
	from := n - t.columns()
	for height := len(t.Lens) - 1; height >= 0; height-- {
		row := t.height(height)
		for _, c := range t.Lens[height][from:] {
			row += pad(terms.Shortened(stage.TokenText(c.Says[0].Token).String(), whyColumn-2), whyColumn)
		}
		t.line("%s", row)
	}
	t.reading(from)
	row := named(w.T("cmd.why.bits"))
	for _, c := range t.Lens[len(t.Lens)-1][from:] {
		if c.Rank > 0 {
			row += pad(terms.Decimals(c.Surprise(), 1), whyColumn)
		}
	}
	t.line("%s", row)
}

// height returns the name of the grid row for a number of blocks.
func (t whyText) height(blocks int) string {
	if blocks == 0 {
		return named(t.words.T("cmd.why.before"))
	}
	return named(t.words.T("cmd.why.after", "n", blocks))
}

func (t whyText) columns() int { return min(whyColumns, len(t.Study.Tokens())) }

// reading prints the tokens that the model reads at the positions of a grid.
func (t whyText) reading(from int) {
	row := named(t.words.T("cmd.why.reading"))
	for _, id := range t.Study.Tokens()[from:] {
		row += pad(terms.Shortened(t.token(id), whyColumn-2), whyColumn)
	}
	t.line("%s", row)
}

// grid prints, for each block and position, how far patching that one vector moves the answer
// toward the other text's answer.
func (t whyText) grid() {
	if t.Grid == nil {
		return
	}
	t.line("")
	if t.Grid.Here == t.Grid.There {
		t.say("cmd.why.same", "token", t.token(t.Grid.Here))
		return
	}
	t.say("cmd.why.grid", "here", t.token(t.Grid.Here), "there", t.token(t.Grid.There))
	from := len(t.Study.Tokens()) - t.columns()
	for height := len(t.Grid.Cells) - 1; height >= 0; height-- {
		row := t.height(height)
		for _, c := range t.Grid.Cells[height][from:] {
			row += pad(terms.Percent(c.Follows), whyColumn)
		}
		t.line("%s", row)
	}
	t.reading(from)
}

// heads prints, for each known habit, the heads that show it and how strongly.
func (t whyText) heads() {
	if t.Heads == nil {
		return
	}
	w, f := t.words, t.Heads
	t.line("")
	t.say(
		"cmd.why.measured", "rows", w.T("explain.heads.rows", "n", f.Texts),
		"tokens", w.T("explain.heads.tokens", "n", f.Row),
	)
	t.named(w.T("cmd.why.surprise"), w.T(
		"cmd.why.halves", "first", terms.Decimals(f.First, 2), "second", terms.Decimals(f.Second, 2),
	))
	for _, h := range f.Habits {
		habit := w.T("cmd.why.habit." + string(h.Habit))
		if h.Pass == 0 {
			t.say("cmd.why.pass.none", "habit", habit)
		} else {
			t.say("cmd.why.pass", "n", h.Pass, "habit", habit, "share", terms.Percent(why.Passing))
		}
		for _, m := range h.Heads {
			t.named("", w.T(
				"cmd.why.head", "head", pad(m.Part.String(), whyToken), "share", terms.Percent(m.Score),
				"bits", terms.Decimals(m.Off, 2),
			))
		}
		if h.Pass > 1 {
			t.named("", w.T("cmd.why.together", "bits", terms.Decimals(h.Together, 2)))
		}
	}
	if !slices.ContainsFunc(f.Habits, func(h why.Finding) bool { return h.Habit == why.HabitInduction && h.Pass > 0 }) {
		t.say("cmd.why.nocopy")
	}
}
