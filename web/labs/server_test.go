package labs_test

import (
	"testing"

	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/webtest"
)

func TestMain(m *testing.M) { browser.Main(m) }

// serve runs the whole server and returns its URL.
func serve(t *testing.T) string {
	t.Helper()
	return webtest.Serve(t, webtest.Options{})
}
