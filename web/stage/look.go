package stage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// PassView shows a forward pass from the inside: the work of each block at the newest position.
type PassView struct {
	HeadsSay string // "6 heads a block; 1–3 and 4–6 share keys and values"
	Many     string // set if heads are listed only inside their block
	Columns  []Column
	Blocks   []LookBlock
	In       Rich
	Group    string // which heads share keys and values
	Aria     string
}

// LookBlock is the row of one block.
type LookBlock struct {
	N             string
	Aria          string
	Groups        [][]HeadButton // heads, grouped by the keys and values that they share
	Before, After string         // norms of the residual stream
	BeforeW       string
	AfterW        string
	Top           SayRow
	Then          SayRow
	All           []SayRow
	Last          bool
	Inside        string // the command that opens it
}

// SayRow is one token of an early read-out.
type SayRow struct {
	Text Text
	P    string
	Bar  string
}

// HeadButton is a head. Its label and its worked line describe which tokens it reads.
type HeadButton struct {
	N      string
	Row    string // its row in the heatmap, and its data-row: "2.0" for block 3, head 1
	Aria   string
	Cmd    string
	Work   *Work
	Worked bool
}

// listedHeads is the maximum number of heads for which each head has a button. A larger model lists
// the heads inside their blocks.
const listedHeads = 128

func (w Words) newLook(s *session.State) *PassView {
	in := s.Look
	if in == nil {
		return nil
	}
	c := s.Model.Config()
	v := &PassView{
		Group:    terms.Count(max(c.Heads/c.KVHeads, 1)),
		HeadsSay: w.headsText(c.Heads, c.KVHeads),
		In: w.Rich(
			"look.in", "token", gen(TokenText(in.Token)), "numbers", w.Counted(c.Width, "number"),
			"norm", terms.Decimals(in.Embedding, 1),
		),
		Aria: w.T("look.aria", "blocks", w.Counted(c.Layers, "block"), "n", terms.Count(in.Position+1)),
	}
	listed := c.Layers*c.Heads <= listedHeads
	if !listed {
		v.Many = w.T("look.many", "blocks", w.Counted(c.Layers, "block"), "heads", w.Counted(c.Heads, "head"))
	}
	tokens := w.textTokens(s, in.Position+1)
	v.Columns = w.lookColumns(s, tokens)
	longest := in.Embedding
	for _, b := range in.Blocks {
		longest = max(longest, b.NormIn, b.NormOut)
	}
	sharp, sharpest := [2]int{}, float32(-1)
	for i, b := range in.Blocks {
		v.Blocks = append(v.Blocks, w.lookBlock(s, tokens, i, longest, listed))
		for h, reads := range b.Attention {
			if top := slices.Max(reads); top > sharpest {
				sharp, sharpest = [2]int{i, h}, top
			}
		}
	}
	if listed {
		button := v.head(sharp[0], sharp[1])
		button.Worked = true
	}
	return v
}

// head returns a block's head from the groups.
func (v *PassView) head(block, head int) *HeadButton {
	for g := range v.Blocks[block].Groups {
		group := v.Blocks[block].Groups[g]
		if head < len(group) {
			return &group[head]
		}
		head -= len(group)
	}
	return nil
}

// worked returns the panel's initial worked line: the line for the head that has the largest weight
// on a single position.
func (v *PassView) worked() *Work {
	for _, b := range v.Blocks {
		for _, g := range b.Groups {
			for _, h := range g {
				if h.Worked {
					return h.Work
				}
			}
		}
	}
	return nil
}

// stoppedSmall returns the key of the text below "Logit lens", or the key of the reason why
// nothing is listed there.
func stoppedSmall(l *PassView) string {
	if len(l.Blocks) > 0 && len(l.Blocks[0].All) == 0 {
		return "look.stopped.hidden"
	}
	return "look.stopped.small"
}

// headsText lists which heads share keys and values: "1–3 and 4–6".
func (w Words) headsText(heads, kv int) string {
	of, per := w.Counted(heads, "head"), heads/kv
	switch {
	case per == 1:
		return w.T("heads.own", "heads", of)
	case kv == 1:
		return w.T("heads.one", "heads", of)
	case kv > 4:
		return w.T("heads.every", "heads", of, "n", terms.Count(per))
	}
	var groups []string
	for g := range kv {
		groups = append(groups, fmt.Sprintf("%d–%d", g*per+1, (g+1)*per))
	}
	return w.T("heads", "heads", of, "groups", w.List(groups))
}

