//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os/exec"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/lessons"
)

// learnerOf is a learner's browser together with a server that runs in a separate process.
type learnerOf struct {
	t    *testing.T
	viz  *exec.Cmd
	url  string
	http http.Client
}

// startKept starts viz on a data folder, for a browser with the cookies in jar.
func startKept(t *testing.T, dir string, jar http.CookieJar) *learnerOf {
	t.Helper()
	viz, pipe, errors := process(t, "serve", "-no-open", "-addr", "127.0.0.1:0", "-data", dir)
	line, err := bufio.NewReader(pipe).ReadString('\n')
	if err != nil {
		t.Fatalf("nothing printed: %v, %s", err, errors)
	}
	return &learnerOf{t, viz, address1.FindString(line), http.Client{Jar: jar}}
}

// post sends a form as the page's script does. A successful response confirms
// that the data was stored.
func (l *learnerOf) post(path string, form url.Values) {
	l.t.Helper()
	req, err := http.NewRequest(http.MethodPost, l.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		l.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", l.url)
	req.Header.Set("Viz-Fragment", "1")
	res, err := l.http.Do(req)
	if err != nil {
		l.t.Fatal(err)
	}
	body, _ := io.ReadAll(res.Body)
	res.Body.Close()
	if res.StatusCode/100 != 2 {
		l.t.Fatalf("POST %s %v: got status %s, want 2xx: %.300s", path, form, res.Status, body)
	}
}

// kept is the learner's export.
type kept struct {
	Visits  []struct{ Section string }
	Reviews []struct{ ID, Card, Grade string }
}

func (l *learnerOf) export() (k kept) {
	l.t.Helper()
	res, err := l.http.Get(l.url + "/progress/export")
	if err != nil {
		l.t.Fatal(err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(&k); err != nil {
		l.t.Fatalf("the export: %s, %v", res.Status, err)
	}
	return k
}

// TestKilledServerKeepsWhatItConfirmed: a learner keeps reading while the server is killed
// repeatedly. After each restart, the same browser still has everything that was confirmed.
// Promise: A server that is killed loses no progress that it has confirmed.
func TestKilledServerKeepsWhatItConfirmed(t *testing.T) {
	t.Parallel()
	course, err := lessons.Load()
	if err != nil {
		t.Fatal(err)
	}
	var sections []string
	for _, lesson := range course.Lessons {
		for _, s := range lesson.Sections {
			sections = append(sections, s.Key())
		}
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	dir, confirmed := t.TempDir(), 0
	for round := range 3 {
		l := startKept(t, dir, jar)
		for range 2 + round {
			l.post("/learn/visit", url.Values{"section": {sections[confirmed]}})
			confirmed++
		}
		if err := l.viz.Process.Kill(); err != nil { // SIGKILL, as soon as the last visit is confirmed
			t.Fatal(err)
		}
		l.viz.Wait()
	}
	have := map[string]bool{}
	for _, v := range startKept(t, dir, jar).export().Visits {
		have[v.Section] = true
	}
	for _, section := range sections[:confirmed] {
		if !have[section] {
			t.Errorf("the visit of %s was confirmed but lost", section)
		}
	}
	if len(have) != confirmed {
		t.Errorf("got %d sections after the restarts, want the %d that were confirmed", len(have), confirmed)
	}
}
