// Package webtest runs the whole program for tests of its pages. [Serve] runs the server with its
// policy headers, the bundled pair of models, the course, and progress stored in memory. [InTab]
// runs the same tests with the program in a page of a static site. Only tests import it. (Package
// web's own tests need the server's internals and start it themselves.)
package webtest

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/api"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/classroom"
	"github.com/tokenbytoken/viz/web/coursework/courseworktest"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/store"
)

// Options configure a server under test.
type Options struct {
	Clock  *Clock           // for learners' records; nil means the machine's clock
	Access classroom.Access // how a class reaches the server
	Secret []byte           // signs cookies; nil means a random secret
	Dir    string           // where data is stored; "" means in memory
	// API defines who can use the API; nil means everyone.
	API *api.Access
	// Admission replaces the default limits.
	Admission *admission.Limits
	// Started, if not nil, is called with the server.
	Started func(*web.Server)
	Hosts   []string // additional host names, such as a proxy's
	// View is the view for visitors who have not switched to another; "" means the default.
	View shell.View
	// Model replaces the bundled model.
	Model *infer.Model
	// Change, if not nil, is called with the configuration before the server is created.
	Change func(*web.Config)
	// Embeds are the sites that can show the server's pages inside their own pages.
	Embeds []string
}

// Course returns the course, loaded once.
func Course(t testing.TB) *lessons.Course {
	t.Helper()
	return courseworktest.Course(t)
}

// switched makes all requests come from learners who have switched to a view.
func switched(view shell.View, next http.Handler) http.Handler {
	if view == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.CookiesNamed(shell.ViewCookie)) == 0 {
			r.AddCookie(&http.Cookie{Name: shell.ViewCookie, Value: string(view)})
		}
		next.ServeHTTP(w, r)
	})
}

// Serve runs a server until the test ends and returns its URL. In a test run by [InTab], it serves
// a site instead.
func Serve(t testing.TB, o Options) string {
	t.Helper()
	if IsInTab(t) {
		onlyServer(t, o)
		return serveTab(t, o)
	}
	return Server(t, o)
}

// Server runs a server until the test ends and returns its URL, even in a test run by [InTab].
func Server(t testing.TB, o Options) string {
	t.Helper()
	now := time.Now
	if o.Clock != nil {
		now = o.Clock.Now
	}
	if o.API == nil {
		o.API = &api.Access{Open: true}
	}
	if o.Model == nil {
		o.Model = testmodel.Target(t)
	}
	db, err := store.Open(o.Dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	logs := journal.For(db)
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	h := httptest.NewUnstartedServer(nil)
	cfg := web.Config{
		Model: o.Model, Draft: testmodel.Draft(t),
		Course: Course(t), Progress: progress.New(logs, db, Course(t), now),
		Classes:      web.Classes{Logs: logs, Secrets: db, Access: o.Access},
		AllowedHosts: append(shell.LoopbackHosts(h.Listener.Addr().String()), o.Hosts...),
		API:          *o.API, Logger: quiet, Secret: o.Secret, Admission: o.Admission, Database: db,
		EmbedOrigins: o.Embeds,
	}
	if o.Change != nil {
		o.Change(&cfg)
	}
	fixture.Spend(fixture.Servers, 1)
	s, err := web.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if o.Started != nil {
		o.Started(s)
	}
	h.Config.Handler = switched(o.View, s.Handler())
	h.Config.ErrorLog = slog.NewLogLogger(quiet.Handler(), slog.LevelError)
	h.Start()
	t.Cleanup(func() {
		h.CloseClientConnections()
		ctx, cancel := context.WithTimeout(context.Background(), browser.Patience)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		http.DefaultClient.CloseIdleConnections()
		h.Close()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return h.URL
}
