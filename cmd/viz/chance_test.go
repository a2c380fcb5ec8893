package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestNoUnseededRandomnessInTheTab: nothing that runs in a browser takes its random numbers from
// the functions of package math/rand/v2. Their source is seeded when a program starts, and a site's
// has been started already, for everybody (web/site/image). Generators with seeds of their own are
// fine.
func TestNoUnseededRandomnessInTheTab(t *testing.T) {
	own := []string{"New", "NewPCG", "NewChaCha8", "NewZipf", "Rand", "PCG", "ChaCha8", "Zipf", "Source"}
	never := []string{"infer/tokenizer/index.go", "web/load/"} // seeds of tables; a command
	read := 0
	for _, name := range ownFiles(t) {
		room := strings.HasPrefix(name, "infer/") || strings.HasPrefix(name, "web/") ||
			strings.HasPrefix(name, "lessons/") || strings.HasPrefix(name, "plots/")
		if !room || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") ||
			slices.ContainsFunc(never, func(one string) bool { return strings.HasPrefix(name, one) }) {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", filepath.FromSlash(name)), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		read++
		imports := func(s *ast.ImportSpec) bool { return strings.HasPrefix(s.Path.Value, `"math/rand`) }
		if !slices.ContainsFunc(file.Imports, imports) {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "rand" && !slices.Contains(own, s.Sel.Name) {
				t.Errorf("%s uses rand.%s; package web/chance has numbers that differ", name, s.Sel.Name)
			}
			return true
		})
	}
	if read < 300 {
		t.Errorf("only %d files were read", read)
	}
}
