package learn

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tokenbytoken/viz/web/ui"
	"github.com/tokenbytoken/viz/web/view"
)

// styles and scripts of every page of this room.
var (
	styles  = []string{"css/learn.css"}
	scripts = []string{"js/learn.js"}

	homeStyles  = []string{"css/learn.css", "css/home.css"}
	homeScripts = []string{"js/home.js"} // which loads learn.js
	sheetStyles = []string{"css/learn.css", "css/print.css"}
)

// keysWith are a page's own shortcuts with those that all pages have.
func keysWith(own ...ui.Key) []ui.Key { return append(own, ui.SharedKeys...) }

// sentenceOf makes a sentence of an error's text.
func sentenceOf(err error) string {
	text := capital(strings.TrimSpace(err.Error()))
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}

// counted puts a count before a noun: "1 section", "4 sections".
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return view.Count(n) + " " + noun + "s"
}

// capital begins a sentence.
func capital(s string) string {
	first, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[n:]
}

func contains(list []int, i int) bool { return slices.Contains(list, i) }

// lessonStyles and lessonScripts are those of pages with experiments in them.
var (
	lessonStyles  = slices.Concat(styles, widgetStyles)
	lessonScripts = slices.Concat(scripts, widgetScripts)
)
