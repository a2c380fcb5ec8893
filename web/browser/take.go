package browser

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
)

// Downloads is a folder with a tab's downloads, under the file names that the server chose.
type Downloads struct {
	tab  *Tab
	dir  string
	done chan struct{} // of capacity 1; receives a value when a download in any tab is complete
}

// Downloads saves the tab's downloads in a folder.
func (tab *Tab) Downloads() *Downloads {
	tab.t.Helper()
	d := &Downloads{tab, tab.t.TempDir(), make(chan struct{}, 1)}
	err := chromedp.ListenBrowser(tab.ctx, func(event any) {
		if e, ok := event.(*browser.EventDownloadProgress); ok && e.State == browser.DownloadProgressStateCompleted {
			select {
			case d.done <- struct{}{}:
			default: // already signaled and not yet received
			}
		}
	})
	if err != nil {
		tab.t.Fatalf("watch for downloads: %v", err)
	}
	events := true
	callBrowser(tab, "save downloads", browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorAllow, DownloadPath: d.dir, EventsEnabled: &events,
		BrowserContextID: chromedp.FromContext(tab.ctx).BrowserContextID,
	})
	return d
}

// File waits until a file has been saved and returns its contents. Chromium renames a file when
// it is complete.
func (d *Downloads) File(name string) []byte {
	d.tab.t.Helper()
	late := time.After(Patience)
	for {
		data, err := os.ReadFile(filepath.Join(d.dir, name))
		if err == nil {
			return data
		}
		select {
		case <-d.done:
		case <-late:
			d.tab.t.Fatalf("timed out waiting for the download %s: %v", name, err)
		}
	}
}

// Clipboard returns the text that was copied last. It grants the page permission to read it.
func (tab *Tab) Clipboard() string {
	tab.t.Helper()
	callBrowser(tab, "allow reading the clipboard", browser.SetPermission, browser.SetPermissionParams{
		Permission: &browser.PermissionDescriptor{Name: "clipboard-read"}, Setting: browser.PermissionSettingGranted,
		BrowserContextID: chromedp.FromContext(tab.ctx).BrowserContextID,
	})
	return ask(
		tab, "read the clipboard",
		chromedp.Evaluate[string](`navigator.clipboard.readText()`, chromedp.EvalAwaitPromise),
	)
}

// callBrowser sends a command to the browser as a whole.
func callBrowser[P, R any](tab *Tab, what string, c cdp.Command[P, R], params P) {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, Patience)
	defer cancel()
	if _, err := cdp.Call(ctx, chromedp.FromContext(tab.ctx).Browser, c, params); err != nil {
		tab.t.Fatalf("%s: %v", what, err)
	}
}
