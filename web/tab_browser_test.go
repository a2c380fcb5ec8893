package web_test

import (
	"testing"

	"github.com/tokenbytoken/viz/web/webtest"
)

// These tests of all pages do not belong in a tab: TestFeedReconnects cuts a socket,
// TestClassPagesReflow is about classes, which need a server, and the boxes that
// TestMainPagesFitTheirScreens measures are the same.

// TestInTabPages prints pages where the program runs in them.
func TestInTabPages(t *testing.T) {
	webtest.InTab(t, TestPagesOnPaperAndInForcedColors)
}
