package classroom

import (
	"crypto/tls"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/shell"
)

// ticketKey returns the key that two servers share.
func ticketKey() []byte { return []byte(strings.Repeat("k", 32)) }

// TestTicketIsSingleUse: a ticket opens one connection per server, even on a server that did
// not issue it, but only for its holder and its room. An attempt by someone else or for another
// room also uses it up. The ticket reveals nothing to anyone who sees it.
func TestTicketIsSingleUse(t *testing.T) {
	list, other := newTickets(ticketKey(), time.Now), newTickets(ticketKey(), time.Now)
	secret := class.Secret{1, 2, 3}
	number := list.give("ABC234", "ada", secret)
	for _, server := range []*tickets{list, other} {
		if got, ok := server.take(number, "ABC234", "ada"); !ok || got != secret {
			t.Errorf("the ticket's holder gets %v, %v; want %v, true", got, ok, secret)
		}
		if _, ok := server.take(number, "ABC234", "ada"); ok {
			t.Error("the ticket is valid twice")
		}
	}
	for _, c := range []struct{ what, code, who string }{
		{"someone else", "ABC234", "bob"},
		{"another room", "XYZ567", "ada"},
	} {
		number := list.give("ABC234", "ada", secret)
		if _, ok := list.take(number, c.code, c.who); ok {
			t.Errorf("the ticket is valid for %s, want it refused", c.what)
		}
		if _, ok := list.take(number, "ABC234", "ada"); ok {
			t.Errorf("the ticket is valid after an attempt with %s, want it used up", c.what)
		}
	}
	strange := newTickets([]byte(strings.Repeat("s", 32)), time.Now).give("ABC234", "ada", secret)
	for _, number := range []string{"none", "", strange, strings.Repeat("A", 1<<20)} {
		if _, ok := list.take(number, "ABC234", "ada"); ok {
			t.Errorf("%.20q is valid but was never issued", number)
		}
	}
	text, err := base64.RawURLEncoding.DecodeString(number)
	if err != nil || strings.Contains(string(text), "ABC234") {
		t.Errorf("a ticket contains %q, %v; want it without %q, <nil>", text, err, "ABC234")
	}
}

// TestTicketExpires: a ticket that is not used within a minute expires.
func TestTicketExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		list := newTickets(ticketKey(), time.Now)
		number := list.give("ABC234", "ada", class.Secret{1})
		fixture.Pass(ticketLife)
		if _, ok := list.take(number, "ABC234", "ada"); ok {
			t.Error("the ticket is valid after its time")
		}
	})
}

// TestRoomKeyStaysInItsRoom: the cookie with a room's key is hidden from scripts. It is sent
// only to that room's pages, and not with forms on other sites. If it was set over TLS, it
// is never sent unencrypted.
func TestRoomKeyStaysInItsRoom(t *testing.T) {
	for _, encrypted := range []bool{false, true} {
		r := httptest.NewRequest("POST", "/teach", nil)
		if encrypted {
			r.TLS = &tls.ConnectionState{}
		}
		w := httptest.NewRecorder()
		setSecret(w, r, "ABC234", class.Secret{1, 2, 3})
		c, err := http.ParseSetCookie(w.Header().Get("Set-Cookie"))
		if err != nil {
			t.Fatal(err)
		}
		if !c.HttpOnly || c.Path != "/class/ABC234" || c.Domain != "" || c.SameSite != http.SameSiteLaxMode ||
			c.Secure != encrypted || strings.HasPrefix(c.Name, "__Secure-") != encrypted {
			t.Errorf(
				"encrypted %v: got cookie %s, want it for the room's pages, hidden from scripts, secure if encrypted",
				encrypted, c,
			)
		}
	}
}

// TestHiddenNamesShowNumbers: while names are hidden, members are shown as numbers.
func TestHiddenNamesShowNumbers(t *testing.T) {
	ada := class.Attendee{Member: class.Member{ID: 7, Name: "Ada"}}
	for _, c := range []struct {
		hidden bool
		m      class.Attendee
		want   string
	}{
		{false, ada, "Ada"}, {true, ada, "Member 7"}, {false, class.Attendee{Member: class.Member{ID: 8}}, "Member 8"},
	} {
		if got := memberName(english, &class.View{NamesHidden: c.hidden}, c.m); got != c.want {
			t.Errorf("hidden %v: %+v is called %q, want %q", c.hidden, c.m, got, c.want)
		}
	}
}

// TestMembersAreText: members' names and votes never become markup on the instructor's
// page.
// Promise: Names and votes of a class never become markup on a page.
func TestMembersAreText(t *testing.T) {
	list := []class.Attendee{{Member: class.Member{ID: 7, Name: "<img src=x>"}, Voted: "<b>6</b>"}}
	var b strings.Builder
	if err := members(&class.View{}, list).Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	if html := b.String(); strings.Contains(html, "<img") || strings.Contains(html, "<b>6") ||
		!strings.Contains(html, "&lt;img src=x&gt;") || !strings.Contains(html, "&lt;b&gt;6&lt;/b&gt;") {
		t.Errorf(
			"the list is %s, want it without %q and %q, with %q and %q", html, "<img", "<b>6",
			"&lt;img src=x&gt;", "&lt;b&gt;6&lt;/b&gt;",
		)
	}
}

// TestWallCodeOpensTheRoom: the QR code on the wall leads to the room's page.
func TestWallCodeOpensTheRoom(t *testing.T) {
	d, err := newSlide(
		english, &class.View{Code: "ABC234", State: stateAt(t, infer.KindForward)}, shell.Numbers,
		reach{Base: "http://192.168.0.7:8080"}, nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := readQR(d.QR); err != nil || got != "http://192.168.0.7:8080/class/ABC234" {
		t.Errorf("the QR code reads %q, %v; want %q, <nil>", got, err, "http://192.168.0.7:8080/class/ABC234")
	}
}
