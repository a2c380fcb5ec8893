package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

const top = "../../.."

// A test is a test function, identified by its package and name.
type test struct{ pkg, name string }

// uses records which functions of the long tier a test function calls.
type uses struct {
	tier  bool     // the test requires the tier
	inTab []string // the tests that the function repeats with webtest.InTab
}

// testFunctions returns the test functions of the repository.
var testFunctions = sync.OnceValues(func() (map[test]uses, error) {
	all := map[test]uses{}
	err := testFiles(top, func(pkg, file string) error {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
				all[test{pkg, f.Name.Name}] = usesOf(f)
			}
		}
		return nil
	})
	return all, err
})

// usesOf finds calls of fixture.Long, fixture.LongTier and webtest.InTab in a function, and
// uses of the string VIZ_LONG.
func usesOf(f *ast.FuncDecl) (found uses) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			switch nameOf(n.Fun) {
			case "fixture.Long", "fixture.LongTier":
				found.tier = true
			case "webtest.InTab":
				found.tier = true
				for _, arg := range n.Args[1:] {
					name := nameOf(arg)
					found.inTab = append(found.inTab, name[strings.LastIndex(name, ".")+1:])
				}
			}
		case *ast.BasicLit:
			found.tier = found.tier || n.Value == `"VIZ_LONG"`
		}
		return true
	})
	return found
}

// nameOf returns a name such as fixture.Long, or "" for other expressions.
func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return nameOf(e.X) + "." + e.Sel.Name
	}
	return ""
}

// partsOfTests returns the parts that each test is in. It reports an error if a part names a test
// that does not exist, or a package that has none of the part's tests.
func partsOfTests(t *testing.T, tests map[test]uses) map[test][]part {
	in := map[test][]part{}
	for _, p := range parts {
		runs := map[string]bool{}
		for _, name := range p.tests {
			for _, pkg := range p.packages {
				if _, is := tests[test{pkg, name}]; is {
					in[test{pkg, name}] = append(in[test{pkg, name}], p)
					runs[pkg], runs[name] = true, true
				}
			}
		}
		for _, name := range p.tests {
			if !runs[name] {
				t.Errorf("take %s out of part %s in cmd/viz/ci/parts.go: none of its packages has it", name, p.name)
			}
		}
		for _, pkg := range p.packages {
			if !runs[pkg] {
				t.Errorf("take %s out of part %s in cmd/viz/ci/parts.go: it has none of its tests", pkg, p.name)
			}
		}
	}
	return in
}

// TestEveryLongTestIsInOnePart: a test of the long tier that is in no part would never run, and one
// in two parts would run twice. Several parts that run different subtests of a test count as one.
func TestEveryLongTestIsInOnePart(t *testing.T) {
	tests, err := testFunctions()
	if err != nil {
		t.Fatal(err)
	}
	in := partsOfTests(t, tests)
	long := 0
	for f, uses := range tests {
		if !uses.tier {
			continue
		}
		if long++; len(in[f]) == 0 {
			t.Errorf("add %s of %s to a part in cmd/viz/ci/parts.go", f.name, f.pkg)
			continue
		}
		for _, sub := range uses.inTab {
			n := 0
			for _, p := range in[f] {
				if regexp.MustCompile(p.sub).MatchString(sub) {
					n++
				}
			}
			if n != 1 {
				t.Errorf("add %s to the sub of exactly one part with %s of %s in cmd/viz/ci/parts.go: %d parts have it",
					sub, f.name, f.pkg, n)
			}
		}
	}
	for f, list := range in {
		subs := map[string]bool{}
		for _, p := range list {
			if subs[p.sub] || p.sub == "" && len(list) > 1 {
				t.Errorf("keep %s of %s in one part in cmd/viz/ci/parts.go, or give each part its own sub: part %s "+
					"runs it again", f.name, f.pkg, p.name)
			}
			subs[p.sub] = true
		}
	}
	if long < 50 {
		t.Errorf("found only %d tests of the long tier: the search must be broken", long)
	}
}

// TestUsesOf: usesOf recognizes every way to use the long tier, and nothing else.
func TestUsesOf(t *testing.T) {
	for body, want := range map[string]bool{
		`fixture.Long(t)`: true,
		`t.Run("a", func(t *testing.T) { if fixture.LongTier() { t.Log() } })`: true,
		`webtest.InTab(t, TestB, loop.TestC)`:                                  true,
		`if os.Getenv("VIZ_LONG") == "1" { t.Log() }`:                          true,
		`t.Log(fixture.LongWord)`:                                              false,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "", "package a; func TestA() { "+body+" }", 0)
		if err != nil {
			t.Fatal(err)
		}
		got := usesOf(file.Decls[0].(*ast.FuncDecl))
		if got.tier != want || len(got.inTab) > 0 && !slices.Equal(got.inTab, []string{"TestB", "TestC"}) {
			t.Errorf("%s: %+v, want tier %v", body, got, want)
		}
	}
}

// TestRacedTestsExist: the tests and packages that run under the race detector exist. If -run
// matches no test, go test passes without running any.
func TestRacedTestsExist(t *testing.T) {
	tests, err := testFunctions()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range racedEngine.tests {
		if !slices.ContainsFunc(racedEngine.packages, func(pkg string) bool {
			_, is := tests[test{pkg, name}]
			return is
		}) {
			t.Errorf("racedEngine in cmd/viz/ci/checks.go names %s; want a test of %v", name, racedEngine.packages)
		}
	}
	packages := map[string]bool{}
	for f := range tests {
		packages[f.pkg] = true
	}
	for pkg := range strings.FieldsSeq(racedPackages) {
		if !packages[pkg] {
			t.Errorf("racedPackages in cmd/viz/ci/checks.go names %s, which has no tests", pkg)
		}
	}
}

// TestPartNames: the names of parts are unique, and are single words because they are arguments of
// a command.
func TestPartNames(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range parts {
		if seen[p.name] || strings.ContainsAny(p.name, " /") || p.name == "" {
			t.Errorf("part %q: rename it, since the name is taken or is not a word", p.name)
		}
		seen[p.name] = true
	}
}
