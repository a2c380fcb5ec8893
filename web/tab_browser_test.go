package web_test

import (
	"testing"

	"github.com/tokenbytoken/viz/web/webtest"
)

// Three of the tests that cover all pages do not run in a tab. TestFeedReconnects cuts a socket.
// TestClassPagesReflow is about classes, which need a server. TestMainPagesFitTheirScreens would
// measure the same layout as on a server.

// TestInTabPages checks printed pages when the program runs in a browser tab.
func TestInTabPages(t *testing.T) {
	webtest.InTab(t, TestPagesOnPaperAndInForcedColors)
}
