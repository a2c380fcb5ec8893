package web_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/load"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/webtest"
	"github.com/tokenbytoken/viz/web/wire"
)

// floodLimits returns the default limits divided by 100.
func floodLimits() *admission.Limits {
	l := admission.DefaultLimits()
	l.Sockets = admission.Share{Most: 60, Newcomers: 45, PerAddress: 30, PerLearner: 10}
	l.Runs = admission.Share{Most: 40, Newcomers: 30, PerAddress: 20, PerLearner: 5}
	l.NewLearners = admission.Pace{PerAddress: admission.Rate{PerSecond: 100, Burst: 50}}
	return &l
}

// A visitor is a client of the Loop that connects from its own address.
type visitor struct {
	t      *testing.T
	conn   *websocket.Conn
	cookie string
}

// visit opens a socket to the Loop from an address, with or without a cookie.
func visit(t *testing.T, server, from, cookie string) (*visitor, *http.Response, error) {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	d := websocket.Dialer{
		NetDialContext: dialer.DialContext, HandshakeTimeout: browser.Patience,
		Subprotocols: []string{wire.ProtocolJSON},
	}
	header := http.Header{}
	if cookie != "" {
		header.Set("Cookie", cookie)
	}
	conn, answer, err := d.Dial("ws"+strings.TrimPrefix(server, "http")+"/ws", header)
	if err != nil {
		return nil, answer, err
	}
	v := &visitor{t: t, conn: conn, cookie: cookie}
	for _, c := range answer.Cookies() {
		v.cookie = c.Name + "=" + c.Value
	}
	return v, answer, nil
}

// ask sends a command and waits for the response. It returns an error if the server refuses the
// command.
func (v *visitor) ask(n int, command string) error {
	if err := v.conn.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, command, n)); err != nil {
		return err
	}
	for {
		v.conn.SetReadDeadline(time.Now().Add(browser.Patience))
		_, text, err := v.conn.ReadMessage()
		if err != nil {
			return err
		}
		var m struct {
			Ack   int
			Error *struct{ Message string }
		}
		if err := json.Unmarshal(text, &m); err != nil {
			return err
		}
		if m.Error != nil {
			return fmt.Errorf("refused: %s", m.Error.Message)
		}
		if m.Ack >= n {
			return nil
		}
	}
}

// learn starts a text and steps through it, as a learner would.
func (v *visitor) learn() error {
	if err := v.ask(1, `{"cmd":"start","n":%d,"prompt":"Once upon a time"}`); err != nil {
		return err
	}
	for n := 2; n < 10; n++ {
		if err := v.ask(n, `{"cmd":"step","n":%d}`); err != nil {
			return err
		}
	}
	return nil
}

// enough is a number of sockets above the server's limit for one address.
const enough = 100

// flood opens sockets from an address as fast as it can, without cookies and without reading from
// them, until stop is called. full is closed once flood has opened enough sockets.
func flood(t *testing.T, server, from string) (full <-chan struct{}, stop func()) {
	var opened atomic.Int64
	reached := make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			var held []*visitor
			defer func() {
				for _, v := range held {
					v.conn.Close()
				}
			}()
			for ctx.Err() == nil {
				v, _, err := visit(t, server, from, "")
				if err != nil {
					continue
				}
				if opened.Add(1) == enough {
					close(reached)
				}
				_ = v.conn.WriteMessage(websocket.TextMessage, []byte(`{"cmd":"start","n":1,"prompt":"Hello"}`))
				held = append(held, v)
			}
		})
	}
	return reached, func() {
		cancel()
		all.Wait()
	}
}

// knownCookie returns a cookie in an older format without a date, so that the server treats the
// learner as one whom it has known for a long time.
func knownCookie(learners shell.Learners, server, id string) string {
	_, fresh := learners.Of(&http.Request{Host: strings.TrimPrefix(server, "http://")})
	return fresh.Name + "=" + id + "." + base64.RawURLEncoding.EncodeToString(learners.MAC("learner "+id))
}

