package classroom_test

import (
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/web"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/classroom"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/webtest"
)

// letting is a server on 127.0.0.1 that can let phones in. 127.0.0.2 represents its address in a
// private network.
type letting struct {
	base    string // "http://127.0.0.1:8080"
	phones  *classroom.Phones
	hosts   atomic.Pointer[[]classroom.PhoneHost]
	server  *web.Server
	served  atomic.Int32  // number of listeners that were opened
	stopped chan struct{} // receives a value for each listener that was closed
}

const phoneIP = "127.0.0.2"

func newLetting(t *testing.T) *letting {
	t.Helper()
	if l, err := net.Listen("tcp", phoneIP+":0"); err != nil {
		t.Skipf("this machine has no second address: %v", err)
	} else if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	s := &letting{stopped: make(chan struct{}, 10)}
	s.hosts.Store(&[]classroom.PhoneHost{{IP: phoneIP, Interface: "wlan0"}})
	s.base = webtest.Server(t, webtest.Options{
		Access: classroom.Access{Local: true, Command: "viz -addr 0.0.0.0:8080"},
		Change: func(cfg *web.Config) {
			main, err := net.ResolveTCPAddr("tcp", cfg.AllowedHosts[0])
			if err != nil {
				t.Fatal(err)
			}
			s.phones = classroom.NewPhones(classroom.PhonesConfig{
				Main: main, Hosts: func() []classroom.PhoneHost { return *s.hosts.Load() }, Serve: s.serve,
				Listen: classroom.ListenTCP,
			})
			cfg.Classes.Phones = s.phones
		},
		Started: func(w *web.Server) { s.server = w },
	})
	t.Cleanup(s.phones.End)
	return s
}

func (s *letting) serve(l net.Listener, _ *url.URL) func() {
	s.served.Add(1)
	server := &http.Server{Handler: shell.Phones(s.server.Handler()), ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(l) }() // until it is closed
	return func() {
		_ = server.Close()
		s.stopped <- struct{}{}
	}
}

// closes waits until the listener is closed.
func (s *letting) closes(t *testing.T, when string) {
	t.Helper()
	select {
	case <-s.stopped:
	case <-time.After(browser.Patience):
		t.Fatalf("%s: the listener is still open, want it closed", when)
	}
}

// own returns the headers that a browser sends with a form on one of the server's own pages.
func (s *letting) own() http.Header {
	return http.Header{"Origin": {s.base}, "Sec-Fetch-Site": {"same-origin"}}
}

// press returns the form that the button on a room's page sends, with a new token.
func press(page page, do string) url.Values {
	token := page.Find("#let-in-form [name=token]").AttrOr("value", "")
	return url.Values{"do": {do}, "page": {"made"}, "host": {phoneIP}, "token": {token}}
}

// sends presses the button with the given headers and returns the response.
func (s *letting) sends(p *person, code string, form url.Values, header http.Header) page {
	p.t.Helper()
	return p.send(http.MethodPost, "/class/"+code+"/phones", form, header)
}

// status returns the HTTP status of a response to a request with the given address and host
// name.
func (s *letting) status(t *testing.T, at, host string) int {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, at+"/healthz", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host, r.Close = host, true
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0
	}
	answer.Body.Close()
	return answer.StatusCode
}

const letInButton = `[data-dialog="d-let-in"]`

// showsButton checks that the pages of a room show the button only on this machine.
func (s *letting) showsButton(t *testing.T, p *person, code string) {
	t.Helper()
	pages := []string{"/teach", "/class/" + code + "/made", "/class/" + code + "/present"}
	for _, path := range pages {
		if got := p.get(path).Find(letInButton).Length(); got != 1 {
			t.Errorf("%s: got %d buttons, want 1", path, got)
		}
		for _, name := range []string{
			"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "Via", "X-Real-Ip", "Client-Ip",
			"True-Client-Ip", "Cf-Connecting-Ip", "Cf-Ray", "X-Original-Host", "X-Azure-Clientip", "Cdn-Loop",
		} {
			got := p.send(http.MethodGet, path, nil, http.Header{name: {"x"}})
			if n := got.Find(letInButton).Length(); n != 0 || got.status != http.StatusOK {
				t.Errorf("%s with %s: got %d buttons, status %d; want 0, 200", path, name, n, got.status)
			}
		}
	}
}

