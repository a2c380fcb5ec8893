package main

import (
	"fmt"
	"go/ast"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// outputHasOneHome: only main uses the standard streams, so all output goes through a
// terms.Terminal, and only terms.Sheet writes tables.
var outputHasOneHome = guard{
	name: "OutputHasOneHome", least: 300,
	reads: func(s *source) bool {
		developers := strings.HasSuffix(s.name, "gen/main.go") ||
			s.among("infer/fixture", "cmd/viz/ci", "cmd/viz/dist", "cmd/viz/tab/build") // users do not run these
		return s.ext() == ".go" && !s.test() && !developers && !s.among("testdata", "infer/terms")
	},
	check: func(files []*source) (list []finding) {
		for _, s := range files {
			for _, use := range s.output() {
				if !slices.Contains(standardStreams[s.name], use.text) {
					list = append(list, s.finds(use.line, use.text, "terms.Terminal or terms.Sheet of infer/terms"))
				}
			}
		}
		return list
	},
	examples: []guardExample{
		{1, code("web/a.go", `import "encoding/csv"`)},
		{1, code("web/a.go", `import "os"; var w = os.Stderr`)},
		{1, code("cmd/viz/a.go", `import "os"; var w = os.Stdout`)},
		{0, code("cmd/viz/main.go", `import "os"; var w = os.Stdout`)},
		{1, code("web/tab/program_js.go", `import "os"; var w = os.Stdout`)},
		{1, code("web/a.go", `import "fmt"; func f() { fmt.Printf("") }`)},
		{1, code("web/a.go", `func f() { println("") }`)},
		{1, code("web/a.go", `import "log"; func f() { log.Print("") }`)},
		{1, code("web/a.go", `import l "log"; func f() { l.Fatal("") }`)},
		{1, code("web/a.go", `import "unicode"; var c = unicode.Bidi_Control`)},
		{2, code("web/a.go", `var s, r = "\u202e", '\u2066'`)},
		{0, code("web/a.go", `import "fmt"; func f() { _ = fmt.Sprintln("a") }`)},
		{0, code("infer/terms/a.go", `import "os"; var w = os.Stderr`)},
	},
}

// standardStreams lists the streams that each file may use.
var standardStreams = map[string][]string{
	"cmd/viz/main.go":       {"os.Stdout", "os.Stderr"}, // main passes them to run
	"cmd/viz/tab/main.go":   {"os.Stderr"},              // prints a single message
	"web/tab/program_js.go": {"os.Stderr"},              // in a browser, this is the console
}

// code returns a repository with one Go file.
func code(name, text string) map[string]string {
	return map[string]string{name: "package a; " + text}
}

var printing = regexp.MustCompile(`^(os\.Std(out|err)|unicode\.Bidi_Control|fmt\.Print.*|log\.(Print|Fatal).*)$`)

// output lists the parts of a file that belong in infer/terms: CSV, printing, and characters that
// set the direction of text.
func (s *source) output() (list []located) {
	for _, i := range s.imports {
		if i.text == "encoding/csv" {
			list = append(list, i)
		}
	}
	for _, use := range s.uses {
		if printing.MatchString(use.text) {
			list = append(list, use)
		}
	}
	for _, l := range s.literals {
		if strings.ContainsAny(l.text, "\u202e\u2066") {
			list = append(list, located{text: fmt.Sprintf("%+q", l.text), line: l.line})
		}
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			if f, ok := c.Fun.(*ast.Ident); ok && (f.Name == "print" || f.Name == "println") {
				list = append(list, located{text: f.Name, line: s.line(c)})
			}
		}
		return true
	})
	return list
}

// shapes maps the JSON fields of a wire-format struct to the files that may declare such a struct.
// The OpenAI API's error is an exception, because it has the form that clients of that API expect.
var shapes = map[string][]string{
	"id op html":   {"web/wire/part.go"},
	"code message": {"infer/terms/refusal.go", "web/api/problem.go"},
}

