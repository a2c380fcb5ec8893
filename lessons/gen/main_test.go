package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/lessons"
)

// TestMathTableIsUpToDate: the committed table is up to date.
func TestMathTableIsUpToDate(t *testing.T) {
	fresh := filepath.Join(t.TempDir(), "table.json")
	if err := run(fresh); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(fresh)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join("..", table))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Error("lessons/math/table.json is out of date: run go generate ./lessons")
	}
}

func TestRenderMathML(t *testing.T) {
	got, err := render(
		[]lessons.Formula{{TeX: "x^2"}, {TeX: `\min(a)`}, {TeX: `\begin{aligned} a &= b \end{aligned}`, Display: true}},
	)
	if err != nil {
		t.Fatal(err)
	}
	if m := got.Inline["x^2"]; !strings.HasPrefix(m, "<math><msup><mi>x</mi>") {
		t.Errorf("x^2 is %s, want it to begin with %q", m, "<math><msup><mi>x</mi>")
	}
	if m := got.Inline[`\min(a)`]; !strings.Contains(m, `<mi mathvariant="normal">min</mi>`) {
		t.Errorf("min is %s, want it to contain %q", m, `<mi mathvariant="normal">min</mi>`)
	}
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), " style=") || len(got.Display) != 1 {
		t.Errorf("got %s, want one display formula and no style attributes", text)
	}
}

// TestBadTeXNamesItsPlace: the error for bad TeX names the positions of all bad formulas.
func TestBadTeXNamesItsPlace(t *testing.T) {
	_, err := render([]lessons.Formula{
		{TeX: `\frac{1}{`, Where: "a.md:3"}, {TeX: "x"}, {TeX: `\nosuchcommand`, Where: "b.md:7", Display: true},
	})
	if err == nil || !strings.Contains(err.Error(), "a.md:3") || !strings.Contains(err.Error(), "b.md:7") {
		t.Errorf("got error %v, want an error containing %q and %q", err, "a.md:3", "b.md:7")
	}
}
