package ui

import (
	"strings"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/static"
	"github.com/tokenbytoken/viz/web/view"
)

// ShellOf is what a page puts into the frame that all pages share.
type ShellOf struct {
	// Title is the window's; [TitleOf] adds the program's name.
	Title string
	// Active is the key of the place in the main navigation: "learn", "loop",
	// "labs", "practice", or "" for none of them.
	Active string
	// Class is the body's class, Data its further attributes.
	Class string
	Data  templ.Attributes
	// Skip is the text of the link that skips the header to the element with
	// the id "main".
	Skip string
	// Styles and Scripts are names of files under static, such as
	// "css/learn.css" and "js/learn.js". They come after those of the frame.
	Styles, Scripts []string
	// Mono asks for the token font at once, for pages whose first sight shows
	// tokens.
	Mono bool
	// End is what the page has of its own at the header's end, or nil.
	End templ.Component
	// Keys are the page's shortcuts, listed by the key "?".
	Keys []Key
}

// styles is the address of all of the page's styles.
func (s ShellOf) styles() string {
	return static.Bundle(append([]string{"css/tokens.css", "css/base.css"}, s.Styles...)...)
}

// scripts is the address of all of the page's scripts.
func (s ShellOf) scripts() string {
	return static.Bundle(append([]string{"js/shell.js"}, s.Scripts...)...)
}

// Key is one line of a page's list of shortcuts.
type Key struct{ Cap, Says string }

// TitleOf is the window's title of a page.
func TitleOf(page string) string { return page + " · Token by Token" }

// place is an entry of the main navigation.
type place struct{ key, href, name string }

var places = []place{
	{"learn", "/learn", "Learn"},
	{"loop", "/loop", "Loop"},
	{"labs", "/labs", "Labs"},
	{"practice", "/practice", "Practice"},
	{"class", "/teach", "Class"},
}

// SharedKeys work on every page with a list of shortcuts.
var SharedKeys = []Key{
	{"/", "search"},
	{"?", "this list"},
	{"Esc", "leave a field or this list"},
}

var loopKeys = []Key{
	{"→", "stage forward"},
	{"←", "stage back"},
	{"N", "next token"},
	{"Space", "play, pause"},
	{"R", "back to the prompt"},
	{"[", "slower"},
	{"]", "faster"},
	{"E", "run to the end"},
	{"1 – 7", "look at a stage already done"},
	{"T K P M S", "go to temperature, top-k, top-p, min-p, seed"},
	{"← →", "on a token: the one before, after"},
	{"Enter", "on a token: rewind to its draw"},
	{"↓", "on a token: into its alternatives"},
	{"↑ ↓", "in the table: work another row"},
	{"/", "search the lessons"},
	{"?", "this list"},
	{"Esc", "leave a field or this list"},
}

var loopStyles = []string{"css/loop.css", "css/inside.css", "css/motion.css", "css/loop-small.css", "css/touch.css"}

func loopShell(v view.Loop) ShellOf {
	return ShellOf{
		Title: v.Title, Active: "loop", Class: "page-loop", Skip: "Skip to the stage", Mono: true,
		Data: templ.Attributes{
			"data-run": v.Run, "data-link": v.Link, "data-stages": strings.Join(terms.StageKeys(), ","),
		},
		Styles:  loopStyles,
		Scripts: []string{"js/loop.js"},
		End:     loopEnd(v),
		Keys:    loopKeys,
	}
}
