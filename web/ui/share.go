package ui

import (
	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/web/view"
)

// Rich writes a sentence or a formula.
func Rich(r view.Rich) templ.Component { return rich(r) }

// Text writes a token's text, its marks set apart.
func Text(t view.Text) templ.Component { return text(t) }
