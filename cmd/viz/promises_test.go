package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/tokenbytoken/viz/web/load"
)

// A promise is a sentence about the program that users can rely on, because a test checks it.
type promise struct {
	folder, test, text string
	long               bool // the test is in the long tier
}

func (p promise) String() string {
	tier := ""
	if p.long {
		tier = " (long tier)"
	}
	return fmt.Sprintf("%s %s%s: %s", p.folder, p.test, tier, p.text)
}

// TestPromises checks that every promise is in the doc comment of a test, is a sentence of at most
// two lines, and is made only once. With -v, it lists the promises. README.md does not quote them.
func TestPromises(t *testing.T) {
	t.Parallel()
	const test = "\nfunc TestA(t *testing.T) {}\n"
	for _, e := range []guardExample{
		{0, code("web/a_test.go", "\n// TestA tests a.\n// Promise: It works.\n// Promise: It\n// stays so."+test)},
		{0, code("web/a_test.go", "\n// TestA holds a Promise: none."+test)},
		{1, code("web/a_test.go", "\n// Promise:"+test)},
		{1, code("web/a_test.go", "\n// Promise: it works"+test)},
		{1, code("web/a_test.go", "\n// Promise: It\n// works\n// forever."+test)},
		{1, code("web/a_test.go", "\n// Promise: It works.\n"+test)},
		{1, code("web/a_test.go", "\n// Promise: It works.\nfunc FuzzA(f *testing.F) {}")},
		{1, code("web/a_test.go", "\n// Promise: It works.\nfunc (a A) TestA(t *testing.T) {}")},
		{1, code("web/a_test.go", "\nfunc TestA(t *testing.T) {\n\t// Promise: It works.\n}")},
		{1, code("web/a_test.go", "\n// Promise: It works.\n// Promise: It works."+test)},
	} {
		if _, got := promisesIn(e.sources(t)); len(got) != e.want {
			t.Errorf("%q: got %d findings %v, want %d", e.files, len(got), got, e.want)
		}
	}
	promises, findings := promisesIn(repository(t))
	for _, f := range findings {
		t.Error(f)
	}
	var list strings.Builder
	for _, p := range promises {
		fmt.Fprintf(&list, "\n%s", p)
	}
	t.Logf("%d promises%s", len(promises), &list)
	if len(promises) < 150 {
		t.Errorf("got %d promises, want at least 150: the search misses some", len(promises))
	}
}

// promisesIn returns the promises of the tests, sorted by package, and the problems with them.
func promisesIn(files []*source) (list []promise, findings []finding) {
	seen := map[string]bool{}
	for _, s := range files {
		if !s.test() {
			continue
		}
		tests := map[*ast.CommentGroup]string{} // the names of tests, keyed by their doc comments
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if ok && f.Recv == nil && f.Doc != nil && strings.HasPrefix(f.Name.Name, "Test") {
				tests[f.Doc] = f.Name.Name
			}
		}
		for _, comment := range s.file.Comments {
			for _, made := range promiseLines(comment) {
				line, text := s.line(made[0]), promiseText(made)
				test, ok := tests[comment]
				switch {
				case !ok:
					findings = append(findings, s.finds(line, "a promise", "it in the doc comment of a test"))
				case len(made) > 2:
					findings = append(findings, s.finds(line, fmt.Sprint(len(made), " lines"), "at most 2"))
				case !strings.HasSuffix(text, "."):
					findings = append(findings, s.finds(line, fmt.Sprintf("%q", text), "a sentence"))
				case seen[text]:
					findings = append(findings, s.finds(line, "a promise that is made elsewhere", "it once"))
				}
				seen[text] = true
				list = append(list, promise{s.folder(), test, text, s.long(test)})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b promise) int { return cmp.Compare(a.folder, b.folder) })
	return list, findings
}

const promiseMark = "// Promise:"

// promiseLines returns the lines of each promise in a comment. A promise extends from its mark to
// the next mark, or to the end of the paragraph.
func promiseLines(comment *ast.CommentGroup) (list [][]*ast.Comment) {
	open := false
	for _, c := range comment.List {
		switch {
		case strings.HasPrefix(c.Text, promiseMark):
			list, open = append(list, []*ast.Comment{c}), true
		case c.Text == "//":
			open = false
		case open:
			list[len(list)-1] = append(list[len(list)-1], c)
		}
	}
	return list
}

// promiseText returns the sentence in the lines of a promise.
func promiseText(lines []*ast.Comment) string {
	var words []string
	for i, c := range lines {
		text := strings.TrimPrefix(c.Text, "//")
		if i == 0 {
			text = strings.TrimPrefix(c.Text, promiseMark)
		}
		words = append(words, strings.Fields(text)...)
	}
	return strings.Join(words, " ")
}

// long reports whether a test of the file is in the long tier.
func (s *source) long(test string) bool {
	return slices.ContainsFunc(s.uses, func(use located) bool {
		return use.in == test && strings.HasSuffix(use.text, "infer/fixture.Long")
	})
}

// TestLogsContainNoUserText: for both successful and refused requests, the log does not contain
// text that people type or that the model generates: prompts, names, titles, codes, secrets and
// links.
// Promise: Logs contain no prompts, generated text, names, codes, secrets or links.
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
			break // closed because of the previous message
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
		t.Errorf("a refused request was not logged: got %s, want it to contain %q", s.errors, "request refused")
	}
	for _, private := range []string{"zebrafish", "Mother", "Ada", "Load", code} {
		if strings.Contains(s.errors.String(), private) {
			t.Errorf("the log has %q:\n%s", private, s.errors)
		}
	}
}
