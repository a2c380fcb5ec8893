package loop

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/cost"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/infer/pool"
	"github.com/tokenbytoken/viz/infer/testmodel"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/coursework/courseworktest"
	"github.com/tokenbytoken/viz/web/loop/runs"
	"github.com/tokenbytoken/viz/web/session"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(browser.Suite{M: m}) }

// limits are the limits of a site.
type limits struct {
	runs.Limits
	Wire wire.Limits
}

// site is a running server with only the Loop, as seen by one browser (one set of cookies).
type site struct {
	*Server
	t        testing.TB
	http     *httptest.Server
	jar      http.CookieJar
	wire     *wire.Server
	handler  *atomic.Pointer[http.Handler]
	admit    func(hosts ...string) // accepts requests to these hosts, too
	conns    *sync.Map             // every TCP connection that the server has accepted
	attached *attached
	pool     *pool.Pool
	halted   *sync.RWMutex // held for writing to keep runs from continuing
	stop     func()        // ends the server, once
	newcomer *atomic.Bool  // whether the site's learners have never switched to Numbers

	// In a tab, only the address is set of the fields above.
	twin *twin        // the run's twin; nil if there is a server
	tab  *browser.Tab // the tab opened last, or nil
}

func newSite(t testing.TB, l limits) *site {
	t.Helper()
	if isInTab(t) {
		if l != (limits{}) {
			t.Fatalf(
				"only a server can have limits such as this test's, and it is run in a tab: got %+v, want %+v", l,
				limits{},
			)
		}
		return newTabSite(t, numbersView)
	}
	return newSiteAt(t, l, "127.0.0.1:0")
}

// newStorySite starts a server for learners who see the Story.
func newStorySite(t testing.TB) *site { t.Helper(); return newSiteIn(t, storyView) }

// newSiteIn starts a server for learners who see the given view.
func newSiteIn(t testing.TB, in view) *site {
	t.Helper()
	if isInTab(t) {
		return newTabSite(t, in)
	}
	x := newSite(t, limits{})
	x.newcomer.Store(in == storyView)
	return x
}

// newSiteAt starts a server at an address, which can be the address of a server that has been
// stopped.
func newSiteAt(t testing.TB, l limits, addr string) *site {
	t.Helper()
	return newSiteOn(t, l, addr, nil)
}

// newSiteOn starts a server. With the secret of a data folder, a restarted server recognizes its
// learners; secret may be nil.
func newSiteOn(t testing.TB, bounds limits, addr string, secret []byte) *site {
	t.Helper()
	fixture.Spend(fixture.Servers, 1)
	h := httptest.NewUnstartedServer(nil)
	h.Listener.Close()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	h.Listener = l
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	log, learners := slog.New(slog.DiscardHandler), shell.NewLearners(secret, nil)
	ctx, cancel := context.WithCancel(context.Background())
	x := &site{
		t: t, http: h, jar: jar, handler: &atomic.Pointer[http.Handler]{}, conns: &sync.Map{}, attached: newAttached(),
		pool: pool.New(testmodel.Target(t), 0), halted: &sync.RWMutex{},
		newcomer: &atomic.Bool{},
	}
	x.Server = New(Deps{
		Context: ctx, Model: testmodel.Target(t), Course: courseworktest.Course(t), Caller: learners.Caller, Log: log,
		Storybook: true,
		Runs: runs.New(runs.Config{
			Model: testmodel.Target(t), Slot: x.slot, MAC: learners.MAC, Limits: bounds.Limits, Log: log,
		}),
	})
	x.wire = wire.NewServer(wire.Config{
		Parts: map[string]wire.Kind{"": x.attached.to(x.Part())}, Caller: learners.Caller, Refuse: shell.Text,
		Limits: bounds.Wire, Log: log,
	})
	x.handle(log)
	h.Start()
	x.stop = sync.OnceFunc(func() {
		ctx, done := context.WithTimeout(context.Background(), browser.Patience)
		defer done()
		cancel()
		if err := x.wire.Shutdown(ctx); err != nil {
			t.Errorf("closing the sockets: %v", err)
		}
		if err := x.Runs.Close(ctx); err != nil {
			t.Errorf("ending the runs: %v", err)
		}
		x.pool.Close()
		http.DefaultClient.CloseIdleConnections()
		h.Close()
	})
	t.Cleanup(x.stop)
	return x
}

