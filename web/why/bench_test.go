package why_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/tokenbytoken/viz/web/browser"
	"github.com/tokenbytoken/viz/web/webtest"
)

// BenchmarkPress measures how long the server takes to answer the request that the page's script
// sends when a part is pressed. That includes running the model without the part and rendering the
// section of the page that changes.
func BenchmarkPress(b *testing.B) {
	site := webtest.Serve(b, webtest.Options{})
	for b.Loop() {
		r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, site+at("off", "L1.H1"), http.NoBody)
		if err != nil {
			b.Fatal(err)
		}
		r.Header.Set("Viz-Fragment", "1")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != http.StatusOK {
			b.Fatalf("status %d: %v; want %d, <nil>", resp.StatusCode, err, http.StatusOK)
		}
		resp.Body.Close()
	}
	http.DefaultClient.CloseIdleConnections()
}

// BenchmarkBrowserFrame measures the time from pressing a part in a browser to the first frame that
// shows the prediction without that part.
func BenchmarkBrowserFrame(b *testing.B) {
	site := webtest.Serve(b, webtest.Options{})
	tab := browser.Open(b, browser.Laptop, site+"/why")
	tab.Until(`document.querySelector(".parts .part")`)
	for b.Loop() {
		tab.Eval(`new Promise((shown) => {
			const part = document.querySelector('[aria-label^="block 1, head 1:"]'), was = part.ariaPressed;
			new MutationObserver((_, o) => {
				if (part.ariaPressed === was) return;
				o.disconnect();
				requestAnimationFrame(() => setTimeout(() => shown(true)));
			}).observe(part, { attributes: true });
			part.click();
		})`)
	}
}
