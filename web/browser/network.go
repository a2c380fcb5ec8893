package browser

import (
	"context"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/serviceworker"
	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/chromedp"
)

// Unobserved turns off the DevTools domains that report every request, message and change of the
// page to the test. The reports take time, and a learner's browser makes none. Measurements of time
// call it once the page is open.
func (tab *Tab) Unobserved() {
	tab.t.Helper()
	call(tab, "stop reports of changes", dom.Disable, cdp.Empty{})
	call(tab, "stop reports of requests", network.Disable, cdp.Empty{})
}

// NoScripts blocks the scripts of all pages opened from now on, as if they were still loading over
// a very slow connection.
func (tab *Tab) NoScripts() {
	tab.t.Helper()
	tab.MayLose()
	call(tab, "watch the network", network.Enable, network.EnableParams{})
	call(tab, "block scripts", network.SetBlockedURLs, network.SetBlockedURLsParams{
		URLPatterns: []*network.BlockPattern{{URLPattern: "*://*:*/*.js*", Block: true}},
	})
}

// StopWorkers ends the visitor's service workers, as browsers do half a minute after a worker's
// last event, and when a machine sleeps.
func (tab *Tab) StopWorkers() {
	tab.t.Helper()
	call(tab, "watch the workers", serviceworker.Enable, cdp.Empty{})
	call(tab, "stop the workers", serviceworker.StopAllWorkers, cdp.Empty{})
}

// ForgetCache empties the visitor's network cache. It does not delete data that pages and workers
// have stored themselves.
func (tab *Tab) ForgetCache() {
	tab.t.Helper()
	call(tab, "empty the cache", network.ClearBrowserCache, cdp.Empty{})
}

// Quota limits the storage of an origin, such as "http://127.0.0.1:8080", in this visitor's
// browser, as nearly full disks and private windows do. In Chromium, 0 means no limit.
func (tab *Tab) Quota(origin string, bytes float64) {
	tab.t.Helper()
	call(
		tab, "limit the storage", storage.OverrideQuotaForOrigin,
		storage.OverrideQuotaForOriginParams{Origin: origin, QuotaSize: &bytes},
	)
}

// Manifest returns the address of the page's manifest, which a browser needs to install the page as
// an app. The test fails if the browser cannot read the manifest, and the page reports a fault if
// its policy forbids it.
func (tab *Tab) Manifest() (at string) {
	tab.t.Helper()
	tab.do("read the manifest", chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		got, err := cdp.Call(ctx, target, page.GetAppManifest, page.GetAppManifestParams{})
		if err != nil {
			return err
		}
		for _, fault := range got.Errors {
			tab.t.Errorf("manifest %s: %s", got.URL, fault.Message)
		}
		if got.Data == "" {
			tab.t.Errorf("the manifest %s could not be read", got.URL)
		}
		at = got.URL
		return nil
	}))
	return at
}
