package lazyregexp

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strconv"
	"testing"
)

// TestCompiledWhenNeeded makes a wrong expression, which does no harm until it is needed.
func TestCompiledWhenNeeded(t *testing.T) {
	wrong := MustCompile(`(`)
	defer func() {
		if recover() == nil {
			t.Error("a wrong expression found something")
		}
	}()
	wrong.MatchString("(")
}

// TestAllCompile compiles every expression of the program: the one that is wrong would
// otherwise be found only by whoever needs it first.
func TestAllCompile(t *testing.T) {
	found := 0
	top := os.DirFS("../..")
	for _, room := range []string{"cmd", "infer", "lessons", "plots", "static", "web"} {
		err := fs.WalkDir(top, room, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || path.Ext(name) != ".go" || path.Dir(name) == "infer/lazyregexp" {
				return err
			}
			text, err := fs.ReadFile(top, name)
			if err != nil {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, expression := range expressions(file) {
				found++
				text, err := strconv.Unquote(expression)
				if err == nil {
					_, err = regexp.Compile(text)
				}
				if err != nil {
					t.Errorf("%s: %s: %v", name, expression, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found < 20 {
		t.Errorf("%d expressions were found", found)
	}
}

// expressions are the literals of a file's calls of MustCompile; anything that is no literal
// is an expression that does not compile.
func expressions(file *ast.File) (list []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 {
			return true
		}
		of, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if from, ok := of.X.(*ast.Ident); !ok || from.Name != "lazyregexp" || of.Sel.Name != "MustCompile" {
			return true
		}
		text := ""
		if literal, ok := call.Args[0].(*ast.BasicLit); ok {
			text = literal.Value
		}
		list = append(list, text)
		return true
	})
	return list
}
