package lab

import (
	"fmt"
	"io"
	"slices"

	"github.com/tokenbytoken/viz/infer/terms"
)

// Column is one column of a table. Unit is empty for counts, names and shares.
type Column struct {
	Name Phrase `json:"name"`
	Unit Phrase `json:"unit,omitzero"`
}

// Table holds raw rows. A cell is a string, a [Phrase], a bool, an int, an int64 or a float64, or
// nil if it is empty.
type Table struct {
	Name    string   `json:"name"` // for file names: "steps"
	Title   Phrase   `json:"title"`
	Columns []Column `json:"columns"`
	Rows    [][]any  `json:"rows"`
}

// columns returns table columns built from alternating names and units. A name is a [Phrase], a
// symbol, or the last part of a text's key.
func columns(namesAndUnits ...any) []Column {
	list := make([]Column, 0, len(namesAndUnits)/2)
	for i := 0; i < len(namesAndUnits); i += 2 {
		list = append(list, Column{
			named("lab.column.", namesAndUnits[i]), named("lab.unit.", namesAndUnits[i+1]),
		})
	}
	return list
}

func named(texts string, name any) Phrase {
	switch name := name.(type) {
	case Phrase:
		return name
	case string:
		if terms.English.Has(texts + name) {
			return Text(texts + name)
		}
		if name != "" {
			return terms.Verbatim(name)
		}
	}
	return Phrase{}
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

// Head returns the column's name with its unit: "time, ms".
func (c Column) Head(l *terms.Language) string {
	if unit := c.Unit.In(l); unit != "" {
		return l.T("lab.table.head", "name", c.Name.In(l), "unit", unit)
	}
	return c.Name.In(l)
}

// WriteCSV writes a table as CSV in a language, with units in parentheses in the header.
func (t Table) WriteCSV(w io.Writer, form terms.SheetForm, l *terms.Language) error {
	out := terms.NewSheet(w, form)
	head := make([]any, len(t.Columns))
	for i, c := range t.Columns {
		head[i] = c.Name.In(l)
		if unit := c.Unit.In(l); unit != "" {
			head[i] = c.Name.In(l) + " (" + unit + ")"
		}
	}
	out.Row(head...)
	for _, row := range t.Rows {
		row = slices.Clone(row)
		for i, cell := range row {
			if words, ok := cell.(Phrase); ok {
				row[i] = words.In(l)
			}
		}
		out.Row(row...)
	}
	return out.Flush()
}
