package learn_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/bundled"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web"
	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/store"
)

var load = sync.OnceValues(func() (*infer.Model, error) {
	c, err := bundled.Target()
	if err != nil {
		return nil, err
	}
	return infer.Load(c)
})

var loadDraft = sync.OnceValues(func() (*infer.Model, error) {
	c, err := bundled.Draft()
	if err != nil {
		return nil, err
	}
	return infer.Load(c)
})

var loadCourse = sync.OnceValues(lessons.Load)

// serve runs the whole server, policy headers and all, and returns its URL and
// the course it teaches.
func serve(t *testing.T) (url string, course *lessons.Course) {
	t.Helper()
	return serveAt(t, time.Now)
}

// serveAt is serve by another clock for what is kept of learners.
func serveAt(t *testing.T, now func() time.Time) (url string, course *lessons.Course) {
	t.Helper()
	model, err := load()
	if err != nil {
		t.Fatal(err)
	}
	draft, err := loadDraft()
	if err != nil {
		t.Fatal(err)
	}
	if course, err = loadCourse(); err != nil {
		t.Fatal(err)
	}
	db, err := store.Open("", nil)
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewUnstartedServer(nil)
	s, err := web.New(web.Config{
		Model: model, Draft: draft, Course: course, Progress: progress.New(db, course, now),
		AllowedHosts: web.LoopbackHosts(h.Listener.Addr().String()),
		Logger:       slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	h.Config.Handler = s.Handler()
	h.Start()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		http.DefaultClient.CloseIdleConnections()
		h.Close()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return h.URL, course
}