// lookColumns returns the labels above the heatmaps.
func (w Words) lookColumns(s *session.State, tokens []Column) []Column {
	cols := heatColumns(len(tokens))
	var list []Column
	for i, c := range cols {
		col := tokens[c.from]
		if n := c.to - c.from; n > 1 {
			col = Column{Text: Text{{S: "…" + terms.Count(n), Mark: true}}}
		}
		if c.to == len(tokens) {
			col.Class = strings.TrimSpace(col.Class + " is-new")
		}
		if (len(cols)-1-i)%2 == 1 && len(cols) > labeledColumns {
			continue // if there is no space for all labels, only every second one is shown, up to the newest
		}
		col.X = Share((float64(i) + 0.5) / float64(len(cols)))
		list = append(list, col)
	}
	return list
}

func (w Words) lookBlock(s *session.State, tokens []Column, i int, longest float64, listed bool) LookBlock {
	b, c := s.Look.Blocks[i], s.Model.Config()
	v := LookBlock{
		N: terms.Count(i + 1), Last: i == len(s.Look.Blocks)-1,
		Before: terms.Decimals(b.NormIn, 1), After: terms.Decimals(b.NormOut, 1),
		BeforeW: Share(b.NormIn / longest), AfterW: Share(b.NormOut / longest),
		Inside: fmt.Sprintf(`{"cmd":"inside","block":%d}`, i+1),
	}
	v.All = sayRows(b.Says)
	if len(v.All) > 0 {
		v.Top = v.All[0]
	}
	if len(v.All) > 1 {
		v.Then = v.All[1]
	}
	v.Aria = w.T("look.block", "n", v.N, "heads", w.Counted(c.Heads, "head"))
	if !listed {
		v.Aria = w.T("look.block.many", "n", v.N, "heads", w.Counted(c.Heads, "head"))
		return v
	}
	per := max(c.Heads/c.KVHeads, 1)
	for h := range b.Attention {
		if h%per == 0 {
			v.Groups = append(v.Groups, nil)
		}
		last := len(v.Groups) - 1
		v.Groups[last] = append(
			v.Groups[last],
			w.headButton(tokens, b.Attention[h], i, h, outOfSight(c, i, len(tokens))),
		)
	}
	return v
}

func sayRows(says []infer.Reading) []SayRow {
	var rows []SayRow
	for _, r := range says {
		rows = append(rows, SayRow{TokenText(r.Token), terms.ProbShort(r.P), Share(r.P)})
	}
	return rows
}

// outOfSight returns how many of n positions a block's heads cannot read because they are before
// its sliding window.
func outOfSight(c checkpoint.Config, block, n int) int {
	if window := c.Attention[block].Window; window > 0 {
		return max(n-window, 0)
	}
	return 0
}

// headButton describes which tokens a head reads, given its weights [positions]. hidden is the
// number of positions at the beginning that the head cannot read.
func (w Words) headButton(tokens []Column, weights []float32, block, head, hidden int) HeadButton {
	reads := w.mostRead(tokens, weights, headTop, hidden)
	h := HeadButton{
		N: terms.Count(head + 1), Row: fmt.Sprintf("%d.%d", block, head),
		Cmd: fmt.Sprintf(`{"cmd":"head","block":%d,"head":%d}`, block+1, head+1),
	}
	var words []string
	name := w.T("head.name", "block", terms.Count(block+1), "head", h.N)
	h.Work = &Work{Name: name}
	rest := 1.0
	for _, r := range reads {
		words = append(words, r.Text.Inline()+" "+terms.ProbShort(r.w))
		h.Work.Cells = append(h.Work.Cells, WorkCell{Name: rich(r.Text, " "+r.At), Sum: rich(bold(terms.Prob(r.w)))})
		rest -= r.w
	}
	if n := len(weights) - hidden - len(reads); n > 0 {
		h.Work.Cells = append(h.Work.Cells, WorkCell{
			Name: w.Rich("head.others", "n", terms.Count(n)), Sum: rich(terms.Prob(max(rest, 0))),
		})
	}
	h.Aria = w.T("head.aria", "name", name, "reads", strings.Join(words, ", "))
	return h
}

// headTop is the number of tokens that a head's button names.
const headTop = 3

// readToken is a token that a head reads.
type readToken struct {
	Text Text
	At   string // "at 7"
	w    float64
}

// mostRead returns the n positions with the largest weights, in descending order. Of equal weights,
// the earlier position comes first. The first hidden positions are ignored.
func (w Words) mostRead(tokens []Column, weights []float32, n, hidden int) []readToken {
	top := make([]int, 0, n+1)
	for i := hidden; i < len(weights); i++ {
		at := len(top)
		for at > 0 && weights[i] > weights[top[at-1]] {
			at--
		}
		if at < n {
			top = slices.Insert(top, at, i)
			top = top[:min(len(top), n)]
		}
	}
	var list []readToken
	for _, i := range top {
		list = append(list, readToken{tokens[i].Text, w.T("at", "n", terms.Count(i+1)), float64(weights[i])})
	}
	return list
}
