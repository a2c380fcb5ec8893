package shell

import (
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/static"
)

// Of describes a page to the frame that all pages share.
type Of struct {
	// Title is the title of the window. [TitleOf] adds the program's name.
	Title string
	// Active is the key of the current section in the main navigation: "learn", "loop", "labs",
	// "practice", or "" for none of them.
	Active string
	// Class is the class of the body, and Data holds its other attributes.
	Class string
	Data  templ.Attributes
	// Skip is the text of the link that skips the header to the element with
	// the id "main".
	Skip string
	// Styles and Scripts are names of files in the folder static, such as "css/learn.css" and
	// "js/learn.js". They are loaded after the frame's files.
	Styles, Scripts []string
	// Mono preloads the token font, for pages that show tokens on their first screen.
	Mono bool
	// End is the page's own content at the end of the header, or nil.
	End templ.Component
	// Embeds is set if other sites' pages can embed this page; see [Embeds].
	Embeds bool
	// Keys are the page's shortcuts, which the key "?" lists.
	Keys []Key
}

// StylesAt returns the address that serves all of the page's styles.
func (s Of) StylesAt() string {
	first, last := []string{"css/tokens.css", "css/base.css"}, []string{"css/marks.css"}
	return static.Bundle(slices.Concat(first, s.Styles, last)...)
}

// scripts returns the address that serves all of the page's scripts.
func (s Of) scripts() string {
	return static.Bundle(append([]string{"js/shell.js"}, s.Scripts...)...)
}

// Key is one line in a page's list of shortcuts. Cap holds the English names of the keyboard keys,
// such as "Enter" or "PageDown Space", and Says is the key of the text that describes their effect.
type Key struct{ Cap, Says string }

// label returns the labels of the keyboard keys in language l.
func (k Key) label(l *terms.Language) string {
	caps := strings.Fields(k.Cap)
	for i, name := range caps {
		if key := "shell.cap." + strings.ToLower(name); l.Has(key) {
			caps[i] = l.T(key)
		}
	}
	return strings.Join(caps, " ")
}

// Name is the program's name, in every language.
const Name = "Token by Token"

// TitleOf returns the window title of a page.
func TitleOf(page string) string { return terms.Isolated(page) + " · " + Name }

// A navEntry is an entry of the main navigation. say is the key of its text.
type navEntry struct{ key, href, say string }

var navEntries = []navEntry{
	{"learn", "/learn", "shell.nav.learn"},
	{"loop", "/loop", "shell.nav.loop"},
	{"labs", "/labs", "shell.nav.labs"},
	{"practice", "/practice", "shell.nav.practice"},
	{"class", "/teach", "shell.nav.class"},
}

// SharedKeys are the shortcuts that work on every page with a list of shortcuts.
var SharedKeys = []Key{
	{"/", "shell.key.search"},
	{"?", "shell.key.list"},
	{"Esc", "shell.key.leave"},
}

// KeysWith returns a page's own shortcuts followed by [SharedKeys].
func KeysWith(own ...Key) []Key { return append(own, SharedKeys...) }