// TestOnlyThisMachinesOwnPageLetsPhonesIn: only a browser on the machine sees the button,
// and each press counts only once and only if it comes from the page with the button.
// Promise: Only a browser on the server's own machine can let phones in.
func TestOnlyThisMachinesOwnPageLetsPhonesIn(t *testing.T) {
	t.Parallel()
	s := newLetting(t)
	p, code := instructor(t, s.base, url.Values{})
	other, otherCode := instructor(t, s.base, url.Values{})
	s.showsButton(t, p, code)
	// The Enter key in a field presses a form's first button.
	first := p.get("/teach").Find(`#make button, button[form="make"]`).First()
	if name, has := first.Attr("name"); has {
		t.Errorf("the new-room form's first button is %q, want one that does not let phones in",
			name)
	}
	made := "/class/" + code + "/made"
	good := press(p.get(made), "open")
	with := func(name string, values ...string) http.Header {
		h := s.own()
		h[name] = values
		return h
	}
	without := s.own()
	delete(without, "Origin")
	token := func(value string) url.Values { return url.Values{"do": {"open"}, "host": {phoneIP}, "token": {value}} }
	port := s.base[strings.LastIndex(s.base, ":"):]
	const proxy, page, old, gate = "not through a proxy", "came from elsewhere", "already been", "does not accept"
	for _, c := range []struct {
		name   string
		form   url.Values
		header http.Header
		says   string
	}{
		{"another site's page", good, with("Origin", "https://evil.example"), gate},
		{"another name of the server", good, with("Origin", "http://localhost"+port), page},
		{"no origin", good, without, page},
		{"two origins", good, with("Origin", s.base, s.base), page},
		{"another site", good, with("Sec-Fetch-Site", "cross-site"), gate},
		{"another program's page on this machine", good, with("Sec-Fetch-Site", "same-site"), page},
		{"a proxy", good, with("X-Forwarded-For", "10.0.0.9"), proxy},
		{"a proxy that names no one", good, with("Via", ""), proxy},
		{"no token", token(""), s.own(), old},
		{"an invented token", token("AAAA"), s.own(), old},
		{"another room's token", press(other.get("/class/"+otherCode+"/made"), "open"), s.own(), old},
	} {
		got := s.sends(p, code, c.form, c.header)
		if got.status != http.StatusForbidden || !strings.Contains(got.text, c.says) {
			t.Errorf("%s: got %d, %s; want 403 and %q", c.name, got.status, words(got.Selection), c.says)
		}
	}
	if got := s.phones.Host(); got != "" {
		t.Fatalf("after refusals, phones are let in at %s, want nowhere", got)
	}
	if got := s.sends(p, code, good, s.own()); got.status != http.StatusOK || got.path != made {
		t.Fatalf("pressing the button on the page: got %d at %s, want 200 at %s: %s", got.status, got.path, made,
			words(got.Selection))
	}
	if got := s.sends(p, code, good, s.own()); got.status != http.StatusForbidden {
		t.Errorf("the same press again: got %d, want 403", got.status)
	}
	s.keepsPhonesOut(t, press(p.get(made), "close"))
}

// keepsPhonesOut checks that phones that were let in cannot press the button.
func (s *letting) keepsPhonesOut(t *testing.T, closing url.Values) {
	t.Helper()
	const proxy = "not through a proxy"
	guest, guestCode := instructor(t, "http://"+s.phones.Host(), url.Values{})
	for _, path := range []string{"/teach", "/class/" + guestCode + "/made", "/class/" + guestCode + "/present"} {
		if n := guest.get(path).Find(letInButton + ", [name=token]").Length(); n != 0 {
			t.Errorf("%s for a phone: got %d buttons and tokens, want 0", path, n)
		}
	}
	from := http.Header{"Origin": {guest.base}, "Sec-Fetch-Site": {"same-origin"}}
	if got := s.sends(guest, guestCode, closing, from); got.status != http.StatusForbidden ||
		!strings.Contains(got.text, proxy) {
		t.Errorf("a press over the phones' listener: got %d, %s; want 403 and %q", got.status, got.text, proxy)
	}
	got := guest.send(http.MethodPost, "/teach", url.Values{"let-in": {"x"}}, from)
	if got.status != http.StatusForbidden {
		t.Errorf("a room made by a phone that lets phones in: got %d, want 403", got.status)
	}
}

