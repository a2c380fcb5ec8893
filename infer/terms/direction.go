package terms

import "strings"

// RightToLeft reports whether text contains a letter of a right-to-left script. On a page, such
// text needs its own direction; otherwise, it reorders the words and numbers next to it.
func RightToLeft(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return r >= 0x590 && r <= 0x8ff || r >= 0xfb1d && r <= 0xfdff || r >= 0xfe70 && r <= 0xfefc ||
			r >= 0x10800 && r <= 0x10fff || r >= 0x1e800 && r <= 0x1efff
	})
}

// Turns reports whether r is an invisible character that changes the direction of the text after
// it.
func Turns(r rune) bool { return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 }

// Running returns text without the invisible characters that change the direction of what follows
// them.
func Running(text string) string {
	return strings.Map(func(r rune) rune {
		if Turns(r) {
			return -1
		}
		return r
	}, text)
}

// Isolated returns text in a form that does not affect the direction of the words around it (UAX
// #9, isolates). It is for places that cannot contain HTML elements, such as a page's title.
func Isolated(text string) string {
	text = Running(text)
	if !RightToLeft(text) {
		return text
	}
	return "\u2068" + text + "\u2069"
}
