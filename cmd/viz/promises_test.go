package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/tokenbytoken/viz/web/load"
)

// TestPromisesNameTheirTests: every test that web/PROMISES.md names exists, a promise
// without one is called open, and what is quoted from the README is in it.
func TestPromisesNameTheirTests(t *testing.T) {
	top := filepath.Join("..", "..")
	page, err := os.ReadFile(filepath.Join(top, "web", "PROMISES.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, quoted, found := strings.Cut(string(page), "\n## README\n")
	quoted, _, _ = strings.Cut(quoted, "\n## ")
	named := regexp.MustCompile("`([a-z/0-9]+) ((?:Test|Fuzz|Benchmark)[A-Za-z0-9_]+)`")
	tests, rows, open := map[string]map[string]bool{}, 0, 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		if !strings.HasPrefix(line, "| ") || len(cells) != 2 || cells[1] == "held by" {
			continue
		}
		rows++
		holds := 0
		for _, m := range named.FindAllStringSubmatch(cells[1], -1) {
			if tests[m[1]] == nil {
				tests[m[1]] = testsIn(t, filepath.Join(top, filepath.FromSlash(m[1])))
			}
			if !tests[m[1]][m[2]] {
				t.Errorf("%s: there is no %s in %s", cells[0], m[2], m[1])
			}
			if !strings.HasPrefix(m[2], "Benchmark") {
				holds++
			}
		}
		if strings.Contains(cells[1], "open: ") {
			open++
		} else if holds == 0 {
			t.Errorf("%s: no test holds it, and it is not called open", cells[0])
		}
		words := strings.Trim(cells[0], "“”")
		if strings.Contains(quoted, line) && !strings.Contains(readme(t), words) {
			t.Errorf("README.md does not say %q", words)
		}
	}
	if !found || rows < 80 {
		t.Errorf("%d promises only", rows)
	}
	t.Logf("%d promises, %d of them open in whole or in part", rows, open)
}

// testsIn lists the tests, fuzz targets and benchmarks of a package.
func testsIn(t *testing.T, folder string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Errorf("%s has no tests: %v", folder, err)
	}
	all := map[string]bool{}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				all[f.Name.Name] = true
			}
		}
	}
	return all
}

// TestNothingDialsOut: only what measures a server, and what asks the server in a data
// folder, opens connections; the rest of the program has no client of any network.
func TestNothingDialsOut(t *testing.T) {
	clients := regexp.MustCompile(
		`\b(?:net\.(?:Dial\w*|Dialer|Lookup\w+|Resolver|DefaultResolver)|tls\.Dial\w*|` +
			`http\.(?:Get|Head|Post|PostForm|Client|DefaultClient|Transport|DefaultTransport)|websocket\.Dial\w*)\b`)
	allowed := []string{"cmd/viz/control.go", "web/load/", "web/browser/", "web/webtest/", "testdata/"}
	seen := 0
	top := filepath.Join("..", "..")
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if notOurs(path) {
				return filepath.SkipDir
			}
			return nil
		}
		name, _ := filepath.Rel(top, path)
		name = filepath.ToSlash(name)
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") ||
			slices.ContainsFunc(allowed, func(p string) bool { return strings.HasPrefix(name, p) }) {
			return nil
		}
		seen++
		text, err := os.ReadFile(path)
		if m := clients.Find(text); m != nil {
			t.Errorf("%s has %s", name, m)
		}
		return err
	})
	if err != nil || seen < 300 {
		t.Fatalf("%d files, %v", seen, err)
	}
}

// TestPagesNameNoOtherHost: no script, style or template loads anything from an address
// of its own. Namespaces of SVG and MathML are names, and links in text are pressed by
// people.
func TestPagesNameNoOtherHost(t *testing.T) {
	loads := regexp.MustCompile(`(?i)(?:\bsrc\s*=|url\(|@import|\bimport\b[^;\n]*from|fetch\(|new WebSocket\(|` +
		`<link[^>]*href\s*=)\s*["'(]?\s*(?:https?:)?//[a-z0-9]`)
	for text, want := range map[string]bool{
		`<script src="https://cdn.example/a.js">`: true, `background: url(//cdn.example/a.png)`: true,
		`import { a } from 'https://cdn.example/a.js'`: true, `<link rel="icon" href="http://cdn.example/a">`: true,
		`<svg xmlns="http://www.w3.org/2000/svg">`: false, `<a href="https://go.dev">`: false,
		`<script src="/static/a.js">`: false,
	} {
		if loads.MatchString(text) != want {
			t.Errorf("%s: found %v", text, !want)
		}
	}
	seen := 0
	top := filepath.Join("..", "..")
	for _, root := range []string{"static", "web"} {
		err := filepath.WalkDir(filepath.Join(top, root), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() ||
				!slices.Contains([]string{".js", ".css", ".templ", ".html", ".svg"}, filepath.Ext(path)) {
				return err
			}
			seen++
			text, err := os.ReadFile(path)
			if m := loads.Find(text); m != nil {
				t.Errorf("%s has %s", path, m)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen < 80 {
		t.Errorf("%d files only", seen)
	}
}

// TestLogsContainNoUserText: what people type, and what the model writes, is not in the log:
// prompts, names, titles, codes, secrets and links, on pages that work and on those that
// are refused.
func TestLogsContainNoUserText(t *testing.T) {
	dir := t.TempDir()
	s := serveFolder(t, dir)
	code := s.class(t)
	get(t, s.url+"/loop?log=zebrafish")
	get(t, s.url+"/class/zebrafish")
	get(t, s.url+"/learn/zebrafish?q=zebrafish")
	get(t, s.url+"/search?q=zebrafish")
	d := websocket.Dialer{Subprotocols: []string{"viz.json.v1"}}
	conn, _, err := d.Dial("ws"+strings.TrimPrefix(s.url, "http")+"/ws?run=zebrafish&page=zebrafish", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []string{
		`{"cmd":"start","n":1,"prompt":"The zebrafish said \"Mother"}`, `{"cmd":"finish","n":2}`,
		`{"cmd":"zebrafish","n":3}`, `{"cmd":"set","n":4,"zebrafish":"zebrafish"}`, `zebrafish`,
		`{"cmd":"open","n":5,"log":"zebrafish"}`, `{"cmd":"ping","n":6}`,
	} {
		if err := conn.WriteMessage(websocket.TextMessage, []byte(m)); err != nil {
			break // closed because of the one before
		}
	}
	for err == nil {
		var m []byte
		if _, m, err = conn.ReadMessage(); strings.Contains(string(m), `"ack":6`) {
			break
		}
	}
	conn.Close()
	stranger := load.Phone{URL: s.url, Code: code}
	if err := stranger.Dial(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := stranger.Say("join", map[string]any{"nick": strings.Repeat("zebrafish", 20)}); err != nil {
		t.Error(err)
	}
	stranger.HangUp()
	r, err := http.NewRequest(http.MethodGet, s.url+"/loop?log=zebrafish", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "elsewhere.example"
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	s.end()
	if !strings.Contains(s.errors.String(), "request refused") {
		t.Errorf("nothing was logged of a refused request: %s", s.errors)
	}
	for _, private := range []string{"zebrafish", "Mother", "Ada", "Load", code} {
		if strings.Contains(s.errors.String(), private) {
			t.Errorf("the log has %q:\n%s", private, s.errors)
		}
	}
}
