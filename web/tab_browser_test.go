package web_test

import (
	"testing"

	"github.com/tokenbytoken/viz/web/webtest"
)

// These tests of all pages do not belong in a tab: TestFeedReconnects cuts a socket, and
// TestClassPagesReflow is about classes, which need a server.

// TestInTabPages prints pages and makes them narrow where the program runs in them.
func TestInTabPages(t *testing.T) {
	webtest.InTab(t, TestPagesOnPaperAndInForcedColors, TestLoopAndLabsReflow)
}
