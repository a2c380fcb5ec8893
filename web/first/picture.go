package first

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"

	"github.com/tokenbytoken/viz/plots"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/stage"
)

// cardSVG handles GET /first/card.svg, which returns the card as an SVG file to save.
func (s *Server) cardSVG(w http.ResponseWriter, r *http.Request) {
	var svg string
	if s.withCard(w, r, func(c card) (err error) {
		w := stage.In(r.Context())
		svg, err = c.keepsake(w).SVG(w.Language)
		return err
	}) {
		sendFile(w, "image/svg+xml; charset=utf-8", ".svg", []byte(svg))
	}
}

// cardPNG handles GET /first/card.png, which returns the card as a PNG file to save.
func (s *Server) cardPNG(w http.ResponseWriter, r *http.Request) {
	var png bytes.Buffer
	if s.withCard(w, r, func(c card) error {
		w := stage.In(r.Context())
		return c.keepsake(w).WritePNG(w.Language, &png)
	}) {
		sendFile(w, "image/png", ".png", png.Bytes())
	}
}

func sendFile(w http.ResponseWriter, kind, extension string, content []byte) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Length", strconv.Itoa(len(content)))
	h.Set("Content-Disposition", `attachment; filename="token-by-token`+extension+`"`)
	_, _ = w.Write(content) // fails only if the client has disconnected
}

// keepsake returns the data needed to draw the card.
func (c card) keepsake(w stage.Words) plots.Keepsake {
	k := plots.Keepsake{
		Title: w.T("first.print.title"),
		Foot:  []string{w.T("first.print.tokens", "yours", c.Yours, "its", c.Its)},
	}
	if c.Chance != "" {
		k.Foot = append(k.Foot, w.T("first.print.boldest", "token", c.Boldest.String(), "n", c.Chance))
	}
	k.Foot = append(k.Foot, c.Made, strings.ReplaceAll(shell.Name, " ", "·"))
	for _, p := range c.Parts {
		k.Parts = append(k.Parts, plots.KeepsakePart{Text: p.Text, Yours: p.Yours, Long: p.Long})
	}
	for i, x := range c.Shares {
		k.Marks = append(k.Marks, plots.KeepsakeMark{Yours: i < c.Given, Height: max(x, leastMark)})
	}
	return k
}
