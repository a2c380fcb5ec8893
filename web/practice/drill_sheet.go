package practice

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons/drill"
	"github.com/tokenbytoken/viz/web/stage"
)

// A drillRow is a row of the step's table.
type drillRow struct {
	drill.Row
	Items []drillItem
	P, Q  float64 // the values for the row's bar; negative if unknown
	Whys  []drill.Verdict
}

// A drillItem is one cell of the table.
type drillItem struct {
	drill.Item
	Key, Head string // the key and the heading of the item's column
	Class     string
	Verdict   drill.Verdict
	Answer    string
}

// ansClass maps a cell's verdict to its classes.
var ansClass = map[drill.State]string{
	drill.Right: "ans--ok", drill.Part: "ans--part", drill.Wrong: "ans--bad", drill.Refused: "ans--refused",
	drill.Empty: "ans--todo",
}

// Rows returns the table's rows above the line.
func (v *drillWork) Rows() []drillRow { return v.rows(v.Step.Rows) }

// Foot returns the rows below the line.
func (v *drillWork) Foot() []drillRow { return v.rows(v.Step.Foot) }

func (v *drillWork) rows(from []drill.Row) []drillRow {
	var list []drillRow
	for i, row := range from {
		r := drillRow{Row: row, P: -1, Q: -1}
		for j, item := range row.Items {
			c := v.Step.Columns[j]
			x := drillItem{Item: item, Key: c.Key, Head: c.Head, Class: "given"}
			value, known := item.Value, item.Text != ""
			switch {
			case item.Cell != nil:
				x.Verdict, x.Answer = v.Score.Verdicts[item.Cell.ID], v.Answers[item.Cell.ID]
				x.Class = ""
				value, known = x.Verdict.Value, x.Verdict.State == drill.Right || x.Verdict.Mistake == drill.Rounding
				if needsRow(x.Verdict) && (item.Option == "" || i == len(from)-1) {
					r.Whys = append(r.Whys, x.Verdict)
				}
			case item.Text == "" && c.State == drill.Locked:
				x.Class = "locked"
			case item.Due:
				x.Class = "due"
			}
			if known && c.Key == "p" {
				r.P = value
			}
			if known && c.Key == "q" {
				r.Q = value
			}
			r.Items = append(r.Items, x)
		}
		list = append(list, r)
	}
	return list
}

// needsRow reports whether a verdict needs its own row.
func needsRow(v drill.Verdict) bool {
	return v.State == drill.Wrong || v.State == drill.Part || v.State == drill.Refused
}

// Picked reports whether the row's option is part of the learner's answer.
func (i drillItem) Picked() bool {
	return slices.Contains(strings.Split(i.Answer, ","), i.Option)
}

// Bars reports whether the table has bars. It does if it contains token probabilities.
func (v *drillWork) Bars() bool {
	return slices.ContainsFunc(v.Step.Columns, func(c drill.Column) bool { return c.Key == "p" })
}

// List reports whether the table is a list of quantities.
func (v *drillWork) List() bool {
	return len(v.Step.Columns) == 2 && !v.Still()
}

// Still reports whether the step has nothing to fill in.
func (v *drillWork) Still() bool {
	return !slices.ContainsFunc(v.Step.Columns, func(c drill.Column) bool { return c.State == drill.Live })
}

// LockText describes which step unlocks the locked columns. It returns "" if no column is locked.
func (v *drillWork) LockText(w stage.Words) string {
	var heads []string
	at := 0
	for _, c := range v.Step.Columns {
		if c.State != drill.Locked {
			continue
		}
		for i := v.N + 1; i < len(v.Steps); i++ {
			if slices.ContainsFunc(
				v.Steps[i].Columns, func(x drill.Column) bool { return x.Key == c.Key && x.State == drill.Live },
			) {
				heads = append(heads, c.Head)
				if at == 0 || i+1 < at {
					at = i + 1
				}
				break
			}
		}
	}
	if len(heads) == 0 {
		return ""
	}
	return w.T("practice.drill.opens", "n", len(heads), "columns", both(w, heads), "step", at)
}

// both joins the items of a list, which usually has two, as in "a and b".
func both(w stage.Words, items []string) string {
	list := ""
	for i, x := range items {
		if i == 0 {
			list = x
			continue
		}
		list = w.T("list.last", "list", list, "last", x)
	}
	return list
}

// Checked describes the verdict on the cell that was just checked.
func (v *drillWork) Checked(w stage.Words) string {
	c := v.Problem.Cell(v.Cell)
	if c == nil {
		return ""
	}
	verdict := v.Score.Verdicts[v.Cell]
	read := ""
	if verdict.Converted {
		read = " " + w.T("practice.drill.read", "reading", verdict.Understood)
	}
	switch verdict.State {
	case drill.Right:
		return strings.TrimSpace(w.T("practice.drill.right", "cell", c.Label) + read + " " + verdict.Note)
	case drill.Part:
		return w.T("practice.drill.part", "cell", c.Label) + read + " " + verdict.Title
	case drill.Wrong:
		return w.T("practice.drill.wrong", "cell", c.Label) + read + " " + verdict.Title
	case drill.Refused:
		return w.T("practice.drill.refused", "cell", c.Label, "why", verdict.Title)
	}
	return ""
}

