package webtest

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/shell"
	"github.com/tokenbytoken/viz/web/tab"
)

// inTab are the names of the tests that InTab runs.
var inTab sync.Map

// InTab reruns tests in the long tier, with the same code but with the program in the page instead
// of on a server. Their calls to Serve return a static site on a plain file server.
func InTab(t *testing.T, tests ...func(*testing.T)) {
	t.Helper()
	if !fixture.LongTier() {
		return
	}
	t.Parallel()
	for _, test := range tests {
		name := runtime.FuncForPC(reflect.ValueOf(test).Pointer()).Name()
		t.Run(name[strings.LastIndex(name, ".")+1:], func(t *testing.T) {
			inTab.Store(t.Name(), true)
			test(t)
		})
	}
}

// IsInTab reports whether t is a test that InTab runs, or a subtest of one.
func IsInTab(t testing.TB) (is bool) {
	inTab.Range(func(name, _ any) bool {
		is = t.Name() == name || strings.HasPrefix(t.Name(), name.(string)+"/")
		return !is
	})
	return is
}

// ServeTab is like [Serve], but for tests in a tab. It serves a site, whose addresses [browser.Tab]
// converts, and returns the site's address without a slash at the end.
func ServeTab(t testing.TB, view shell.View) string {
	t.Helper()
	return serveTab(t, Options{View: view})
}

// serveTab is like [ServeTab], but with the other options that a site supports.
func serveTab(t testing.TB, o Options) string {
	t.Helper()
	plain := PlainSite(t)
	s := browser.Site{
		URL: strings.TrimSuffix(plain.Serve(t, o.Clock.of(plain)), "/"), Path: Under, Address: tab.Address, Ready: Runs,
	}
	if o.View != "" {
		s.New = fmt.Sprintf(`return fetch(document.documentElement.dataset.root + "view", {
			method: "POST", body: new URLSearchParams({ view: %q, back: "/" }), redirect: "manual",
		})`, o.View)
	}
	browser.Through(t, s)
	return s.URL
}

// onlyServer fails a test in a tab if the test uses options that only a server supports.
func onlyServer(t testing.TB, o Options) {
	t.Helper()
	o.View, o.Clock = "", nil
	if !reflect.ValueOf(o).IsZero() {
		t.Fatalf("this test runs in a tab, but only a server supports its options: %+v", o)
	}
}
