package ui

import (
	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/web/view"
)

// Rich writes a sentence or a formula.
func Rich(r view.Rich) templ.Component { return rich(r) }

// Text writes a token's text, its marks set apart.
func Text(t view.Text) templ.Component { return text(t) }

// StagePanel draws a stage as the Loop page does, for pages that show someone
// else's run.
func StagePanel(p view.Panel) templ.Component { return stagePanel(p) }

// Segments draws the strip from 0 to 1 of a stage.
func Segments(s *view.Segments) templ.Component { return segments(s) }

// Bare is a page without the header and navigation that all pages share: a
// projected slide, a screen in the hand. Its children are the whole body.
func Bare(s ShellOf) templ.Component { return frame(s) }
