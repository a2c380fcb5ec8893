package stage

import (
	"strconv"
)

// columns returns the number of columns that the table has on every screen, not counting bars. The
// columns are token, z and p; from the filter stage on, also keep and p′; and at the draw, also
// from and to. Three more columns (z/T, exp, Σp) are hidden on narrow screens.
func columns(stage int) string {
	return [...]string{4: "5", 5: "7"}[stage]
}

// shownCut is the number of cut rows that a narrow screen shows initially.
const shownCut = 4

// foldedRows returns the number of cut rows beyond shownCut.
func foldedRows(t *Table) int {
	cut := 0
	for _, r := range t.Rows {
		if r.CutBy != "" {
			cut++
		}
	}
	return max(cut-shownCut, 0)
}

// folded reports whether row i is initially hidden on narrow screens.
func folded(t *Table, i int) bool {
	if t.Rows[i].CutBy == "" || t.Rows[i].Pick {
		return false
	}
	cut := 0
	for _, r := range t.Rows[:i] {
		if r.CutBy != "" {
			cut++
		}
	}
	return cut >= shownCut
}

// lineAt returns the row below the dashed line, for the table's animation. It returns "" if there
// is no line.
func lineAt(t *Table) string {
	for i, r := range t.Rows {
		if r.Line != nil {
			return "line-" + strconv.Itoa(i)
		}
	}
	return ""
}
