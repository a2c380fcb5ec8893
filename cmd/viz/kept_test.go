package main

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/lessons"
)

// request sends a request to the server and returns the status and the page.
func (s *served) request(t *testing.T, jar http.CookieJar, method, path string, form url.Values) (int, string) {
	t.Helper()
	req, err := http.NewRequest(method, s.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", s.url)
	res, err := (&http.Client{Jar: jar}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

// write is a form that stores data when it is submitted.
type write struct {
	path string
	form url.Values
}

// classWrites creates a class with an open poll and an assignment. It returns forms that store data
// when they are submitted: this class's forms, and the forms for creating a class, reviewing a
// flashcard and deleting progress.
func (s *served) classWrites(t *testing.T, jar http.CookieJar, course *lessons.Course) []write {
	t.Helper()
	post := func(path string, form url.Values) string {
		t.Helper()
		status, page := s.request(t, jar, http.MethodPost, path, form)
		if status != http.StatusOK {
			t.Fatalf("POST %s %v: got %d %s; want %d", path, form, status, page, http.StatusOK)
		}
		return page
	}
	find := func(page, pattern string) string {
		t.Helper()
		found := regexp.MustCompile(pattern).FindStringSubmatch(page)
		if found == nil {
			t.Fatalf("the page has no match for %s: %s", pattern, page)
		}
		return found[1]
	}
	made := post("/teach", url.Values{"title": {"Nine"}, "nicknames": {"on"}})
	class := "/class/" + find(made, `/class/([A-Z0-9]{6})`)
	do := func(fields ...string) url.Values {
		form := url.Values{"cmd": {fields[0]}}
		for i := 1; i < len(fields); i += 2 {
			form.Set(fields[i], fields[i+1])
		}
		return form
	}
	key := "learn/" + course.Lessons[0].Slug
	page := post(class+"/do", do("assign", "do", key))
	assigned := find(page, `assigned\?key=([\w-]+)`)
	question := course.Questions[0].ID
	post(class+"/do", do("ask-question", "id", question))
	_, page = s.request(t, jar, http.MethodGet, class, nil)
	poll := find(page, `name="poll" value="([^"]+)"`)
	choice := find(page, `name="choice"[^>]* value="([^"]+)"`)
	return []write{
		{class + "/name", url.Values{"nick": {"Ada"}}},
		{class + "/vote", url.Values{"poll": {poll}, "choice": {choice}}},
		{class + "/assigned", url.Values{"key": {assigned}}},
		{class + "/do", do("close")},
		{class + "/do", do("lock")},
		{class + "/do", do("start", "prompt", "Once")},
		{class + "/do", do("assign", "do", key, "names", "on")},
		{class + "/do", do("end")},
		{class + "/do", do("delete")},
		{"/teach", url.Values{"title": {"Ten"}}},
		{"/cards/review", url.Values{"card": {course.Cards[0].ID}, "grade": {"good"}, "key": {"k1"}}},
		{"/progress/delete", url.Values{"sure": {"yes"}}},
	}
}

// TestDataFolderDeleted: when the data folder is deleted while the server runs, /readyz and the
// next form report it, and pages can still be read. After a restart, everything works again.
func TestDataFolderDeleted(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("open files cannot be deleted on Windows")
	}
	dir := filepath.Join(t.TempDir(), "data")
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, "-addr", "127.0.0.1:0", "-no-open", "-data", dir)
	s.visit(t, jar)
	course, err := lessons.Load()
	if err != nil {
		t.Fatal(err)
	}
	section := course.Lessons[0].Sections[0].Key()
	answer := func() (int, string) {
		return s.request(t, jar, http.MethodPost, "/learn/visit", url.Values{"section": {section}})
	}
	if status, page := answer(); status != http.StatusOK {
		t.Fatalf("a visit: got %d %s; want %d", status, page, http.StatusOK)
	}
	writes := s.classWrites(t, jar, course)
	if status, page := s.request(t, jar, http.MethodGet, "/readyz", nil); status != http.StatusOK {
		t.Fatalf("/readyz: got %d %s; want %d", status, page, http.StatusOK)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	const why = "deleted, moved or replaced while the server was running"
	for range 2 {
		if status, page := s.request(t, jar, http.MethodGet, "/readyz", nil); status != http.StatusServiceUnavailable ||
			!strings.Contains(page, why) {
			t.Errorf("/readyz: got %d %s; want %d with %q", status, page, http.StatusServiceUnavailable, why)
		}
		if status, page := answer(); status != http.StatusServiceUnavailable || !strings.Contains(page, why) {
			t.Errorf("a visit: got %d %s; want %d with %q", status, page, http.StatusServiceUnavailable, why)
		}
	}
	if status, page := s.request(t, jar, http.MethodGet, "/progress", nil); status != http.StatusOK ||
		!strings.Contains(page, why) {
		t.Errorf("/progress: status %d without a warning", status)
	}
	for _, w := range writes {
		status, page := s.request(t, jar, http.MethodPost, w.path, w.form)
		if status != http.StatusServiceUnavailable || !strings.Contains(page, why) {
			t.Errorf("POST %s %v: got %d %s; want %d with %q", w.path, w.form, status, page,
				http.StatusServiceUnavailable, why)
		}
	}
	// When the server stops, it cannot save the class's later changes, either.
	if code := s.end(); code != exitFailed || !strings.Contains(s.errors.String(), "level=ERROR") {
		t.Errorf("exit %d: %s; want %d with %q", code, s.errors, exitFailed, "level=ERROR")
	}
	again := start(t, "-addr", "127.0.0.1:0", "-no-open", "-data", dir)
	if status, _ := again.request(t, jar, http.MethodGet, "/readyz", nil); status != http.StatusOK {
		t.Errorf("/readyz after a restart: got %d, want %d", status, http.StatusOK)
	}
	again.end()
}

// TestOldFilesAreDeleted: the server deletes old files when it starts.
func TestOldFilesAreDeleted(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "viz-damaged-2020-01-01-120000.db")
	if err := os.WriteFile(old, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, "-addr", "127.0.0.1:0", "-no-open", "-data", dir)
	for late := time.Now().Add(time.Minute); ; {
		if _, err := os.Stat(old); os.IsNotExist(err) {
			break
		}
		if time.Now().After(late) {
			t.Fatal("a damaged file from 2020 is still there")
		}
		runtime.Gosched()
	}
	s.end()
}

// TestDataLimitUnitsAndBounds: sizes are accepted with units, and the data limit must be within
// bounds.
func TestDataLimitUnitsAndBounds(t *testing.T) {
	for text, want := range map[string]int64{
		"16MiB": 16 << 20, "1.5GiB": 3 << 29, "1TiB": 1 << 40, "none": 0,
	} {
		if got, err := parseLimit(text); err != nil || got != want {
			t.Errorf("%s is %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0", "2", "-1GiB", "15.9MiB", "1.1TiB", "NaNGiB", "none MiB"} {
		if got, err := parseLimit(text); err == nil {
			t.Errorf("parseLimit(%q) = %d, want an error", text, got)
		}
	}
}