// Needs returns the names of the steps that must be done before this one.
func (v *drillWork) Needs(w stage.Words) string {
	var names []string
	for _, id := range v.Step.Needs {
		for i, s := range v.Steps {
			if s.ID == id && !v.Score.Steps[i].Complete {
				names = append(names, w.T("practice.drill.step", "n", i+1, "name", s.Name))
			}
		}
	}
	return both(w, names)
}

// NeedID returns the ID of the first step that must be done before this one.
func (v *drillWork) NeedID() string {
	for _, id := range v.Step.Needs {
		for i, s := range v.Steps {
			if s.ID == id && !v.Score.Steps[i].Complete {
				return id
			}
		}
	}
	return v.Step.ID
}

// Next returns the step after this one, or nil at the end.
func (v *drillWork) Next() *drill.Step {
	if v.N+1 < len(v.Steps) {
		return v.Steps[v.N+1]
	}
	return nil
}

// Pips returns the classes for the states of the step's cells.
func (v *drillWork) Pips() []string {
	var list []string
	for _, id := range v.stepCells() {
		list = append(
			list,
			map[drill.State]string{
				drill.Right: "ok", drill.Part: "part", drill.Wrong: "bad",
			}[v.Score.Verdicts[id].State],
		)
	}
	return list
}

// A drillShown is the help for the current cell.
type drillShown struct {
	Label  string
	Hints  []drill.Hint
	Lines  []drill.Line
	Result bool   // the result of the last line is shown
	More   string // the text of the button that opens more; "" if everything is open
	Do     string // the action of that button
	Whole  []wholePart
	Tip    string
}

// A wholePart is one token's part of the whole, in percent of its width.
type wholePart struct {
	Name stage.Text
	X, W float64
	Part bool // belongs to the current cell
}

// Shown returns the help that is open.
func (v *drillWork) Shown(w stage.Words) drillShown {
	s := drillShown{Label: v.Problem.Cell(v.At).Label, Tip: v.tip(w)}
	right := v.Score.Verdicts[v.At].State == drill.Right
	if right || v.Help >= helpStep {
		s.Lines, s.Result = v.Work(v.At), right || v.Help >= helpResult
		s.Whole = v.whole()
	} else {
		for rung := 1; rung <= v.Help; rung++ {
			s.Hints = append(s.Hints, v.Hint(v.At, rung))
		}
	}
	switch {
	case right || v.Help >= helpResult:
	case v.Help >= helpStep:
		s.More, s.Do = w.T("practice.drill.result.show"), "show"
	case v.Help == drill.Rungs:
		s.More, s.Do = w.T("practice.drill.step.show"), "hint"
	case v.Help > 0:
		s.More, s.Do = w.T("practice.drill.hint.another"), "hint"
	default:
		s.More, s.Do = w.T("practice.drill.hint.first"), "hint"
	}
	return s
}

// column returns the column and the row of the current cell.
func (v *drillWork) column() (key string, row int) {
	for i, r := range v.Step.Rows {
		for j, item := range r.Items {
			if item.Cell != nil && item.Cell.ID == v.At && item.Option == "" {
				return v.Step.Columns[j].Key, i
			}
		}
	}
	return "", 0
}

// whole divides the bar from 0 to 1 into one part for each probability of a step. It returns nil if
// the current cell is not one of these probabilities.
func (v *drillWork) whole() []wholePart {
	key, at := v.column()
	if key != "p" {
		return nil
	}
	var list []wholePart
	for _, o := range v.Overview() {
		if o.Step != v.Step.ID {
			continue
		}
		x := 0.0
		for i, r := range o.Rows {
			list = append(list, wholePart{Name: stage.Marked(r.Name), X: 100 * x, W: 100 * r.P, Part: i == at})
			x += r.P
		}
	}
	return list
}

// tip describes the sum of the values that the learner has entered so far in a column that must add
// up to 1.
func (v *drillWork) tip(w stage.Words) string {
	key, _ := v.column()
	if key != "p" && key != "q" {
		return ""
	}
	sum, head := 0.0, "p"
	var parts []string
	open := 0
	for _, r := range v.Rows() {
		for _, i := range r.Items {
			if i.Key != key || i.Cell == nil {
				continue
			}
			head = i.Head
			if state := i.Verdict.State; state == drill.Empty || state == drill.Refused {
				open++
				continue
			}
			sum += i.Verdict.Value
			parts = append(parts, strconv.FormatFloat(i.Verdict.Value, 'g', 4, 64))
		}
	}
	if len(parts) < 2 {
		return ""
	}
	text := "practice.drill.tip"
	if open > 0 {
		text = "practice.drill.tip.open"
	}
	return w.T(
		text, "n", open, "column", head, "terms", strings.Join(parts, " + "), "sum", terms.Decimals(sum, 4),
	)
}
