package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/journal/stream/streamtest"
)

// roundRobin is a load balancer that sends each request and each socket, from any client, to the
// next server that accepts connections.
type roundRobin struct {
	*httptest.Server
	mu      sync.Mutex
	servers []string // the servers' addresses
	next    int
	took    map[string]int // the server that got the latest request, by method and path
}

func newRoundRobin(t *testing.T) *roundRobin {
	t.Helper()
	b := &roundRobin{took: map[string]int{}}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: "next"})
			r.Out.Host = r.In.Host
		},
		Transport: b,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusBadGateway)
		},
	}
	b.Server = httptest.NewServer(proxy)
	t.Cleanup(b.Close)
	return b
}

// RoundTrip implements [http.RoundTripper].
func (b *roundRobin) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	for {
		b.mu.Lock()
		i := b.next % len(b.servers)
		b.next++
		b.took[r.Method+" "+r.URL.Path] = i
		to := b.servers[i]
		b.mu.Unlock()
		out := r.Clone(r.Context())
		out.URL.Host, out.Body = to, http.NoBody
		if len(body) > 0 {
			out.Body = io.NopCloser(bytes.NewReader(body))
		}
		res, err := http.DefaultTransport.RoundTrip(out)
		var dial *net.OpError
		if errors.As(err, &dial) && dial.Op == "dial" && r.Context().Err() == nil {
			continue // nothing was sent: try the next one
		}
		return res, err
	}
}

// of returns the server that received the latest request with the given method and path.
func (b *roundRobin) of(request string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.took[request]
}

// stays marks pages, so that stayed can detect whether they were reloaded.
func stays(tabs ...*browser.Tab) {
	for _, tab := range tabs {
		tab.MayLose()
		tab.Eval(`window.stays = true`)
	}
}

// stayed fails the test if a marked page was reloaded.
func stayed(t *testing.T, when string, tabs ...*browser.Tab) {
	t.Helper()
	for _, tab := range tabs {
		if !browser.Value[bool](tab, `window.stays === true`) {
			t.Errorf("%s, the page %s was reloaded", when, tab.URL())
		}
	}
}

// TestPagesMoveToOtherServers: in real browsers, behind a load balancer that sends every request to
// a different server, a class continues when the server that owns it stops in the middle of a vote,
// and a single learner's run continues when its server stops. No page is reloaded, and every vote
// counts once.
// Promise: When a server of a cluster stops, open pages move to another one without a reload.
func TestPagesMoveToOtherServers(t *testing.T) {
	fixture.Long(t)
	b := newRoundRobin(t)
	nats := streamtest.Node(t, t.TempDir(), streamtest.Listening(-1)).ClientURL()
	all := servers(t, 3, nats, clusterSecret(t), "-allow-host", b.Listener.Addr().String())
	for _, s := range all {
		b.servers = append(b.servers, strings.TrimPrefix(s.url, "http://"))
	}
	stop := func(i int) {
		t.Helper()
		if exit := all[i].end(); exit != exitDone {
			t.Errorf("server %d: exit %d, want %d: %s", i, exit, exitDone, all[i].errors)
		}
	}

	presenter := browser.Open(t, browser.Chromebook, b.URL+"/teach")
	presenter.Type("#title", "Room 7")
	presenter.Click(".make .btn--main")
	presenter.Wait("the new room", `document.querySelector(".made__code")`)
	code := strings.Split(presenter.URL(), "/")[4]
	owner := b.of("POST /teach")
	presenter.Go(b.URL + "/class/" + code + "/present")
	wall := presenter.Another(browser.Desktop, b.URL+"/class/"+code+"/projector")
	class := []*browser.Tab{presenter, wall}
	var phones []*browser.Tab
	for range 2 {
		phones = append(phones, browser.Open(t, browser.Phone, b.URL+"/join?code="+strings.ToLower(code)))
	}
	class = append(class, phones...)
	everybody := func(what, script string) {
		t.Helper()
		for _, tab := range class {
			tab.Wait(what, script)
		}
	}
	text := func(words string) string {
		return fmt.Sprintf(`(document.body?.textContent ?? "").replace(/\s+/g, " ").includes(%q)`, words)
	}
	presenter.Wait("two phones", text("2 here"))
	stays(class...)
	presents(presenter, code, "start", "prompt", "Once upon a time there was a")
	everybody("the text", text("Once upon a time"))
	presents(presenter, code, "ask-next", "where", "here")
	everybody("the question", `document.querySelector("#cl-ask, #cl-poll, [data-phase]")`)
	casts(phones[0], "a")
	presenter.Wait("a vote", text("1 of 2 have voted"))

	stop(owner) // the server that owns the room
	casts(phones[1], "b")
	everybody("both votes", text("2 of 2 have voted"))
	presents(presenter, code, "close")
	presents(presenter, code, "spread")
	everybody("the result of the vote", `document.querySelector('[data-phase="spread"]')`)
	presents(presenter, code, "reveal")
	presents(presenter, code, "dismiss")
	presents(presenter, code, "forward")
	stayed(t, "after the class's server stopped", class...)

	alone := openNumbers(t, browser.Laptop, b.URL)
	alone.Type("#prompt", "Once upon a time")
	alone.Keys(browser.Tabulator)
	alone.Click(`#prompt-form button[type="submit"]`)
	waitStage(alone, 1)
	next := func(key string, stage int) {
		t.Helper()
		alone.Keys(key)
		waitStage(alone, stage)
	}
	next(browser.ArrowRight, 2)
	next(browser.ArrowRight, 3)
	shown := figures(alone)
	stays(alone)
	stop(b.of("GET /ws")) // the latest socket belongs to the learner
	alone.Wait("the run on another server", `document.documentElement.dataset.conn === "live" && `+
		`document.getElementById("told")?.textContent.includes("rebuilt from the link")`)
	next(browser.ArrowRight, 4)
	next(browser.ArrowLeft, 3)
	if now := figures(alone); now != shown {
		t.Errorf("on another server, stage 3 has\n%s\nwant\n%s", now, shown)
	}
	presents(presenter, code, "ask-next", "where", "here")
	casts(phones[0], "b")
	casts(phones[1], "b")
	everybody("both votes on the last server", text("2 of 2 have voted"))
	stayed(t, "after another server stopped", append(class, alone)...)
}

// presents sends a command through the presenter's page.
func presents(tab *browser.Tab, code, cmd string, fields ...string) {
	form := url.Values{"cmd": {cmd}}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	tab.Await(fmt.Sprintf(`return (async () => {
		const headers = {"Viz-Fragment": "1", "Content-Type": "application/x-www-form-urlencoded"};
		const r = await fetch("/class/%s/do", {method: "POST", headers, body: %q});
		window.answer = r.status === 204 ? "" : r.status + ": " + await r.text();
	})()`, code, form.Encode()))
	if answer := browser.Value[string](tab, "window.answer"); answer != "" {
		tab.Fail("%s: %s", cmd, answer)
	}
}

// casts casts a vote on a phone.
func casts(phone *browser.Tab, letter string) {
	button := `#cl-poll button[data-letter="` + letter + `"]`
	browser.Touch(phone).Press(button)
	phone.Wait("a vote that counts", `document.querySelector('`+button+` em')?.textContent === "your vote, counted"`)
}