// TestFloodOfSockets: while one client opens sockets and starts runs as fast as it can, the server
// still serves known learners at any address and newcomers at other addresses. A newcomer at the
// flooder's address gets in after reloading the page.
// Promise: While one address floods the server, it still serves learners it knows, and newcomers elsewhere.
func TestFloodOfSockets(t *testing.T) {
	t.Parallel()
	secret := []byte("a secret that the test shares")
	server := webtest.Serve(t, webtest.Options{Secret: secret, Admission: floodLimits()})
	learners := shell.NewLearners(secret, nil)
	full, stop := flood(t, server, "127.0.0.2")
	defer stop()
	<-full
	var all sync.WaitGroup
	for i := range 10 {
		for name, who := range map[string]struct{ from, cookie string }{
			"a known learner at the flooder's address": {
				"127.0.0.2", knownCookie(learners, server, fmt.Sprint("known-", i)),
			},
			"a newcomer elsewhere": {fmt.Sprint("127.0.1.", i), ""},
		} {
			all.Go(func() {
				v, answer, err := visit(t, server, who.from, who.cookie)
				if err != nil {
					t.Errorf("%s: %v, %v", name, err, answer)
					return
				}
				defer v.conn.Close()
				if err := v.learn(); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			})
		}
	}
	all.Wait()
	// A browser reloads the page until it gets a cookie. From then on, it is served.
	cookie := ""
	for cookie == "" {
		cookie = firstVisit(t, server, "127.0.0.2")
	}
	v, answer, err := visit(t, server, "127.0.0.2", cookie)
	if err != nil {
		t.Fatalf("a newcomer at the flooder's address: %v, %v", err, answer)
	}
	defer v.conn.Close()
	if err := v.learn(); err != nil {
		t.Errorf("a newcomer at the flooder's address: %v", err)
	}
}

// firstVisit requests a page from an address and returns the cookie, or "" if the request was
// refused.
func firstVisit(t *testing.T, server, from string) string {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	client := http.Client{Transport: &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true}}
	answer, err := client.Get(server + "/loop")
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	for _, c := range answer.Cookies() {
		return c.Name + "=" + c.Value
	}
	return ""
}

// TestClassWithoutCookies: a browser without cookies can follow a class but does not become a
// member, so nobody can vote twice or fill a room with empty names.
func TestClassWithoutCookies(t *testing.T) {
	t.Parallel()
	server := webtest.Serve(t, webtest.Options{})
	instructor, err := load.NewInstructor(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	address := "ws" + strings.TrimPrefix(server, "http") + "/ws?feed=class&room=" + instructor.Code
	d := websocket.Dialer{Subprotocols: []string{wire.ProtocolHTML}, HandshakeTimeout: browser.Patience}
	conn, _, err := d.Dial(address, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for n, command := range []string{`"cmd":"join","nick":"Ada"`, `"cmd":"vote","poll":"1","choice":"a","number":1`} {
		v := &visitor{t: t, conn: conn}
		err := v.ask(n+1, `{"n":%d,`+command+`}`)
		if err == nil || !strings.Contains(err.Error(), "does not accept cookies") {
			t.Errorf("%s: got error %v, want an error containing %q", command, err, "does not accept cookies")
		}
	}
	phone := load.Phone{URL: server, Code: instructor.Code} // visits a page first, as a phone's browser does
	if err := phone.Dial(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer phone.HangUp()
	err = phone.Follow(func(f load.Frame) error {
		var m struct {
			Data struct{ You *struct{ Member int } }
		}
		if err := json.Unmarshal(f.Body, &m); err != nil || m.Data.You == nil {
			return err
		}
		if m.Data.You.Member != 1 {
			t.Errorf("the first phone with a cookie is member %d, want 1", m.Data.You.Member)
		}
		return io.EOF
	})
	if !errors.Is(err, io.EOF) {
		t.Errorf("got error %v, want %v", err, io.EOF)
	}
}