// handle sets up the site's addresses, behind the gate.
func (x *site) handle(log *slog.Logger) {
	mux := http.NewServeMux()
	x.Mount(mux)
	shell.MountFiles(mux)
	mux.Handle("GET /ws", x.wire)
	mux.HandleFunc("/", shell.Elsewhere(mux))
	// This handler replaces another package's page to which the Loop links. The page names an icon, since
	// a browser may otherwise ask for /favicon.ico, which does not exist.
	mux.HandleFunc("GET /predict", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "<!doctype html><title>Predict</title><link rel=icon href=/static/img/icon.svg>")
	})
	var hosts []string
	x.admit = func(more ...string) {
		hosts = append(hosts, more...)
		gate := shell.Gate(hosts, nil, "", log, shell.Compressed(mux))
		x.handler.Store(&gate)
	}
	x.admit(shell.LoopbackHosts(x.http.Listener.Addr().String())...)
	x.http.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// In these tests, learners have switched to Numbers unless they are newcomers or choose a
		// view themselves.
		if !x.newcomer.Load() && len(r.CookiesNamed(shell.ViewCookie)) == 0 {
			r.AddCookie(&http.Cookie{Name: shell.ViewCookie, Value: string(numbersView)})
		}
		(*x.handler.Load()).ServeHTTP(w, r)
	})
	// The kernel's buffers are small, so that a slow reader is noticed soon.
	x.http.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if err := c.(*net.TCPConn).SetWriteBuffer(32 << 10); err != nil {
			x.t.Error(err)
		}
		x.conns.Store(c, true)
		return ctx
	}
}

// stranger returns the same site as seen by another browser.
func (x *site) stranger() *site {
	y := *x
	y.jar, _ = cookiejar.New(nil)
	return &y
}

// through returns the same site behind a proxy.
func (x *site) through(p *browser.Proxy) *site {
	x.admit(shell.LoopbackHosts(p.Addr().String())...)
	y := *x
	y.http = &httptest.Server{URL: p.URL()}
	return &y
}

// proxied returns a proxy in front of the site.
func (x *site) proxied(t testing.TB) *browser.Proxy {
	t.Helper()
	p := browser.NewProxy(t)
	p.To(x.http.Listener.Addr().String())
	return p
}

