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

// A SheetForm is a variant of CSV for one kind of program.
type SheetForm int

const (
	// SheetPipe is for programs other than spreadsheets. Lines end with a line feed, as in a text
	// file.
	SheetPipe SheetForm = iota
	// SheetFile is for spreadsheets, which need CRLF line ends and a byte order mark to recognize
	// UTF-8.
	SheetFile
	// SheetComma is for spreadsheets in German, Swedish and many other languages, which expect
	// decimal commas, and semicolons between columns.
	SheetComma
)

// SheetFormOf returns the form for the "decimal" parameter in a download's address.
func SheetFormOf(decimal string) SheetForm {
	if decimal == "comma" {
		return SheetComma
	}
	return SheetFile
}

// SheetType is the content type of a sheet.
const SheetType = "text/csv; charset=utf-8"

// A Sheet writes a table as CSV (RFC 4180). All of this program's CSV output is written by a Sheet.
// Text that a spreadsheet could interpret as a formula is prefixed with an apostrophe, control
// characters become escapes such as \u001b, and numbers have their shortest exact form.
type Sheet struct {
	out   *csv.Writer
	form  SheetForm
	inner *strings.Replacer // protects text that would be a formula if columns were split at another separator
	err   error
}

// NewSheet returns a sheet that writes to a writer.
func NewSheet(w io.Writer, form SheetForm) *Sheet {
	s := &Sheet{out: csv.NewWriter(w), form: form}
	others := ";\t"
	if form == SheetComma {
		s.out.Comma, others = ';', ",\t"
	}
	var pairs []string
	for _, mark := range others {
		for _, sign := range "=+-@" {
			pairs = append(pairs, string(mark)+string(sign), string(mark)+"'"+string(sign))
		}
	}
	s.inner = strings.NewReplacer(pairs...)
	if form != SheetPipe {
		s.out.UseCRLF = true
		_, s.err = io.WriteString(w, "\ufeff")
	}
	return s
}

// Row writes a row. A cell is a string, a number, a bool, or nil if it is empty.
func (s *Sheet) Row(cells ...any) {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = s.cell(c)
	}
	if err := s.out.Write(row); s.err == nil {
		s.err = err
	}
}

// Flush writes the buffered rows, and returns the first error that any row caused.
func (s *Sheet) Flush() error {
	s.out.Flush()
	if s.err != nil {
		return s.err
	}
	return s.out.Error()
}

func (s *Sheet) cell(cell any) string {
	switch c := cell.(type) {
	case nil:
		return ""
	case float64:
		return s.number(strconv.FormatFloat(c, 'g', -1, 64))
	case float32:
		return s.number(strconv.FormatFloat(float64(c), 'g', -1, 32))
	case bool, int, int32, int64, uint64:
		return fmt.Sprint(c)
	}
	return s.inner.Replace(safeCell(shownControls(fmt.Sprint(cell))))
}

// number converts a formatted number to the sheet's form.
func (s *Sheet) number(text string) string {
	if s.form == SheetComma {
		return strings.Replace(text, ".", ",", 1)
	}
	return text
}

// shownControls escapes control characters other than tabs and line ends, which are part of text.
func shownControls(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if !strings.ContainsFunc(text, escapedInCell) {
		return text
	}
	var b []byte
	for _, r := range text {
		if escapedInCell(r) {
			b = appendEscape(b, r)
		} else {
			b = utf8.AppendRune(b, r)
		}
	}
	return string(b)
}

func escapedInCell(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }

// safeCell makes text safe in a table that a spreadsheet opens. If the text, after any spaces and
// other invisible characters, begins like a formula, it gets a leading apostrophe, so it remains
// text (OWASP, "CSV Injection"). Even the text "+1" gets an apostrophe.
func safeCell(text string) string {
	unseen := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }
	first, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(text, unseen))
	if strings.ContainsRune("=+-@＝＋－＠", first) || strings.HasPrefix(text, "\t") || strings.HasPrefix(text, "\r") {
		return "'" + text
	}
	return text
}
