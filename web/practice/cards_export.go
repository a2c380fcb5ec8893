package practice

import (
	"bytes"
	"cmp"
	"html"
	"net/http"
	"strings"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/lessons"
)

// exportAnki handles GET /cards/export.txt. It sends the cards as tab-separated text with the
// header lines that Anki requires to import them.
func (p *Pages) exportAnki(w http.ResponseWriter, r *http.Request) {
	var b strings.Builder
	b.WriteString(
		"#separator:tab\n#html:true\n#notetype:Basic\n#deck:Token by Token\n#columns:Front\tBack\tTags\n#tags " +
			"column:3\n",
	)
	for _, c := range p.Course.In(r.Context()).Cards {
		b.WriteString(ankiField(c.FrontText) + "\t" + ankiField(c.BackText) + "\t" + cardTags(c) + "\n")
	}
	attach(w, "text/plain; charset=utf-8", "token-by-token.txt", []byte(b.String()))
}

// ankiField formats a string as one field on one line: it escapes markup and replaces line breaks
// with <br>.
func ankiField(s string) string {
	s = strings.Join(strings.Fields(strings.ReplaceAll(s, "\n", " \x00 ")), " ")
	return strings.ReplaceAll(html.EscapeString(s), " \x00 ", "<br>")
}

func cardTags(c *lessons.Card) string {
	lesson, _, _ := strings.Cut(c.Section, "#")
	return "token-by-token::" + cmp.Or(c.Outcome, "own") + " token-by-token::" + lesson
}

// exportCSV handles GET /cards/export.csv.
func (p *Pages) exportCSV(w http.ResponseWriter, r *http.Request) {
	var b bytes.Buffer
	c := terms.NewSheet(&b, terms.SheetFormOf(r.URL.Query().Get("decimal")))
	c.Row("id", "front", "back", "outcome", "section")
	for _, card := range p.Course.In(r.Context()).Cards {
		c.Row(card.ID, card.FrontText, card.BackText, card.Outcome, card.Section)
	}
	if err := c.Flush(); err != nil { // writing to a buffer cannot fail
		p.Fail(w, r, err)
		return
	}
	attach(w, terms.SheetType, "token-by-token.csv", b.Bytes())
}

func attach(w http.ResponseWriter, kind, name string, data []byte) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	h.Set("Cache-Control", "no-store")
	w.Write(data)
}
