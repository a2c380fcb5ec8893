package learn

import (
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/web/stage"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/shell"
)

// styles and scripts of every page of this room.
var (
	styles  = []string{"css/learn.css", "css/pages.css"}
	scripts = []string{"js/learn.js"}

	homeStyles  = []string{"css/learn.css", "css/pages.css", "css/home.css"}
	homeScripts = []string{"js/home.js"} // which loads learn.js
	sheetStyles = []string{"css/learn.css", "css/pages.css", "css/print.css"}
)

// keysWith are a page's own shortcuts with those that all pages have.
func keysWith(own ...shell.Key) []shell.Key { return append(own, shell.SharedKeys...) }

// sentenceOf makes a sentence of an error's text.
func sentenceOf(err error) string {
	text := terms.Capital(strings.TrimSpace(err.Error()))
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}

func contains(list []int, i int) bool { return slices.Contains(list, i) }

// lessonStyles and lessonScripts are those of pages with experiments in them.
var (
	lessonStyles  = slices.Concat(styles, widgetStyles)
	lessonScripts = slices.Concat(scripts, widgetScripts)
)

// lang is the language of these pages.
var lang = stage.English
