package web

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// ask returns the learner of a request to a host with cookies.
func ask(l learners, host string, cookies ...*http.Cookie) (string, *http.Cookie) {
	r := httptest.NewRequest(http.MethodGet, "http://"+host+"/", nil)
	for _, c := range cookies {
		r.AddCookie(c)
	}
	return l.of(r)
}

func TestLearnerIsTheSameAfterARestart(t *testing.T) {
	t.Parallel()
	secret := []byte(strings.Repeat("s", 32))
	id, fresh := ask(learners{secret, true}, "127.0.0.1:8080")
	if fresh == nil || len(id) != 22 { // 16 bytes in base64
		t.Fatalf("a first request gives learner %q and cookie %v", id, fresh)
	}
	// Another process with the secret of the same folder, on another port.
	if again, cookie := ask(learners{secret, true}, "127.0.0.1:8081", fresh); again != id || cookie != nil {
		t.Errorf("after a restart the learner is %q with the new cookie %v, want %q and none", again, cookie, id)
	}
	// Another folder's server takes no one over, and leaves the cookie alone.
	other := learners{[]byte(strings.Repeat("t", 32)), true}
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
		learners{secret, true}, "127.0.0.1:8080", &forged,
	); cookie == nil || got == forged.Value[:22] {
		t.Errorf("a forged cookie makes learner %q", got)
	}
}

// A secret that ends with the process must not leave a cookie from each start.
func TestPassingSecretsShareACookie(t *testing.T) {
	t.Parallel()
	_, a := ask(learners{[]byte("one"), false}, "127.0.0.1:8080")
	_, b := ask(learners{[]byte("two"), false}, "127.0.0.1:8080")
	_, c := ask(learners{[]byte("two"), false}, "127.0.0.1:8081")
	if a.Name != b.Name || b.Name == c.Name {
		t.Errorf("cookies %s, %s and %s; want one for each port", a.Name, b.Name, c.Name)
	}
}
