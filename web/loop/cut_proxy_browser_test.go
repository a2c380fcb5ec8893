package loop

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/shell"
)

// TestBlockedSocketsAreExplained: behind a proxy that allows pages but blocks sockets, the page
// does not show "reconnecting" forever. It explains what is wrong and what to ask the network's
// administrator for.
// Promise: Behind a proxy that blocks sockets, the page says what is wrong and what to ask for.
func TestBlockedSocketsAreExplained(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	x := newSite(t, limits{})
	to, err := url.Parse(x.http.URL)
	if err != nil {
		t.Fatal(err)
	}
	pages := httputil.NewSingleHostReverseProxy(to)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "" {
			http.Error(w, "forbidden by the school's proxy", http.StatusForbidden)
			return
		}
		pages.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	x.admit(shell.LoopbackHosts(proxy.Listener.Addr().String())...)
	tab := browser.Open(t, browser.Laptop, proxy.URL+"/loop")
	tab.MayLose()
	tab.Until(`!document.getElementById('conn').hidden &&
		document.getElementById('conn').textContent.includes('A proxy in between may be blocking WebSockets')`)
}
