package webtest

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tokenbytoken/viz/web/browser"
)

// A Clock is the clock for learners' records, which a test can advance. It belongs to a server, or
// to the worker that runs a site's program.
type Clock struct {
	ahead atomic.Int64 // how far this clock is ahead of the machine's clock
	inTab bool
}

// Now returns the clock's time.
func (c *Clock) Now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// Ahead sets the clock ahead of the machine's clock by the given duration, for the pages of a tab.
func (c *Clock) Ahead(tab *browser.Tab, by time.Duration) {
	c.ahead.Store(int64(by))
	if !c.inTab {
		return
	}
	tab.Await(fmt.Sprintf(`return new Promise((resolve) => {
		const { port1, port2 } = new MessageChannel();
		port1.onmessage = resolve;
		navigator.serviceWorker.controller.postMessage({ clockAhead: %d }, [port2]);
	})`, by.Milliseconds()))
}

// clockOfWorker is inserted before a worker's script and makes its program's clock follow the
// test's.
const clockOfWorker = `{
  let ahead = 0;
  const time = Date.prototype.getTime;
  Date.prototype.getTime = function () { return time.call(this) + ahead; };
  self.addEventListener('message', (event) => {
    if (event.data?.clockAhead === undefined) return;
    event.stopImmediatePropagation();
    ahead = event.data.clockAhead;
    event.ports[0].postMessage(null);
  });
}
`

// BeforeWorker returns a change for [Site.Serve] that inserts a script before the worker's own.
func (s *Site) BeforeWorker(script string) func(http.Handler) http.Handler {
	return func(files http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, "/worker.js") {
				files.ServeHTTP(w, r)
				return
			}
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprintf(w, "%s%s", script, s.Files["worker.js"].Data)
		})
	}
}

// of returns a change for [Site.Serve] that makes the site's program use the clock, or nil if c is
// nil.
func (c *Clock) of(s *Site) func(http.Handler) http.Handler {
	if c == nil {
		return nil
	}
	c.inTab = true
	return s.BeforeWorker(clockOfWorker)
}
