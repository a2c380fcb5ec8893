package plots

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/terms"
)

func TestStandaloneSVG(t *testing.T) {
	c, err := CumulativeCost(terms.English, run)
	if err != nil {
		t.Fatal(err)
	}
	svg, err := Standalone(c.SVG)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "standalone.svg", svg)
	if strings.Contains(svg, "var(") || strings.Contains(svg, "style=") {
		t.Error("the file depends on a page's style sheet")
	}
	d := xml.NewDecoder(strings.NewReader(svg))
	space := ""
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "svg" {
			space = e.Name.Space
		}
	}
	if space != "http://www.w3.org/2000/svg" {
		t.Errorf("the root is in the namespace %q, want %q", space, "http://www.w3.org/2000/svg")
	}
}

func TestStandaloneAcceptsOnlyCharts(t *testing.T) {
	for _, svg := range []string{
		"", "<p>", `<svg viewBox="0 0 1 1"></svg>`,
		`<svg class="plot" viewBox="0 0 1 1"><desc></desc><path fill="var(--no-such)"/></svg>`,
		`<svg class="plot" viewBox="0 0 1.2.3 1"><desc></desc></svg>`,
	} {
		if got, err := Standalone(svg); err == nil {
			t.Errorf("Standalone(%q) = %q, want an error", svg, got)
		}
	}
}

// TestStandaloneUsesLightTheme: files have the colors of the light theme, which is defined
// in the first block of the style sheet.
func TestStandaloneUsesLightTheme(t *testing.T) {
	css, err := os.ReadFile("../static/css/tokens.css")
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(css), "}")
	for name, want := range light {
		m := regexp.MustCompile(`(?m)` + name + `:\s*(#[0-9a-f]{6})`).FindStringSubmatch(first)
		if m == nil || m[1] != want {
			t.Errorf("%s is %q in the style sheet, want %q as in files", name, m, want)
		}
	}
	for _, property := range roles {
		if light[property] == "" {
			t.Errorf("charts use %s, for which files have no color", property)
		}
	}
}
