package shell

import (
	"slices"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/static"
)

// Of is what a page puts into the frame that all pages share.
type Of struct {
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
	// Embeds says that other sites' pages can show this one; see [Embeds].
	Embeds bool
	// Keys are the page's shortcuts, listed by the key "?".
	Keys []Key
}

// StylesAt is the address of all of the page's styles.
func (s Of) StylesAt() string {
	first, last := []string{"css/tokens.css", "css/base.css"}, []string{"css/marks.css"}
	return static.Bundle(slices.Concat(first, s.Styles, last)...)
}

// scripts is the address of all of the page's scripts.
func (s Of) scripts() string {
	return static.Bundle(append([]string{"js/shell.js"}, s.Scripts...)...)
}

// Key is one line of a page's list of shortcuts.
type Key struct{ Cap, Says string }

// TitleOf is the window's title of a page.
func TitleOf(page string) string { return terms.Isolated(page) + " · Token by Token" }

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

// KeysWith returns a page's own shortcuts and those that all pages share.
func KeysWith(own ...Key) []Key { return append(own, SharedKeys...) }
