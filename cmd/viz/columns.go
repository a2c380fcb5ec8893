package main

import (
	"strings"
	"unicode"
)

// wide holds the characters that terminals display two columns wide: East Asian scripts, full-width
// forms and most pictographs.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x1100, 0x115f, 1},
		{0x2e80, 0x303e, 1},
		{0x3041, 0xa4cf, 1},
		{0xac00, 0xd7a3, 1},
		{0xf900, 0xfaff, 1},
		{0xfe30, 0xfe6f, 1},
		{0xff00, 0xff60, 1},
		{0xffe0, 0xffe6, 1},
	},
	R32: []unicode.Range32{
		{0x1f300, 0x1f64f, 1},
		{0x1f680, 0x1f6ff, 1},
		{0x1f900, 0x1faff, 1},
		{0x20000, 0x3fffd, 1},
	},
}

// width returns the number of columns that s occupies in a terminal.
func width(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case unicode.Is(wide, r):
			n += 2
		default:
			n++
		}
	}
	return n
}

// pad pads s with spaces to a width.
func pad(s string, to int) string { return s + strings.Repeat(" ", max(0, to-width(s))) }

// named returns a name padded to the width of the name column, which begins a line.
func named(name string) string { return pad(name+" ", nameColumn) }

// table describes the columns of a table by their heads and minimum widths. As in package fmt, the
// width of a left-aligned column is negative.
type table []struct {
	head  string
	width int
}

// text returns the table with the given rows.
func (t table) text(rows [][]string) string {
	var b strings.Builder
	heads := make([]string, len(t))
	for i, c := range t {
		heads[i] = c.head
	}
	rows = append([][]string{heads}, rows...)
	for _, row := range rows {
		cells := make([]string, len(t))
		for i, c := range t {
			most := max(c.width, -c.width)
			for _, r := range rows {
				most = max(most, width(r[i]))
			}
			if cells[i] = pad(row[i], most); c.width > 0 {
				cells[i] = strings.Repeat(" ", most-width(row[i])) + row[i]
			}
		}
		b.WriteString(strings.Join(cells, "  ") + "\n")
	}
	return b.String()
}

// tail returns the end of s, at most the given number of columns wide, with an ellipsis in place of
// the omitted part.
func tail(s string, most int) string {
	if width(s) <= most {
		return s
	}
	runes := []rune(s)
	n := 1
	for i := len(runes) - 1; ; i-- {
		if n += width(string(runes[i])); n > most {
			return "…" + string(runes[i+1:])
		}
	}
}

// wrap breaks a list of words into lines of at most a given width.
func wrap(words []string, most int) []string {
	var lines []string
	line := ""
	for _, w := range words {
		if line != "" && width(line)+1+width(w) > most {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += w
	}
	return append(lines, line)
}

// eighths are blocks of increasing width, from empty to seven eighths.
var eighths = []rune(" ▏▎▍▌▋▊▉")

// bar returns a bar whose length is proportional to p.
func bar(p float64) string {
	n := min(max(int(p*barWidth*8+0.5), 0), barWidth*8)
	return strings.TrimRight(strings.Repeat("█", n/8)+string(eighths[n%8]), " ")
}
