package main

import (
	"fmt"
	"strings"

	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
)

// labList lists the labs, each with its question.
func labList() string {
	var b strings.Builder
	b.WriteString(labUsage + "\nThe labs:\n")
	for _, l := range lab.All() {
		info := l.Info()
		helpEntry(&b, info.Name, info.Title+". "+info.Question)
	}
	b.WriteString("\n\"viz lab NAME -h\" lists a lab's flags.\n")
	return b.String()
}

// labHelp returns the help of one lab.
func labHelp(info lab.Info, f *flags) string {
	var b strings.Builder
	fmt.Fprintf(
		&b, "Usage: viz lab %s [flags]\n\n%s\n\nFlags:\n", info.Name,
		strings.Join(wrap(strings.Fields(info.Title+". "+info.Question), 80), "\n"),
	)
	for _, x := range f.listed {
		helpEntry(&b, strings.TrimRight("-"+x.name+" "+x.arg, " "), x.help)
	}
	return b.String()
}

// labRows is the maximum number of rows of a table that are printed; -csv prints all of them.
const labRows = 24

// labText formats a report as human-readable text.
func labText(r *lab.Report, info lab.Info) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, on %s\n%s\n", info.Title, r.Model, strings.Join(wrap(strings.Fields(info.Question), 80), "\n"))
	for _, say := range r.Findings {
		b.WriteString("\n" + strings.Join(wrap(strings.Fields(say), 80), "\n") + "\n")
	}
	for _, t := range r.Tables {
		b.WriteString("\n" + labTable(t))
	}
	for _, say := range []string{info.Includes, r.Noise} {
		if say != "" {
			b.WriteString("\n" + strings.Join(wrap(strings.Fields(say), 80), "\n") + "\n")
		}
	}
	if r.Canceled {
		b.WriteString("\nThe run was ended early. These are the results up to then.\n")
	}
	return b.String()
}

// labTable prints a table in columns, with numbers right-aligned and text left-aligned.
func labTable(t lab.Table) string {
	shown := t.Rows[:min(len(t.Rows), labRows)]
	widths, left := make([]int, len(t.Columns)), make([]bool, len(t.Columns))
	lines := make([][]string, 1, len(shown)+1)
	for i, c := range t.Columns {
		head := c.Name
		if c.Unit != "" {
			head += ", " + c.Unit
		}
		lines[0] = append(lines[0], head)
		widths[i] = width(head)
	}
	for _, row := range shown {
		line := make([]string, len(row))
		for i, cell := range row {
			line[i] = labCell(cell)
			if _, isText := cell.(string); isText {
				left[i] = true
			}
			widths[i] = max(widths[i], width(line[i]))
		}
		lines = append(lines, line)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s)\n", t.Title, t.Name)
	for _, line := range lines {
		text := ""
		for i, cell := range line {
			if left[i] {
				text += pad(cell, widths[i]) + "  "
			} else {
				text += strings.Repeat(" ", widths[i]-width(cell)) + cell + "  "
			}
		}
		b.WriteString("  " + strings.TrimRight(text, " ") + "\n")
	}
	if n := len(t.Rows) - len(shown); n > 0 {
		fmt.Fprintf(&b, "  and %s more; -csv %s prints all\n", terms.Counted(n, "row"), t.Name)
	}
	return b.String()
}

// labTextWidth is the maximum width of text in a cell.
const labTextWidth = 48

func labCell(cell any) string {
	switch c := cell.(type) {
	case nil:
		return "–"
	case string:
		text := terms.Printable(strings.ReplaceAll(c, "\n", "↵"))
		if r := []rune(text); len(r) > labTextWidth {
			text = string(r[:labTextWidth-1]) + "…"
		}
		return text
	case int:
		return terms.Count(c)
	case int64:
		return terms.Count(c)
	case float64:
		return terms.Measured(c)
	}
	return fmt.Sprint(cell)
}
