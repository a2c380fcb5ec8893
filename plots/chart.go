// Package plots draws charts from data.
//
// A [Chart] is an SVG picture with a text alternative: a title, a description and a table of the
// data. Pictures are drawn with gonum/plot and then themed: colors are replaced with the page's
// custom properties, so one picture works in both the light and the dark theme, and style
// attributes are removed, since a content security policy would block them. Pictures must be
// embedded in a page that defines those properties.
package plots

import (
	"bytes"
	"fmt"
	"html"
	"image/color"
	"regexp"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/tokenbytoken/viz/infer/terms"
)

// Chart is a picture with its text alternative.
type Chart struct {
	SVG         string // one <svg> element, safe to embed in a page
	Title       string
	Description string
	Header      []string   // of the table
	Rows        [][]string // of the table, formatted for reading
}

// A chart's colors are placeholders for the page's custom properties. They have unlikely values, so
// that theme can find them in the SVG.
var (
	ink2      = role(1, "--ink-2")
	ink3      = role(2, "--ink-3")
	line      = role(3, "--line")
	edge      = role(4, "--edge")
	accent    = role(5, "--accent")
	other     = role(6, "--other")
	ink       = role(7, "--ink")
	otherFill = role(8, "--other-fill")
	ramp3     = role(10, "--p-3")
	surface   = role(11, "--surface")
	sunken    = role(12, "--sunken")
	bad       = role(13, "--bad")
)

var roles = map[string]string{}

func role(n uint8, property string) color.Color {
	c := color.NRGBA{0, 0, n, 255}
	roles[fmt.Sprintf("#0000%02X", n)] = property
	return c
}

// render draws p at a size in CSS pixels and themes it.
func render(l *terms.Language, p *plot.Plot, width, height float64, title, description string) (string, error) {
	p.BackgroundColor = nil
	canvas := vgsvg.New(vg.Length(width), vg.Length(height))
	p.Draw(draw.New(canvas))
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return "", fmt.Errorf("draw %q: %w", title, err)
	}
	return theme(l, b.String(), width, height, title, description)
}

var (
	styleAttr = regexp.MustCompile(`\sstyle="([^"]*)"`)
	svgOpen   = regexp.MustCompile(`(?s)^.*?<svg[^>]*>`)
)

// theme prepares an SVG from gonum/plot for a page. It removes the prolog and style attributes,
// replaces colors with the custom properties that they stand for, and adds a title and a
// description.
func theme(
	l *terms.Language, svg string, width, height float64, title, description string,
) (string, error) {
	open := svgOpen.FindString(svg)
	if open == "" {
		return "", fmt.Errorf("draw %q: missing <svg> element", title)
	}
	var unknown string
	body := styleAttr.ReplaceAllStringFunc(svg[len(open):], func(attr string) string {
		return presentation(styleAttr.FindStringSubmatch(attr)[1], &unknown)
	})
	if unknown != "" {
		return "", fmt.Errorf("draw %q: unknown color %s", title, unknown)
	}
	label := l.T("plot.label", "title", title, "description", description)
	return fmt.Sprintf(
		`<svg class="plot" viewBox="0 0 %g %g" role="img" aria-label="%s"><title>%s</title><desc>%s</desc>%s`,
		width, height, html.EscapeString(label), html.EscapeString(title),
		html.EscapeString(description), strings.TrimSpace(body)), nil
}

// presentation converts the declarations of a style attribute to presentation attributes. The page
// chooses the font family. If a color has no role, it is stored in unknown, since it would not
// change with the theme.
func presentation(style string, unknown *string) string {
	var b strings.Builder
	for _, declaration := range strings.Split(style, ";") {
		name, value, ok := strings.Cut(declaration, ":")
		switch {
		case !ok, name == "font-family", name == "font-variant", name == "font-style", value == "normal":
			continue
		case strings.HasPrefix(value, "#"):
			plain, anchor := anchored(strings.ToUpper(value))
			if anchor != "" {
				fmt.Fprintf(&b, ` text-anchor="%s"`, anchor)
			}
			property, known := roles[plain]
			if !known {
				*unknown = value
			}
			value = "var(" + property + ")"
		}
		fmt.Fprintf(&b, ` %s="%s"`, name, html.EscapeString(value))
	}
	return b.String()
}
