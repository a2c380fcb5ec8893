package labs

import (
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/plots"
	"github.com/tokenbytoken/viz/web/stage"
)

// A section is one part of a lab's results.
type section struct {
	ID, Title, Small string
	Say              stage.Rich
	Chart            *plots.Chart
	Caption          string
	Narrow           *plots.Chart // the chart drawn for phones; nil if it is the same
	Guess            *guessPic    // shown above the chart
	Rings, Slim      []ring       // the draggable rings in the chart and in the chart for phones
	Body             templ.Component
	Numbers          templ.Component // tables, initially closed
	Half             bool            // shown next to another section
	Lead             bool            // shown above the settings
	Sum              *sum            // the result of the tiles' equation
}

// Elements for numbers in a sentence: bold, bold in the accent color, and bold in the error color.
var (
	bold   = stage.Element{Name: "b"}
	accent = stage.Element{Name: "b", Attrs: templ.Attributes{"class": "x"}}
	bad    = stage.Element{Name: "b", Attrs: templ.Attributes{"class": "bad"}}
)

// rowsOfSections groups sections into rows. Consecutive halves are in one row, side by side.
func rowsOfSections(list []section) [][]section {
	var rows [][]section
	for i := 0; i < len(list); i++ {
		if list[i].Half && i+1 < len(list) && list[i+1].Half {
			rows = append(rows, list[i:i+2])
			i++
			continue
		}
		rows = append(rows, list[i:i+1])
	}
	return rows
}

// charted adds a chart to a section, unless it could not be drawn: a run in progress may not have
// enough data yet.
func (s section) charted(c plots.Chart, err error) section {
	if err == nil {
		s.Chart = &c
	}
	return s
}

// onPhones adds the version of the chart for phones.
func (s section) onPhones(c plots.Chart, err error) section {
	if err == nil {
		s.Narrow = &c
	}
	return s
}

// A grid is a table in a section. The first cell of each row is the row's header.
type grid struct {
	Caption string
	Head    []string
	Rows    [][]string
	Now     int // the number of the highlighted row, from 1; 0 if none
}

// newGrid returns a table without rows. The keys of its texts consist of the given key followed by
// "caption" or by the name of a column. A column without a name has no heading.
func newGrid(w stage.Words, key string, columns ...string) grid {
	g := grid{Caption: w.T(key + "caption")}
	for _, c := range columns {
		head := ""
		if c != "" {
			head = w.T(key + c)
		}
		g.Head = append(g.Head, head)
	}
	return g
}

// texts reports for each column whether it contains words rather than numbers.
func (g grid) texts() []bool {
	list := make([]bool, len(g.Head))
	for _, row := range g.Rows {
		for i, cell := range row {
			if first := strings.TrimLeft(cell, "−+-~≈$≥≤"); i < len(list) && first != "" &&
				(first[0] < '0' || first[0] > '9') && first != "–" || strings.Contains(cell, " = ") {
				list[i] = true
			}
		}
	}
	return list
}

// gridOf converts a lab's raw table for display, with at most `most` rows.
func gridOf(w stage.Words, t lab.Table, most int) grid {
	g := grid{Caption: t.Title.In(w.Language)}
	for _, c := range t.Columns {
		g.Head = append(g.Head, c.Head(w.Language))
	}
	for _, row := range t.Rows[:min(most, len(t.Rows))] {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = cellText(w, cell)
		}
		g.Rows = append(g.Rows, cells)
	}
	return g
}

// cellText formats a raw cell for display.
func cellText(w stage.Words, cell any) string {
	switch c := cell.(type) {
	case nil:
		return ""
	case bool:
		if c {
			return w.T("labs.yes")
		}
		return w.T("labs.no")
	case int:
		return terms.Count(c)
	case int64:
		return terms.Count(c)
	case float64:
		return terms.Measured(c)
	case lab.Phrase:
		return c.In(w.Language)
	case string:
		return stage.Marked(c).String()
	}
	return ""
}

// ms formats a time in milliseconds.
func ms(w stage.Words, x float64) string {
	return w.Took(time.Duration(x * float64(time.Millisecond)))
}

// spreadText formats repeated measurements as the median and the middle half.
func spreadText(w stage.Words, s lab.Spread) string {
	if s.N < 2 {
		return terms.Measured(s.Median)
	}
	return w.T(
		"labs.spread", "median", terms.Measured(s.Median), "low", terms.Measured(s.Q1), "high", terms.Measured(s.Q3),
	)
}

func quartiles(s lab.Spread) plots.Quartiles {
	return plots.Quartiles{Low: s.Q1, Mid: s.Median, High: s.Q3}
}

// marked returns a token's text as a page shows it.
func marked(t lab.Token) stage.Text {
	if t.Special {
		return stage.Text{{S: t.Text}}
	}
	return stage.Marked(t.Text)
}

// tokenName returns a token's text as a string, for tables.
func tokenName(t lab.Token) string { return marked(t).String() }