// TestPhonesAreLetInUntilTheirRoomsEnd: the listener opens once for all rooms that request
// it. Its address becomes the server's only additional name. It closes when the last of
// these rooms ends, or on request.
// Promise: When the last class that let phones in has ended, the server is closed to the network again.
func TestPhonesAreLetInUntilTheirRoomsEnd(t *testing.T) {
	t.Parallel()
	s := newLetting(t)
	own := strings.TrimPrefix(s.base, "http://")
	late, lateCode := instructor(t, s.base, url.Values{})
	var rooms [2]struct {
		p    *person
		code string
		form url.Values
	}
	for i := range rooms {
		p, code := instructor(t, s.base, url.Values{})
		rooms[i].p, rooms[i].code, rooms[i].form = p, code, press(p.get("/class/"+code+"/made"), "open")
	}
	guess := phoneIP + own[strings.LastIndex(own, ":"):]
	if got := s.status(t, s.base, guess); got != http.StatusMisdirectedRequest {
		t.Errorf("the phones' address before they are let in: got %d, want 421", got)
	}
	var pressing sync.WaitGroup
	for _, r := range rooms {
		pressing.Go(func() { s.sends(r.p, r.code, r.form, s.own()) })
	}
	pressing.Wait()
	at := s.phones.Host()
	if n := s.served.Load(); n != 1 || !strings.HasPrefix(at, phoneIP+":") {
		t.Fatalf("pressing twice at once: got %d listeners, the newest at %q; want 1 at %s", n, at, phoneIP)
	}
	for _, r := range rooms {
		made := r.p.get("/class/" + r.code + "/made")
		link := "http://" + at + "/class/" + r.code
		if got := made.Find(".qr").AttrOr("aria-label", ""); got != "QR code: "+link ||
			!strings.Contains(words(made.Find(".made__how")), "Join at "+at+"/join") {
			t.Errorf("got %q, %q; want the address %s in both", got, words(made.Find(".made__how")), at)
		}
		present := r.p.get("/class/" + r.code + "/present")
		if got := words(present.Find("#d-let-in")); !strings.Contains(got, "Shut phones out") ||
			!strings.Contains(words(present.Find(".join")), at+"/join") {
			t.Errorf("the presenter's page shows %q and %q, want %s and Shut phones out", words(present.Find(".join")),
				got, at)
		}
	}
	for host, want := range map[string]int{
		at: 200, own: 200, "evil.example": 421, phoneIP: 421, phoneIP + ":1": 421, "192.168.0.7:8080": 421,
	} {
		if got := s.status(t, "http://"+at, host); got != want {
			t.Errorf("while phones are let in, %s: got %d, want %d", host, got, want)
		}
	}
	if got := newPerson(t, "http://"+at).get("/class/" + rooms[0].code).status; got != http.StatusOK {
		t.Errorf("a phone's page: got %d, want 200", got)
	}

	// An older room whose page shows that phones are let in keeps the listener open.
	late.get("/class/" + lateCode + "/present")
	if got := s.phones.Held(); got != 3 {
		t.Errorf("%d rooms keep the listener open, want 3", got)
	}
	late.do(lateCode, "end")
	rooms[0].p.do(rooms[0].code, "end")
	if got := s.phones.Host(); got != at {
		t.Errorf("while one room has not ended, phones are let in at %q, want %s", got, at)
	}
	rooms[1].p.do(rooms[1].code, "delete", "sure", "yes")
	s.closes(t, "all rooms have ended")
	if old, main := s.status(t, "http://"+at, at), s.status(t, s.base, at); old != 0 || main != 421 {
		t.Errorf("afterwards, the listener responds with %d, the server with %d; want 0 (nothing), 421", old, main)
	}

	s.letsInWithANewRoom(t)
}

