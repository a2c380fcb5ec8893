package main

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/web/session"
)

// TestLongestLinkOpens: the longest possible link opens. A longer one gets an explanation, not an
// error about a header that is too large.
func TestLongestLinkOpens(t *testing.T) {
	t.Parallel()
	s := start(t, "-addr", "127.0.0.1:0", "-no-open", "-data", t.TempDir())
	for n, want := range map[int]string{
		session.MaxLink:          "This link is damaged",
		session.MaxLink + 1:      "characters long",
		session.MaxLink + 16<<10: "characters long",
	} {
		res, err := http.Get(s.url + "/loop?log=" + strings.Repeat("A", n))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != http.StatusBadRequest || !strings.Contains(string(body), want) {
			t.Errorf("a link of %d bytes: %s, %v, lacks %q", n, res.Status, err, want)
		}
	}
	s.end()
}
