package main

import (
	"go/ast"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/tokenbytoken/viz/web/load"
)

// TestPromisesNameTheirTests: every test that web/PROMISES.md names exists, a promise
// without one is called open, and what is quoted from the README and the pages that it leads to is there.
func TestPromisesNameTheirTests(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "web", "PROMISES.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, quoted, found := strings.Cut(string(page), "\n## README and the pages that it leads to\n")
	quoted, _, _ = strings.Cut(quoted, "\n## ")
	named := regexp.MustCompile("`([a-z/0-9]+) ((?:Test|Fuzz|Benchmark)[A-Za-z0-9_/]+)`")
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
				tests[m[1]] = testsIn(t, m[1])
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

// testsIn lists the tests, fuzz targets and benchmarks of a package. The rules of TestGuards
// are among them, as TestGuards/NAME.
func testsIn(t *testing.T, folder string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, s := range repository(t) {
		if !s.test() || s.room() != folder {
			continue
		}
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				all[f.Name.Name] = true
			}
		}
	}
	if len(all) == 0 {
		t.Errorf("got no tests in %s, want some", folder)
	}
	if folder == "cmd/viz" {
		for _, g := range guards(t) {
			all["TestGuards/"+g.name] = true
		}
	}
	return all
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
		t.Errorf("nothing was logged of a refused request: got %s, want it to contain %q", s.errors, "request refused")
	}
	for _, private := range []string{"zebrafish", "Mother", "Ada", "Load", code} {
		if strings.Contains(s.errors.String(), private) {
			t.Errorf("the log has %q:\n%s", private, s.errors)
		}
	}
}
