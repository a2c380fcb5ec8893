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
	w io.Writer
	*why.Report
}

func (t whyText) line(format string, args ...any) {
	fmt.Fprintln(t.w, strings.TrimRight(fmt.Sprintf(format, args...), " ")) // the final Flush reports failed writes
}

func (t whyText) named(name, format string, args ...any) {
	t.line("%s%s", pad(name, nameColumn), fmt.Sprintf(format, args...))
}

func (t whyText) token(id int) string { return stage.TokenText(t.Study.Model().Token(id)).String() }

func (t whyText) print() {
	var text []string
	for _, id := range t.Study.Tokens() {
		text = append(text, t.token(id))
	}
	for i, line := range wrap(text, 80-nameColumn) {
		t.named(map[bool]string{true: "text"}[i == 0], "%s", line)
	}
	a := t.Answer
	asked := t.token(a.Token) + ", its score"
	if a.Over >= 0 {
		asked = t.token(a.Token) + ", its lead over " + t.token(a.Over)
	}
	t.named("asked", "%s", asked)
	t.outcome("says", a.Base)
	t.parts(a.Base)
	t.changed()
	t.lens()
	t.grid()
	t.heads()
}

// outcome prints the model's predictions in a pass.
func (t whyText) outcome(name string, o why.Outcome) {
	t.named(name, "%s, probability %s, %s of %s", terms.Logit(o.Z), terms.Prob(o.P), terms.Ordinal(o.Rank),
		terms.Count(t.Study.Model().Config().Vocab))
	var says []string
	for _, r := range o.Says {
		says = append(says, stage.TokenText(r.Token).String()+" "+terms.Prob(r.P))
	}
	t.named("", "%s", strings.Join(says, "  "))
}

// parts prints the contributions as a table with a running sum.
func (t whyText) parts(o why.Outcome) {
	if o.Parts == nil {
		return
	}
	heads := t.Study.Model().Config().Heads
	t.line("")
	head := pad("adds", nameColumn)
	if heads <= whyHeads {
		for h := range heads {
			head += fmt.Sprintf("%7s", fmt.Sprintf("H%d", h+1))
		}
	} else {
		head += fmt.Sprintf("%7s  %s", "heads", pad("the largest", 13))
	}
	t.line("%s%8s%9s", head, "ffn", "sum")
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

// alone prints a part outside the blocks.
func (t whyText) alone(c infer.Contribution, heads int, sum float64) {
	space := 22
	if heads <= whyHeads {
		space = 7 * heads
	}
	name := strings.ReplaceAll(string(c.Part.Kind), "_", " ")
	t.line("%s%s%8s%9s", pad(name, nameColumn), strings.Repeat(" ", space), terms.Logit(c.Z), terms.Logit(sum))
}

// block prints the parts of a block and returns the running sum after it. A
// bias has its own line.
func (t whyText) block(block, heads int, parts []infer.Contribution, sum float64) float64 {
	row := pad(fmt.Sprintf("L%d", block), nameColumn)
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
		t.line("%sand %s from the attention's bias", indent, terms.Logit(bias.Z))
	}
	return sum
}

// changed prints the effect of running the model with parts switched off.
func (t whyText) changed() {
	c := t.Answer.Changed
	if c == nil {
		return
	}
	instead := "0"
	if t.Mean {
		instead = "its mean over this text"
	}
	t.line("")
	t.named("off", "%s; each part gives %s, and the rest ran again", t.Off, instead)
	t.outcome("says", *c)
	t.named("", "%s against the whole model", signed(c.Z-t.Answer.Base.Z))
	t.parts(*c)
	for i, m := range t.Answer.Moved[:min(whyMoved, len(t.Answer.Moved))] {
		t.named(map[bool]string{true: "moved"}[i == 0], "%s from %s to %s", pad(m.Part.String(), whyToken),
			terms.Logit(m.From), terms.Logit(m.To))
	}
}

// signed formats a difference of scores with its sign.
func signed(z float64) string {
	if text := terms.Logit(z); strings.HasPrefix(text, "−") || strings.HasPrefix(text, "-") {
		return text
	}
	return "+" + terms.Logit(z)
}

