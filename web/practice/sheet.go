package practice

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/lessons/drill"
	"github.com/tokenbytoken/viz/web/stage"
)

// A worksheet is a drill on paper: all its steps with empty boxes and, on request, a second page with
// the boxes filled in.
type worksheet struct {
	*drill.Problem
	Solved  bool // with the second page
	answers map[string]string
	Words   []string // the words of a sentence, for the drill in which learners choose where to look
}

// sheet handles GET /practice/DRILL/sheet, with the drill's seed and level. With ?solution=1, the
// page includes the solution.
func (p *Pages) sheet(w http.ResponseWriter, r *http.Request) {
	v := p.openDrill(w, r)
	if v == nil {
		return
	}
	s := &worksheet{Problem: v.Problem, Solved: r.URL.Query().Has("solution"), answers: map[string]string{}}
	for _, step := range v.Problem.Worked() {
		for id, shown := range step.Answers {
			s.answers[id] = shown
		}
	}
	if s.Kind == drill.Attention {
		s.Words = strings.Fields(stage.In(r.Context()).T("practice.sheet.sentence"))
	}
	p.HTML(w, r, http.StatusOK, worksheetPage(s))
}

// href returns the address of the sheet with the same numbers, with or without the solution.
func (s *worksheet) href(solved bool) string {
	to := fmt.Sprintf("/practice/%s/sheet?seed=%d&level=%d", s.Kind, s.Seed, s.Level)
	if solved {
		to += "&solution=1"
	}
	return to
}

// drill returns the address of the drill with the same numbers.
func (s *worksheet) drill() string {
	return fmt.Sprintf("/practice/%s?seed=%d&level=%d", s.Kind, s.Seed, s.Level)
}

// A sheetItem is an item of a table on paper. An item that learners work out in an earlier step is
// Earlier: on the page with the boxes, it is a line on which they copy their own number. An item of a
// column to fill in becomes a Box if it is given, since it would reveal an earlier answer, and if it is
// empty, since learners need it for the column's other items.
type sheetItem struct {
	drill.Item
	Earlier, Box bool
}

// rows returns the rows of a step, without the columns that are left out.
func (s *worksheet) rows(step *drill.Step, rows []drill.Row) (list []sheetRow) {
	columns := s.columns(step)
	for _, row := range rows {
		r := sheetRow{Row: row}
		for j, c := range step.Columns {
			if !slices.ContainsFunc(columns, func(x drill.Column) bool { return x.Key == c.Key }) {
				continue
			}
			i := row.Items[j]
			given := i.Cell == nil && i.Text != "" && !i.Due
			blank := i.Cell == nil && i.Text == "" && row.Token
			r.Cells = append(r.Cells, sheetItem{
				Item: i, Earlier: given && c.State == drill.Given && s.earlier(step, c.Key, row.Key, worked),
				Box: c.State == drill.Live && len(step.Needs) > 0 && (given || blank),
			})
		}
		list = append(list, r)
	}
	return list
}

type sheetRow struct {
	drill.Row
	Cells []sheetItem
}

// columns returns a step's columns, without the locked ones and those whose numbers are all asked for
// by earlier steps, which learners find further up on the page.
func (s *worksheet) columns(step *drill.Step) (list []drill.Column) {
	for j, c := range step.Columns {
		given := slices.ContainsFunc(step.Rows, func(row drill.Row) bool {
			return row.Items[j].Text != "" && !s.earlier(step, c.Key, row.Key, asked)
		})
		if c.State == drill.Live || c.State == drill.Given && given {
			list = append(list, c)
		}
	}
	return list
}

// asked reports whether a step asks for an item.
func asked(i drill.Item) bool { return i.Cell != nil }

// worked reports whether learners work out an item: it is asked for, or it is empty.
func worked(i drill.Item) bool { return i.Cell != nil || i.Text == "" }

// earlier reports whether an item matches that is in the given column and row of a step before the
// given one, which fills in the column.
func (s *worksheet) earlier(step *drill.Step, column, row string, match func(drill.Item) bool) bool {
	for _, before := range s.Steps {
		if before == step {
			return false
		}
		for j, c := range before.Columns {
			if c.Key == column && c.State == drill.Live && slices.ContainsFunc(
				before.Rows, func(r drill.Row) bool { return r.Key == row && match(r.Items[j]) },
			) {
				return true
			}
		}
	}
	return false
}

// twoColumns reports whether the steps print in two columns. Only tables of tokens are narrow enough:
// the rows of other tables have long names, formulas and units.
func (s *worksheet) twoColumns() bool {
	return len(s.Steps) > 3 && !slices.ContainsFunc(s.Steps, func(step *drill.Step) bool {
		return slices.ContainsFunc(step.Rows, func(r drill.Row) bool { return !r.Token })
	})
}

// answer returns the content of a cell's box: nothing, or the right answer on the page with the
// solution.
func (s *worksheet) answer(c *drill.Cell, solved bool) string {
	if !solved {
		return ""
	}
	return s.answers[c.ID]
}

// ticked reports whether the solution selects an option of a cell.
func (s *worksheet) ticked(c *drill.Cell, option string, solved bool) bool {
	return solved && chosen(c, s.Answer(c.ID), option)
}

// draws reports whether the drill's tokens can be drawn on a strip.
func (s *worksheet) draws() bool { return s.Kind == drill.Five || s.Kind == drill.Softmax }

// The strip is 100 mm long, so a probability of 0.1 is 1 cm.
const stripWidth, counters = 100, 10

// stripX returns the position of the i-th tenth of the strip, in millimeters, inside a margin of 5.
func stripX(i int) string { return strconv.Itoa(5 + i*stripWidth/10) }

// tenth formats i tenths.
func tenth(i int) string { return strconv.FormatFloat(float64(i)/10, 'g', -1, 64) }
