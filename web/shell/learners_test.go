package shell

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/web/admission"
)

// ask sends a request with the given cookies to a host, and returns its learner and the cookie to
// set.
func ask(l Learners, host string, cookies ...*http.Cookie) (string, *http.Cookie) {
	r := httptest.NewRequest(http.MethodGet, "http://"+host+"/", nil)
	for _, c := range cookies {
		r.AddCookie(c)
	}
	return l.Of(r)
}

func TestLearnerSurvivesARestart(t *testing.T) {
	t.Parallel()
	secret := []byte(strings.Repeat("s", 32))
	id, fresh := ask(Learners{secret: secret, lasts: true}, "127.0.0.1:8080")
	if fresh == nil || len(id) != 22 { // 16 bytes in base64
		t.Fatalf("a first request gives learner %q and cookie %v; want 22 bytes and a cookie", id, fresh)
	}
	// Another process reads the secret from the same folder and uses another port.
	again, cookie := ask(Learners{secret: secret, lasts: true}, "127.0.0.1:8081", fresh)
	if again != id || cookie != nil {
		t.Errorf("after a restart, the learner is %q with the new cookie %v, want %q and none", again, cookie, id)
	}
	// A server with another folder does not accept the cookie and does not overwrite it.
	other := Learners{secret: []byte(strings.Repeat("t", 32)), lasts: true}
	if stranger, cookie := ask(other, "127.0.0.1:8080", fresh); stranger == id || cookie == nil ||
		cookie.Name == fresh.Name {
		t.Errorf("with another secret: got learner %q and cookie %v, besides %s", stranger, cookie, fresh.Name)
	}
	// A changed id is not accepted.
	forged := *fresh
	forged.Value = "A" + forged.Value[1:]
	if strings.HasPrefix(fresh.Value, "A") {
		forged.Value = "B" + forged.Value[1:]
	}
	if got, cookie := ask(
		Learners{secret: secret, lasts: true}, "127.0.0.1:8080", &forged,
	); cookie == nil || got == forged.Value[:22] {
		t.Errorf("a forged cookie identifies learner %q, want a new one", got)
	}
}

// TestCallerBecomesKnown: a cookie contains the time when it was issued. A cookie without a time
// belongs to a known learner. Even if another program has set a cookie with the same name, the
// right cookie is found.
func TestCallerBecomesKnown(t *testing.T) {
	t.Parallel()
	l := NewLearners([]byte("secret"), admission.Proxies{netip.MustParsePrefix("10.0.0.0/8")})
	visit := func(from, forwarded string, cookies ...*http.Cookie) (admission.Caller, *http.Cookie) {
		r := httptest.NewRequest(http.MethodGet, "http://class.example/", nil)
		r.RemoteAddr = from
		r.Header.Set("X-Forwarded-For", forwarded)
		for _, c := range cookies {
			r.AddCookie(c)
		}
		return l.Caller(r)
	}
	first, cookie := visit("10.0.0.1:5", "192.0.2.7")
	now := time.Now()
	if cookie == nil || first.Known(now) || !first.Known(now.Add(admission.KnownAfter)) ||
		first.Address.String() != "192.0.2.7/32" {
		t.Errorf("a first visit: got %+v, want a new learner with a cookie who becomes known later", first)
	}
	strange := &http.Cookie{Name: cookie.Name, Value: "x.y.z"}
	again, fresh := visit("10.0.0.1:5", "192.0.2.7", strange, cookie)
	if fresh != nil || again.Learner != first.Learner || again.Since.Unix() != first.Since.Unix() {
		t.Errorf(
			"a second visit: got %+v, cookie %v; want fresh = nil, Learner = %q, Since.Unix() = %d", again, fresh,
			first.Learner, first.Since.Unix(),
		)
	}
	old := &http.Cookie{Name: cookie.Name, Value: l.sign("someone", time.Time{})}
	if c, fresh := visit("192.0.2.7:5", "", old); fresh != nil || c.Learner != "someone" || !c.Known(now) {
		t.Errorf("a cookie without a date: %+v, cookie %v", c, fresh)
	}
	rewritten := &http.Cookie{Name: cookie.Name, Value: strings.Replace(cookie.Value, ".", " ", 1), Quoted: true}
	if c, fresh := visit("192.0.2.7:5", "", rewritten); fresh == nil {
		t.Errorf("a cookie whose date was made part of the id: %+v", c)
	}
	later := &http.Cookie{Name: cookie.Name, Value: strings.Replace(cookie.Value, ".", ".0", 1)}
	if c, fresh := visit("192.0.2.7:5", "", later); fresh == nil {
		t.Errorf("a cookie with another date: %+v", c)
	}
	if c, _ := visit("127.0.0.1:5", ""); !c.Known(now) {
		t.Error("a caller on the server's own machine is not known")
	}
}

