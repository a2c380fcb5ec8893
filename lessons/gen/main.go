// Command gen renders every formula of the course from TeX to MathML and writes
// the table that package lessons embeds. Run
//
//	go generate ./lessons
//
// after changing a formula; a test fails if the table is out of date. Temml 0.13.5 (temml.min.js,
// MIT, from the npm package of that name; see temml-LICENSE.txt) renders the formulas in a
// JavaScript interpreter written in Go, so building and running the program requires only Go. Bad
// TeX is reported as an error with the formula's file and line, and the table stays unchanged.
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/dop251/goja"

	"github.com/tokenbytoken/viz/lessons"
)

//go:embed temml.min.js
var temml string

// table is the table's path relative to the package's folder, where go generate
// runs.
var table = filepath.Join("math", "table.json")

func main() {
	if err := run(table); err != nil {
		fmt.Fprintln(os.Stderr, "lessons/gen:", err)
		os.Exit(1)
	}
}

func run(path string) error {
	formulas, err := lessons.Formulas()
	if err != nil {
		return err
	}
	rendered, err := render(formulas)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // keeps MathML readable, including in diffs
	e.SetIndent("", "\t")
	if err := e.Encode(rendered); err != nil {
		return err
	}
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, b.Bytes()) {
		return nil
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// style matches the attribute that the pages' security policy forbids.
var style = regexp.MustCompile(` style="[^"]*"`)

// name matches a function's name, such as min, which must be upright. MathML already sets names of
// several letters upright, but render also marks them with mathvariant, so that a style sheet that
// slants single letters can exclude them.
var name = regexp.MustCompile(`<mi>([A-Za-z]{2,})</mi>`)

// render renders formulas as MathML. The error names all formulas that fail.
func render(formulas []lessons.Formula) (lessons.MathTable, error) {
	t := lessons.MathTable{Inline: map[string]string{}, Display: map[string]string{}}
	js := goja.New()
	if _, err := js.RunString(temml); err != nil {
		return t, fmt.Errorf("loading Temml: %w", err)
	}
	var toString func(tex string, options map[string]any) (string, error)
	if err := js.ExportTo(js.Get("temml").ToObject(js).Get("renderToString"), &toString); err != nil {
		return t, fmt.Errorf("temml.renderToString: %w", err)
	}
	var failed []error
	for _, f := range formulas {
		m, err := toString(f.TeX, map[string]any{"displayMode": f.Display, "throwOnError": true, "strict": true})
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %s: %w", f.Where, f.TeX, err))
			continue
		}
		m = name.ReplaceAllString(style.ReplaceAllString(m, ""), `<mi mathvariant="normal">$1</mi>`)
		if f.Display {
			t.Display[f.TeX] = m
		} else {
			t.Inline[f.TeX] = m
		}
	}
	return t, errors.Join(failed...)
}
