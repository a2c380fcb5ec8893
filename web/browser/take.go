package browser

import (
	"context"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
)

// Downloads has whatever the tab downloads saved in a folder, under the name
// that the server gives it, and returns the folder.
func (tab *Tab) Downloads() string {
	tab.t.Helper()
	dir := tab.t.TempDir()
	callBrowser(tab, "save downloads", browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorAllow, DownloadPath: dir,
		BrowserContextID: chromedp.FromContext(tab.ctx).BrowserContextID,
	})
	return dir
}

// Clipboard returns the text that was copied last, read as a user who allows
// it would.
func (tab *Tab) Clipboard() string {
	tab.t.Helper()
	callBrowser(tab, "allow to read the clipboard", browser.SetPermission, browser.SetPermissionParams{
		Permission: &browser.PermissionDescriptor{Name: "clipboard-read"}, Setting: browser.PermissionSettingGranted,
		BrowserContextID: chromedp.FromContext(tab.ctx).BrowserContextID,
	})
	return ask(tab, "read the clipboard", chromedp.Evaluate[string](`navigator.clipboard.readText()`, chromedp.EvalAwaitPromise))
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
