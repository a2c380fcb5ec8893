package site_test

import (
	"net/http"
	"os"
	"testing"

	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/webtest"
)

func TestMain(m *testing.M) { browser.Main(m) }

// under is the path of test sites on their host. runs is a JavaScript expression that is true while
// the program runs in the page's worker.
const (
	under = webtest.Under
	runs  = webtest.Runs
)

// serve serves a site as any file server would, and returns its address. change, if not nil,
// wraps the handler.
func serve(t testing.TB, change func(http.Handler) http.Handler) string {
	t.Helper()
	return webtest.SiteWithLessons(t).Serve(t, change)
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
