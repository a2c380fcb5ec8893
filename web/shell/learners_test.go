package shell

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// ask returns the learner of a request to a host with cookies.
func ask(l Learners, host string, cookies ...*http.Cookie) (string, *http.Cookie) {
	r := httptest.NewRequest(http.MethodGet, "http://"+host+"/", nil)
	for _, c := range cookies {
		r.AddCookie(c)
	}
	return l.Of(r)
}

func TestLearnerIsTheSameAfterARestart(t *testing.T) {
	t.Parallel()
	secret := []byte(strings.Repeat("s", 32))
	id, fresh := ask(Learners{secret, true}, "127.0.0.1:8080")
	if fresh == nil || len(id) != 22 { // 16 bytes in base64
		t.Fatalf("a first request gives learner %q and cookie %v", id, fresh)
	}
	// Another process with the secret of the same folder, on another port.
	if again, cookie := ask(Learners{secret, true}, "127.0.0.1:8081", fresh); again != id || cookie != nil {
		t.Errorf("after a restart the learner is %q with the new cookie %v, want %q and none", again, cookie, id)
	}
	// Another folder's server does not accept the cookie, and leaves it alone.
	other := Learners{[]byte(strings.Repeat("t", 32)), true}
	if stranger, cookie := ask(other, "127.0.0.1:8080", fresh); stranger == id || cookie == nil ||
		cookie.Name == fresh.Name {
		t.Errorf("another secret gives %q and cookie %v beside %s", stranger, cookie, fresh.Name)
	}
	// A changed id is not believed.
	forged := *fresh
	forged.Value = "A" + forged.Value[1:]
	if strings.HasPrefix(fresh.Value, "A") {
		forged.Value = "B" + forged.Value[1:]
	}
	if got, cookie := ask(
		Learners{secret, true}, "127.0.0.1:8080", &forged,
	); cookie == nil || got == forged.Value[:22] {
		t.Errorf("a forged cookie makes learner %q", got)
	}
}

// A secret that ends with the process must not leave a cookie from each start.
func TestPassingSecretsShareACookie(t *testing.T) {
	t.Parallel()
	_, a := ask(Learners{[]byte("one"), false}, "127.0.0.1:8080")
	_, b := ask(Learners{[]byte("two"), false}, "127.0.0.1:8080")
	_, c := ask(Learners{[]byte("two"), false}, "127.0.0.1:8081")
	if a.Name != b.Name || b.Name == c.Name {
		t.Errorf("cookies %s, %s and %s; want one for each port", a.Name, b.Name, c.Name)
	}
}

// TestCookie: scripts cannot read it, and a click on a link elsewhere sends it.
func TestCookie(t *testing.T) {
	t.Parallel()
	_, c := ask(Learners{secret: []byte("a test's")}, "127.0.0.1:8080")
	if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" {
		t.Errorf("cookie %s", c)
	}
}

// TestCookieOverTLS: what arrived encrypted never travels in the clear.
func TestCookieOverTLS(t *testing.T) {
	t.Parallel()
	for _, encrypted := range []bool{false, true} {
		r := httptest.NewRequest("GET", "/", nil)
		if encrypted {
			r.TLS = &tls.ConnectionState{}
		}
		if _, c := (Learners{secret: []byte("a test's")}).Of(r); c.Secure != encrypted {
			t.Errorf("encrypted %v: %s", encrypted, c)
		}
	}
}
