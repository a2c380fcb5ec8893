package web

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/journal"
	"github.com/tokenbytoken/viz/web/progress"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(browser.Suite{M: m}) }

var loadCourse = sync.OnceValues(func() (*lessons.Course, error) { return lessons.Load(lessons.English) })

// learning is the course, and a record of progress in memory that ends with the
// test.
func learning(t testing.TB) (*lessons.Course, *progress.Store) {
	t.Helper()
	course, err := loadCourse()
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Open("", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return course, progress.New(journal.For(db), db, course, time.Now)
}

// site is a running server, and the browser (its cookies) of one learner.
type site struct {
	*Server
	t    testing.TB
	http *httptest.Server
	jar  http.CookieJar

	conns *sync.Map // every TCP connection that the server has accepted
	hosts *sync.Map // the hosts of proxies, which stand for the server's own
	stop  func()    // ends the server, once
}

func newSite(t testing.TB, limits Limits) *site {
	t.Helper()
	return newSiteAt(t, limits, "127.0.0.1:0")
}

// newSiteAt starts a server at an address, which may be that of one stopped.
func newSiteAt(t testing.TB, limits Limits, addr string) *site {
	t.Helper()
	return newSiteOn(t, limits, addr, nil)
}

// newSiteOn starts a server with the secret of a data folder, by which one that
// starts anew knows its learners; or with none.
func newSiteOn(t testing.TB, limits Limits, addr string, secret []byte) *site {
	t.Helper()
	h := httptest.NewUnstartedServer(nil)
	h.Listener.Close()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	h.Listener = l
	course, progress := learning(t)
	s, err := New(Config{
		Model:        testmodel.Target(t),
		Course:       course,
		Progress:     progress,
		AllowedHosts: shell.LoopbackHosts(h.Listener.Addr().String()),
		Limits:       limits,
		Secret:       secret,
		Logger:       slog.New(slog.NewTextHandler(io.Discard, nil)),
		Storybook:    true,
	})
	if err != nil {
		t.Fatal(err)
	}
	conns, hosts, own := &sync.Map{}, &sync.Map{}, h.Listener.Addr().String()
	h.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, proxied := hosts.Load(r.Host); proxied {
			r.Host = own
			if r.Header.Get("Origin") != "" {
				r.Header.Set("Origin", "http://"+own)
			}
		}
		s.Handler().ServeHTTP(w, r)
	})
	// Small buffers in the kernel, so that a slow reader is noticed at once.
	h.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if err := c.(*net.TCPConn).SetWriteBuffer(32 << 10); err != nil {
			t.Error(err)
		}
		conns.Store(c, true)
		return ctx
	}
	h.Start()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	stop := sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.Background(), browser.Patience)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		http.DefaultClient.CloseIdleConnections()
		h.Close()
	})
	t.Cleanup(stop)
	return &site{s, t, h, jar, conns, hosts, stop}
}

// stranger is the same site seen from another browser.
func (x *site) stranger() *site {
	y := *x
	y.jar, _ = cookiejar.New(nil)
	return &y
}

// get asks for a page.
func (x *site) get(path string, header ...string) (*http.Response, string) {
	x.t.Helper()
	req, err := http.NewRequest(http.MethodGet, x.http.URL+path, nil)
	if err != nil {
		x.t.Fatal(err)
	}
	return x.do(req, header...)
}

func (x *site) do(req *http.Request, header ...string) (*http.Response, string) {
	x.t.Helper()
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
			continue
		}
		req.Header.Set(header[i], header[i+1])
	}
	client := http.Client{
		Jar: x.jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(req)
	if err != nil {
		x.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		x.t.Fatal(err)
	}
	return resp, string(b)
}

// eventually waits until something is true of the server that no viewer is woken
// for: that memory has been given back, that a connection has ended. For the
// state of a run see [run.reaches].
func eventually(t testing.TB, is func() bool) {
	t.Helper()
	late, look := time.After(browser.Patience), time.NewTicker(5*time.Millisecond)
	defer look.Stop()
	for !is() {
		select {
		case <-look.C:
		case <-late:
			t.Fatal("never true on the server")
		}
	}
}

// reaches waits until the run's state is as wanted, and reports false where it is
// not before something else happens. It watches the run as a connection does.
func (r *run) reaches(is func(*session.State) bool, orElse <-chan time.Time) bool {
	watcher := newViewer("")
	r.watch(watcher)
	defer r.unwatch(watcher)
	for {
		select {
		case <-watcher.wake: // at once the first time: there is a state to look at
			if s := r.latest.Load(); s != nil && is(s) {
				return true
			}
		case <-orElse:
			return false
		}
	}
}

// comes waits until the state of a run is as wanted.
func (r *run) comes(t testing.TB, is func(*session.State) bool) *session.State {
	t.Helper()
	if !r.reaches(is, time.After(browser.Patience)) {
		t.Fatalf("the run never comes there: it is at %+v", r.latest.Load().Cursor)
	}
	return r.latest.Load()
}

// runOf is the run with an id, or nil.
func (x *site) runOf(id string) *run {
	x.runs.mu.Lock()
	defer x.runs.mu.Unlock()
	return x.runs.byID[id]
}
