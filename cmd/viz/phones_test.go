package main

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/classroom"
)

// TestWhoMayLetPhonesIn: only a server that other machines cannot reach in any way offers to let
// phones in.
// Promise: Behind a proxy, under a public name or in a cluster, no button opens the server to the network.
func TestWhoMayLetPhonesIn(t *testing.T) {
	public := &url.URL{Scheme: "https", Host: "class.example"}
	proxies := admission.Proxies{netip.MustParsePrefix("10.0.0.1/32")}
	for name, c := range map[string]struct {
		host string
		o    serveOptions
		want bool
	}{
		"by default":              {"127.0.0.1", serveOptions{}, true},
		"at localhost":            {"localhost", serveOptions{}, true},
		"at ::1":                  {"::1", serveOptions{}, true},
		"everywhere":              {"0.0.0.0", serveOptions{}, false},
		"in a network":            {"192.168.0.7", serveOptions{}, false},
		"with -allow-host":        {"127.0.0.1", serveOptions{hosts: []string{"a.example"}}, false},
		"with -public-url":        {"127.0.0.1", serveOptions{network: network{public: public}}, false},
		"with -trusted-proxy":     {"127.0.0.1", serveOptions{network: network{proxies: proxies}}, false},
		"as a part of a cluster":  {"127.0.0.1", serveOptions{cluster: clusterFlags{url: "nats://127.0.0.1"}}, false},
		"with an empty host name": {"", serveOptions{}, false},
	} {
		at := address{host: c.host, port: "8080"}
		p := c.o.phones(terms.English, at, &net.TCPAddr{}, nil, io.Discard, slog.Default())
		if got := p.Phones != nil; got != c.want {
			t.Errorf("%s: got %t, want %t", name, got, c.want)
		}
	}
}

// ownPages returns a client that sends forms as a browser does from the server's own pages.
func ownPages(t *testing.T, own string) (
	client *http.Client, answer func(method, address, body string) (*http.Response, string),
) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client = &http.Client{Jar: jar}
	return client, func(method, address, body string) (*http.Response, string) {
		t.Helper()
		r, err := http.NewRequest(method, address, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if method == http.MethodPost {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Origin", own)
		}
		res, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res, string(text)
	}
}

var token1 = regexp.MustCompile(`name="let-in" value="([^"]+)"`)

// TestPhonesAreLetInWhileTheServerRuns: pressing the button has the same effect as the flag, both
// on the terminal and on the network, so the API needs a key at the new address. Both listeners
// close when the server ends.
func TestPhonesAreLetInWhileTheServerRuns(t *testing.T) {
	const at = "127.0.0.2" // substitutes for an address in a private network
	l, err := net.Listen("tcp", at+":0")
	if err != nil {
		t.Skipf("this machine has no second address: %v", err)
	}
	l.Close()
	hosts := phoneHosts
	phoneHosts = func() []classroom.PhoneHost { return []classroom.PhoneHost{{IP: at}} }
	defer func() { phoneHosts = hosts }()
	s := start(t, "-addr", "127.0.0.1:0", "-no-open")
	own := strings.TrimSuffix(s.url, "/")
	client, answer := ownPages(t, own)
	_, page := answer(http.MethodGet, own+"/teach", "")
	token := token1.FindStringSubmatch(page)
	if token == nil {
		t.Fatalf("got a page without a button, want one: %.2000s", page)
	}
	res, made := answer(http.MethodPost, own+"/teach", url.Values{"let-in": {token[1]}, "host": {at}}.Encode())
	if res.StatusCode != http.StatusOK || !strings.Contains(made, "Phones are let in") {
		t.Fatalf("got %s, want 200 and a page with phones let in: %.2000s", res.Status, made)
	}
	s.out.wait(t, clearWarning(terms.English))
	phones := "http://" + at + own[strings.LastIndex(own, ":"):]
	s.out.wait(t, "Phones can now connect at "+phones+"\n")
	for address, want := range map[string]int{
		own + "/v1/models": 200, phones + "/v1/models": 401, phones + "/join": 200, phones + "/metrics": 404,
	} {
		if res, _ := answer(http.MethodGet, address, ""); res.StatusCode != want {
			t.Errorf("%s: got %s, want %d", address, res.Status, want)
		}
	}
	if _, page := answer(http.MethodGet, phones+"/api", ""); !strings.Contains(page, "-api-key-file") {
		t.Error("the API's page for phones lacks -api-key-file, want it to say that the API is off")
	}
	dialer := websocket.Dialer{Subprotocols: []string{"viz.html.v1"}}
	socket, _, err := dialer.Dial("ws"+strings.TrimPrefix(phones, "http")+"/ws", http.Header{"Origin": {phones}})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	if code := s.end(); code != exitDone {
		t.Errorf("got exit code %d, want %d: %s", code, exitDone, s.errors)
	}
	for err == nil {
		_, _, err = socket.ReadMessage()
	}
	if !websocket.IsCloseError(err, websocket.CloseServiceRestart) {
		t.Errorf("the phone's socket: got %v, want close code 1012 (the server restarts)", err)
	}
	if _, err := client.Get(phones + "/join"); err == nil {
		t.Error("the phones' listener still responds after the server has ended")
	}
	s.out.wait(t, "Phones can no longer connect at "+phones+"\n")
}

// TestSocketsOfPhonesAreCut: leave also ends the connections that the HTTP server no longer tracks.
func TestSocketsOfPhonesAreCut(t *testing.T) {
	p := &phones{
		words: terms.English, out: io.Discard, patience: time.Millisecond, log: slog.New(slog.DiscardHandler),
		handler: http.HandlerFunc(
			func(w http.ResponseWriter, _ *http.Request) {
				conn, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = conn.Write([]byte("!"))
			},
		),
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	stop := p.serve(l, &url.URL{Host: l.Addr().String()})
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	var b [1]byte
	if _, err := io.ReadFull(conn, b[:]); err != nil {
		t.Fatal(err)
	}
	stop()
	p.wg.Wait()
	if err := conn.SetReadDeadline(time.Now().Add(browser.Patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(b[:]); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("reading from the socket: %v, want a closed connection", err)
	}
}
