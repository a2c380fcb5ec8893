package browser

import "github.com/chromedp/cdproto/network"

// NoScripts keeps the scripts of the pages that are opened from now on from coming, as on
// a very slow connection.
func (tab *Tab) NoScripts() {
	tab.t.Helper()
	tab.MayLose()
	call(tab, "watch the network", network.Enable, network.EnableParams{})
	call(tab, "block scripts", network.SetBlockedURLs, network.SetBlockedURLsParams{
		URLPatterns: []*network.BlockPattern{{URLPattern: "*://*:*/*.js*", Block: true}},
	})
}
