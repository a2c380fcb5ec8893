package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/infer/lab"
	"github.com/tokenbytoken/viz/infer/terms"
)

// labList lists the labs, each with its question.
func labList() string {
	var b strings.Builder
	b.WriteString(labUsage + "\nThe labs:\n")
	for _, l := range lab.All() {
		info := l.Info(terms.English)
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

// labText formats a report as human-readable text in a language.
func labText(l *terms.Language, r *lab.Report, info lab.Info) string {
	var b strings.Builder
	head := l.T("lab.terminal.head", "title", info.Title, "model", r.Model)
	b.WriteString(head + "\n" + strings.Join(wrap(strings.Fields(info.Question), 80), "\n") + "\n")
	paragraph := func(text string) {
		if text != "" {
			b.WriteString("\n" + strings.Join(wrap(strings.Fields(text), 80), "\n") + "\n")
		}
	}
	for _, say := range r.Findings {
		paragraph(say.In(l))
	}
	for _, t := range r.Tables {
		b.WriteString("\n" + labTable(l, t))
	}
	paragraph(info.Includes)
	paragraph(r.Noise.In(l))
	if r.Canceled {
		b.WriteString("\n" + l.T("lab.terminal.early") + "\n")
	}
	return b.String()
}

// labTable prints a table in columns, with numbers right-aligned and text left-aligned.
func labTable(l *terms.Language, t lab.Table) string {
	shown := t.Rows[:min(len(t.Rows), labRows)]
	widths, left := make([]int, len(t.Columns)), make([]bool, len(t.Columns))
	lines := make([][]string, 1, len(shown)+1)
	for i, c := range t.Columns {
		head := c.Head(l)
		lines[0] = append(lines[0], head)
		widths[i] = width(head)
	}
	for _, row := range shown {
		line := make([]string, len(row))
		for i, cell := range row {
			line[i] = labCell(l, cell)
			switch cell.(type) {
			case string, lab.Phrase:
				left[i] = true
			}
			widths[i] = max(widths[i], width(line[i]))
		}
		lines = append(lines, line)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s)\n", t.Title.In(l), t.Name)
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
		b.WriteString("  " + l.T("lab.terminal.more", "n", n, "table", t.Name) + "\n")
	}
	return b.String()
}

// labTextWidth is the maximum width of text in a cell.
const labTextWidth = 48

func labCell(l *terms.Language, cell any) string {
	if words, ok := cell.(lab.Phrase); ok {
		cell = words.In(l)
	}
	switch c := cell.(type) {
	case nil:
		return "–"
	case string:
		text := terms.Printable(strings.ReplaceAll(c, "\n", "↵"))
		if r := []rune(text); len(r) > labTextWidth {
			text = string(r[:labTextWidth-1]) + "…"
		}
		return text
	case bool:
		return l.T("cmd.lab." + strconv.FormatBool(c))
	case int:
		return terms.Count(c)
	case int64:
		return terms.Count(c)
	case float64:
		return terms.Measured(c)
	}
	return fmt.Sprint(cell)
}
