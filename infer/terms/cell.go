package terms

import (
	"strings"
	"unicode/utf8"
)

// Cell makes a text safe in a table that a spreadsheet opens: where it begins
// as a formula does, after any space, an apostrophe goes first, so that it stays
// text (OWASP, "CSV Injection"). That goes for a text such as "+1", too, which
// would become another text; a column of numbers needs no Cell.
func Cell(text string) string {
	first, _ := utf8.DecodeRuneInString(strings.TrimSpace(text))
	if strings.ContainsRune("=+-@＝＋－＠", first) || strings.HasPrefix(text, "\t") || strings.HasPrefix(text, "\r") {
		return "'" + text
	}
	return text
}