// TestAdmitLimitsRequests: all calls for a request return the same learner, and excess requests
// get 429 with Retry-After. Requests for files are not counted.
func TestAdmitLimitsRequests(t *testing.T) {
	t.Parallel()
	l := NewLearners([]byte("secret"), nil)
	one := admission.Pace{PerAddress: admission.Rate{PerSecond: 0.1, Burst: 1}}
	_, cookie := ask(l, "example.com")
	for name, limits := range map[string]admission.Limits{"requests": {Requests: one}, "cookies": {NewLearners: one}} {
		var seen []string
		h := l.Admit(admission.New(limits, nil), http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			for range 2 {
				id, _ := l.Of(r)
				seen = append(seen, id)
			}
		}))
		for i, row := range []struct {
			path string
			want int
		}{{"/", 200}, {"/", 429}, {"/static/a", 200}, {"/healthz", 200}} {
			w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, row.path, nil)
			if name == "requests" {
				r.AddCookie(cookie)
			}
			if h.ServeHTTP(w, r); w.Code != row.want || (w.Code == 429) != (w.Header().Get("Retry-After") == "10") {
				t.Errorf(
					"%s, request %d: got %d, %v; want %d, with Retry-After for 429", name, i+1, w.Code, w.Header(),
					row.want,
				)
			}
		}
		if len(seen) != 6 || seen[0] != seen[1] {
			t.Errorf("%s: learners %q; want 6 elements, seen[0] = %q", name, seen, seen[1])
		}
	}
}

// TestAdmitClosesAfterManyRefusals: if a client keeps sending requests after many refusals, its
// connection is closed.
func TestAdmitClosesAfterManyRefusals(t *testing.T) {
	t.Parallel()
	limits := admission.Limits{
		NewLearners: admission.Pace{PerAddress: admission.Rate{PerSecond: 0.1, Burst: 1}},
		Refusals:    admission.Pace{PerLearner: admission.Rate{PerSecond: 0.1, Burst: 2}},
	}
	h := NewLearners(nil, nil).Admit(admission.New(limits, nil), http.NotFoundHandler())
	var got []string
	for range 5 {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = "192.0.2.1:1234"
		h.ServeHTTP(w, r)
		got = append(got, w.Header().Get("Connection"))
	}
	if want := []string{"", "", "", "close", "close"}; !slices.Equal(got, want) {
		t.Errorf("Connection: %q, want %q", got, want)
	}
}

// TestTemporarySecretsShareACookie: if a server with a temporary secret is restarted, it does not
// leave an additional cookie in the browser.
func TestTemporarySecretsShareACookie(t *testing.T) {
	t.Parallel()
	_, a := ask(Learners{secret: []byte("one"), lasts: false}, "127.0.0.1:8080")
	_, b := ask(Learners{secret: []byte("two"), lasts: false}, "127.0.0.1:8080")
	_, c := ask(Learners{secret: []byte("two"), lasts: false}, "127.0.0.1:8081")
	if a.Name != b.Name || b.Name == c.Name {
		t.Errorf("cookies %s, %s and %s; want one for each port", a.Name, b.Name, c.Name)
	}
}

