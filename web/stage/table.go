package stage

import (
	"math"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// RowsShown is the number of tokens that have their own row.
const RowsShown = 20

// Table is the table that stages 2 to 5 share. Stage determines its column groups: z from stage 2
// on, z/T to Σp from stage 3 on, keep and p′ from stage 4 on, and from and to at stage 5.
type Table struct {
	Stage   int
	Caption string
	AtT     string // "at T = 0.80"
	Ticks   []Tick
	Marker  string // position of u, as an SVG length; "" if none was drawn
	Rows    []TableRow
	Rest    *TableRow // the other N tokens
	All     AllRow
}

// Tick is a label of an axis.
type Tick struct {
	X, Label, Anchor string
}

// TableRow is one token. Texts are formatted for display. Texts of later stages are "".
type TableRow struct {
	Text             Text
	Label            string // shown in place of Text, for the rest
	Far              string // "35th" if ranks in between are not shown
	Was              string // "was 9.12" at stage 2 if a rule changed the score
	Title            string // why it was cut, as a tooltip and for screen readers
	Z, ZT, E, P, Cum string
	Keep, Q          string
	From, To         string
	CutBy            string // "top-p"; "" if kept or not filtered yet
	Kept             bool
	Some             bool // only some of the tokens without a row are kept
	Pick             bool
	Worked           bool // its worked line is shown at first
	Ramp             string
	Behind           string // difference between its score and the first row's, at stage 2
	DotZ, BarP, BarQ string // SVG lengths
	LaneX, LaneW     string
	One, OneSay      string   // p at T = 1, as an SVG length and in words; "" after stage 3
	Line             *CutLine // the dashed line above this row
	Work             *Work
}

// carry returns a name for a row's bar. As with [StoryShare.carry], the name is the same at every
// stage.
func (r TableRow) carry() string {
	if r.Label != "" {
		return carryRest
	}
	return r.Text.String()
}

// aside returns the note next to a row's token: "35th, was 9.12".
func (r TableRow) aside() string {
	if r.Far != "" && r.Was != "" {
		return r.Far + ", " + r.Was
	}
	return r.Far + r.Was
}

// CutLine is the dashed line between the kept and the cut tokens.
type CutLine struct {
	Kept, KeptWhy string
	Cut, CutWhy   string
	Note          string // shown if the line is farther down
}

// AllRow is the table's last row: the whole vocabulary.
type AllRow struct {
	Label           string
	Sum, P, Kept, Q string
	Badge           string // "sum = 1.0000"
	SumIsOne        bool
}

// worked returns the worked line that the table shows at first.
func (t *Table) worked() *Work {
	for i := range t.Rows {
		if t.Rows[i].Worked {
			return t.Rows[i].Work
		}
	}
	return nil
}

func tick(at float64, label string) Tick {
	anchor := "middle"
	switch at {
	case 0:
		anchor = "start"
	case 1:
		anchor = "end"
	}
	return Tick{Share(at), label, anchor}
}

// unitTicks label an axis from 0 to 1.
var unitTicks = []Tick{tick(0, "0"), tick(0.25, "0.25"), tick(0.5, "0.50"), tick(0.75, "0.75"), tick(1, "1")}

func (w Words) logitsTable(st infer.Logits) *Table {
	t := &Table{Stage: 2, Caption: w.T("table.logits")}
	zoom := zoomOn(st)
	t.Ticks = zoom.ticks()
	for i, r := range st.Rows.Rows {
		row := w.baseRow(i, r)
		row.DotZ = Share(zoom.at(float64(r.Z)))
		row.Behind = w.T("table.first")
		if i > 0 {
			row.Behind = terms.Logit(float64(r.Z) - float64(st.Max))
		}
		if r.Raw != r.Z {
			row.Was = w.T("table.was", "z", terms.Logit(float64(r.Raw)))
		}
		row.Work = w.logitWork(st, r)
		t.Rows = append(t.Rows, row)
	}
	t.Rows[0].Worked = true
	if st.Rest.N > 0 {
		t.Rest = &TableRow{Label: w.others(st.Rest.N), Z: w.T("table.to", "z", terms.Logit(float64(st.Min)))}
	}
	t.All = AllRow{Label: w.T("table.all", "n", terms.Count(st.Vocab))}
	return t
}

func (w Words) baseRow(i int, r infer.Row) TableRow {
	row := TableRow{Text: TokenText(r.Token), Z: terms.Logit(float64(r.Z))}
	if r.Rank != i+1 {
		row.Far = w.Ordinal(r.Rank)
	}
	return row
}

func (w Words) others(n int) string { return w.T("table.others", "tokens", w.Counted(n, "token")) }

func (w Words) softmaxTable(s *session.State, st infer.Softmax) *Table {
	t := &Table{Stage: 3, Caption: w.T("table.softmax")}
	t.probabilities(w, s.Step().Settings.Settings, st.Rows, st.SumExp)
	t.atOne(w, s, st.Rows)
	for i, r := range st.Rows.Rows {
		t.Rows[i].Work = w.softmaxWork(st, r, true)
	}
	t.Rows[0].Worked = true
	return t
}

// atOne fills in the probabilities at T = 1, both of the table's tokens and of all others together.
// They are shown as marks, which stay in place while the bars change with the temperature.
func (t *Table) atOne(w Words, s *session.State, rows infer.Rows) {
	sum, others := 0.0, 1.0
	for id := range s.Dist.P {
		sum += math.Exp(float64(s.Dist.Score(id)) - s.Dist.MaxZ)
	}
	mark := func(row *TableRow, p float64) {
		row.One, row.OneSay = Share(p), w.T("table.one", "p", terms.Prob(p))
	}
	for i, r := range rows.Rows {
		p := math.Exp(float64(r.Z)-s.Dist.MaxZ) / sum
		mark(&t.Rows[i], p)
		others -= p
	}
	if t.Rest != nil {
		mark(t.Rest, max(others, 0))
	}
}

// probabilities fills in the columns that are known from stage 3 on. The axis of the bars always
// runs from 0 to 1, so that at any temperature a longer bar means a higher probability.
func (t *Table) probabilities(w Words, set sampling.Settings, rows infer.Rows, sumExp float64) {
	t.AtT = w.T("table.at", "t", terms.Setting(set.ShownTemperature()))
	if set.Greedy() {
		t.AtT = w.T("table.at", "t", terms.Setting(1))
	}
	t.Ticks = unitTicks
	var sum float64
	for i, r := range rows.Rows {
		row := w.baseRow(i, r)
		row.ZT, row.E, row.P, row.Cum = terms.Decimals(r.ZT, 4), terms.Prob(r.E), terms.Prob(r.P), terms.Prob(r.Cum)
		row.BarP, row.Ramp = Share(r.P), Ramp(r.P)
		t.Rows = append(t.Rows, row)
		sum += r.P
	}
	sum += rows.Rest.P
	if rows.Rest.N > 0 {
		rest := &TableRow{
			Label: w.others(rows.Rest.N), E: terms.Decimals(rows.Rest.E, 4), P: terms.Prob(rows.Rest.P),
			Cum: terms.Prob(sum),
		}
		if rows.Rest.E > 0 && rows.Rest.E < 0.00005 {
			rest.E = "<0.0001"
		}
		rest.BarP = Share(rows.Rest.P)
		t.Rest = rest
	}
	t.All = AllRow{
		Label: w.T("table.all", "n", terms.Count(rows.Vocab)), Sum: terms.Decimals(sumExp, 4), P: terms.Prob(sum),
		Badge: w.T("table.sum", "sum", terms.Decimals(sum, 4)), SumIsOne: terms.Decimals(sum, 4) == "1.0000",
	}
}

func (w Words) filterTable(s *session.State, st infer.Filter) *Table {
	t := &Table{Stage: 4, Caption: w.T("table.filter")}
	t.fates(w, s, st)
	soft := softmaxOf(s)
	for i, r := range st.Rows.Rows {
		t.Rows[i].Work = w.filterWork(s, st, soft, r)
	}
	t.Rows[midKept(st.Rows)].Worked = true
	return t
}

// softmaxOf returns stage 3 of the step shown, without its rows.
func softmaxOf(s *session.State) infer.Softmax {
	return infer.Softmax{Temperature: s.Dist.Settings.ShownTemperature(), MaxZ: s.Dist.MaxZ, SumExp: s.Dist.SumExp}
}

// fates fills in the columns that are known from stage 4 on.
func (t *Table) fates(w Words, s *session.State, st infer.Filter) {
	t.probabilities(w, st.Settings, st.Rows, softmaxOf(s).SumExp)
	line := -1
	var q float64
	for i, r := range st.Rows.Rows {
		row := &t.Rows[i]
		row.Kept = r.Kept
		if r.Kept {
			row.Keep, row.Q, row.BarQ = w.T("kept.cell"), terms.Prob(r.Q), Share(r.Q)
			if row.Title = w.T("table.kept"); st.Fallback {
				row.Title = w.T("table.kept.nothing")
			}
			q += r.Q
			continue
		}
		if line < 0 && st.Leading {
			line = i
		}
		row.Keep, row.Q, row.CutBy = w.T("cut"), "–", w.Rule(r.CutBy)
		row.Title = w.T("cut.by", "rule", row.CutBy)
	}
	q += st.Rest.Q
	t.All.Kept, t.All.Q = terms.Count(st.Kept), terms.Prob(q)
	if line >= 0 {
		t.Rows[line].Line = w.cutLine(st)
	}
	if t.Rest == nil {
		return
	}
	t.Rest.fate(w, st)
	if line < 0 && st.Cut > 0 && st.Leading {
		t.Rest.Line = w.cutLine(st)
		t.Rest.Line.Note = w.T("cutline.note", "n", terms.Count(st.Kept)) + " "
		// There is not enough space for all of the text next to the note. The panel's head shows
		// the rest.
		t.Rest.Line.KeptWhy, t.Rest.Line.CutWhy = "", w.T("cutline.shared.short")
	}
}

// fate fills in the outcome of the filters for the tokens without a row.
func (r *TableRow) fate(w Words, st infer.Filter) {
	switch st.Rest.Kept {
	case 0:
		r.Keep, r.Q, r.CutBy = w.T("cut.all"), "–", w.T("cut.several")
	case st.Rest.N:
		r.Keep, r.Q, r.Kept = w.T("kept.cell"), terms.Prob(st.Rest.Q), true
	default:
		r.Some = true
		r.Keep, r.Q, r.Kept = w.T("kept.n", "n", terms.Count(st.Rest.Kept)), terms.Prob(st.Rest.Q), true
	}
	if st.Rest.Q > 0 {
		r.BarQ = Share(st.Rest.Q)
	}
}

func (w Words) cutLine(st infer.Filter) *CutLine {
	l := &CutLine{Kept: terms.Prob(st.Mass), Cut: terms.Prob(1 - st.Mass)}
	set := st.Settings
	switch {
	case set.Greedy(), st.Fallback:
		l.KeptWhy = w.T("cutline.greedy")
	case set.Order == sampling.OrderOwn: // other orders do not use the sums in the table
		l.KeptWhy = w.lastKept(st)
	}
	l.CutWhy = w.T("cutline.shared", "n", terms.Count(st.Kept))
	if st.Kept == 1 {
		l.CutWhy = w.T("cutline.shared.one")
	}
	return l
}

// lastKept describes the last token that is kept by the rule that decides how many are kept: the
// first rule that alone does so. It returns "" if there is no such rule, or if the tokens that the
// rule keeps are not simply the most probable ones.
func (w Words) lastKept(st infer.Filter) string {
	for _, cut := range st.Cuts {
		key := "cutline." + string(cut.Rule)
		if cut.Keeps != st.Kept || !w.Has(key) {
			continue
		}
		if one := key + ".one"; st.Kept == 1 && w.Has(one) {
			key = one
		}
		x, _ := st.Settings.Value(cut.Rule.Knob())
		return w.T(key, "n", terms.Count(st.Kept), "x", terms.Setting(x), "bound", four(cut.Bound))
	}
	return ""
}

func (w Words) sampleTable(s *session.State, st infer.Sample, f infer.Filter) *Table {
	t := w.laidTable(s, f)
	if !st.Greedy {
		t.Marker = Share(st.U)
	}
	soft := softmaxOf(s)
	for i, r := range f.Rows.Rows {
		row := &t.Rows[i]
		row.Pick = r.ID == st.Chosen.ID
		row.Worked = row.Pick
		row.Work = w.drawWork(s, st, f, soft, r)
	}
	return t
}

// laidTable returns the table of stage 5 before the draw, with the kept tokens end to end.
func (w Words) laidTable(s *session.State, f infer.Filter) *Table {
	t := &Table{Stage: 5, Caption: w.T("table.sample")}
	t.fates(w, s, f)
	soft := softmaxOf(s)
	for i, r := range f.Rows.Rows {
		row := &t.Rows[i]
		row.BarP, row.BarQ = "", ""
		row.From, row.To = "–", "–"
		if r.Kept {
			from, to := s.Dist.Segment(r.Rank - 1)
			row.From, row.To = terms.Prob(from), terms.Prob(to)
			row.LaneX, row.LaneW = Share(from), Share(to-from)
			row.Ramp = Ramp(r.Q)
		}
		row.Work = w.laidWork(s, f, soft, r)
	}
	t.Rows[midKept(f.Rows)].Worked = true
	if t.Rest != nil {
		t.Rest.BarP, t.Rest.BarQ = "", ""
		t.Rest.From, t.Rest.To = "–", "–"
	}
	return t
}

// midKept returns the row whose worked line is shown at first: the third kept row or, if fewer are
// kept, the last of them, so that there is something to divide. If no row is kept, it returns the
// first row.
func midKept(rows infer.Rows) int {
	at, kept := 0, 0
	for i, r := range rows.Rows {
		if r.Kept && kept < 3 {
			at, kept = i, kept+1
		}
	}
	return at
}
