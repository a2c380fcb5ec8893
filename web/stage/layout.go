package stage

import (
	"strconv"
)

// columns is how many columns of the table there always are, the bars left
// out: token, z and p, then keep and p′ from the filter on, from and to at the
// draw. Three more (z/T, exp, Σp) leave narrow screens.
func columns(stage int) string {
	return [...]string{4: "5", 5: "7"}[stage]
}

// shownCut is how many cut rows a narrow screen shows at first.
const shownCut = 4

// foldedRows is how many cut rows come after those.
func foldedRows(t *Table) int {
	cut := 0
	for _, r := range t.Rows {
		if r.CutBy != "" {
			cut++
		}
	}
	return max(cut-shownCut, 0)
}

// folded tells whether a narrow screen folds row i away.
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

// lineAt is before which row the dashed line stands, as the table's animation
// needs it; "" without one.
func lineAt(t *Table) string {
	for i, r := range t.Rows {
		if r.Line != nil {
			return "line-" + strconv.Itoa(i)
		}
	}
	return ""
}
