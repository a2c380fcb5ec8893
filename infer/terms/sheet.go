package terms

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Sheet writes a table as CSV (RFC 4180), the one way in which this program does.
// Texts that a spreadsheet could read as a formula get an apostrophe in front, numbers
// are in their shortest exact form.
type Sheet struct {
	out *csv.Writer
	err error
}

// NewSheet returns a sheet that writes to a writer. crlf ends lines as the RFC says, and
// as some spreadsheets want it; otherwise they end as text does.
func NewSheet(w io.Writer, crlf bool) *Sheet {
	out := csv.NewWriter(w)
	out.UseCRLF = crlf
	return &Sheet{out: out}
}

// Row writes a row. A cell is a text, a number, a bool, or nil if it is empty.
func (s *Sheet) Row(cells ...any) {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = cellText(c)
	}
	if err := s.out.Write(row); s.err == nil {
		s.err = err
	}
}

// Flush writes what waits, and returns the first error of all rows.
func (s *Sheet) Flush() error {
	s.out.Flush()
	if s.err != nil {
		return s.err
	}
	return s.out.Error()
}

func cellText(cell any) string {
	switch c := cell.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(c, 'g', -1, 64)
	case float32:
		return strconv.FormatFloat(float64(c), 'g', -1, 32)
	case bool, int, int32, int64, uint64:
		return fmt.Sprint(c)
	}
	return safeCell(fmt.Sprint(cell))
}

// safeCell makes a text safe in a table that a spreadsheet opens: if it begins like a
// formula, after any space and whatever else cannot be seen, it gets a leading
// apostrophe, so that it stays text (OWASP, "CSV Injection"). That includes a text such
// as "+1".
func safeCell(text string) string {
	unseen := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }
	first, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(text, unseen))
	if strings.ContainsRune("=+-@＝＋－＠", first) || strings.HasPrefix(text, "\t") || strings.HasPrefix(text, "\r") {
		return "'" + text
	}
	return text
}