// get requests a page.
func (x *site) get(path string, header ...string) (*http.Response, string) {
	x.t.Helper()
	req, err := http.NewRequest(http.MethodGet, x.http.URL+path, nil)
	if err != nil {
		x.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
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

// breakSockets closes every connection as a broken network would.
func (x *site) breakSockets() {
	x.conns.Range(func(c, _ any) bool {
		c.(interface{ Close() error }).Close()
		return true
	})
}

// attached records which connections of a site belong to which run.
type attached struct {
	mu    sync.Mutex
	runs  map[string]joined      // by id
	parts map[*livePart]struct{} // the open connections
}

func newAttached() *attached {
	return &attached{runs: map[string]joined{}, parts: map[*livePart]struct{}{}}
}

// to wraps a kind of part so that its connections are recorded.
func (a *attached) to(kind wire.Kind) wire.Kind {
	open := kind.Open
	kind.Open = func(ctx context.Context, v wire.Visit) (wire.Part, error) {
		part, err := open(ctx, v)
		if err != nil {
			return nil, err
		}
		p := part.(*livePart)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.runs[p.run.ID()] = joined{p.run, v.Learner, p.Runs, a}
		a.parts[p] = struct{}{}
		return recorded{p, a}, nil
	}
	return kind
}

// recorded is a connection that is listed in attached until it ends.
type recorded struct {
	*livePart
	in *attached
}

func (r recorded) Serve(ctx context.Context, in <-chan wire.Command, out wire.Conn) error {
	defer func() {
		r.in.mu.Lock()
		defer r.in.mu.Unlock()
		delete(r.in.parts, r.livePart)
	}()
	return r.livePart.Serve(ctx, in, out)
}

// joined is a run that a connection has joined, with the run's learner.
type joined struct {
	*runs.Run
	learner  string
	registry *runs.Registry
	attached *attached
}

// connections lists the open connections to the run.
func (r joined) connections() (list []*livePart) {
	r.attached.mu.Lock()
	defer r.attached.mu.Unlock()
	for p := range r.attached.parts {
		if p.run == r.Run {
			list = append(list, p)
		}
	}
	return list
}

// line identifies the set of connections to the run.
func (r joined) line() string { return fmt.Sprint(r.connections()) }

// reaches waits until `is` returns true for the run's state, and returns false if orElse fires
// first. It watches the run as a connection does.
func (r joined) reaches(is func(*session.State) bool, orElse <-chan time.Time) bool {
	v := runs.NewViewer("")
	run, found := r.registry.Join(admission.Caller{Learner: r.learner}, r.ID(), v)
	defer r.registry.Leave(run, v)
	for found {
		select {
		case <-v.Wake(): // fires at once the first time, since there is a state to look at
			if s := r.Latest(); s != nil && is(s) {
				return true
			}
		case <-orElse:
			return false
		}
	}
	return false
}

// comes waits until `is` returns true for the run's state, and returns the latest state.
func (r joined) comes(t testing.TB, is func(*session.State) bool) *session.State {
	t.Helper()
	if !r.reaches(is, time.After(browser.Patience)) {
		t.Fatalf("the run did not reach the expected state: it is at %+v", r.Latest().Cursor)
	}
	return r.Latest()
}

// runOf returns the run with the given id, which a connection has joined.
func (x *site) runOf(id string) joined {
	x.t.Helper()
	x.attached.mu.Lock()
	defer x.attached.mu.Unlock()
	r, ok := x.attached.runs[id]
	if !ok {
		x.t.Fatalf("there is no run %q", id)
	}
	return r
}

// live lists the runs that are still on the server.
func (x *site) live() (list []joined) {
	x.attached.mu.Lock()
	defer x.attached.mu.Unlock()
	for id, r := range x.attached.runs {
		if x.Runs.Find(r.learner, id) == r.Run {
			list = append(list, r)
		}
	}
	return list
}

// do implements [running].
func (r joined) do(t testing.TB, c session.Command) {
	t.Helper()
	if _, err := r.Do(context.Background(), c, nil, 0); err != nil {
		t.Fatalf("%+v: %v", c, err)
	}
}

// onlyRun returns the only run of the site.
func (x *site) onlyRun() running {
	x.t.Helper()
	if x.twin != nil {
		return tabRun{x.t, x.tab, x.twin}
	}
	return x.onlyJoined()
}

// onlyJoined returns the only run of a server.
func (x *site) onlyJoined() joined {
	x.t.Helper()
	list := x.live()
	if len(list) != 1 {
		x.t.Fatalf("got %d runs, want one", len(list))
	}
	return list[0]
}

// tight is a set of limits that are low enough for [site.evict] to work.
var tight = limits{Limits: runs.Limits{MemoryBytes: 1 << 20}}

// evict evicts a run by using up memory: another learner generates text until the run is
// evicted.
func (x *site) evict(r joined) {
	x.t.Helper()
	v := runs.NewViewer("")
	other, _ := x.Runs.Join(admission.Caller{Learner: "someone else"}, "", v)
	defer x.Runs.Leave(other, v)
	ctx := context.Background()
	for _, c := range []session.Command{
		session.SetKnob("max_tokens", 400), session.Start{Prompt: "There was a little old woman who"},
	} {
		if _, err := other.Do(ctx, c, nil, 0); err != nil {
			x.t.Fatal(err)
		}
	}
	browser.Eventually(x.t, func() bool {
		if r.Latest() == nil {
			return true
		}
		_, _ = other.Do(ctx, session.StepToken{}, nil, 0) // refused once the other run uses all the memory
		return false
	})
}

// slot returns a slot in the site's pool whose passes wait while the site is halted.
func (x *site) slot() runs.Slot { return haltingSlot{x.pool.Slot(), x.halted} }

type haltingSlot struct {
	*pool.Slot
	halted *sync.RWMutex
}

func (s haltingSlot) Model() *infer.Model { return s.Slot.Model().Through(s) }

// ForwardTo implements [infer.Runner].
func (s haltingSlot) ForwardTo(ctx context.Context, c *infer.Cache, tokens []int, out []float32) (cost.Parts, error) {
	s.halted.RLock()
	defer s.halted.RUnlock()
	return s.Slot.ForwardTo(ctx, c, tokens, out)
}
