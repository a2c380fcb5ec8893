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

// InTab runs tests once more, in the long tier: by the same code, but with the program in
// the page instead of on a server. Where they call Serve they get a static site on a plain
// file server.
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

// IsInTab reports whether InTab runs a test, or the one of which it is a part.
func IsInTab(t testing.TB) (is bool) {
	inTab.Range(func(name, _ any) bool {
		is = t.Name() == name || strings.HasPrefix(t.Name(), name.(string)+"/")
		return !is
	})
	return is
}

// ServeTab is [Serve] for tests in a tab: it serves a site, with whose addresses a
// [browser.Tab] deals, and returns its address without a slash at the end.
func ServeTab(t testing.TB, view shell.View) string {
	t.Helper()
	return serveTab(t, Options{View: view})
}

// serveTab is [ServeTab] with what else a site can be like.
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

// onlyServer fails a test in a tab that asks for what only a server has.
func onlyServer(t testing.TB, o Options) {
	t.Helper()
	o.View, o.Clock = "", nil
	if !reflect.ValueOf(o).IsZero() {
		t.Fatalf("only a server can be as this test wants it, and it is run in a tab: %+v", o)
	}
}