// letsInWithANewRoom checks the button on the page that creates a room, and that a presenter can
// close the listener.
func (s *letting) letsInWithANewRoom(t *testing.T) {
	t.Helper()
	p := newPerson(t, s.base)
	form := url.Values{"host": {phoneIP}, "let-in": {p.get("/teach").Find("[name=let-in]").AttrOr("value", "")}}
	made := p.send(http.MethodPost, "/teach", form, s.own())
	if made.status != http.StatusOK || !strings.Contains(words(made.Selection), "Phones are let in") {
		t.Fatalf("a room with phones: got %d, %s; want 200 and that phones are let in", made.status,
			words(made.Selection))
	}
	code := strings.Split(made.path, "/")[2]
	if again := p.send(http.MethodPost, "/teach", form, s.own()); again.status != http.StatusForbidden {
		t.Errorf("the same form again: got %d, want 403", again.status)
	}
	closed := s.sends(p, code, press(made, "close"), s.own())
	s.closes(t, "the presenter has closed it")
	if closed.status != http.StatusOK || closed.Find(letInButton).Length() != 1 || s.phones.Host() != "" {
		t.Errorf("after closing: got %d, %d buttons, open at %q; want 200, 1, nowhere", closed.status,
			closed.Find(letInButton).Length(), s.phones.Host())
	}
}

// TestRoomGoesOnWithoutPhones: if the listener cannot be opened, the page explains why and
// otherwise works as usual.
func TestRoomGoesOnWithoutPhones(t *testing.T) {
	t.Parallel()
	s := newLetting(t)
	p, code := instructor(t, s.base, url.Values{})
	made := "/class/" + code + "/made"
	const foreign = "192.0.2.1" // no machine has this address
	s.hosts.Store(&[]classroom.PhoneHost{{IP: phoneIP, Interface: "wlan0"}, {IP: foreign, Interface: "eth0"}})
	choices := p.get(made).Find(`#d-let-in select[name="host"] option`)
	if choices.Length() != 2 || choices.First().AttrOr("value", "") != phoneIP ||
		choices.Last().AttrOr("value", "") != foreign {
		t.Errorf("got %d addresses to choose from, want %s and %s", choices.Length(), phoneIP, foreign)
	}
	refused := func(host, page, selector, says string) {
		t.Helper()
		form := press(p.get(made), "open")
		form["host"], form["page"] = []string{host}, []string{page}
		got := s.sends(p, code, form, s.own())
		if got.status != http.StatusConflict || !strings.Contains(words(got.Find(selector)), says) ||
			got.Find(letInButton).Length() != 1 {
			t.Errorf("%q on %s: got %d, %q; want 409, %q, and the button", host, page, got.status,
				words(got.Find(selector)), says)
		}
	}
	refused(foreign, "made", ".field-error", "could not listen on "+foreign)
	refused(foreign, "present", "#told", "could not listen on "+foreign)
	for _, host := range []string{"", "127.0.0.3", "0.0.0.0", "localhost", phoneIP + ":1"} {
		refused(host, "made", ".field-error", "no longer has that address")
	}
	form := url.Values{"host": {foreign}, "let-in": {p.get("/teach").Find("[name=let-in]").AttrOr("value", "")}}
	got := p.send(http.MethodPost, "/teach", form, s.own())
	if link := got.Find("[data-secret]").AttrOr("value", ""); got.status != http.StatusConflict ||
		!strings.Contains(link, "/present?key=") {
		t.Errorf("a new room without phones: got %d, the link %q; want 409 and the instructor's link", got.status, link)
	}
	s.hosts.Store(&[]classroom.PhoneHost{})
	if got := words(p.get(made).Find("#d-let-in")); !strings.Contains(got, "no address in a private network") {
		t.Errorf("without an address: got %q, want a message about it", got)
	}
	s.hosts.Store(&[]classroom.PhoneHost{{IP: phoneIP, Interface: "wlan0"}})
	s.sends(p, code, press(p.get(made), "open"), s.own())
	s.hosts.Store(&[]classroom.PhoneHost{})
	if got := words(p.get(made).Find(".callout")); !strings.Contains(got, "no longer has that address") {
		t.Errorf("if the open listener's address is gone: got %q, want a message about it", got)
	}
	s.phones.End()
	s.closes(t, "the server shuts down")
	s.hosts.Store(&[]classroom.PhoneHost{{IP: phoneIP, Interface: "wlan0"}})
	refused(phoneIP, "made", ".field-error", "shutting down")
}
