package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/lessons"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/cluster"
	"github.com/tokenbytoken/viz/web/journal/stream/streamtest"
	"github.com/tokenbytoken/viz/web/store"
)

// clusterSecret returns a file for -cluster-secret.
func clusterSecret(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte(strings.Repeat("5ec2e7", 11)[:64]+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// servers starts several servers of one cluster in this process.
func servers(t *testing.T, n int, nats, secret string, more ...string) (list []*served) {
	t.Helper()
	for range n {
		args := []string{"-addr", "127.0.0.1:0", "-no-open", "-cluster", nats, "-cluster-secret", secret}
		s := start(t, append(args, more...)...)
		s.out.wait(t, "Ctrl-C")
		list = append(list, s)
	}
	return list
}

// within returns a context with a timeout so long that only a failing test reaches it.
func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), browser.Patience)
	t.Cleanup(cancel)
	return ctx
}

// TestClassSpansClusterServers: a class is still one class if its instructor, presenter's socket,
// phones and pages use different servers, and all servers recognize the same learner.
// Promise: In a cluster, instructor, presenter and phones of one class can be on different servers.
func TestClassSpansClusterServers(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	ctx, secret := within(t), clusterSecret(t)
	all := servers(t, 3, streamtest.Node(t, t.TempDir(), streamtest.Listening(-1)).ClientURL(), secret)
	a, b, c := all[0], all[1], all[2]
	jar, err := cookiejar.New(nil) // its cookies apply to every port
	if err != nil {
		t.Fatal(err)
	}
	sectionIsKeptEverywhere(t, jar, all)

	code := roomMade(t, a, jar)
	var phones []*stayer
	for i, s := range all {
		phones = append(phones, newStayer(t, fmt.Sprint("phone ", i), s.url, code, "", false))
	}
	do := func(s *served, cmd string, fields url.Values) {
		t.Helper()
		form := url.Values{"cmd": {cmd}}
		for k, v := range fields {
			form[k] = v
		}
		status, page := s.request(t, jar, http.MethodPost, "/class/"+code+"/do", form)
		if status != http.StatusOK {
			_, says, _ := strings.Cut(page, "<main")
			t.Fatalf("presenter command %s: got status %d, want %d: %.900s", cmd, status, http.StatusOK, says)
		}
	}
	everybody := func(what string, is func(sh shot) bool) (last shot) {
		t.Helper()
		for _, p := range phones {
			if last, err = p.until(ctx, func() bool { return len(p.shots) > 0 && is(p.last()) }); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
		return last
	}
	everybody("following", func(shot) bool { return true })
	do(b, "start", url.Values{"prompt": {"Once upon a time"}})
	do(c, "forward", nil)
	do(a, "ask-next", url.Values{"n": {"3"}, "where": {"here"}})
	poll := everybody("the question", func(sh shot) bool { return sh.Poll != nil && len(sh.Poll.Options) >= 3 }).Poll
	for i, p := range phones {
		if err := p.cast(ctx, poll.ID, poll.Round, poll.Options[i%2].Key, int64(i+1)); err != nil {
			t.Fatalf("%s: %v", p.name, err)
		}
	}
	presenterSocket(t, jar, a, c, code)
	do(c, "close", nil)
	do(b, "reveal", nil)
	sh := everybody("the result", func(sh shot) bool { return sh.Poll != nil && sh.Poll.Phase == "revealed" })
	got := roundCounts(sh.Shared)
	if got[poll.Options[0].Key] != 2 || got[poll.Options[1].Key] != 1 || sh.Poll.Votes != 3 {
		t.Errorf("got votes %v, %d in total; want 2 and 1, 3 in total", got, sh.Poll.Votes)
	}
	pagesOfClass(t, jar, all, code)
	checkTogether(t, phones)

	do(b, "delete", nil)
	for i, s := range all {
		browser.Eventually(t, func() bool {
			status, _ := s.request(t, jar, http.MethodGet, "/class/"+code, nil)
			return status == http.StatusNotFound || status == http.StatusGone
		})
		phones[i].end()
	}
	for _, s := range all {
		if exit := s.end(); exit != exitDone || strings.Contains(s.errors.String(), "level=ERROR") {
			t.Errorf("exit %d: %s; want %d without %q", exit, s.errors, exitDone, "level=ERROR")
		}
	}
}

// sectionIsKeptEverywhere makes a learner read a section on one server, and checks that every
// server exports it as read.
func sectionIsKeptEverywhere(t *testing.T, jar http.CookieJar, all []*served) {
	t.Helper()
	course, err := lessons.Load()
	if err != nil {
		t.Fatal(err)
	}
	section := course.Lessons[0].Sections[0].Key()
	all[0].visit(t, jar)
	for i, s := range all {
		if i == 1 {
			form := url.Values{"section": {section}}
			if status, page := s.request(t, jar, http.MethodPost, "/learn/visit", form); status != http.StatusOK {
				t.Fatalf("a visit: got %d %.300s; want %d", status, page, http.StatusOK)
			}
		}
		if status, page := s.request(t, jar, http.MethodGet, "/readyz", nil); status != http.StatusOK {
			t.Errorf("/readyz: got %d %s; want %d", status, page, http.StatusOK)
		}
	}
	for i, s := range all {
		_, file := s.request(t, jar, http.MethodGet, "/progress/export", nil)
		if !strings.Contains(file, section) {
			t.Errorf("server %d exports %s, want it to contain %q", i, file, section)
		}
	}
}

// roomMade creates a room by submitting the form, and returns the room's code.
func roomMade(t *testing.T, s *served, jar http.CookieJar) string {
	t.Helper()
	client := http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	form := url.Values{"title": {"Physics"}, "nicknames": {"on"}}
	r, err := http.NewRequest(http.MethodPost, s.url+"/teach", strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	path, _ := strings.CutPrefix(res.Header.Get("Location"), "/class/")
	code, _, _ := strings.Cut(path, "/")
	if len(code) != 6 {
		t.Fatalf(
			"creating a room: got %s, leading to %q; want a redirect to a room with a code of 6 letters", res.Status,
			res.Header.Get("Location"),
		)
	}
	return code
}

// presenterSocket gets a ticket from one server and opens the presenter's connection on another.
func presenterSocket(t *testing.T, jar http.CookieJar, ticketFrom, opens *served, code string) {
	t.Helper()
	_, answer := ticketFrom.request(t, jar, http.MethodPost, "/class/"+code+"/ticket", nil)
	var got struct{ Ticket string }
	if err := json.Unmarshal([]byte(answer), &got); err != nil || got.Ticket == "" {
		t.Fatalf("asking for a ticket: got %q, %v; want a ticket, <nil>", answer, err)
	}
	q := url.Values{"feed": {"present"}, "room": {code}, "ticket": {got.Ticket}}
	d := websocket.Dialer{Jar: jar, Subprotocols: []string{"viz.html.v1"}, HandshakeTimeout: browser.Patience}
	conn, _, err := d.Dial("ws"+strings.TrimPrefix(opens.url, "http")+"/ws?"+q.Encode(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetReadDeadline(time.Now().Add(browser.Patience))
	for {
		var m struct {
			Seq   uint64
			Error *struct{ Message string }
		}
		if err := conn.ReadJSON(&m); err != nil {
			t.Fatal(err)
		}
		if m.Error != nil {
			t.Fatalf("the presenter's socket: got error %s, want none", m.Error.Message)
		}
		if m.Seq > 0 {
			return
		}
	}
}

// pagesOfClass checks the pages of a class on every server.
func pagesOfClass(t *testing.T, jar http.CookieJar, all []*served, code string) {
	t.Helper()
	for path, want := range map[string]string{
		"/present": "Physics", "/projector": code[:3], "/summary": "Physics", "/summary.csv": "vote", "": "<main",
	} {
		var first string
		for i, s := range all {
			status, page := s.request(t, jar, http.MethodGet, "/class/"+code+path, nil)
			if status != http.StatusOK || !strings.Contains(page, want) {
				t.Errorf("GET /class/CODE%s of server %d: %d, without %q", path, i, status, want)
			}
			if first == "" {
				first = page
			}
			if path == "/summary.csv" && page != first {
				t.Errorf("server %d exports\n%s\nwant the same as the first server:\n%s", i, page, first)
			}
		}
	}
}

// TestServerSurvivesNATSOutage: while NATS is down, a server reports the outage and keeps running;
// afterwards, everything works again. A server that cannot reach NATS when it starts reports why.
// Promise: While NATS is away, the servers of a cluster report it, and they recover without help.
func TestServerSurvivesNATSOutage(t *testing.T) { // not parallel: its servers have shorter timeouts
	fixture.Long(t)
	before := clusterTimes
	t.Cleanup(func() { clusterTimes = before })
	clusterTimes.life, clusterTimes.answer, clusterTimes.call = time.Second, 500*time.Millisecond, time.Second
	secret, dir := clusterSecret(t), t.TempDir()
	nats := streamtest.Node(t, dir, streamtest.Listening(-1))
	at, port := nats.ClientURL(), nats.Addr().(*net.TCPAddr).Port
	s := servers(t, 1, at, secret)[0]
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	sectionIsKeptEverywhere(t, jar, []*served{s, s})
	code := roomMade(t, s, jar)
	why := store.Why(store.ErrAway)
	ready := func(want int) {
		t.Helper()
		browser.Eventually(t, func() bool {
			status, page := s.request(t, jar, http.MethodGet, "/readyz", nil)
			return status == want && (want == http.StatusOK || strings.Contains(page, why))
		})
	}

	streamtest.Stop(nats)
	ready(http.StatusServiceUnavailable)
	for _, path := range []string{"/learn", "/loop", "/quiz"} {
		if status, page := s.request(t, jar, http.MethodGet, path, nil); status != http.StatusOK {
			t.Errorf("GET %s: got %d %.300s; want %d", path, status, page, http.StatusOK)
		}
	}
	for path, form := range map[string]url.Values{
		"/learn/visit": {"section": {"loop#why"}}, "/progress/delete": {"sure": {"yes"}}, "/teach": {"title": {"No"}},
		"/class/" + code + "/do": {"cmd": {"start"}, "prompt": {"No"}},
	} {
		if status, page := s.request(t, jar, http.MethodPost, path, form); status < http.StatusBadRequest {
			t.Errorf("POST %s: got %d %.300s; want at least %d", path, status, page, http.StatusBadRequest)
		}
	}

	streamtest.Node(t, dir, streamtest.Listening(port))
	ready(http.StatusOK)
	_, file := s.request(t, jar, http.MethodGet, "/progress/export", nil)
	if !strings.Contains(file, `"sections"`) && !strings.Contains(file, `"visits"`) {
		t.Errorf("after NATS came back, the export is %s, want it to list sections or visits", file)
	}
	browser.Eventually(t, func() bool {
		form := url.Values{"cmd": {"start"}, "prompt": {"Again"}}
		status, _ := s.request(t, jar, http.MethodPost, "/class/"+code+"/do", form)
		return status == http.StatusOK
	})
	if exit := s.end(); exit != exitDone {
		t.Errorf("exit %d, want %d: %s", exit, exitDone, s.errors)
	}
}

// TestUnusableClusterFlagsAreRefused: unusable cluster flags are refused with advice.
// Promise: The server does not start with a missing or invalid cluster secret, and explains how to make one.
func TestUnusableClusterFlagsAreRefused(t *testing.T) {
	good := clusterSecret(t)
	bad := filepath.Join(t.TempDir(), "bad")
	if err := os.WriteFile(bad, []byte("5ec2e7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const how, name = "openssl rand -hex 32", "-cluster-secret"
	at := []string{"-cluster", "nats://a"}
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"-cluster", "http://a"}, []string{"-cluster", "nats://HOST:PORT"}},
		{[]string{"-cluster", "nats://a,"}, []string{"-cluster", "nats://HOST:PORT"}},
		{at, []string{"-cluster requires -cluster-secret", how}},
		{append(slices.Clone(at), name, bad), []string{name, "64 hexadecimal digits", how}},
		{append(slices.Clone(at), name, bad+"x"), []string{name, "no such file", how}},
		{[]string{"-cluster-secret", good}, []string{"-cluster-secret requires -cluster"}},
		{[]string{"-cluster-creds", good}, []string{"-cluster-creds requires -cluster"}},
		{[]string{"-cluster", "nats://a", "-cluster-cert", good}, []string{"-cluster-cert", "-cluster-key"}},
	} {
		f := try(t, nil, "", append([]string{"serve", "-no-open", "-addr", "127.0.0.1:0"}, c.args...)...)
		for _, want := range c.want {
			if f.code != exitUsage || f.out != "" || !strings.Contains(f.errors, want) {
				t.Errorf("%q: exit %d, %q, without %q", c.args, f.code, f.errors, want)
			}
		}
	}
	got := cluster.Redacted("nats://ada:secret@a:4222,nats://b,nats://token@c")
	shown := strings.Contains(got, "secret") || strings.Contains(got, "token")
	if shown || !strings.Contains(got, "@a:4222,nats://b,") {
		t.Errorf("the addresses are printed as %s, want no password, and the hosts a:4222 and b", got)
	}
}
