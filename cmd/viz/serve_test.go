package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/webtest"
)

// served is a server under test.
type served struct {
	url    string
	dir    string // the data folder, if the test gave one
	cancel context.CancelFunc
	exit   chan int
	out    *output
	errors *output
}

// output collects the output of a running command.
type output struct {
	mu    sync.Mutex
	text  bytes.Buffer
	line  chan struct{} // closed at the first complete line
	once  sync.Once
	added chan struct{} // closed and replaced at each write
}

func newOutput() *output {
	return &output{line: make(chan struct{}), added: make(chan struct{})}
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Write(p)
	if bytes.Contains(p, []byte("\n")) {
		o.once.Do(func() { close(o.line) })
	}
	close(o.added)
	o.added = make(chan struct{})
	return len(p), nil
}

// wait waits until the command has printed the text in what.
func (o *output) wait(t *testing.T, what string) {
	t.Helper()
	for late := time.After(browser.Patience); ; {
		o.mu.Lock()
		done, added := strings.Contains(o.text.String(), what), o.added
		o.mu.Unlock()
		if done {
			return
		}
		select {
		case <-added:
		case <-late:
			t.Fatalf("%q was not printed: %s", what, o)
		}
	}
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

var address1 = regexp.MustCompile(`http://\S+`)

// start runs viz serve until the test ends or cancel is called. If the tests run in a browser tab,
// it opens a static site instead.
func start(t testing.TB, args ...string) *served {
	t.Helper()
	if webtest.IsInTab(t) {
		if !slices.Equal(args, []string{"-addr", "127.0.0.1:0", "-no-open"}) {
			t.Fatalf("a static site does not support viz serve %q", args)
		}
		return &served{url: webtest.ServeTab(t, "")}
	}
	fixture.Spend(fixture.Servers, 1)
	// Not t.Context, which ends before the test's connections to the server are closed.
	ctx, cancel := context.WithCancel(context.Background())
	s := &served{cancel: cancel, exit: make(chan int, 1), out: newOutput(), errors: newOutput()}
	go func() {
		s.exit <- run(ctx, append([]string{"serve"}, args...), func(string) string { return "" }, nil, s.out, s.errors)
	}()
	select {
	case <-s.out.line:
	case code := <-s.exit:
		t.Fatalf("viz serve %q: got exit code %d: %s; want the server to run", args, code, s.errors)
	}
	s.url = address1.FindString(s.out.String())
	t.Cleanup(cancel)
	return s
}

// end stops the server and returns its exit code.
func (s *served) end() int {
	s.cancel()
	return <-s.exit
}

func TestServeAnswersRequests(t *testing.T) {
	s := start(t, "-addr", "127.0.0.1:0")
	for path, want := range map[string]string{"/healthz": "running", "/loop": "<!doctype html>"} {
		res, err := http.Get(s.url + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != http.StatusOK || !strings.Contains(strings.ToLower(string(body)), want) {
			t.Errorf("GET %s: %s, %v, %.100q lacks %q", path, res.Status, err, body, want)
		}
	}
	// A request with another host name is refused.
	req, err := http.NewRequest(http.MethodGet, s.url+"/healthz", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "evil.example"
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("foreign host: %s, want 421", res.Status)
	}

	taken := strings.TrimPrefix(s.url, "http://")
	f := try(t, nil, "", "serve", "-no-open", "-addr", taken)
	if f.code != exitFailed || !strings.Contains(f.errors, "-addr "+taken) || f.out != "" {
		t.Errorf(
			`taken address: exit %d, %q, stdout %q; want %d with %q, ""`, f.code, f.errors, f.out, exitFailed,
			"-addr "+taken,
		)
	}
	f = try(t, map[string]string{"VIZ_ADDR": taken}, "", "-no-open")
	if f.code != exitFailed || !strings.Contains(f.errors, "VIZ_ADDR "+taken) {
		t.Errorf(
			"taken address from the environment: exit %d, %q; want %d with %q", f.code, f.errors, exitFailed,
			"VIZ_ADDR "+taken,
		)
	}
	if code := s.end(); code != exitDone {
		t.Errorf("exit %d after shutdown, want 0: %s", code, s.errors)
	}
	if _, err := http.Get(s.url + "/healthz"); err == nil {
		t.Error("the server still responds after shutdown")
	}
}

// TestShutdownClosesSockets: sockets are not just cut off; they get a message that the server is
// shutting down.
func TestShutdownClosesSockets(t *testing.T) {
	fixture.Long(t)
	s := start(t, "-addr", "127.0.0.1:0", "-no-open")
	// This connection sends nothing, like the spare connections of browsers.
	spare, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer spare.Close()
	dialer := websocket.Dialer{Subprotocols: []string{"viz.json.v1"}}
	conn, _, err := dialer.Dial("ws"+strings.TrimPrefix(s.url, "http")+"/ws", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, _, err := conn.ReadMessage(); err != nil {
		t.Fatal(err)
	}
	s.cancel()
	for err == nil {
		_, _, err = conn.ReadMessage()
	}
	var closed *websocket.CloseError
	if !errors.As(err, &closed) || closed.Code != websocket.CloseServiceRestart {
		t.Errorf("the socket ended with %v, want code 1012", err)
	}
	conn.Close()
	if code := <-s.exit; code != exitDone {
		t.Errorf("exit %d, want %d: %s", code, exitDone, s.errors)
	}
}

// TestNextFreePort: without -addr, the server takes the next free port if the default port is in
// use.
// Promise: By default only your own machine can reach the server; if port 8080 is in use, it takes the next free one.
func TestNextFreePort(t *testing.T) {
	first, second := start(t, "-no-open"), start(t, "-no-open")
	if first.url == second.url || !strings.HasPrefix(first.url, "http://127.0.0.1:") {
		t.Errorf(
			"serving at %s and %s; want anything but %s that begins with %q", first.url, second.url, second.url,
			"http://127.0.0.1:",
		)
	}
	if a, b := first.end(), second.end(); a != exitDone || b != exitDone {
		t.Errorf("exit %d and %d; want %d, %d", a, b, exitDone, exitDone)
	}
}

func TestAllowedHosts(t *testing.T) {
	loopback := []string{"127.0.0.1:9", "[::1]:9", "localhost:9"}
	for _, c := range []struct {
		given   string
		allowed []string
		want    []string // besides loopback
		url     string
	}{
		{"", nil, nil, "http://127.0.0.1:9"},
		{"localhost:0", nil, nil, "http://localhost:9"},
		{"[::1]:9", nil, nil, "http://[::1]:9"},
		{"192.0.2.7:9", nil, []string{"192.0.2.7:9"}, "http://192.0.2.7:9"},
		{
			"127.0.0.1:9",
			[]string{"viz.example", "b.example:444"},
			[]string{"viz.example", "viz.example:9", "b.example:444"},
			"http://127.0.0.1:9",
		},
	} {
		a := newAddress(c.given, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9})
		want := slices.Concat(loopback, c.want)
		slices.Sort(want)
		if got := a.hosts(c.allowed); !slices.Equal(got, want) {
			t.Errorf("%q allows %q, want %q", c.given, got, want)
		}
		if a.url() != c.url {
			t.Errorf("%q: url %s, want %s", c.given, a.url(), c.url)
		}
		if want := !strings.HasPrefix(c.given, "192"); a.loopback() != want {
			t.Errorf("%q: loopback %v, want %v", c.given, a.loopback(), want)
		}
	}
	all := newAddress(":80", &net.TCPAddr{Port: 80})
	for _, host := range append(interfaceHosts(), "localhost", "127.0.0.1") {
		if list := all.hosts(nil); !slices.Contains(list, net.JoinHostPort(host, "80")) {
			t.Errorf("everywhere allows %q, not %s", list, host)
		}
	}
	if list := all.hosts(nil); !slices.Contains(list, "localhost") || slices.Contains(list, "") ||
		slices.Contains(list, ":80") {
		t.Errorf("port 80 allows %q; want localhost without a port, and no empty name", list)
	}
	if all.loopback() || all.url() != "http://127.0.0.1:80" {
		t.Errorf(
			"listening everywhere: got loopback %v, url %s; want false, http://127.0.0.1:80", all.loopback(), all.url(),
		)
	}
}

func TestBrowserCommand(t *testing.T) {
	for _, c := range []struct {
		system, env, want string
	}{
		{"linux", "", ""},
		{"linux", "DISPLAY", "xdg-open http://a"},
		{"linux", "WAYLAND_DISPLAY", "xdg-open http://a"},
		{"freebsd", "DISPLAY", "xdg-open http://a"},
		{"darwin", "", "open http://a"},
		{"darwin", "SSH_CONNECTION", ""},
		{"windows", "", "rundll32 url.dll,FileProtocolHandler http://a"},
		{"windows", "SSH_CONNECTION", ""},
	} {
		env := func(k string) string {
			if k == c.env {
				return "set"
			}
			return ""
		}
		if got := strings.Join(browserCommand(c.system, "http://a", env), " "); got != c.want {
			t.Errorf("%s with %q: %q, want %q", c.system, c.env, got, c.want)
		}
	}
}
