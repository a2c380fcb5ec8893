package terms

import "strings"

// RightToLeft reports whether a text has a letter of a script that is written from right to
// left. On a page such a text needs a direction of its own: or it changes the order of the
// words and numbers beside it.
func RightToLeft(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return r >= 0x590 && r <= 0x8ff || r >= 0xfb1d && r <= 0xfdff || r >= 0xfe70 && r <= 0xfefc ||
			r >= 0x10800 && r <= 0x10fff || r >= 0x1e800 && r <= 0x1efff
	})
}

// Turns reports a character that nobody sees and that turns the direction of the text after it.
func Turns(r rune) bool { return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 }

// Running returns a text without the characters that nobody sees and that turn the direction
// of the text after them.
func Running(text string) string {
	return strings.Map(func(r rune) rune {
		if Turns(r) {
			return -1
		}
		return r
	}, text)
}

// Isolated returns a text for a sentence on a page that has no place for an element, such as a
// title: it leaves the direction of the words around it alone. (UAX #9, isolates)
func Isolated(text string) string {
	text = Running(text)
	if !RightToLeft(text) {
		return text
	}
	return "\u2068" + text + "\u2069"
}
