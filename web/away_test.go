package web_test

import (
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/web"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/store"
	"github.com/tokenbytoken/viz/web/webtest"
)

// A person is a client that keeps cookies, as a browser does.
type person struct {
	t      *testing.T
	server string
	http.Client
}

func newPerson(t *testing.T, server string) *person {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &person{t, server, http.Client{Jar: jar}}
}

// asks sends a request (with a form if it is a POST) and returns the response's status and body.
func (v *person) asks(method, path string, form url.Values) (int, string) {
	v.t.Helper()
	r, err := http.NewRequest(method, v.server+path, strings.NewReader(form.Encode()))
	if err != nil {
		v.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", v.server)
	resp, err := v.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// TestPagesWorkWithoutTheLogs: while data cannot be saved, lessons, exercises and runs still work
// and show a warning, nothing is confirmed, and /readyz fails. Once data can be saved again,
// everything is as it was before.
// Promise: While nothing can be saved, lessons and runs still work with a warning, and nothing is confirmed.
func TestPagesWorkWithoutTheLogs(t *testing.T) {
	t.Parallel()
	var away atomic.Bool
	logs := &unreachable{}
	v := newPerson(t, webtest.Serve(t, webtest.Options{Change: func(c *web.Config) {
		logs.Journal = c.Classes.Logs
		c.Progress = progress.New(logs, c.Database, webtest.Course(t), time.Now)
		c.Away = func() error {
			if away.Load() {
				return store.ErrAway
			}
			return nil
		}
	}}))
	lesson := webtest.Course(t).Lessons[0]
	visit := url.Values{"section": {lesson.Sections[0].Key()}, "lesson": {lesson.Slug}}
	if status, page := v.asks("POST", "/learn/visit", visit); status != http.StatusOK {
		t.Fatalf("a visit: got %d %s; want %d", status, page, http.StatusOK)
	}
	_, before := v.asks("GET", "/learn", nil)
	why := store.Why(store.ErrAway)
	if strings.Contains(before, why) {
		t.Error("the page shows a warning although the logs are reachable")
	}

	away.Store(true)
	for path, want := range map[string]struct {
		status int
		warns  bool
	}{
		"/": {200, true}, "/learn": {200, true}, lesson.Href(): {200, true}, "/practice": {200, true},
		"/practice/softmax": {200, true}, "/quiz": {200, true}, "/cards": {200, true}, "/predict": {200, true},
		"/assigned": {200, true}, "/labs": {200, true}, "/teach": {200, true}, "/loop": {200, false},
		"/loop?prompt=A": {200, false}, "/progress": {503, true}, "/progress/export": {503, true},
		"/healthz": {200, false}, "/livez": {200, false}, "/readyz": {503, true},
	} {
		status, page := v.asks("GET", path, nil)
		if warns := strings.Contains(page, why); status != want.status || warns != want.warns {
			t.Errorf("GET %s: got %d, warning %v; want %+v", path, status, warns, want)
		}
	}
	card := webtest.Course(t).Cards[0].ID
	for path, form := range map[string]url.Values{
		"/learn/visit":     visit,
		"/learn/sentence":  {"sentence": {"Once there was a lonely"}},
		"/cards/review":    {"card": {card}, "grade": {"good"}, "key": {"k1"}},
		"/progress/delete": {"sure": {"yes"}},
	} {
		if status, page := v.asks("POST", path, form); status != http.StatusServiceUnavailable ||
			!strings.Contains(page, why) {
			t.Errorf(
				"POST %s: got %d %s; want %d, page with %q", path, status, page, http.StatusServiceUnavailable, why,
			)
		}
	}

	away.Store(false)
	if status, page := v.asks("GET", "/readyz", nil); status != http.StatusOK {
		t.Errorf("/readyz afterwards: got %d %s; want %d", status, page, http.StatusOK)
	}
	if _, after := v.asks("GET", "/learn", nil); after != before {
		t.Error("the map differs from the map before the outage")
	}
	_, export := v.asks("GET", "/progress/export", nil)
	if strings.Contains(export, card) || !strings.Contains(export, lesson.Sections[0].Key()) {
		t.Errorf("saved data: got %s, want data without %q and with %q", export, card, lesson.Sections[0].Key())
	}

	// The logs become unreachable, but no page has noticed yet.
	logs.away.Store(true)
	other := newPerson(t, v.server)
	for _, path := range []string{"/learn", lesson.Href(), "/practice"} {
		if status, page := other.asks("GET", path, nil); status != http.StatusOK || !strings.Contains(page, why) {
			t.Errorf("GET %s while the logs are unreachable: got %d, warning %v; want %d and a warning", path, status,
				strings.Contains(page, why), http.StatusOK)
		}
	}
}

// An unreachable is a journal that cannot be reached while away is set.
type unreachable struct {
	journal.Journal
	away atomic.Bool
}

// Snapshot implements [journal.Journal].
func (j *unreachable) Snapshot(ctx context.Context, o journal.Owner) (journal.Snapshot, error) {
	if j.away.Load() {
		return journal.Snapshot{}, journal.ErrAway
	}
	return j.Journal.Snapshot(ctx, o)
}