// TestCookieAttributes: scripts cannot read the cookie, and browsers send it after a click on a
// link on another site.
// Promise: Scripts cannot read the cookie that identifies you.
func TestCookieAttributes(t *testing.T) {
	t.Parallel()
	_, c := ask(Learners{secret: []byte("a test's")}, "127.0.0.1:8080")
	if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" {
		t.Errorf("cookie %s, want HttpOnly = true, SameSite = %d, Path = %q", c, http.SameSiteLaxMode, "/")
	}
}

// TestCookieOverTLS: a cookie that was set over TLS is never sent without TLS.
// Promise: Over HTTPS, cookies are never sent in the clear.
func TestCookieOverTLS(t *testing.T) {
	t.Parallel()
	for _, encrypted := range []bool{false, true} {
		r := httptest.NewRequest("GET", "/", nil)
		if encrypted {
			r.TLS = &tls.ConnectionState{}
		}
		_, c := (Learners{secret: []byte("a test's")}).Of(r)
		if c.Secure != encrypted || strings.HasPrefix(c.Name, "__Host-") != encrypted ||
			c.Path != "/" || c.Domain != "" {
			t.Errorf("encrypted %v: got cookie %s, want __Host- and Secure only if encrypted, Path = /", encrypted, c)
		}
	}
}

// TestOldCookieIsExchanged: over TLS, a learner with a cookie from an earlier version is still the
// same learner. The cookie is replaced, once, with a cookie that has a prefix.
func TestOldCookieIsExchanged(t *testing.T) {
	t.Parallel()
	l := NewLearners([]byte("secret"), nil)
	var seen []string
	h := l.Admit(admission.New(admission.DefaultLimits(), nil), http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) {
			id, fresh := l.Of(r)
			if seen = append(seen, id); fresh != nil {
				http.SetCookie(w, fresh)
			}
		}))
	visit := func(cookies ...*http.Cookie) []*http.Cookie {
		r := httptest.NewRequest(http.MethodGet, "https://192.0.2.1:8443/", nil)
		for _, c := range cookies {
			r.AddCookie(c)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Result().Cookies()
	}
	old := &http.Cookie{Name: l.cookie(""), Value: l.sign("someone", time.Unix(5, 0))}
	planted := &http.Cookie{Name: old.Name, Value: l.sign("another", time.Time{})}
	set := visit(&http.Cookie{Name: old.Name, Value: "stray"}, old, planted)
	if len(set) != 2 || set[0].Name != "__Host-"+old.Name || set[0].Value != old.Value || !set[0].Secure ||
		set[1].Name != old.Name || set[1].MaxAge >= 0 || set[1].Path != "/" {
		t.Fatalf(
			"the response to an old cookie sets %v, want 2 elements, [0].Name = %q, [0].Value = %q, [0].Secure "+
				"= true, [1].Name = %q, [1].MaxAge less than 0, [1].Path = %q",
			set, "__Host-"+old.Name, old.Value, old.Name, "/",
		)
	}
	// If an attacker sets a cookie without TLS, the learner does not change.
	stray := &http.Cookie{Name: set[0].Name, Value: "stray"}
	if again := visit(planted, stray, set[0]); len(again) != 0 {
		t.Errorf("the response to the new cookie sets %v, want 0 elements", again)
	}
	if strings.Join(seen, " ") != "someone someone" {
		t.Errorf("the learners are %q, want someone twice", seen)
	}
	// Without TLS, there is nothing to exchange.
	if id, fresh := ask(l, "127.0.0.1:8080", old); id != "someone" || fresh != nil {
		t.Errorf("in the clear: got %s, %v; want %s, nil", id, fresh, "someone")
	}
	// Browsers send secure cookies to localhost even without TLS.
	if id, fresh := ask(l, "localhost:8080", set[0]); id != "someone" || fresh != nil {
		t.Errorf("in the clear on localhost: got %s, %v; want %s, nil", id, fresh, "someone")
	}
}
