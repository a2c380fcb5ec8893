package ui

// columns is how many columns of the table there always are, the bars left
// out: token, z and p, then keep and p′ from the filter on, from and to at the
// draw. Three more (z/T, exp, Σp) leave narrow screens.
func columns(stage int) string {
	return [...]string{4: "5", 5: "7"}[stage]
}
