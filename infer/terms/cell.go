package terms

import (
	"strings"
	"unicode/utf8"
)

// Cell makes a text safe in a table that a spreadsheet opens: if it begins like
// a formula, after any space, it gets a leading apostrophe, so that it stays
// text (OWASP, "CSV Injection"). That includes a text such as "+1"; a column of
// numbers needs no Cell.
func Cell(text string) string {
	first, _ := utf8.DecodeRuneInString(strings.TrimSpace(text))
	if strings.ContainsRune("=+-@＝＋－＠", first) || strings.HasPrefix(text, "\t") || strings.HasPrefix(text, "\r") {
		return "'" + text
	}
	return text
}