// lens prints the token that the model would predict at each position after each number of blocks.
func (t whyText) lens() {
	if t.Lens == nil {
		return
	}
	t.line("")
	t.line("what it would say%s if its blocks ended there, and its surprise at what came,",
		map[bool]string{true: " without " + t.Off}[t.Off != ""])
	t.line("at the last %s; the pass over %s holds %s", terms.Counted(t.columns(), "position"),
		terms.Counted(len(t.Study.Tokens()), "position"), terms.Bytes(t.Study.Bytes()))
	from := len(t.Study.Tokens()) - t.columns()
	for height := len(t.Lens) - 1; height >= 0; height-- {
		row := pad(fmt.Sprintf("after L%d", height), nameColumn)
		if height == 0 {
			row = pad("before L1", nameColumn)
		}
		for _, c := range t.Lens[height][from:] {
			row += pad(terms.Shortened(stage.TokenText(c.Says[0].Token).String(), whyColumn-2), whyColumn)
		}
		t.line("%s", row)
	}
	t.reading(from)
	row := pad("bits", nameColumn)
	for _, c := range t.Lens[len(t.Lens)-1][from:] {
		if c.Rank > 0 {
			row += pad(terms.Decimals(c.Surprise(), 1), whyColumn)
		}
	}
	t.line("%s", row)
}

func (t whyText) columns() int { return min(whyColumns, len(t.Study.Tokens())) }

// reading prints the tokens that the model reads at the positions of a grid.
func (t whyText) reading(from int) {
	row := pad("reading", nameColumn)
	for _, id := range t.Study.Tokens()[from:] {
		row += pad(terms.Shortened(t.token(id), whyColumn-2), whyColumn)
	}
	t.line("%s", row)
}

// grid prints how far the answer moves toward the other text's answer if one vector is patched, for
// each block and position.
func (t whyText) grid() {
	if t.Grid == nil {
		return
	}
	t.line("")
	if t.Grid.Here == t.Grid.There {
		t.line("%s", stage.English.T("cmd.why.same", "token", t.token(t.Grid.Here)))
		return
	}
	t.line("how far the answer goes from %s to %s with one vector of the other text", t.token(t.Grid.Here),
		t.token(t.Grid.There))
	from := len(t.Study.Tokens()) - t.columns()
	for height := len(t.Grid.Cells) - 1; height >= 0; height-- {
		row := pad(fmt.Sprintf("after L%d", height), nameColumn)
		if height == 0 {
			row = pad("before L1", nameColumn)
		}
		for _, c := range t.Grid.Cells[height][from:] {
			row += pad(terms.Percent(c.Follows), whyColumn)
		}
		t.line("%s", row)
	}
	t.reading(from)
}

// habits describes the habits of heads in words.
var habits = map[why.Habit]string{
	why.HabitPrevious: "look at the token before", why.HabitInduction: "look at what came after the same token before",
	why.HabitStart: "look at the first position",
}

// heads prints the heads that have a habit, and how strong it is.
func (t whyText) heads() {
	if t.Heads == nil {
		return
	}
	f := t.Heads
	t.line("")
	t.line("heads, measured on %s of %s, each said twice", terms.Counted(f.Texts, "row"),
		terms.Counted(f.Row, "random token"))
	t.named("surprise", "%s bits a token in the first half, %s in the second", terms.Decimals(f.First, 2),
		terms.Decimals(f.Second, 2))
	for _, h := range f.Habits {
		count := "no head passes"
		if h.Pass > 0 {
			count = terms.Counted(h.Pass, "head") + " of the model at " + terms.Percent(why.Passing) + " or more"
		}
		t.line("%s: %s", habits[h.Habit], count)
		for _, m := range h.Heads {
			t.named("", "%s %s of its weight; without it %s bits", pad(m.Part.String(), whyToken),
				terms.Percent(m.Score), terms.Decimals(m.Off, 2))
		}
		if h.Pass > 1 {
			t.named("", "%s bits without all that pass", terms.Decimals(h.Together, 2))
		}
	}
	if !slices.ContainsFunc(f.Habits, func(h why.Finding) bool { return h.Habit == why.HabitInduction && h.Pass > 0 }) {
		t.line("This model has no head that copies by looking for the same token, by this measure.")
	}
}
