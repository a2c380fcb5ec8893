package lab

import (
	"fmt"
	"io"

	"github.com/tokenbytoken/viz/infer/terms"
)

// Column is one column of a table. Unit is empty for counts, names and shares.
type Column struct {
	Name string `json:"name"`
	Unit string `json:"unit,omitempty"`
}

// Table holds raw rows. A cell is a string, a bool, an int, an int64, a float64, or nil if it is
// empty.
type Table struct {
	Name    string   `json:"name"` // for file names: "steps"
	Title   string   `json:"title"`
	Columns []Column `json:"columns"`
	Rows    [][]any  `json:"rows"`
}

// columns returns table columns built from alternating names and units.
func columns(namesAndUnits ...string) []Column {
	list := make([]Column, 0, len(namesAndUnits)/2)
	for i := 0; i < len(namesAndUnits); i += 2 {
		list = append(list, Column{namesAndUnits[i], namesAndUnits[i+1]})
	}
	return list
}

// add appends a row, which must have a cell for every column.
func (t *Table) add(cells ...any) {
	if len(cells) != len(t.Columns) {
		panic(fmt.Sprintf("lab: table %s has %d columns, but the row has %d cells", t.Name, len(t.Columns), len(cells)))
	}
	t.Rows = append(t.Rows, cells)
}

// Table returns the report's table with the given name.
func (r *Report) Table(name string) (Table, bool) {
	for _, t := range r.Tables {
		if t.Name == name {
			return t, true
		}
	}
	return Table{}, false
}

// WriteCSV writes a table as CSV, with units in parentheses in the header.
func (t Table) WriteCSV(w io.Writer, form terms.SheetForm) error {
	out := terms.NewSheet(w, form)
	head := make([]any, len(t.Columns))
	for i, c := range t.Columns {
		name := c.Name
		if c.Unit != "" {
			name += " (" + c.Unit + ")"
		}
		head[i] = name
	}
	out.Row(head...)
	for _, row := range t.Rows {
		out.Row(row...)
	}
	return out.Flush()
}
