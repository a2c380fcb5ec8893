package main

import (
	"database/sql"
	"go/ast"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// firstCells returns the names in the first column of the table with a given header, on any page of
// [readme].
func firstCells(t *testing.T, head string) []string {
	t.Helper()
	_, table, found := strings.Cut(readme(t), "\n"+head)
	if !found {
		t.Fatalf("PRIVACY.md has no table with the header %s", head)
	}
	table, _, _ = strings.Cut(table, "\n\n")
	var names []string
	for line := range strings.Lines(table) {
		cell, isRow := strings.CutPrefix(line, "| `")
		if !isRow {
			continue
		}
		cell, _, _ = strings.Cut(cell, " |")
		for name := range strings.SplitSeq(cell, ", ") {
			names = append(names, strings.Trim(name, "`"))
		}
	}
	return names
}

// constants returns the values of a package's string constants whose name begins with a
// prefix.
func constants(t *testing.T, folder, prefix string) []string {
	t.Helper()
	var list []string
	for _, s := range repository(t) {
		if !s.program() || s.folder() != folder {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			v, ok := n.(*ast.ValueSpec)
			if !ok || len(v.Values) != 1 || !strings.HasPrefix(v.Names[0].Name, prefix) {
				return true
			}
			if l, ok := v.Values[0].(*ast.BasicLit); ok && l.Kind == token.STRING {
				text, err := strconv.Unquote(l.Value)
				if err != nil {
					t.Fatal(err)
				}
				list = append(list, text)
			}
			return true
		})
	}
	return list
}

// sameNames compares two lists of names, ignoring their order.
func sameNames(t *testing.T, what string, readme, real []string) {
	t.Helper()
	slices.Sort(readme)
	slices.Sort(real)
	if !slices.Equal(readme, real) {
		t.Errorf("%s: PRIVACY.md has %q, want the program's %q", what, readme, real)
	}
}

// TestReadmeNamesAllStoredData: PRIVACY.md names every table of the database, every type of record
// and every file of the data folder, and no others.
// Promise: PRIVACY.md names every table, type of record and file that a server stores.
func TestReadmeNamesAllStoredData(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serveFolder(t, dir)
	s.class(t)
	files := map[string]bool{}
	for _, path := range globs(t, dir, "*") {
		files[filepath.Base(path)] = true
	}
	s.end()
	delete(files, "viz.db") // the first table describes its contents
	described := firstCells(t, "| file in the data folder |")
	for name := range files {
		if !slices.ContainsFunc(described, func(pattern string) bool {
			is, err := filepath.Match(pattern, name)
			return is && err == nil
		}) {
			t.Errorf("PRIVACY.md does not describe %s", name)
		}
	}
	for _, name := range described {
		if !files[name] && !strings.Contains(name, "*") {
			t.Errorf("PRIVACY.md describes a file %s, which a server with a room does not have: %q",
				name, slices.Collect(maps.Keys(files)))
		}
	}

	db, err := sql.Open("sqlite", filepath.Join(dir, "viz.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var tables []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		tables = append(tables, name)
	}
	sameNames(t, "tables", firstCells(t, "| in `viz.db` |"), tables)
	sameNames(t, "types of records", firstCells(t, "| record |"),
		append(constants(t, "web/class/records", "Type"), constants(t, "web/progress/saved", "Type")...))
}

// TestReadmeNamesAllBrowserStorage: PRIVACY.md describes the cookies and everything that scripts
// store.
// Promise: PRIVACY.md names everything that the pages store in a browser.
func TestReadmeNamesAllBrowserStorage(t *testing.T) {
	script := regexp.MustCompile(`(?:remember|recall|localStorage\.getItem|handOver)\('([^']+)'`)
	stored := map[string]bool{}
	for _, path := range globs(t, filepath.Join("..", "..", "static", "js"), "*.js") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range script.FindAllStringSubmatch(string(text), -1) {
			stored[m[1]] = true
		}
	}
	sameNames(t, "stored by scripts", []string{"viz.theme", "viz.letterkeys", "viz.loop", "viz.experiments"},
		slices.Collect(maps.Keys(stored)))
	text := readme(t)
	for _, say := range []string{
		"whether the page is light or dark", "whether single-key shortcuts are on", "a signed cookie", "for 400 days",
		"for 30 days", "while you switch between Story and Numbers",
	} {
		if !strings.Contains(text, say) {
			t.Errorf("PRIVACY.md lacks %q", say)
		}
	}
}

func globs(t *testing.T, dir, pattern string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(list) == 0 {
		t.Fatalf("files in %s: got %v, %v; want at least one", dir, list, err)
	}
	return list
}
