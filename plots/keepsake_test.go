package plots

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/color"
	"image/png"
	"io"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/tokenbytoken/viz/infer/terms"
)

var keepsake = Keepsake{
	Title: "Written together with a model",
	Parts: []KeepsakePart{
		{Text: "In the old house lived a", Yours: true},
		{Text: " young"},
		{Text: " man"},
		{Text: " named", Long: true},
		{Text: " Ab"},
		{Text: "igail", Long: true},
		{Text: " <&\x01>"},
	},
	Marks: []KeepsakeMark{{true, 1}, {true, 1}, {false, 0.4}, {false, 0.05}},
	Foot:  []string{"6 tokens yours, 6 tokens the model’s.", "tiny-5M, seed 42"},
}

// texts returns the text of an SVG's <text> elements, in order.
func texts(t interface{ Fatalf(string, ...any) }, svg string) []string {
	var list []string
	d, inside := xml.NewDecoder(strings.NewReader(svg)), false
	for {
		token, err := d.Token()
		switch e := token.(type) {
		case xml.StartElement:
			if inside = e.Name.Local == "text"; inside {
				list = append(list, "")
			}
		case xml.EndElement:
			inside = false
		case xml.CharData:
			if inside {
				list[len(list)-1] += string(e)
			}
		}
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
	}
}

func TestKeepsakeSVG(t *testing.T) {
	svg, err := keepsake.SVG(terms.English)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "keepsake.svg", svg)
	want := "Written together with a model In the old house lived a young man named Ab igail <&\uFFFD> " +
		"6 tokens yours, 6 tokens the model’s. tiny-5M, seed 42"
	if got := strings.Join(texts(t, svg), " "); got != want {
		t.Errorf("the picture reads\n%s\nwant\n%s", got, want)
	}
	if strings.Contains(svg, "var(") || strings.Contains(svg, "style=") {
		t.Error("the file depends on a page's style sheet")
	}
}

// TestKeepsakePNGColors: the picture contains the paper's color, the ink of the person's text, and
// the blue of the model's.
func TestKeepsakePNGColors(t *testing.T) {
	long := keepsake
	long.Parts = append([]KeepsakePart{{Text: strings.Repeat("one two ", 200), Yours: true}}, keepsake.Parts...)
	for _, c := range []struct {
		k     Keepsake
		width int
	}{{keepsake, 1200}, {long, 800}} {
		var b bytes.Buffer
		if err := c.k.WritePNG(terms.English, &b); err != nil {
			t.Fatal(err)
		}
		picture, err := png.Decode(&b)
		if err != nil {
			t.Fatal(err)
		}
		if got := picture.Bounds().Dx(); got != c.width {
			t.Errorf("%d pixels wide, want %d", got, c.width)
		}
		seen := map[color.NRGBA]int{}
		for y := range picture.Bounds().Dy() {
			for x := range picture.Bounds().Dx() {
				seen[color.NRGBAModel.Convert(picture.At(x, y)).(color.NRGBA)]++
			}
		}
		for name, want := range map[string]color.NRGBA{
			"paper":  {0xff, 0xff, 0xff, 255},
			"ink":    {0x16, 0x18, 0x1d, 255},
			"accent": {0x1d, 0x4f, 0xd0, 255},
		} {
			if seen[want] == 0 {
				t.Errorf("no pixel is %s", name)
			}
		}
	}
}

// TestWrapProperties: wrapped text has all its characters in order. No line is wider than allowed,
// unless it is a single character, and no line has room for the next word.
func TestWrapProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var parts []colored
		var all strings.Builder
		for range rapid.IntRange(0, 6).Draw(t, "parts") {
			words := rapid.StringOf(rapid.RuneFrom([]rune("aiW .é世\n\t"))).Draw(t, "words")
			parts = append(parts, colored{words: words, color: ink})
			all.WriteString(words)
		}
		width := rapid.Float64Range(5, 120).Draw(t, "width")
		var got strings.Builder
		for _, line := range wrap(parts, 12, width) {
			for _, p := range line {
				got.WriteString(p.words)
			}
			if n := len(line); n > 0 {
				last := line[n-1]
				if end := last.x + last.width(); end > width+1e-9 && (n > 1 || len([]rune(last.words)) > 1) {
					t.Fatalf("a line ends at %g, want at most %g", end, width)
				}
			}
		}
		want := strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) {
				return -1
			}
			return r
		}, all.String())
		if got.String() != want {
			t.Fatalf("wrapped to %q, want %q", got.String(), want)
		}
	})
}

// TestWrapBreaksLines: text is wrapped at spaces and line ends. A word is broken only if it is
// longer than a line.
func TestWrapBreaksLines(t *testing.T) {
	room := word{words: "one two", size: 12}.width() + 1
	for text, want := range map[string]string{
		"one two six":  "one two|six",
		"one\ntwo":     "one|two",
		"one\n\ntwo":   "one||two",
		"oneeeeeeeeee": "oneeee|eeeeee",
	} {
		var lines []string
		for _, line := range wrap([]colored{{words: text}}, 12, room) {
			var words []string
			for _, p := range line {
				words = append(words, p.words)
			}
			lines = append(lines, strings.Join(words, " "))
		}
		if got := strings.Join(lines, "|"); got != want {
			t.Errorf("%q was wrapped as %q, want %q", text, got, want)
		}
	}
}

// TestKeepsakeReportsMissingGlyphs: the PNG's font lacks emoji and Chinese characters, but has
// accented letters and typographic marks.
func TestKeepsakeReportsMissingGlyphs(t *testing.T) {
	t.Parallel()
	for text, missing := range map[string]bool{
		"In the old house\nlived a": false, "Züge, déjà-vu “quoted” – and …": false, "a fox 🦊": true, "老房子": true,
	} {
		if got := (Keepsake{Parts: []KeepsakePart{{Text: text}}}).Missing(); got != missing {
			t.Errorf("%q: missing %v, want %v", text, got, missing)
		}
	}
}
