package terms

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Cell makes a text safe in a table that a spreadsheet opens: where it begins
// as a formula does, after any space, an apostrophe goes first, which marks it
// as text (OWASP, "CSV Injection"). So it does where it begins with one, since
// spreadsheets do not show the first. A number stays a number.
func Cell(text string) string {
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return text
	}
	first, _ := utf8.DecodeRuneInString(strings.TrimSpace(text))
	if strings.ContainsAny(text, "\t\r") || strings.ContainsRune("'=+-@＝＋－＠", first) {
		return "'" + text
	}
	return text
}
