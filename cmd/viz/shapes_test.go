package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestPagePartsAreDefinedOnce: a piece of a page and a refusal have one shape each on
// the wire. A second struct with the same fields would soon diverge.
func TestPagePartsAreDefinedOnce(t *testing.T) {
	shapes := map[string][]string{ // fields as JSON, to where they are
		"id op html":   nil,
		"code message": nil,
	}
	top := filepath.Join("..", "..")
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && notOurs(path) {
			return filepath.SkipDir
		}
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.StructType); ok {
				names := jsonNames(s)
				for shape := range shapes {
					lacks := func(field string) bool { return !slices.Contains(names, field) }
					if !slices.ContainsFunc(strings.Fields(shape), lacks) {
						name, _ := filepath.Rel(top, path)
						shapes[shape] = append(shapes[shape], filepath.ToSlash(name))
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	// An error of the OpenAI API has the form that its clients expect.
	want := map[string][]string{
		"id op html": {"web/wire/part.go"}, "code message": {"infer/terms/refusal.go", "web/api/problem.go"},
	}
	if !reflect.DeepEqual(shapes, want) {
		t.Errorf("structs with these fields lie in %v, want %v", shapes, want)
	}
}

// jsonNames are a struct's fields as named in JSON.
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
