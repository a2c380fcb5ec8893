package web_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/chance"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/store"
	"github.com/tokenbytoken/viz/web/webtest"
	"github.com/tokenbytoken/viz/web/wire"
)

// withoutClasses is a server as a site has one: with a course, and no classes. change
// changes how it is made.
func withoutClasses(t *testing.T, change func(*web.Config)) *web.Server {
	t.Helper()
	db, err := store.Open("", nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg := web.Config{
		Model: testmodel.Target(t), Course: webtest.Course(t), AllowedHosts: []string{"site.example"},
		Progress:     progress.New(journal.For(db), db, webtest.Course(t), time.Now),
		EmbedOrigins: []string{shell.Anywhere}, Logger: slog.New(slog.DiscardHandler),
	}
	change(&cfg)
	s, err := web.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), browser.Patience)
		defer cancel()
		if err := errors.Join(s.Shutdown(ctx), db.Close()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// asked is the answer to a request for a page of which nothing is random.
func asked(t *testing.T, s *web.Server, method, path string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(chance.Steady(t.Context()), method, "http://site.example"+path, nil)
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w
}

// TestLateCourse has a server open its course when a page first needs it. The Loop's pages do
// not; those that do, and those that there are not, are answered as by a server that was
// given the course.
func TestLateCourse(t *testing.T) {
	t.Parallel()
	opened := 0
	given := withoutClasses(t, func(*web.Config) {})
	late := withoutClasses(t, func(c *web.Config) {
		course, kept := c.Course, c.Progress
		c.Course, c.Progress = nil, nil
		c.OpenCourse = func() (*lessons.Course, *progress.Store, error) {
			opened++
			return course, kept, nil
		}
	})
	start := webtest.Course(t).Starts[0].Key
	for _, one := range []struct {
		address string
		opened  int
	}{
		{"GET /loop", 0},
		{"GET /first", 0},
		{"GET /labs", 0},
		{"DELETE /loop", 0}, // refused with the methods that the address has
		{"GET /loop?start=" + start, 1},
		{"GET /", 1},
		{"GET /learn/temperature", 1},
		{"GET /practice", 1},
		{"GET /join", 1},
		{"GET /embed", 1},
		{"GET /embed/practice/softmax", 1},
		{"GET /embed/loop", 1},
		{"DELETE /learn", 1},
		{"GET /nowhere", 1},
	} {
		method, path, _ := strings.Cut(one.address, " ")
		want, got := asked(t, given, method, path), asked(t, late, method, path)
		if want.Code != got.Code || want.Body.String() != got.Body.String() {
			t.Errorf("%s: status %d, and %d of a server that was given the course; the pages are the same: %v",
				one.address, got.Code, want.Code, want.Body.String() == got.Body.String())
		}
		for _, name := range []string{"Allow", "Content-Type", "Location"} {
			if a, b := want.Header().Get(name), got.Header().Get(name); a != b {
				t.Errorf("%s: %s is %q, want %q", one.address, name, b, a)
			}
		}
		if opened != one.opened {
			t.Errorf("after %s the course has been opened %d times, want %d", one.address, opened, one.opened)
		}
	}
}

// TestLateExperiment opens the live part of an experiment before any page has asked for the
// course.
func TestLateExperiment(t *testing.T) {
	t.Parallel()
	late := withoutClasses(t, func(c *web.Config) {
		course, kept := c.Course, c.Progress
		c.Course, c.Progress = nil, nil
		c.OpenCourse = func() (*lessons.Course, *progress.Store, error) { return course, kept, nil }
	})
	r := httptest.NewRequest(http.MethodGet, "http://site.example/ws?feed=widget&id="+firstWidget(t), nil)
	r.Header.Set("Sec-WebSocket-Protocol", wire.ProtocolHTML)
	in, out := make(chan []byte, 1), make(chan string, 64)
	in <- []byte(`{"cmd":"set","n":1,"values":{}}`)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		late.ServePort(r, wire.Port{
			In:    in,
			Send:  func(message []byte) error { out <- string(message); return nil },
			Close: func(code int, reason string) { out <- reason },
		})
	}()
	if first := <-out; !strings.Contains(first, `"html"`) {
		t.Errorf("the first message is %.200s", first)
	}
	close(in)
	<-ended
}

// firstWidget is the id of the course's first experiment.
func firstWidget(t *testing.T) string {
	t.Helper()
	for _, l := range webtest.Course(t).Lessons {
		for _, s := range l.Sections {
			for _, b := range s.Blocks {
				if w, ok := b.(lessons.Widget); ok {
					return w.ID
				}
			}
		}
	}
	t.Fatal("the course has no experiment")
	return ""
}

// TestCourseThatCannotBeOpened shows the reason, and the Loop is there all the same.
func TestCourseThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	s := withoutClasses(t, func(c *web.Config) {
		c.Course, c.Progress = nil, nil
		c.OpenCourse = func() (*lessons.Course, *progress.Store, error) {
			return nil, nil, errors.New("the lessons of this site are damaged")
		}
	})
	for path, fails := range map[string]bool{"/loop": false, "/learn": true, "/loop?start=x": true} {
		got := asked(t, s, http.MethodGet, path)
		text, err := io.ReadAll(got.Body)
		if err != nil {
			t.Fatal(err)
		}
		want := http.StatusOK
		if fails {
			want = http.StatusInternalServerError
		}
		said := strings.Contains(string(text), "The lessons of this site are damaged.")
		if got.Code != want || said != fails {
			t.Errorf("%s: status %d: %.300s", path, got.Code, text)
		}
	}
}