// shapesHaveOneHome: the wire-format structs for a page update and for a refusal are each declared
// only once. A second struct with the same fields would soon diverge from the first.
var shapesHaveOneHome = guard{
	name: "ShapesHaveOneHome", least: 300,
	reads: func(s *source) bool { return s.ext() == ".go" && !s.test() },
	check: func(files []*source) (list []finding) {
		for shape, homes := range shapes {
			var missing []string
			missing = append(missing, homes...)
			for _, s := range files {
				for _, line := range s.structs(strings.Fields(shape)) {
					if i := slices.Index(missing, s.name); i >= 0 {
						missing = slices.Delete(missing, i, i+1)
						continue
					}
					list = append(list, s.finds(line, "a struct with the JSON fields "+shape,
						"the struct in "+strings.Join(homes, " or ")))
				}
			}
			for _, home := range missing {
				list = append(list, finding{home, 1, "no struct with the JSON fields " + shape, "one"})
			}
		}
		return list
	},
	examples: []guardExample{
		{3, code("web/a.go", "")},
		{0, withShapes("web/a.go", "package a; type b struct { Op string `json:\"op\"` }")},
		{1, withShapes("web/a.go", "package a; type b struct { "+shapeOfPart+"; More int `json:\"more\"` }")},
		{1, withShapes("web/api/a.go", "package a; var b struct { "+shapeOfRefusal+" }")},
	},
}

const (
	shapeOfPart    = "A int `json:\"id\"`; B string `json:\"op,omitempty\"`; C string `json:\"html\"`"
	shapeOfRefusal = "A int `json:\"code\"`; B string `json:\"message\"`"
)

// withShapes returns a repository with every shape where it belongs, plus one more file.
func withShapes(name, text string) map[string]string {
	return map[string]string{
		"web/wire/part.go":       "package a; type a struct { " + shapeOfPart + " }",
		"infer/terms/refusal.go": "package a; type a struct { " + shapeOfRefusal + " }",
		"web/api/problem.go":     "package a; type a struct { " + shapeOfRefusal + " }",
		name:                     text,
	}
}

// structs returns the lines of the structs that have all of the JSON fields.
func (s *source) structs(fields []string) (lines []int) {
	ast.Inspect(s.file, func(n ast.Node) bool {
		if of, ok := n.(*ast.StructType); ok {
			names := jsonNames(of)
			if !slices.ContainsFunc(fields, func(field string) bool { return !slices.Contains(names, field) }) {
				lines = append(lines, s.line(of))
			}
		}
		return true
	})
	return lines
}

// jsonNames returns the JSON names of a struct's fields.
func jsonNames(s *ast.StructType) (names []string) {
	for _, f := range s.Fields.List {
		if f.Tag == nil {
			continue
		}
		tag, err := strconv.Unquote(f.Tag.Value)
		if err != nil {
			continue
		}
		name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// randomNumbersDiffer: code that runs in a browser does not use the top-level functions of package
// math/rand/v2. Those functions draw from a source that is seeded when a program starts. A static
// site's program is stored after its start, so every visitor would get the same seed
// (web/site/image). Generators with their own seeds are fine.
var randomNumbersDiffer = guard{
	name: "RandomNumbersDiffer", least: 300,
	reads: func(s *source) bool {
		return s.ext() == ".go" && !s.test() && s.among("infer", "web", "lessons", "plots") &&
			!s.among("infer/tokenizer/index.go", "web/load") // index.go uses it to seed tables; web/load is a command
	},
	check: func(files []*source) (list []finding) {
		own := []string{"New", "NewPCG", "NewChaCha8", "NewZipf", "Rand", "PCG", "ChaCha8", "Zipf", "Source"}
		for _, s := range files {
			for _, use := range s.uses {
				name := path.Ext(use.text)
				if strings.HasPrefix(use.text, "math/rand") && !slices.Contains(own, strings.TrimPrefix(name, ".")) {
					list = append(list, s.finds(use.line, use.text, "web/chance or a generator with its own seed"))
				}
			}
		}
		return list
	},
	examples: []guardExample{
		{1, code("web/a.go", `import "math/rand/v2"; var a = rand.IntN(3)`)},
		{1, code("lessons/a.go", `import r "math/rand"; var a = r.Int()`)},
		{0, code("web/a.go", `import "math/rand/v2"; var a = rand.New(rand.NewPCG(1, 2)).IntN(3)`)},
		{0, code("web/a.go", `import "crypto/rand"; var a = rand.Text()`)},
		{0, code("web/load/a.go", `import "math/rand/v2"; var a = rand.IntN(3)`)},
		{0, code("web/a_test.go", `import "math/rand/v2"; var a = rand.IntN(3)`)},
	},
}
