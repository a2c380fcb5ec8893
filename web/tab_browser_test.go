package web_test

import (
	"testing"

	"github.com/tokenbytoken/viz/web/webtest"
)

// Three tests of all pages are not run in a tab: TestFeedReconnects cuts a socket,
// TestClassPagesReflow is about classes, which need a server, and TestMainPagesFitTheirScreens
// would measure the same layout.

// TestInTabPages checks printed pages where the program runs in the browser's tab.
func TestInTabPages(t *testing.T) {
	webtest.InTab(t, TestPagesOnPaperAndInForcedColors)
}
